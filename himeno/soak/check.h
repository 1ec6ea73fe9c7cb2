/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One block of a soak: every pass's field and, at the end, the coefficients are held against
 * known values.
 *
 * The known values are sums that a reference on the ranks' CPUs gave once, each rank's own, so that
 * the rank with a wrong bit is known at once. Both fields are checked after a pass: a flipped bit
 * that rounding hides from the new field is still in the older one. On a mismatch the block stops,
 * and the reference is run to the same sweep: memory is compared point by point. Then the device
 * runs the block again, which shows whether the fault repeats.
 *
 * After each block every multiprocessor computes the same points, where a backend can tell which
 * one it was: one that is wrong is named itself, even if no sweep gave it the points to show it. */
#ifndef HIMENO_SOAK_CHECK_H
#define HIMENO_SOAK_CHECK_H

#include "himeno/result/soak.h"
#include "himeno/verify/verify.h"

struct soak_known {
  struct verify_reference reference;
  int depth, passes;
  uint64_t *field[SOAK_DATA_SETS]; /**< after each pass; [0] is the initial field */
  uint64_t coefficient[SOAK_DATA_SETS][HIMENO_COEFFICIENTS];
};

/** \brief Collective: runs the reference of \a config's problem through blocks of \a passes passes
 * of its kernel. STATUS_ENVIRONMENT where the hosts' memory is too small. */
status_t soak_known_open(const struct solver_config *config, int passes, struct soak_known *known);
void soak_known_close(struct soak_known *known);

#define SOAK_CORRUPTIONS_MAX (SOLVER_ARRAYS + 1)

struct soak_block {
  double seconds; /**< of its sweeps, the slowest rank's */
  int sweeps;
  double phase_sums[HIMENO_PHASES]; /**< this rank's seconds over its sweeps */
  double gosa;
  uint64_t checksum;
  int wrong; /**< a mismatch somewhere; all ranks agree */
  int sweep; /**< after which it was found: the first wrong one where each pass is checked */
  int first; /**< the first wrong sweep when it was run again; 0 where it was right then */
  int n;     /**< of this rank */
  struct soak_corruption corruption[SOAK_CORRUPTIONS_MAX];
};

/** \brief Collective: fills the solver with \a data and runs a block; fields are checked every \a
 * every passes. */
status_t soak_block_run(struct solver *solver, struct soak_known *known, MPI_Comm comm, enum himeno_data data,
                        int every, struct soak_block *block);

#endif
