/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The timed part of a run: kernels are verified and then measured, interleaved, with every
 * result compared. */
#ifndef GEMM_MEASURE_MEASURE_H
#define GEMM_MEASURE_MEASURE_H

#include "gemm/state/state.h"

/** \brief Measures all series. Collective. Opens each series that fits, verifies one product, times
 * interleaved blocks of all series for about \a seconds per series, compares each block, and
 * verifies another product at the end. Returns STATUS_WRONG if a result of our kernels is wrong on
 * any rank, or A or B changed on its device. A library's wrong result is only recorded unless
 * --accept is given. If this device cannot run a kernel, only series->status says so. */
status_t gemm_measure(struct gemm_run *run, struct gemm_series *series, int n, double seconds);

/** \brief Measures \a launches consecutive products, in seconds of the device's clock. */
status_t gemm_block_time(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_exec *exec,
                         int launches, double *seconds);

/** \brief Resets C, runs one product and compares the result. \a block is 0 before all blocks,
 * GEMM_BLOCK_LAST after them. */
status_t gemm_compare_product(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *series,
                              int block);

/** \brief Compares the result of series->launches products in C. \a block is series->n_samples or
 * GEMM_BLOCK_TRIAL. */
status_t gemm_compare_block(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *series,
                            int block);

/** \brief Returns STATUS_WRONG if A or B has changed on this rank's device; work->damage then has
 * the details. */
status_t gemm_compare_operands(const struct gemm_rig *rig, struct gemm_work *work);

/** \brief Returns 1 if a wrong result of the series decides the run's verdict. */
int gemm_compare_counts(const struct gemm_rig *rig, const struct gemm_work *work,
                        const struct gemm_series *series);

/** \brief Returns the last line held in the log, without this series' prefix "kernel X: ". */
const char *gemm_compare_held(const struct gemm_series *series);

#endif
