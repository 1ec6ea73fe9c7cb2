/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Between the float32 ladder of the CUDA set (plain C) and its steps (a .cu a rung). */
#ifndef GEMM_KERNELS_CUDA_FP32_FP32_H
#define GEMM_KERNELS_CUDA_FP32_FP32_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "gemm/kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One product as gemm/problem.h says it, in device memory. */
struct fp32_job {
  int m, n, k;
  int64_t lda, ldb, ldc; /**< elements */
  int trans_a, trans_b;
  float alpha, beta;
  const float *a, *b;
  float *c;
  float *work; /**< as many bytes as fp32_step.work says */
};

/** What steps want to know of the device. */
struct fp32_chip {
  int number; /**< compute capability that this program's code for it was built for, 90 for 9.0 */
  int processors;
  int shared_bytes; /**< of shared memory that one block can have */
};

/** What a launch is made of, as far as a report wants to know. */
struct fp32_launch {
  const void *kernel;
  int threads;
  int shared_bytes; /**< asked for at the launch, beside what the kernel declares */
};

/** Blocks are those of the launch; matrices of a job are needed by launch alone. */
struct fp32_step {
  /** \brief Sets \a blocks, which may be all 0, to what a launch will use.
   * cudaErrorInvalidConfiguration: there is no such kernel for this job on this chip. NULL: the
   * kernel has no choice. */
  cudaError_t (*choose)(const struct fp32_job *job, const struct fp32_chip *chip, struct gemm_blocks *blocks);
  /** \brief Bytes of device memory that a launch needs beside the matrices, 0 before the first;
   * NULL: none. */
  size_t (*work)(const struct fp32_job *job, const struct fp32_chip *chip, const struct gemm_blocks *blocks);
  struct fp32_launch (*describe)(const struct fp32_job *job, const struct fp32_chip *chip,
                                 const struct gemm_blocks *blocks);
  /** \brief Puts the product into the stream. */
  cudaError_t (*launch)(const struct fp32_job *job, const struct fp32_chip *chip,
                        const struct gemm_blocks *blocks, cudaStream_t stream);
};

extern const struct fp32_step fp32_naive, fp32_regblock, fp32_local, fp32_unroll, fp32_pipeline,
    fp32_lds_pipeline, fp32_warptile;

#ifdef __cplusplus
}
#endif

#endif
