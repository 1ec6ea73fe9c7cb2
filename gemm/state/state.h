/* SPDX-License-Identifier: MIT */
/** \file
 * \brief State and results of a run of gemm-gpu, and the rates that follow from them. */
#ifndef GEMM_STATE_STATE_H
#define GEMM_STATE_STATE_H

#include "comm/ranks/memory.h"
#include "comm/ranks/placement.h"
#include "gemm/cluster/product.h"
#include "gemm/config/cmdline.h"
#include "gemm/kernels/kernels.h"
#include "gemm/verify/flip.h"
#include "gemm/verify/matrices.h"
#include "gemm/verify/verify.h"
#include "suite/ranks.h"
#include "suite/worth.h"

enum gemm_bound { GEMM_BOUND_ARITHMETIC, GEMM_BOUND_DEVICE, GEMM_BOUND_LOCAL };

struct gemm_prediction {
  double seconds;          /**< seconds of a product; 0 if nothing can be predicted */
  double device_intensity; /**< flop per byte of device memory */
  double local_intensity;  /**< flop per byte of local memory, 0 if it is not used */
  /** share of the machine with useful work; padding counts as idle */
  double filled;
  enum gemm_bound bound;
};

/** \brief Predicts the time of one product. Without blocks or a peak, seconds is 0. */
struct gemm_prediction gemm_predict(const struct gemm_machine *machine, const struct gemm_problem *problem,
                                    const struct gemm_blocks *blocks);

extern const char *const gemm_bound_names[3];

/** The measurement of one kernel, a rung or a reference library. */
struct gemm_series {
  const struct gemm_kernel *kernel;
  struct gemm_exec *exec; /**< while measured */
  /** STATUS_ENVIRONMENT: cannot run here; STATUS_WRONG: wrong on a rank; `why` has the reason */
  status_t status;
  char why[512];
  char fault[256];                  /**< the fault on this rank; "" if none */
  double flop;                      /**< operations per product */
  struct gemm_blocks blocks;        /**< the chosen blocks */
  struct gemm_prediction predicted; /**< prediction for one product with these blocks */
  struct gemm_resources resources;
  struct gemm_counts counts; /**< counts for one product, if an emulator ran it */
  struct gemm_check check;
  int launches;    /**< products per block */
  double *samples; /**< seconds of each timed block on this rank */
  int n_samples;
  void *first;       /**< the first product's result, to which all later ones must be equal */
  void *first_block; /**< the first block's result, if C accumulates over its products */
  double seconds;    /**< median seconds per product, of the slowest rank */
};

/** Results for one size: the rungs from the lowest up, then the reference libraries. */
struct gemm_ladder_size {
  struct gemm_problem problem;
  struct gemm_series *series;
  int n_series;
};

struct gemm_ladder {
  struct gemm_ladder_size *sizes;
  int n;
  int shown; /**< number of sizes whose tables have been printed */
};

/** The path of panels to a rank's neighbour in a ring. */
struct gemm_path {
  int peer;
  char face[8];  /**< "j+": along the process row; "i+": along the process column */
  int64_t bytes; /**< bytes per slice */
  char used[16];
  char why[GPU_TEXT_MAX]; /**< reason why the path does not use the run's transport; otherwise "" */
  char handover[16];      /**< "shared memory" or "MPI" if panels are staged, and why; or "" */
  char handover_why[GPU_TEXT_MAX];
};

/** One rank's part of the report. */
struct gemm_rank {
  /** row in the table of ranks; its GFLOPS are from the rank's own median time */
  struct rank_row row;
  struct gemm_check check; /**< comparison of the result: of the kernel, or of the first rung */
  char fault[256];         /**< the fault on this rank; "" if none */
  char warning[256];       /**< a library's fault on this rank, if it does not decide the verdict */
  int unflipped;           /**< 1: a fault that should have been planted on this rank was not */
  double power_share;      /**< with --accept: median power divided by its limit; NAN if unknown */
  double starved;          /**< share of time that a thread waited for a core; −1: unknown */
  /* The following fields need --distributed. */
  double phases[GEMM_PHASES]; /**< mean seconds per timed product */
  int n_paths;
  struct gemm_path paths[2];
};

/** Options, device, queue and measured ceilings, shared by all products of a run. */
struct gemm_rig {
  struct gemm_config config;
  struct placement placement;
  struct gpu_device *device;
  struct gpu_queue *queue;
  struct gpu_event *begin, *end; /**< events around the timed products */
  struct memory_budget memory;
  struct gemm_ceilings ceilings; /**< ceilings of this rank's device, measured in this run */
};

/** The product of one size, and its reference result. */
struct gemm_work {
  struct gemm_problem problem;  /**< the part of the product that this rank computes */
  struct gemm_cluster *cluster; /**< NULL without --distributed */
  struct gemm_matrices matrices;
  struct gemm_reference *reference;
  struct gemm_flip *flips; /**< GEMM_FLIPS_MAX planted faults; NULL in normal runs */
  /** description of a change of A or B on this rank's device; "" if none */
  char damage[256];
};

struct gemm_result {
  struct gemm_series *series; /**< the kernel or the ladder's rungs, then the reference libraries */
  int n_series;
  struct gemm_ladder *ladder; /**< NULL without --ladder */
  struct gemm_rank *ranks;    /**< results of all ranks; only on rank 0 */
  double starved;             /**< this rank's value of gemm_rank.starved */
  int wrong;                  /**< a block of this rank was wrong: no rank begins another block */
  status_t verdict;
  int partial; /**< a signal to any rank ended the run: no rank begins another block */
};

/** This rank's power readings, with --accept. */
struct gemm_power {
  struct telemetry *telemetry; /**< NULL without --accept */
  double *watts;               /**< power readings, taken from time to time */
  int n_watts;
  double polled; /**< time of the last reading */
};

struct gemm_run {
  struct gemm_rig rig;
  struct gemm_work work;
  struct gemm_result result;
  struct gemm_power power;
};

struct gemm_machine gemm_run_machine(const struct gemm_rig *rig);

/** \brief Returns the device that reports predict for: that of --ceilings, or this rank's own. */
struct gemm_machine gemm_run_predicted(const struct gemm_rig *rig);

/** \brief Returns 1 if predictions apply to this rank's device. On a CPU, OpenCL's work-items run
 * one after the other on a core and their local memory is a cache, so there the model only ranks
 * tiles. */
int gemm_run_modelled(const struct gemm_rig *rig);

/** \brief Returns status_verdict of the series' status, or "incomplete" if a signal cut it
 * short. */
const char *gemm_series_verdict(const struct gemm_result *result, const struct gemm_series *series);

/** \brief Returns the evidence (suite/worth.h) of all products that were compared. If beta is 0,
 * only the last product of each block is compared. Call it on rank 0, with --accept. */
struct worth gemm_worth(const struct gemm_rig *rig, const struct gemm_result *result);

/** \brief Returns a name in gemm_arithmetic_names if the type is GEMM_F64, the data are random and
 * the arithmetic was recognised; NULL otherwise. */
const char *gemm_arithmetic_of(const struct gemm_rig *rig, const struct gemm_series *series);

/** \brief Returns the GFLOPS of all ranks together, computed from the slowest rank's time; 0 if
 * nothing was timed. */
double gemm_series_gflops(const struct gemm_rig *rig, const struct gemm_series *series);

/** \brief Returns gemm_series_gflops as a share of the peak of all devices; 0 if unknown. */
double gemm_series_share(const struct gemm_rig *rig, const struct gemm_series *series);

#endif
