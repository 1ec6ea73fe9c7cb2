/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One run of gemm-gpu, from choices to verdict. */
#ifndef GEMM_RUN_RUN_H
#define GEMM_RUN_RUN_H

#include "gemm/state/state.h"

/** \brief Does everything after the command line was read. There is a result to report if it
 * returns STATUS_OK, STATUS_WRONG or STATUS_INCOMPLETE.
 *
 * If gemm_run fails while the log holds text, only this rank knows of the failure and the others
 * wait: the caller must abort the job. If the log is empty, the ranks have agreed and logged the
 * cause. */
status_t gemm_run(struct gemm_run *run);

void gemm_run_close(struct gemm_run *run);

void gemm_run_expect(const struct gemm_run *run, int sizes);

/** \brief Measures all rungs and reference libraries of each size, interleaved, into
 * result->ladder. Collective. Returns STATUS_WRONG if a rung's result is wrong. A rung that cannot
 * run here is skipped, with the reason. */
status_t gemm_ladder(struct gemm_run *run);
void gemm_ladder_free(struct gemm_result *result);

#endif
