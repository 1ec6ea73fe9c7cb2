/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Kernels that show what a CUDA device can do at most. */
#ifndef GEMM_KERNELS_CUDA_PEAKS_H
#define GEMM_KERNELS_CUDA_PEAKS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Threads of a block. */
#define CUDA_PEAK_THREADS 256
/** Multiply-adds of a thread per round. */
#define CUDA_PEAK_FMA 256
/** Bytes of shared memory that a thread reads per round. */
#define CUDA_PEAK_LOCAL_BYTES 64

/* Threads store only what cannot come out: `out` is not written. */
cudaError_t cuda_peak_fma(float *out, int blocks, int rounds, cudaStream_t stream);
cudaError_t cuda_peak_local(float *out, int blocks, int rounds, cudaStream_t stream);
/** \brief Reads n floats, a multiple of 4, as often as \a rounds says. */
cudaError_t cuda_peak_read(float *out, const float *in, int64_t n, int blocks, int rounds,
                           cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
