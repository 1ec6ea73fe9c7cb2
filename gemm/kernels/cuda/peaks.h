/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Kernels that measure a CUDA device's ceilings. */
#ifndef GEMM_KERNELS_CUDA_PEAKS_H
#define GEMM_KERNELS_CUDA_PEAKS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Threads per block. */
#define CUDA_PEAK_THREADS 256
/** Multiply-adds per thread and round. */
#define CUDA_PEAK_FMA 256
/** Bytes of shared memory that a thread reads per round. */
#define CUDA_PEAK_LOCAL_BYTES 64

/* Threads store a result only if it has an impossible value, so `out` is never written. */
cudaError_t cuda_peak_fma(float *out, int blocks, int rounds, cudaStream_t stream);
cudaError_t cuda_peak_local(float *out, int blocks, int rounds, cudaStream_t stream);
/** \brief Reads n floats (n is a multiple of 4) \a rounds times. */
cudaError_t cuda_peak_read(float *out, const float *in, int64_t n, int blocks, int rounds,
                           cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
