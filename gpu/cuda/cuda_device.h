/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Native handles of the CUDA backend, for the kernels of each workload. Compiles as C. */
#ifndef GPU_CUDA_CUDA_DEVICE_H
#define GPU_CUDA_CUDA_DEVICE_H

#include <cuda_runtime_api.h>

#include "gpu/gpu.h"

/** Marks kernel parameters that are read in place instead of being copied. Chips before Volta do
 * not support it. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define CUDA_GRID_CONSTANT
#else
#define CUDA_GRID_CONSTANT __grid_constant__
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_device {
  struct gpu_device base;
  int ordinal;
  struct cudaDeviceProp properties;
};

struct cuda_queue {
  struct gpu_queue base;
  cudaStream_t stream;
  /** 1: the next kernel may overlap the work enqueued last; copies, fills and waits set it to 0 */
  int overlap;
};

/** \brief Logs "what: error". Returns STATUS_ENVIRONMENT if memory, a device or its driver is
 * unavailable, otherwise STATUS_FAULT. */
status_t cuda_fail(cudaError_t error, const char *what);

static inline status_t cuda_check(cudaError_t error, const char *what)
{
  return error == cudaSuccess ? STATUS_OK : cuda_fail(error, what);
}

/** \brief Makes \a device the calling thread's current device. */
status_t cuda_use(struct gpu_device *device);

/** \brief Returns the CUDA ordinal of the device with this UUID, or −1 if it is not visible. */
int cuda_ordinal_of(const char *uuid);

/** \brief Sets *code to the compute capability of the code that the driver uses for a kernel, e.g.
 * 90 for 9.0. It is lower than that of the current device if the driver compiled PTX of an older
 * version, which lacks newer instructions. */
static inline cudaError_t cuda_code_of(const void *kernel, int *code)
{
  struct cudaFuncAttributes attributes;
  cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error == cudaSuccess) *code = attributes.ptxVersion;
  return error;
}

static inline cudaStream_t cuda_queue_handle(struct gpu_queue *queue)
{
  return ((struct cuda_queue *)queue)->stream;
}

#ifdef __cplusplus
}
#endif

#endif
