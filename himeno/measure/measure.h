/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The timed part of a run, and the document of a run that has not ended.
 *
 * That document is whole, valid, and marked as partial, so that a signal, even one that cannot be
 * caught, leaves what was measured. */
#ifndef HIMENO_MEASURE_MEASURE_H
#define HIMENO_MEASURE_MEASURE_H

#include "himeno/config/choice.h"
#include "himeno/result/result.h"
#include "judge/judge.h"

/** State of a measurement. */
struct himeno_measurement {
  const struct himeno_choice *choice;
  const struct judge_plan *plan;
  struct solver *solver; /**< NULL before it is made */
  struct record *record; /**< NULL in a ladder */
  struct himeno_result *result;
  int is_rung;                      /**< of a ladder: the ceiling is the ladder's affair */
  struct himeno_ceilings *ceilings; /**< of a rung: where its batches go; NULL: none are wanted */
  /** seconds since timing began, after which the next partial document is due */
  double next_partial;
  /** that the last one took */
  double partial_seconds;
  double noise_until; /**< seconds since timing began, until which noise adds blocks; 0: not yet */
};

/** \brief Runs verified blocks for as long as the configuration says, with the ceiling before and
 * after them, and fills the result. Collective. STATUS_WRONG when a block differs from \a value,
 * which may be completed meanwhile. */
status_t himeno_measure(struct himeno_measurement *measurement, struct verify_value *value);

/** \brief Counts a timed block: its time, phases and telemetry, and its values as the last ones. */
status_t himeno_block_add(struct himeno_measurement *measurement, const struct solver_block *block);

/** \brief Collective, after each block: whether \a wanted seconds have passed since \a begin on
 * rank 0's clock, stats_now(), and no rank needs \a more blocks, or a signal asked a rank to end.
 * In the latter case the result is partial. Writes the partial document about once per second. */
status_t himeno_time_is_up(struct himeno_measurement *measurement, double begin, double wanted, int more,
                           int *up);

/** \brief Collective: gathers the ranks, once there is a solver, and writes the partial document
 * where there is a file to keep up to date. */
status_t himeno_partial_write(const struct himeno_measurement *measurement);

/* The document of a run is written as text, read again, and judged as himeno-judge judges a stored
 * one: by --accept, and by --reference. */

/** \brief Collective: once grid and kernel are chosen, plans the measurement, on all ranks.
 * STATUS_USAGE if the reference is of another run, or a soak cannot be held against the policy. */
status_t himeno_plan(const struct himeno_choice *choice, const struct judge_limits *limits,
                     struct judge_plan *plan);

/** \brief The document of the result as it is, judged by \a limits. Rank 0; the caller frees both,
 * the document last. STATUS_ENVIRONMENT if memory ran out; the verdict is in \a judged. */
status_t himeno_judge(const struct himeno_choice *choice, const struct himeno_result *result,
                      const struct judge_limits *limits, struct judged *judged, json_t **document);

#endif
