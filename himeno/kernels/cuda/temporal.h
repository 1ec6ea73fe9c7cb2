/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Temporal kernels: T sweeps in one pass over memory. Interface between the CUDA kernel set
 * (plain C) and temporal.cu. */
#ifndef HIMENO_KERNELS_CUDA_TEMPORAL_H
#define HIMENO_KERNELS_CUDA_TEMPORAL_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "himeno/kernels/cuda/pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/** State of the temporal kernels on a device. Launches that run at the same time must not share it:
 * there is one per stream. */
struct cuda_temporal_chip {
  int processors; /**< multiprocessors */
  int *progress;  /**< device memory: counters of the launch in flight */
};

/** One launch: as for a classic sweep, and what lies around the box. pass.p must be valid T points
 * around the box and the coefficients T - 1 points, as far as the array goes; pass.gosa has T
 * slots. The box must not be empty. */
struct cuda_temporal_job {
  struct cuda_pass pass;
  int extent[3]; /**< of the local array */
  /** the points that sweeps update at all; the box lies inside */
  int interior_lo[3], interior_hi[3];
};

/** A kernel of one tile shape. pass.pack holds its coefficients, in the order of
 * CUDA_PACK_PLACE. */
struct cuda_temporal {
  int sweeps;                /**< T */
  int tile[2];               /**< points along j and k that a block writes in each plane */
  int major;                 /**< least compute capability, major number */
  int threads, shared_bytes; /**< of a block; one block fills a multiprocessor */
  const void *kernel;
  cudaError_t (*launch)(const struct cuda_temporal_chip *chip, const struct cuda_temporal_job *job,
                        cudaStream_t stream,
                        bool overlaps /**< it may begin while the launch ahead of it drains */);
};

/** For each number of sweeps: a form for chips with the bulk copy engine, followed by one with
 * asynchronous copies for other chips and for less shared memory. */
enum { CUDA_TEMPORAL_FORMS = 2 };
extern const struct cuda_temporal cuda_temporal_2[CUDA_TEMPORAL_FORMS], cuda_temporal_3[CUDA_TEMPORAL_FORMS],
    cuda_temporal_4[CUDA_TEMPORAL_FORMS];

/** \brief Allocates on the current device. \a chip is set only on success. */
cudaError_t cuda_temporal_open(struct cuda_temporal_chip *chip);
void cuda_temporal_close(struct cuda_temporal_chip *chip);

#ifdef __cplusplus
}
#endif

#endif
