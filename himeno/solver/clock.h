/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A simulated clock for tests: what is planted in it lies below every detector.
 *
 * HIMENO_NULL_CLOCK gives the null backend's blocks times that follow a machine of equal devices
 * and links, with noise, and faults by words apart by spaces:
 *
 *     seed=7 noise=0.004 device=3:1.05 link=2-5:4
 *
 * `noise` is the relative standard deviation of each block (0.003 unless given), `device=R:F` makes
 * rank R's device F times slower, `link=A-B:F` what travels between ranks A and B. The work is
 * still done, and its bits are right. `-t` and `--soak` count simulated seconds: a run has the same
 * blocks and figures on any computer. */
#ifndef HIMENO_SOLVER_CLOCK_H
#define HIMENO_SOLVER_CLOCK_H

#include "comm/halo/halo.h"
#include "himeno/solver/solver.h"

/** A block as the clock sees it. */
struct clock_block {
  int rank, sweeps;
  long number; /**< of the block, counted by the rank */
  double points;
  const struct halo_plan *plan;
};

/** \brief STATUS_USAGE, logged, if the variable holds a word that is none of these. */
status_t clock_check(void);

/** What replaces the times of a solver. */
struct solver_clock {
  void (*block)(const struct clock_block *block, double phases[HIMENO_PHASES], double *seconds);
  /** \brief Moves the clock past a block that took \a seconds on the slowest rank. */
  void (*advance)(double seconds);
  double (*ceiling)(int rank, double bytes);
};

/** \brief That of the backend's devices; NULL: their times are real. */
const struct solver_clock *clock_of(const struct gpu_backend *backend);

/** \brief Overwrites this rank's times of a block: \a phases in seconds over all its sweeps, \a
 * seconds by its own clock. */
void clock_block(const struct clock_block *block, double phases[HIMENO_PHASES], double *seconds);

/** \brief Seconds on the clock that ends a run and dates its records: the monotonic one, or that of
 * null devices (gpu/null/null_device.h). Only blocks move the latter, by equal amounts on all
 * ranks, so that their number does not depend on the computer that simulates. */
double clock_seconds(const struct gpu_backend *backend);

/** \brief Seconds of a message of so many \a bytes between two ranks. */
double clock_message(int a, int b, double bytes);

/** \brief Seconds in which rank's device moves \a bytes. */
double clock_ceiling(int rank, double bytes);

#endif
