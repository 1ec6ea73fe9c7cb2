/* SPDX-License-Identifier: MIT */
/** \file
 * \brief For tests: plants a fault in a matrix on the device. The checks do not know of it.
 *
 * HIMENO_GEMM_FLIP="1 3,40 30 simd:2" flips bit 30 of C's row 3, column 40 on rank 1, before that
 * rank checks block 2 of the kernel or library `simd`. Block 0 is the product before all blocks,
 * `last` the product after them, and `trial3` the third check during trials of tiles: the first
 * checks one product, and then there is one check per trial. "1 B 3,40 30 simd:2" flips a bit of B
 * as it is stored; A is possible too. A plain number instead of a kernel and block counts the
 * checks of C on that rank over all kernels, from 1: one product per kernel before all blocks, then
 * the blocks, and one product per kernel after them. In a ladder, positions outside the matrix are
 * ignored. Each fault is planted once. Semicolons separate several faults. */
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
  char kernel[32]; /**< kernel or library; "": any */
  int block;       /**< number of the kernel's block, 0, GEMM_BLOCK_LAST or GEMM_BLOCK_TRIAL */
  int check;       /**< number of the check, from 1, over all kernels or this kernel's trials */
  int checks;      /**< number of checks counted so far */
};

#define GEMM_FLIPS_MAX 64

/** \brief Reads HIMENO_GEMM_FLIP. Sets *flips to NULL if that is not set. Logs an error and returns
 * STATUS_USAGE if its text is not valid. */
status_t gemm_flip_read(struct gemm_flip **flips);

/** \brief Logs an error and returns STATUS_USAGE if a fault's rank does not exist, if its position
 * is outside the matrix, or if \a c_alone is 1 and its matrix is not C. */
status_t gemm_flip_check(const struct gemm_flip flips[GEMM_FLIPS_MAX], const struct gemm_problem *problem,
                         int ranks, int c_alone);

/** \brief Plants the faults that are due before this check of the kernel. Call it before each check
 * of C. */
status_t gemm_flip_plant(struct gemm_flip flips[GEMM_FLIPS_MAX], const struct gemm_matrices *matrices,
                         int rank, const char *kernel, int block);

#endif
