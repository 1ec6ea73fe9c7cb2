/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The timed part of a run: kernels are verified, then measured interleaved, and every result
 * is compared. */
#ifndef GEMM_MEASURE_MEASURE_H
#define GEMM_MEASURE_MEASURE_H

#include "gemm/state/state.h"

/** \brief Collective. Opens each series that fits, verifies one product on poisoned C, times
 * interleaved blocks of all series for about \a seconds per series, compares each of them, and
 * verifies another product at the end. STATUS_WRONG when a result of our kernels is wrong on any
 * rank, or A or B changed on its device; a wrong result of a library is only recorded unless
 * --accept is given, and so is a kernel that this device cannot run (series->status). */
status_t gemm_measure(struct gemm_run *run, struct gemm_series *series, int n, double seconds);

/** \brief Device seconds of that many products, one after the other. */
status_t gemm_block_time(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_exec *exec,
                         int launches, double *seconds);

/** \brief Runs one product on poisoned C and compares it; \a block is 0 before all blocks,
 * GEMM_BLOCK_LAST after them. */
status_t gemm_compare_product(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *series,
                              int block);

/** \brief Compares what series->launches products left in C: block series->n_samples, or
 * GEMM_BLOCK_TRIAL. */
status_t gemm_compare_block(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *series,
                            int block);

/** \brief Whether A and B on this rank's device are what they were; else work->damage says how. */
status_t gemm_compare_operands(const struct gemm_rig *rig, struct gemm_work *work);

/** \brief Whether a wrong result of that series is the run's verdict. */
int gemm_compare_counts(const struct gemm_rig *rig, const struct gemm_work *work,
                        const struct gemm_series *series);

/** \brief The last line that the log holds, without "kernel X: " of this series. */
const char *gemm_compare_held(const struct gemm_series *series);

#endif
