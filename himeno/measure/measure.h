/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The timed part of a run, and the document of a run that has not ended.
 *
 * That document is complete, valid, and marked as partial, so that after a signal, even one that
 * cannot be caught, the measurements so far are available. */
#ifndef HIMENO_MEASURE_MEASURE_H
#define HIMENO_MEASURE_MEASURE_H

#include "himeno/config/choice.h"
#include "himeno/result/result.h"
#include "judge/judge.h"

#define HIMENO_OFFICIAL_SECONDS 60.0 /**< duration of the original protocol without --time */

/** State of a measurement. */
struct himeno_measurement {
  const struct himeno_choice *choice;
  const struct judge_plan *plan;
  struct solver *solver; /**< NULL before the solver is opened */
  struct record *record; /**< NULL in a ladder */
  struct himeno_result *result;
  int is_rung;                      /**< 1 in a ladder, which measures the ceiling itself */
  struct himeno_ceilings *ceilings; /**< for a rung: receives batches of the ceiling; may be NULL */
  /** seconds since timing began at which the next partial document is due */
  double next_partial;
  double partial_seconds; /**< seconds that writing the last partial document took */
  /** end of extra blocks for noise, in seconds since timing began; 0 if not set */
  double noise_until;
};

/** \brief Runs verified blocks for the configured time, with the ceiling before and after them, and
 * fills the result. Collective. Returns STATUS_WRONG if a block differs from \a value; fills in \a
 * value if the reference is too short. */
status_t himeno_measure(struct himeno_measurement *measurement, struct verify_value *value);

/** \brief Adds a timed block to the result: its time, phases and telemetry. The result gets the
 * gosa and checksum of this block. */
status_t himeno_block_add(struct himeno_measurement *measurement, const struct solver_block *block);

/** \brief Collective, after each block. Sets \a up if a signal asked a rank to end, which makes the
 * result partial, or if \a wanted seconds have passed since \a begin on rank 0's clock,
 * stats_now(), and no rank needs \a more blocks. Writes the partial document about once per
 * second. */
status_t himeno_time_is_up(struct himeno_measurement *measurement, double begin, double wanted, int more,
                           int *up);

/** \brief Collective: gathers the ranks, if a solver is open, and writes the partial document,
 * except to standard output. */
status_t himeno_partial_write(const struct himeno_measurement *measurement);

/* The document of a run is written as text, read again, and judged like a stored one in
 * himeno-judge: for --accept and --reference. */

/** \brief Collective: plans the measurement on all ranks, after grid and kernel are chosen. Returns
 * STATUS_USAGE if the run of the reference did other work, or if no check of the policy is possible
 * in a soak. */
status_t himeno_plan(const struct himeno_choice *choice, const struct judge_limits *limits,
                     struct judge_plan *plan);

/** \brief Writes the document of the current result, and judges it by \a limits. Rank 0 only; the
 * caller frees \a judged, then \a document. Returns STATUS_ENVIRONMENT if memory ran out; \a judged
 * has the verdict. */
status_t himeno_judge(const struct himeno_choice *choice, const struct himeno_result *result,
                      const struct judge_limits *limits, struct judged *judged, json_t **document);

#endif
