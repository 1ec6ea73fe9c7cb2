/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Whether what a series computed is right: every block that is timed, every trial of tiles,
 * and a product before and after.
 *
 * The first product is compared with float64 and kept. Blocks of a kernel of ours must have its
 * bits, a library's may be another right result. What is wrong and counts is STATUS_WRONG; a
 * library's own wrong result is only kept in series->fault, unless --accept is given. A and B must
 * be what they were, or else the device is at fault whoever computed. */
#ifndef GEMM_MEASURE_COMPARE_H
#define GEMM_MEASURE_COMPARE_H

#include "gemm/state/state.h"

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
