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

/** A device as the model sees it; 0 where unknown, which then limits nothing. */
struct gemm_machine {
  struct gemm_ceilings ceilings;
  int units; /**< compute units, over which groups are spread */
};

/** The bound of a prediction. */
enum gemm_bound { GEMM_BOUND_ARITHMETIC, GEMM_BOUND_DEVICE, GEMM_BOUND_LOCAL };

struct gemm_prediction {
  double seconds;          /**< 0 when the model cannot say */
  double device_intensity; /**< flop a byte of device memory */
  double local_intensity;  /**< flop a byte of local memory, 0 where none is used */
  /** share of the machine that has a group to work on, padding counted as idle */
  double filled;
  enum gemm_bound bound;
};

/** \brief Seconds of one product. Without blocks, or without a peak, nothing is predicted. */
struct gemm_prediction gemm_predict(const struct gemm_machine *machine, const struct gemm_problem *problem,
                                    const struct gemm_blocks *blocks);

extern const char *const gemm_bound_names[3];

/** One kernel's measurement, one of ours or a reference library. */
struct gemm_series {
  const struct gemm_kernel *kernel;
  struct gemm_exec *exec; /**< while measured */
  /** STATUS_ENVIRONMENT: it cannot run here; STATUS_WRONG: on some rank. `why` */
  status_t status;
  char why[512];
  char fault[256];                  /**< what was wrong on this rank; "" where nothing was */
  double flop;                      /**< of a product */
  struct gemm_blocks blocks;        /**< as chosen */
  struct gemm_prediction predicted; /**< of one product with those blocks */
  struct gemm_resources resources;
  struct gemm_counts counts; /**< of a product, where an emulator ran it */
  struct gemm_check check;
  int launches;    /**< products a block */
  double *samples; /**< seconds of each timed block on this rank */
  int n_samples;
  void *first;       /**< result of the first product, which that of all later ones must equal */
  void *first_block; /**< of the first block, where C goes through all its products */
  double seconds;    /**< median seconds of a product, the slowest rank's */
};

/** One size: the rungs from the lowest up, then the reference libraries. */
struct gemm_ladder_size {
  struct gemm_problem problem;
  struct gemm_series *series;
  int n_series;
};

struct gemm_ladder {
  struct gemm_ladder_size *sizes;
  int n;
  int shown; /**< of the sizes, whose tables stand on standard output */
};

/** How panels travel to a rank's neighbour in a ring. */
struct gemm_path {
  int peer;
  char face[8];  /**< "j+": along the process row, "i+": the column */
  int64_t bytes; /**< of a slice */
  char used[16];
  char why[GPU_TEXT_MAX]; /**< "" where it is the transport of the run */
  char handover[16];      /**< of halo_path, and why */
  char handover_why[GPU_TEXT_MAX];
};

/** One rank as the report shows it. */
struct gemm_rank {
  struct rank_row row;     /**< gflops of the rank's own median */
  struct gemm_check check; /**< of the kernel, or the first rung */
  char fault[256];         /**< what was wrong on this rank; "" where nothing was */
  char warning[256];       /**< what a library made wrong on this rank, where that is no verdict */
  int unflipped;           /**< a fault that was to be planted here was not */
  double power_share;      /**< of worth_share, with --accept */
  double starved;          /**< share of the timed part that a thread had no core; −1 unknown */
  /* with --distributed alone */
  double phases[GEMM_PHASES]; /**< mean seconds a timed product */
  int n_paths;
  struct gemm_path paths[2];
};

/** The device and its queue, opened before the first product. */
struct gemm_rig {
  struct gemm_config config;
  struct placement placement;
  struct gpu_device *device;
  struct gpu_queue *queue;
  struct gpu_event *begin, *end; /**< around what is timed */
  struct memory_budget memory;
  struct gemm_ceilings ceilings; /**< of this rank's device, in this run */
};

/** The product of one size, and its reference. */
struct gemm_work {
  struct gemm_problem problem;  /**< this rank's own */
  struct gemm_cluster *cluster; /**< what it is a part of; NULL: it is whole */
  struct gemm_matrices matrices;
  struct gemm_reference *reference;
  struct gemm_flip *flips; /**< GEMM_FLIPS_MAX planted faults; NULL in normal runs */
  char damage[256];        /**< how A or B changed on this rank's device; "" where they did not */
};

struct gemm_result {
  struct gemm_series *series; /**< the kernel or the ladder's rungs, then the reference libraries */
  int n_series;
  struct gemm_ladder *ladder; /**< NULL without --ladder */
  struct gemm_rank *ranks;    /**< on rank 0 */
  double starved;             /**< of this rank, as in gemm_rank */
  int wrong;                  /**< a block of this rank was, so that no rank begins another one */
  status_t verdict;
  int partial; /**< a signal to any rank ended it: no rank begins another block */
};

/** This rank's power, with --accept. */
struct gemm_power {
  struct telemetry *telemetry; /**< else NULL */
  double *watts;               /**< that it told, now and then */
  int n_watts;
  double polled; /**< when it was asked last */
};

struct gemm_run {
  struct gemm_rig rig;
  struct gemm_work work;
  struct gemm_result result;
  struct gemm_power power;
};

/** \brief This rank's device as the model sees it. */
struct gemm_machine gemm_run_machine(const struct gemm_rig *rig);

/** \brief Whether predictions hold for this rank's device. OpenCL's work-items on a CPU take turns
 * on a core, and their local memory is a cache: there the model only ranks tiles. */
int gemm_run_modelled(const struct gemm_rig *rig);

/** \brief A series' verdict in words: status_verdict's, but "incomplete" until it has ended. */
const char *gemm_series_verdict(const struct gemm_result *result, const struct gemm_series *series);

/** \brief What products without a fault are worth; only those count that were compared: of a block
 * that reads no C the last one. Rank 0, with --accept. */
struct worth gemm_worth(const struct gemm_rig *rig, const struct gemm_result *result);

/** \brief GFLOPS of all ranks together by the slowest one's clock; 0 where nothing was timed. */
double gemm_series_gflops(const struct gemm_rig *rig, const struct gemm_series *series);

/** \brief The same as a share of what all devices multiply and add in registers; 0: unknown. */
double gemm_series_share(const struct gemm_rig *rig, const struct gemm_series *series);

#endif
