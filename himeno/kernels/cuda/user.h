/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A user's own CUDA kernel, compiled while the program runs (NVRTC): doc/kernel-template.cu is the
 * start of one. */
#ifndef HIMENO_KERNELS_CUDA_USER_H
#define HIMENO_KERNELS_CUDA_USER_H

#include "gpu/cuda/cuda_device.h"
#include "himeno/kernels/cuda/step.h"

struct cuda_user {
  struct cuda_step step; /**< shape only: `kernel` is NULL */
  struct CUmod_st *module;
  struct CUfunc_st *function;
};

/** \brief Compiles \a path for \a device and reads its shape. A file that cannot be read, or NVRTC or the
 * driver not being there, is STATUS_ENVIRONMENT; source that does not compile or has no valid shape is
 * STATUS_USAGE. */
status_t cuda_user_open(struct gpu_device *device, const char *path, struct cuda_user *user);
void cuda_user_close(struct cuda_user *user);

cudaError_t cuda_user_launch(const struct cuda_user *user, dim3 grid, cudaStream_t stream, void **arguments);

/** \brief Registers and shared memory a block takes, and how many blocks a multiprocessor holds. */
cudaError_t cuda_user_resources(const struct cuda_user *user, int *registers, int *shared_bytes, int *blocks);

#endif
