/* SPDX-License-Identifier: MIT */
/** \file
 * \brief --ladder: every kernel of a backend's ladder over several sizes, beside what the model
 * predicts. */
#ifndef GEMM_RUN_LADDER_H
#define GEMM_RUN_LADDER_H

#include "gemm/state/state.h"

/** \brief Collective. Measures all rungs and reference libraries of each size, interleaved, into
 * result->ladder. STATUS_WRONG if a rung's result is wrong; one that cannot run here is skipped and
 * reports why. */
status_t gemm_ladder(struct gemm_run *run);
void gemm_ladder_free(struct gemm_result *result);

#endif
