/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Temporal kernels: T sweeps in one pass over memory. Between the CUDA kernel set (plain C) and
 * temporal.cu. */
#ifndef HIMENO_CUDA_TEMPORAL_H
#define HIMENO_CUDA_TEMPORAL_H

#include <cuda_runtime_api.h>

#include "himeno/cuda/pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the temporal kernels keep on a device. One for each stream that they are launched in: launches that
 * run at the same time must not share it. */
struct cuda_temporal_chip {
  int processors[2]; /**< multiprocessors near to each half of the L2 cache; [1] is 0 where it is one */
  unsigned char
      *near;    /**< device memory: the half near to a multiprocessor, by its number; NULL where it is one */
  int *scratch; /**< device memory: counters of the launch in flight */
};

/** One launch: as for a classic sweep, and what lies around the box. pass.p must be valid T points around the
 * box and the coefficients T - 1 points, as far as the array goes; pass.gosa has T slots. The box must not be
 * empty. */
struct cuda_temporal_job {
  struct cuda_pass pass;
  int extent[3];                      /**< of the local array */
  int interior_lo[3], interior_hi[3]; /**< the points that sweeps update at all; the box lies inside */
};

/** A kernel of one tile shape. */
struct cuda_temporal {
  int sweeps;                /**< T */
  int tile[2];               /**< points along j and k that a block writes in each plane */
  int major;                 /**< least compute capability, major number */
  int threads, shared_bytes; /**< of a block; one block fills a multiprocessor */
  const void *kernel;
  cudaError_t (*launch)(const struct cuda_temporal_chip *chip, const struct cuda_temporal_job *job,
                        cudaStream_t stream);
};

/* Best on an H100: 3_64x10 from 256x256x512 on, 3_32x16 for 128x128x256. */
extern const struct cuda_temporal cuda_temporal_3_64x10, cuda_temporal_3_32x16, cuda_temporal_2_64x15;
/* Without the bulk copy engine, for chips before Hopper. */
extern const struct cuda_temporal cuda_temporal_2_64x10_async;

/** \brief Measures the current device and allocates. \a chip is set only on success. */
cudaError_t cuda_temporal_open(struct cuda_temporal_chip *chip);
void cuda_temporal_close(struct cuda_temporal_chip *chip);

#ifdef __cplusplus
}
#endif

#endif
