/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Interface between the CUDA set's host code (plain C) and its kernels (one .cu per
 * rung). */
#ifndef GEMM_KERNELS_CUDA_CUDA_GEMM_H
#define GEMM_KERNELS_CUDA_CUDA_GEMM_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "config.h"
#include "gemm/kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One product as gemm/problem.h defines it, in device memory, passed to kernels by value. Pointers
 * are declared as float for every type. */
struct cuda_job {
  enum gemm_type type;
  int m, n, k;
  int64_t lda, ldb, ldc; /**< leading dimensions, in elements */
  int trans_a, trans_b;
  double alpha, beta; /**< float values, unless the type is GEMM_F64 */
  const float *a, *b;
  float *c;
  float *work; /**< work space of the size that cuda_operation.work returns */
};

/** Device properties for the operations. */
struct cuda_chip {
  /** compute capability that the operation's code in this program was built for, e.g. 90 for 9.0 */
  int number;
  int processors;
  int shared_bytes; /**< largest shared memory of one block */
};

/** Launch parameters for reports. */
struct cuda_launch {
  const void *kernel;
  int threads;
  int shared_bytes; /**< dynamic shared memory, in addition to the kernel's static shared memory */
};

/** The code of a rung. In each function, \a blocks is the launch's division of the work. Only
 * `launch` reads the job's matrices. */
struct cuda_operation {
  /** \brief Enqueues the product in the stream. */
  cudaError_t (*launch)(const struct cuda_job *job, enum gemm_type type, const struct cuda_chip *chip,
                        const struct gemm_blocks *blocks, cudaStream_t stream);
  /** \brief Returns the bytes of device memory that a launch needs in addition to the matrices.
   * This memory is cleared before the first launch. The pointer is NULL if launches need none. */
  size_t (*work)(const struct cuda_job *job, enum gemm_type type, const struct cuda_chip *chip,
                 const struct gemm_blocks *blocks);
  /** \brief Completes \a blocks, which may be all 0, with the values that a launch will use.
   * Returns cudaErrorInvalidConfiguration if there is no such kernel for this job on this chip. The
   * pointer is NULL if the operation has no choice. */
  cudaError_t (*choose)(const struct cuda_job *job, enum gemm_type type, const struct cuda_chip *chip,
                        struct gemm_blocks *blocks);
  /** \brief Returns the launch parameters for reports. The pointer is NULL if they are unknown. */
  struct cuda_launch (*describe)(const struct cuda_job *job, const struct cuda_chip *chip,
                                 const struct gemm_blocks *blocks);
  /** \brief Returns one of the kernels, to find the architecture that it was built for. The pointer
   * is NULL if the first rung's kernel was built for the same architecture. */
  const void *(*kernel)(void);
  /* The following fields are for half precision and tensor cores only. */
  int chip;      /**< lowest compute capability, e.g. 80 */
  int family;    /**< 1: runs on this capability only; later chips dropped the instructions */
  int built;     /**< 1: this program contains code for such a chip */
  int rows_most; /**< largest number of rows of C that the grid of blocks can cover; 0: no limit */
};

extern const struct cuda_operation fp32_naive, fp32_regblock, fp32_local, fp32_unroll, fp32_pipeline,
    fp32_lds_pipeline, fp32_warptile;
extern const struct cuda_operation tensor_f16x2, tensor_wmma_warp, tensor_wmma, tensor_mma, tensor_dmma,
    tensor_wgmma;

/** \brief Enqueues C = alpha·Σ parts + beta·C in the stream. The parts are \a count float matrices
 * (double for GEMM_F64) of the size of C, or of Cᵀ if \a turned, with leading dimension \a ld.
 * Consecutive parts are \a part elements apart. \a ld and \a part are multiples of 4. The order of
 * the sum depends only on \a count. */
cudaError_t cuda_parts_add(const struct cuda_job *job, const void *parts, int count, int64_t part, int64_t ld,
                           int turned, cudaStream_t stream);

/** Operations for float32 on any chip. */
extern const struct gemm_ops gemm_cuda_ops;
/** Operations for half precision and tensor cores, which require a certain chip. */
extern const struct gemm_ops gemm_cuda_tensor_ops;

#if HAVE_CUBLAS
extern const struct gemm_kernel gemm_cuda_cublas;
#endif

status_t gemm_cuda_ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                            struct gemm_ceilings *ceilings);

#ifdef __cplusplus
}
#endif

#endif
