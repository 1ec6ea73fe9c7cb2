/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a soak found. */
#ifndef HIMENO_RESULT_SOAK_H
#define HIMENO_RESULT_SOAK_H

#include "himeno/solver/solver.h"

#define SOAK_DATA_SETS 2

/** A rank's wrong array, or multiprocessor. */
struct soak_corruption {
  int rank, array; /**< SOLVER_ARRAYS: a multiprocessor */
  int processor;
  int64_t points;   /**< wrong ones */
  int64_t first[3]; /**< global */
  uint32_t is, must_be;
};

/** One rank's wrong array in one block. */
struct soak_found {
  int block, sweep, first;
  enum himeno_data data;
  struct soak_corruption corruption;
};

/** Corruptions kept for the report; the log has all of them. */
#define SOAK_FOUND_MAX 32

struct soak_result {
  double seconds; /**< wall clock */
  int blocks, wrong_blocks;
  int64_t corruptions;
  int n;
  struct soak_found found[SOAK_FOUND_MAX]; /**< on rank 0 */
};

#endif
