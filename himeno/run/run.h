/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One run of himeno-gpu: configuration, choices, results. */
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
  struct judged judged;         /**< the judgement of `document` */
  json_t *document;             /**< the document, on rank 0; NULL with --ladder */
  struct himeno_ladder *ladder; /**< the ladder, on all ranks; NULL without --ladder */
};

/** \brief Measures every kernel of the backend's ladder, then the user's own, in alternating
 * rounds; rank 0 prints each rung as it ends.
 *
 * Collective. Returns STATUS_WRONG if a rung's result is wrong; a rung that cannot run here is
 * skipped, with the reason. The caller frees \a ladder, also after a failure. */
status_t himeno_ladder(struct himeno_choice *choice, const struct verify_value *value,
                       struct himeno_result *result, struct himeno_ladder **ladder);
void himeno_ladder_free(struct himeno_ladder *ladder);

/** \brief Does everything after the command line. There is a result to report if result.ended is
 * set.
 *
 * If it fails with text held in the log, only this rank knows of the failure and the others wait:
 * the caller ends the job. Without held text, the ranks have agreed and printed the reason. */
status_t himeno_run(struct himeno_run *run);

/** \brief Frees the data of himeno_run. */
void himeno_run_close(struct himeno_run *run);

#endif
