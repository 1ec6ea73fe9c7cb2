/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One run of gemm-gpu from choices to verdict. */
#ifndef GEMM_RUN_RUN_H
#define GEMM_RUN_RUN_H

#include "gemm/state/state.h"

/** \brief Everything after the command line was read. There is a result to report when it returns
 * STATUS_OK or STATUS_WRONG.
 *
 * When it fails with text held in the log, only this rank knows and the others wait: the caller
 * ends the job. With nothing held the ranks have agreed and said why. */
status_t gemm_run(struct gemm_run *run);

/** \brief Frees what gemm_run made. */
void gemm_run_close(struct gemm_run *run);

/** \brief Collective. Measures all rungs and reference libraries of each size, interleaved, into
 * result->ladder. STATUS_WRONG if a rung's result is wrong; one that cannot run here is skipped,
 * with the reason. */
status_t gemm_ladder(struct gemm_run *run);
void gemm_ladder_free(struct gemm_result *result);

#endif
