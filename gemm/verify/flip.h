/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A fault planted in a matrix on the device, below every detector: for tests.
 *
 * HIMENO_GEMM_FLIP="1 3,40 30 simd:2" flips bit 30 of C's row 3, column 40 on rank 1 before that
 * rank looks at block 2 of kernel `simd`, or of a library by its name. Block 0 is the product
 * before all blocks, `last` the one after them, and `trial3` the third look at trials of tiles: at
 * a product, then at each trial. "1 B 3,40 30 simd:2" flips B as it is stored, or A. A number
 * instead counts the looks at C on that rank, of all kernels, from 1: a product each before all
 * blocks, then the blocks, and a product each after them. In a ladder a place outside of the matrix
 * is left alone. Nothing is flipped twice. Several stand apart by semicolons: bits of one element,
 * a warp's elements, look after look. */
#ifndef GEMM_VERIFY_FLIP_H
#define GEMM_VERIFY_FLIP_H

#include "gemm/verify/matrices.h"

#define GEMM_BLOCK_LAST  (-1)
#define GEMM_BLOCK_TRIAL (-2)

struct gemm_flip {
  int due;
  int rank;
  enum gemm_matrix matrix;
  int64_t row, column;
  int bit;
  char kernel[32]; /**< "": any */
  int block;       /**< of that kernel, 0, GEMM_BLOCK_LAST or GEMM_BLOCK_TRIAL */
  int check;       /**< of any kernel, or of that one's trials, from 1 */
  int checks;      /**< so far */
};

#define GEMM_FLIPS_MAX 64

/** \brief Reads the environment; NULL in normal runs. STATUS_USAGE, with one line, for a text that
 * is no fault. */
status_t gemm_flip_read(struct gemm_flip **flips);

/** \brief STATUS_USAGE, with one line, where there is no such rank, or its matrix has no such
 * place, or with \a c_alone where it is not C. */
status_t gemm_flip_check(const struct gemm_flip flips[GEMM_FLIPS_MAX], const struct gemm_problem *problem,
                         int ranks, int c_alone);

/** \brief To be called before each check of C: plants what is due before this check of that
 * kernel's. */
status_t gemm_flip_plant(struct gemm_flip flips[GEMM_FLIPS_MAX], const struct gemm_matrices *matrices,
                         int rank, const char *kernel, int block);

#endif
