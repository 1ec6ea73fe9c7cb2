/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Native handles of the CUDA backend, for kernels that live with their workload. Plain C. */
#ifndef GPU_CUDA_CUDA_DEVICE_H
#define GPU_CUDA_CUDA_DEVICE_H

#include <cuda_runtime_api.h>

#include "gpu/gpu.h"

/** Kernel parameters that are read where they were put, and not copied; chips before Volta
 * cannot. */
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
  /** the next kernel may overlap the work put in last; copies, fills and waits forbid it */
  int overlap;
};

/** \brief Logs "what: error" and returns STATUS_ENVIRONMENT where memory, a device or its driver is
 * lacking, else STATUS_FAULT. */
status_t cuda_fail(cudaError_t error, const char *what);

static inline status_t cuda_check(cudaError_t error, const char *what)
{
  return error == cudaSuccess ? STATUS_OK : cuda_fail(error, what);
}

/** \brief Makes \a device the calling thread's: allocations and launches go there. */
status_t cuda_use(struct gpu_device *device);

/** \brief The place of a device among those that this process sees, −1 where it does not. */
int cuda_ordinal_of(const char *uuid);

/** \brief The compute capability that this program's code of a kernel was built for, 90 for 9.0, on
 * the device in use: a chip may run what the driver made of an older one's PTX, which lacks what
 * came later. */
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
