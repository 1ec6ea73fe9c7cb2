/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Between the tensor-core kernels of the CUDA set (plain C) and their code (a .cu a
 * rung). */
#ifndef GEMM_KERNELS_CUDA_TENSOR_TENSOR_H
#define GEMM_KERNELS_CUDA_TENSOR_TENSOR_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "gemm/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One product as gemm/problem.h says it, in device memory. */
struct tensor_job {
  enum gemm_type type;
  int m, n, k;
  int64_t lda, ldb, ldc; /**< elements */
  int trans_a, trans_b;
  float alpha, beta;
  const void *a, *b;
  void *c;
  void *work;     /**< as many bytes as tensor_step.work says */
  int processors; /**< of the device */
  int chip;       /**< compute capability that the code was built for, 90 for 9.0 */
};

struct tensor_step {
  int chip;   /**< least compute capability, as in 80 */
  int family; /**< 1: only that compute capability, since later chips dropped the instructions */
  int built;  /**< there is code for such a chip in this program */
  /** \brief Bytes of device memory that a job needs beside its matrices; NULL: none. */
  size_t (*work)(const struct tensor_job *job);
  /** \brief Puts the product into the stream. */
  cudaError_t (*launch)(const struct tensor_job *job, cudaStream_t stream);
  int rows_most; /**< of C, where the grid limits them; 0: nothing does */
  /** \brief One of its kernels, which knows what it was built for; NULL where `built` says
   * enough. */
  const void *(*kernel)(void);
};

extern const struct tensor_step tensor_f16x2;
extern const struct tensor_step tensor_wmma, tensor_wmma_32x8, tensor_wmma_8x32;
extern const struct tensor_step tensor_mma;
extern const struct tensor_step tensor_wgmma;
extern const struct tensor_step tensor_sgemm_tc;

#ifdef __cplusplus
}
#endif

#endif
