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

/** Number of a launch's progress counters, one per wave of units that march concurrently. Waves
 * beyond this number reuse the counters from the first on. */
enum { CUDA_TEMPORAL_WAVES = 512 };

/** State of the temporal kernels on a device. */
struct cuda_temporal_chip {
  int processors; /**< multiprocessors */
  /** device memory: CUDA_TEMPORAL_WAVES counters for this launch, then as many for a concurrent
   * launch */
  int *progress;
};

/** Arguments of one launch. Around the box, pass.p must be valid on T points and the coefficients
 * on T - 1 points, within the array; pass.gosa has T elements. The box must not be empty. */
struct cuda_temporal_job {
  struct cuda_pass pass;
  int extent[3]; /**< extents of the local array */
  /** the points that sweeps update; they contain the box */
  int interior_lo[3], interior_hi[3];
};

/** A kernel of one tile shape. It reads coefficients from pass.pack, ordered by CUDA_PACK_PLACE. */
struct cuda_temporal {
  int sweeps;                /**< sweeps per pass, T */
  int tile[2];               /**< points along j and k that a block writes per plane */
  int major;                 /**< minimum compute capability, major number */
  int threads, shared_bytes; /**< threads and bytes per block; one block fills a multiprocessor */
  const void *kernel;
  cudaError_t (*launch)(const struct cuda_temporal_chip *chip, const struct cuda_temporal_job *job,
                        cudaStream_t stream,
                        bool overlaps /**< 1: may begin while the previous launch drains */);
};

/** Two forms per number of sweeps: one for chips with TMA, and one with asynchronous copies for
 * other chips and for less shared memory. */
enum { CUDA_TEMPORAL_FORMS = 2 };
extern const struct cuda_temporal cuda_temporal_2[CUDA_TEMPORAL_FORMS], cuda_temporal_3[CUDA_TEMPORAL_FORMS],
    cuda_temporal_4[CUDA_TEMPORAL_FORMS];

/** \brief Allocates the state on the current device. Sets \a chip only on success. */
cudaError_t cuda_temporal_open(struct cuda_temporal_chip *chip);
void cuda_temporal_close(struct cuda_temporal_chip *chip);

#ifdef __cplusplus
}
#endif

#endif
