/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One run of himeno-gpu: what was asked for, what was chosen, what was found. */
#ifndef HIMENO_RUN_RUN_H
#define HIMENO_RUN_RUN_H

#include "himeno/config/choice.h"
#include "himeno/measure/measure.h"
#include "himeno/result/result.h"

struct himeno_run {
  struct himeno_config config;
  struct himeno_choice choice;
  struct judge_limits limits; /**< on rank 0 */
  struct judge_plan plan;
  struct solver *solver;
  struct record *record;
  struct himeno_result result;
  struct judged judged;         /**< once there is a document */
  json_t *document;             /**< on rank 0, without --ladder */
  struct himeno_ladder *ladder; /**< with --ladder, on all ranks */
};

/* ---- the ladder ---- */

/** \brief Runs every kernel of the backend's ladder, and the user's own after them, in alternating
 * rounds; rank 0 prints each rung as it ends.
 *
 * Collective. STATUS_WRONG when a rung's result is wrong; a rung that cannot run here is skipped
 * with the reason. The caller frees \a ladder, also when this fails. */
status_t himeno_ladder(struct himeno_choice *choice, const struct verify_value *value,
                       struct himeno_result *result, struct himeno_ladder **ladder);
void himeno_ladder_free(struct himeno_ladder *ladder);

/* ---- the run ---- */

/** \brief Everything after the command line was read. There is a result to report where
 * result.ended is set.
 *
 * When it fails with text held in the log, only this rank knows and the others wait: the caller
 * ends the job. With nothing held the ranks have agreed and said why. */
status_t himeno_run(struct himeno_run *run);

/** \brief Frees what himeno_run made. */
void himeno_run_close(struct himeno_run *run);

#endif
