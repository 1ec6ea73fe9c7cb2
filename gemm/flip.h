/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A fault planted in C on the device, below every detector: for tests.
 *
 * HIMENO_GEMM_FLIP="1 3,40 30 2" flips bit 30 of C's row 3, column 40 on rank 1 before that rank's second look at C: the first is at
 * the product before all blocks, then comes one a block, and one at the product after them. Libraries' products are looked at too.
 * In a ladder a place outside of C is left alone. Nothing is flipped twice. */
#ifndef GEMM_FLIP_H
#define GEMM_FLIP_H

#include "gemm/matrices.h"

struct gemm_flip {
  int due;
  int rank;
  int64_t row, column;
  int bit;
  int look;  /**< from 1 */
  int looks; /**< so far */
};

/** \brief Reads the environment. STATUS_USAGE, with one line, for a text that is no fault. */
status_t gemm_flip_read(struct gemm_flip *flip);

/** \brief STATUS_USAGE, with one line, where there is no such rank, or its C has no such place. */
status_t gemm_flip_check(const struct gemm_flip *flip, const struct gemm_problem *problem, int ranks);

/** \brief To be called before each look at C: plants what is due. */
status_t gemm_flip_plant(struct gemm_flip *flip, const struct gemm_matrices *matrices, int rank);

#endif
