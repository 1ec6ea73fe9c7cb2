/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The roofline model of a blocked product: what a kernel's blocks let a device reach.
 *
 * Source: Williams, Waterman and Patterson, "Roofline", Comm. ACM 52, 2009, applied level by level
 * as in Fixstars' seminar of 2022. A block of M×N elements takes 4·(M+N) bytes for 2·M·N operations
 * a step of k, so its intensity is M·N / (2·(M+N)) flop a byte: the group's blocks against device
 * memory, the work-item's against local memory. Rows that are read in pieces of less than a sector
 * cost whole sectors. What a kernel overlaps counts once, as the longest; what it does in turns
 * adds up. Caches are left out, as there. */
#ifndef GEMM_STATE_MODEL_H
#define GEMM_STATE_MODEL_H

#include "gemm/kernels/kernels.h"

/** A device as the model sees it; 0 where unknown, which then limits nothing. */
struct gemm_machine {
  struct gemm_ceilings ceilings;
  int units; /**< compute units, over which groups are spread */
};

/** What bounds a prediction. */
enum gemm_bound { GEMM_BOUND_ARITHMETIC, GEMM_BOUND_DEVICE, GEMM_BOUND_LOCAL };

struct gemm_prediction {
  double seconds;          /**< 0 when the model cannot say */
  double device_intensity; /**< flop a byte of device memory */
  double local_intensity;  /**< flop a byte of local memory, 0 where none is used */
  /** share of the machine that has a group to work on, padding counted as idle */
  double filled;
  enum gemm_bound bound;
};

/** \brief Seconds of one product. Without blocks, or without a peak, nothing is predicted. */
struct gemm_prediction gemm_predict(const struct gemm_machine *machine, const struct gemm_problem *problem,
                                    const struct gemm_blocks *blocks);

extern const char *const gemm_bound_names[3];

#endif
