/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A launch of an OpenCL kernel: its arguments in order, and then its groups. */
#ifndef HIMENO_KERNELS_OPENCL_LAUNCH_H
#define HIMENO_KERNELS_OPENCL_LAUNCH_H

#include "himeno/kernels/opencl/exec.h"

/** Arguments are set one after the other; the first error stays. */
struct opencl_launch {
  struct himeno_exec *exec;
  cl_kernel kernel;
  const char *name; /**< in the source */
  cl_uint n;
  cl_int error;
};

/** \brief Begins one of the kernels that every step has. */
struct opencl_launch opencl_launch_begin(struct himeno_exec *exec, enum opencl_entry entry);
void opencl_argument(struct opencl_launch *launch, size_t bytes, const void *value);
void opencl_buffer(struct opencl_launch *launch, void *handle);

/** \brief What every sweep has: arrays, sums, strides, the box whose first group starts at \a
 * first_k, and the slot. */
void opencl_sweep_arguments(struct opencl_launch *launch, const struct himeno_sweep *sweep, int64_t first_k);

/** \brief Enqueues so many groups of so many work-items; reports the first error since the launch
 * began. */
status_t opencl_launch_end(struct opencl_launch *launch, struct gpu_queue *queue, cl_uint dimensions,
                           const size_t *groups, const size_t *group);

cl_long2 opencl_stride(const struct layout *layout);
cl_int8 opencl_box(const struct box *box, int odd, int64_t first_k);

#endif
