/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The command line of gemm-gpu. */
#ifndef GEMM_CONFIG_CMDLINE_H
#define GEMM_CONFIG_CMDLINE_H

#include "base/options.h"
#include "gemm/data.h"
#include "gemm/kernels/kernels.h"
#include "gemm/verify/verify.h"
#include "gpu/binding.h"
#include "gpu/gpu.h"

#define GEMM_SIZES_MAX 32

/** Sizes of a ladder, each as m, n, k. */
struct gemm_sizes {
  int64_t size[GEMM_SIZES_MAX][3];
  int n; /**< number of sizes; 0: use the default sizes */
};

struct gemm_config {
  int64_t size[3]; /**< m, n, k */
  int size_given;
  int ladder;
  struct gemm_machine card; /**< the values of --ceilings; without that option card.units is 0 */
  struct gemm_sizes sizes;
  int trans; /**< index in gemm_trans_names */
  int64_t ld[GEMM_MATRICES];
  double alpha, beta;
  int distributed;
  int procs[2];                      /**< P and Q; 0: auto */
  const char *transport;             /**< NULL: auto */
  int weak;                          /**< 1: m and n are the extents of one rank's block of C */
  int64_t panel;                     /**< 0: the default */
  int type;                          /**< enum gemm_type */
  int data;                          /**< enum gemm_data */
  const struct gpu_backend *backend; /**< NULL: auto */
  const char *device, *kernel;       /**< NULL: auto */
  int binding;                       /**< enum binding_policy */
  int64_t expect, qpus;              /**< qpus 0: all */
  double seconds;
  int seconds_given;
  double timeout; /**< seconds that a rank waits for others before it fails */
  double block;   /**< seconds per block; 0: the default */
  int no_reference;
  int verify; /**< enum gemm_verify */
  int accept; /**< 1: --accept; an incorrect result of a library counts as a device fault */
  const char *json;
  int list, quiet, verbose;
  int fragment_map;
};

extern const struct option_program gemm_options;

/** \brief Builds the problem with extents \a size. Returns STATUS_USAGE if a leading dimension is
 * too small, if a matrix is too large, or if special data would be verified by samples. */
status_t gemm_config_problem(const struct gemm_config *config, const int64_t size[3],
                             struct gemm_problem *problem);

/** \brief Warns about options that the mode ignores. \a timed is 0 on an emulated device. */
void gemm_cmdline_ignore(const struct gemm_config *config, int timed);

#endif
