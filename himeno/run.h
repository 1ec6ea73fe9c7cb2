/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One run of himeno-gpu from choices to verdict, and what it found. */
#ifndef HIMENO_RUN_H
#define HIMENO_RUN_H

#include "comm/ranks/placement.h"
#include "himeno/accept/accept.h"
#include "himeno/accept/reference.h"
#include "himeno/accept/straggler.h"
#include "himeno/cmdline.h"
#include "himeno/record.h"
#include "himeno/soak/soak.h"
#include "himeno/solver/solver.h"
#include "himeno/verify.h"
#include "suite/ranks.h"

/** How one message of a rank travels. */
struct himeno_path {
  int peer;
  char face[8];
  int64_t bytes;
  char used[16];
  char why[GPU_TEXT_MAX]; /**< "" where it is the transport of the run */
};

/** One rank as the report shows it. */
struct himeno_rank {
  struct rank_row row;
  int64_t points;               /**< owned */
  double phases[HIMENO_PHASES]; /**< mean seconds a sweep over all timed blocks */
  double compute;               /**< median seconds a sweep of its blocks' interior and boundary; on rank 0 */
  struct record_telemetry telemetry;
  int cards;         /**< network cards of its host that are up */
  double cards_gbps; /**< rate of the slowest of them, Gbit/s; 0 if unknown */
  int n_paths;
  struct himeno_path paths[HALO_MESSAGES_MAX];
};

#define HIMENO_STRAGGLERS_MAX 64

struct himeno_result {
  double seconds;  /**< of all timed sweeps */
  int64_t sweeps;  /**< timed */
  double *samples; /**< seconds of each timed block */
  int n_samples;
  double ceiling;              /**< bytes per second of the ceiling kernel, all ranks at once; 0 if unknown */
  struct himeno_counts counts; /**< of all ranks' emulators */
  double phase_sums[HIMENO_PHASES]; /**< of this rank's means a sweep, over all timed blocks */
  struct solver_block last;
  enum verify_source verified;
  int pauses;            /**< timed blocks pause at check points */
  int check_blocks;      /**< untimed ones that did */
  uint64_t coefficients; /**< sum of the constant arrays' checksums */
  status_t verdict;
  double next_partial;       /**< seconds of the clock of blocks at which the next partial document is due */
  int partial;               /**< ended by a signal, or not yet ended */
  int ended;                 /**< there is a result to report, whatever the verdict is */
  unsigned char *throttled;  /**< a timed block: whether any device was throttled at its end; on rank 0 */
  struct himeno_rank *ranks; /**< on rank 0 */
  struct telemetry_sample *series; /**< [rank · rows + row], on rank 0 */
  int n_stragglers;                /**< on rank 0; more than HIMENO_STRAGGLERS_MAX are only counted */
  struct straggler stragglers[HIMENO_STRAGGLERS_MAX];
  struct soak_result soak; /**< with --soak */
  struct accept accept;    /**< on rank 0, with --accept or --reference */
};

/** How the kernel came to be the one. */
enum himeno_choice { CHOICE_DEFAULT, CHOICE_ASKED, CHOICE_TRIAL, CHOICE_REMEMBERED };

struct himeno_ladder;

struct himeno_run {
  struct himeno_config config;
  struct placement placement;
  struct gpu_device *device;
  const struct himeno_kernel *kernel;
  struct himeno_kernel own; /**< the user's kernel, when there is one */
  enum himeno_choice choice;
  const struct halo_transport *transport;
  enum himeno_choice transport_choice;
  int64_t global[3];
  int procs[3];
  struct solver *solver;
  struct record *record;
  struct accept_policy policy; /**< on rank 0, with --accept */
  struct reference reference;  /**< on rank 0, with --reference */
  int blocks_min;              /**< timed blocks without which nothing can be judged; on all ranks */
  struct himeno_result result;
  struct himeno_ladder *ladder; /**< with --ladder, on all ranks */
};

/** \brief Everything after the command line was read. There is a result to report where result.ended is set.
 *
 * When it fails with text held in the log, only this rank knows and the others wait: the caller ends the job. With
 * nothing held the ranks have agreed and said why. */
status_t himeno_run(struct himeno_run *run);

/** \brief Whether times are an emulator's, and no speed. */
static inline int himeno_is_emulated(const struct himeno_run *run)
{
  return run->placement.info.emulated;
}

/** \brief Frees what himeno_run made. */
void himeno_run_close(struct himeno_run *run);

/** \brief The configuration as the solver takes it. */
struct solver_config himeno_solver_config(const struct himeno_run *run);

/** \brief Timed rates over all ranks. */
double himeno_gflops(const struct himeno_run *run);
double himeno_bytes_per_second(const struct himeno_run *run);

#endif
