/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Between the kernels of the CUDA set (plain C) and their code (a .cu a rung). */
#ifndef GEMM_KERNELS_CUDA_CUDA_GEMM_H
#define GEMM_KERNELS_CUDA_CUDA_GEMM_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "config.h"
#include "gemm/kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One product as gemm/problem.h says it, in device memory: kernels take it by value. Pointers are
 * of float, whatever the operation's type. */
struct cuda_job {
  int m, n, k;
  int64_t lda, ldb, ldc; /**< elements */
  int trans_a, trans_b;
  float alpha, beta;
  const float *a, *b;
  float *c;
  float *work; /**< as many bytes as cuda_operation.work says */
};

/** Device properties for the operations. */
struct cuda_chip {
  int number; /**< compute capability that this program's code for it was built for, 90 for 9.0 */
  int processors;
  int shared_bytes; /**< of shared memory that one block can have */
};

/** Launch parameters for reports. */
struct cuda_launch {
  const void *kernel;
  int threads;
  int shared_bytes; /**< asked for at the launch, beside what the kernel declares */
};

/** The code of a rung. Blocks are those of the launch; matrices of a job are needed by launch
 * alone. */
struct cuda_operation {
  /** \brief Puts the product into the stream. */
  cudaError_t (*launch)(const struct cuda_job *job, enum gemm_type type, const struct cuda_chip *chip,
                        const struct gemm_blocks *blocks, cudaStream_t stream);
  /** \brief Bytes of device memory that a launch needs in addition to the matrices, 0 before the
   * first; NULL: none. */
  size_t (*work)(const struct cuda_job *job, enum gemm_type type, const struct cuda_chip *chip,
                 const struct gemm_blocks *blocks);
  /** \brief Sets \a blocks, which may be all 0, to what a launch will use.
   * cudaErrorInvalidConfiguration: there is no such kernel for this job on this chip. NULL: the
   * operation has no choice. */
  cudaError_t (*choose)(const struct cuda_job *job, enum gemm_type type, const struct cuda_chip *chip,
                        struct gemm_blocks *blocks);
  /** \brief NULL: no report knows. */
  struct cuda_launch (*describe)(const struct cuda_job *job, const struct cuda_chip *chip,
                                 const struct gemm_blocks *blocks);
  /** \brief One of its kernels, which knows what it was built for; NULL: what the first rung was
   * built for. */
  const void *(*kernel)(void);
  /* Of half precision and the tensor cores alone: */
  int chip;      /**< least compute capability, as in 80 */
  int family;    /**< 1: only that compute capability, since later chips dropped the instructions */
  int built;     /**< there is code for such a chip in this program */
  int rows_most; /**< of C, where the grid limits them; 0: nothing does */
};

extern const struct cuda_operation fp32_naive, fp32_regblock, fp32_local, fp32_unroll, fp32_pipeline,
    fp32_lds_pipeline, fp32_warptile;
extern const struct cuda_operation tensor_f16x2, tensor_wmma, tensor_mma, tensor_wgmma;

/** \brief Puts C = alpha·Σ parts + beta·C into the stream: \a count float matrices of the size of
 * C, or of Cᵀ if \a turned, with leading dimension \a ld and each \a part elements after the one
 * before, both multiples of 4. They are added up in an order that depends on their count alone. */
cudaError_t cuda_parts_add(const struct cuda_job *job, const float *parts, int count, int64_t part,
                           int64_t ld, int turned, cudaStream_t stream);

/** float32 on any chip. */
extern const struct gemm_ops gemm_cuda_ops;
/** Half precision and the tensor cores, which ask for a chip. */
extern const struct gemm_ops gemm_cuda_tensor_ops;

#if HAVE_CUBLAS
extern const struct gemm_kernel gemm_cuda_cublas;
#endif

/** \brief As gemm_kernel_set.ceilings. */
status_t gemm_cuda_ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                            struct gemm_ceilings *ceilings);

#ifdef __cplusplus
}
#endif

#endif
