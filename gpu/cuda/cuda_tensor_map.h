/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Finds the driver's function that describes arrays to the tensor memory accelerator. */
#ifndef GPU_CUDA_CUDA_TENSOR_MAP_H
#define GPU_CUDA_CUDA_TENSOR_MAP_H

#include <cuda.h>
#include <cuda_runtime_api.h>

/** The type of cuTensorMapEncodeTiled. */
typedef CUresult (*cuda_tensor_map_encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                           const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                           const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/** \brief Finds cuTensorMapEncodeTiled through the runtime, so that programs also start without a
 * driver. Returns cudaErrorNotSupported if the driver lacks it. */
static inline cudaError_t cuda_tensor_map_find(cuda_tensor_map_encode *encode)
{
  void *function = NULL;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                             cudaEnableDefault, &result);
#else
  const cudaError_t error =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &result);
#endif
  if (error != cudaSuccess) return error;
  if (!function) return cudaErrorNotSupported;
  *encode = (cuda_tensor_map_encode)function;
  return cudaSuccess;
}

#endif
