/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Interface between the CUDA kernel set (plain C) and the kernels (one .cu file per rung of
 * the ladder). */
#ifndef HIMENO_KERNELS_CUDA_VARIANT_H
#define HIMENO_KERNELS_CUDA_VARIANT_H

#include <cuda_runtime_api.h>

#include "himeno/kernels/cuda/linked.h"
#include "himeno/kernels/cuda/pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A sweep kernel, and the division of a box into its blocks. */
struct cuda_variant {
  void (*kernel)(struct cuda_pass);
  int threads[3]; /**< block dimensions x, y, z */
  int tile[3];    /**< points per block along i, j, k */
  /** dimension of the box along the grid's x, y, z; adjacent blocks are along the first */
  int axis[3];
  int packed; /**< 1: reads `pack` instead of `coefficient` */
  /** a whole sweep that exchanges its halos itself; NULL for none */
  void (*linked)(struct cuda_linked);
};

extern const struct cuda_variant cuda_variant_naive, cuda_variant_block16, cuda_variant_packed;
extern const struct cuda_variant cuda_variant_paced, cuda_variant_paced_64, cuda_variant_paced_128,
    cuda_variant_paced_j, cuda_variant_paced_cached, cuda_variant_unpaced;
extern const struct cuda_variant cuda_variant_stream, cuda_variant_stream_32x2, cuda_variant_stream_32x8,
    cuda_variant_stream_32x16, cuda_variant_stream_128x1, cuda_variant_stream_j, cuda_variant_stream_i,
    cuda_variant_stream_keep;

/* Kernels used with all sweeps. Launches are asynchronous in the stream. */

/** \brief Sweeps a box for which tiles would be mostly idle: one thread per point of the box,
 * one-dimensional blocks. */
#define CUDA_SLAB_THREADS 128
extern void (*const cuda_slab)(struct cuda_pass pass);

/** \brief The ceiling: reads 13 arrays and writes pass.out, with four floats per thread and
 * one-dimensional blocks. */
#define CUDA_CEILING_THREADS 256
extern void (*const cuda_ceiling)(struct cuda_pass pass, int64_t quads);

struct cuda_fill_job {
  float *out;
  float *packed; /**< interleaved copy, which gets the values at every fourth float; or NULL */
  int swapped;   /**< points of `packed` are in the order of CUDA_PACK_PLACE */
  int64_t origin[3], extent[3], global[3], pitch, plane; /**< as in struct layout */
  struct himeno_rule rule;
  enum himeno_array array;
  enum himeno_data data;
};

/** \brief Fills a whole local array with initial data, and its padding with zeros. */
cudaError_t cuda_fill(const struct cuda_fill_job *job, cudaStream_t stream);

struct cuda_checksum_job {
  const float *array[HIMENO_COEFFICIENTS];
  int n;          /**< number of arrays */
  struct box box; /**< box to sum over, local indices */
  int64_t origin[3], global[3], pitch, plane;
};

/** \brief Adds the checksums of the arrays over the box to *sum in device memory. */
cudaError_t cuda_checksum(const struct cuda_checksum_job *job, unsigned long long *sum, cudaStream_t stream);

/** \brief Computes the new values of the box of \a pass in each of \a times thread blocks. Block b
 * stores them from values[b · points] on, and the number of its multiprocessor in processors[b].
 * Blocks on multiprocessor \a stuck flip bit \a bit of each value. */
cudaError_t cuda_repeat(const struct cuda_pass *pass, int times, int stuck, int bit, float *values,
                        int *processors, cudaStream_t stream);

/** \brief Fails an assertion on the device, for tests: simulates the loss of the device. */
cudaError_t cuda_trap(cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
