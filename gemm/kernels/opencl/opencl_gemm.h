/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Kernels by OpenCL: one way to build and launch them all; they differ by source, blocks and
 * geometry. */
#ifndef GEMM_KERNELS_OPENCL_OPENCL_GEMM_H
#define GEMM_KERNELS_OPENCL_OPENCL_GEMM_H

#include "config.h"
#include "gemm/kernels/kernels.h"
#include "gpu/opencl/opencl_device.h"

/** How a source is launched. */
enum opencl_geometry {
  OPENCL_PLAIN, /**< work-items in two dimensions, group_n/item_n × group_m/item_m a group */
  OPENCL_TILES, /**< work-items in one dimension, groups in bands, parts of k along z */
  OPENCL_SINGLE /**< one work-item a group */
};

/** A rung: what gemm_kernel.variant points to. */
struct opencl_gemm_variant {
  const char *source;        /**< behind common.cl */
  const char *shared_source; /**< between the two, NULL for none */
  enum opencl_geometry geometry;
  int cpus_only;
};

extern const struct gemm_ops gemm_opencl_ops;

/** An argument of a kernel, as clSetKernelArg wants it. */
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

/** \brief A kernel of a program, by its name. */
status_t gemm_opencl_kernel(cl_program program, const char *name, cl_kernel *kernel);

/** \brief Puts a kernel with \a n arguments into the queue. */
status_t gemm_opencl_launch(struct gpu_queue *queue, cl_kernel kernel,
                            const struct opencl_argument *arguments, cl_uint n, const size_t global[3],
                            const size_t local[3]);

#if HAVE_CLBLAST
extern const struct gemm_kernel gemm_opencl_clblast;
#endif
#if HAVE_CBLAS
extern const struct gemm_kernel gemm_opencl_cblas;
#endif

/** \brief Measures by kernels of its own: multiply-adds, reads of device memory, reads of local
 * memory. */
status_t gemm_opencl_ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                              struct gemm_ceilings *ceilings);

#endif
