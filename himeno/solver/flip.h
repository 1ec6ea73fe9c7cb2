/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Faults planted in device memory, below every detector: for tests.
 *
 * HIMENO_FLIP="a3 10,20,30 5 17" flips bit 5 of a3 at the global point (10, 20, 30) before sweep 17
 * of the run, on the rank that counts the point. "a3@2" flips it in rank 2's copy, which may be in
 * the halo. Several faults are separated by semicolons. "p" is the newest field, "older-p" the
 * previous one. The sweeps pause at the fault, in a temporal kernel before the pass that includes
 * the sweep. Each fault is planted once.
 *
 * "sm@1 17 5 30" is a fault of computing: from sweep 30 on, multiprocessor 17 of rank 1's device
 * (without @1: of every device) has bit 5 wrong in all values that it computes for
 * solver_outlier_find. */
#ifndef HIMENO_SOLVER_FLIP_H
#define HIMENO_SOLVER_FLIP_H

#include "himeno/solver/solver.h"

struct flip {
  int array;        /**< as in solver_array_name, or FLIP_PROCESSOR */
  int rank;         /**< rank with the copy; −1: the rank that counts the point */
  int64_t point[3]; /**< global point; for FLIP_PROCESSOR point[0] is the multiprocessor */
  int bit;
  int64_t sweep; /**< counted from 1 */
};

#define FLIPS_MAX      256
#define FLIP_PROCESSOR SOLVER_ARRAYS

/** \brief Sets the \a n faults to plant, at most FLIPS_MAX. Copies them. */
void flip_plan(const struct flip *flips, int n);

/** \brief Reads one fault of HIMENO_FLIP. Returns whether it is valid. */
int flip_parse(const char *text, struct flip *flip);

/** \brief Plans the faults in HIMENO_FLIP. Returns STATUS_USAGE, logged, if it is invalid. */
status_t flip_read(void);

/** \brief Warns about faults at points outside of the grid, which are never planted. Returns
 * STATUS_USAGE for a rank that does not exist. */
status_t flip_check(const int64_t global[3], int ranks);

/** \brief Returns the multiprocessor of \a rank that is stuck after \a swept sweeps. */
struct himeno_stuck flip_stuck(int rank, int64_t swept);

/** \brief Returns whether any fault is still to be planted. */
int flip_any(void);

/** \brief Implements solver_config.faults: plants the faults due at \a at, and sets \a stop to the
 * next sweep at which one is due, in a temporal kernel before the pass that includes the sweep. */
status_t flip_faults(struct solver_grid *grid, int at, int sweeps, int *stop);

#endif
