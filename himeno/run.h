/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One run of himeno-gpu: what was asked for, what was chosen, what was found. */
#ifndef HIMENO_RUN_H
#define HIMENO_RUN_H

#include "himeno/choice.h"
#include "himeno/judging.h"
#include "himeno/ladder.h"
#include "himeno/result.h"

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

/** \brief Everything after the command line was read. There is a result to report where
 * result.ended is set.
 *
 * When it fails with text held in the log, only this rank knows and the others wait: the caller
 * ends the job. With nothing held the ranks have agreed and said why. */
status_t himeno_run(struct himeno_run *run);

/** \brief Frees what himeno_run made. */
void himeno_run_close(struct himeno_run *run);

#endif
