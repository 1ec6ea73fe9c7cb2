/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Faults planted in device memory, below every detector: for tests.
 *
 * HIMENO_FLIP="a3 10,20,30 5 17" flips bit 5 of a3 at the global point (10, 20, 30) before sweep 17
 * of the run, on the rank that counts the point; "a3@2" in rank 2's copy of it, a halo float too.
 * Several stand apart by semicolons: bits of one point, points of a warp, one sweep after another.
 * "p" is the newest field, "older-p" the one before it. The sweeps pause there for it, in a
 * temporal kernel before the pass that does the sweep. Nothing is flipped twice.
 *
 * "sm@1 17 5 30" is no fault of memory: from sweep 30 on multiprocessor 17 of rank 1's device, or
 * without @1 of each, has bit 5 wrong in all that solver_outlier_find has it compute. */
#ifndef HIMENO_SOLVER_FLIP_H
#define HIMENO_SOLVER_FLIP_H

#include "himeno/solver/solver.h"

struct flip {
  int array;        /**< as solver_array_name numbers them, or FLIP_PROCESSOR */
  int rank;         /**< whose copy of the point; −1: that of the rank that counts it */
  int64_t point[3]; /**< or the number of the multiprocessor */
  int bit;
  int64_t sweep; /**< from 1 */
};

#define FLIPS_MAX      256
#define FLIP_PROCESSOR SOLVER_ARRAYS

/** \brief The \a n faults that are planted, at most FLIPS_MAX. Copied. */
void flip_plan(const struct flip *flips, int n);

/** \brief Reads one fault of HIMENO_FLIP; whether it is one. */
int flip_parse(const char *text, struct flip *flip);

/** \brief Plans what the environment says. STATUS_USAGE, with one line, for a text that is no
 * fault. */
status_t flip_read(void);

/** \brief Warns where what is planned lies outside of a grid, as one host's does of a fault meant
 * for several. STATUS_USAGE where it is for a rank that there is not. */
status_t flip_check(const int64_t global[3], int ranks);

/** \brief The multiprocessor that is stuck on that rank after so many sweeps. */
struct himeno_stuck flip_stuck(int rank, int64_t swept);

/** \brief Whether any fault is still to be planted. */
int flip_any(void);

/** \brief solver_config.faults: the sweeps of a block pause where a fault is due, in a temporal
 * kernel before the pass that does the sweep. */
status_t flip_faults(struct solver_grid *grid, int at, int sweeps, int *stop);

#endif
