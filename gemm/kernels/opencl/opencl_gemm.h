/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Interface of the code that builds and launches all OpenCL kernels. The kernels differ in
 * source, blocks and geometry. */
#ifndef GEMM_KERNELS_OPENCL_OPENCL_GEMM_H
#define GEMM_KERNELS_OPENCL_OPENCL_GEMM_H

#include "config.h"
#include "gemm/kernels/kernels.h"
#include "gpu/opencl/opencl_device.h"

enum opencl_geometry {
  OPENCL_PLAIN, /**< two-dimensional groups of group_n/item_n × group_m/item_m work-items */
  OPENCL_TILES, /**< one-dimensional groups, ordered in bands; parts of k along z */
  OPENCL_SINGLE /**< one work-item per group */
};

/** The variant of a rung, to which gemm_kernel.variant points. */
struct opencl_gemm_variant {
  const char *source;        /**< compiled after common.cl */
  const char *shared_source; /**< compiled between common.cl and `source`; NULL for none */
  enum opencl_geometry geometry;
  int cpus_only;
};

extern const struct gemm_ops gemm_opencl_ops;

struct opencl_argument {
  size_t bytes;
  const void *value;
};
#define OPENCL_ARGUMENT(value)                                                                               \
  {                                                                                                          \
    sizeof(value), &(value)                                                                                  \
  }

/** \brief Builds \a variant's sources, appended to common.cl. */
status_t gemm_opencl_build(struct opencl_device *device, const struct opencl_gemm_variant *variant,
                           const char *options, cl_program *program);

status_t gemm_opencl_kernel(cl_program program, const char *name, cl_kernel *kernel);

status_t gemm_opencl_launch(struct gpu_queue *queue, cl_kernel kernel,
                            const struct opencl_argument *arguments, cl_uint n, const size_t global[3],
                            const size_t local[3]);

#if HAVE_CLBLAST
extern const struct gemm_kernel gemm_opencl_clblast;
#endif

/** \brief Measures ceilings by dedicated kernels: multiply-adds, reads of device memory, reads of
 * local memory. */
status_t gemm_opencl_ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                              struct gemm_ceilings *ceilings);

#endif
