/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The resident kernel: all sweeps of a block in one launch, coefficients in shared memory.
 * Interface between the CUDA kernel set (plain C) and resident.cu. */
#ifndef HIMENO_KERNELS_CUDA_RESIDENT_H
#define HIMENO_KERNELS_CUDA_RESIDENT_H

#include <cuda_runtime_api.h>

#include "comm/halo/decomp.h"
#include "comm/halo/link.h"
#include "himeno/kernels/cuda/pass.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Distribution of a rank's part of the grid over the chip, and the buffers of its blocks. Launches
 * must follow each other in one stream. */
struct cuda_resident {
  int blocks[2];    /**< number of blocks along i and j */
  int rows[2];      /**< maximum number of rows of k that a block owns, along i and j */
  int quads;        /**< quads (four points) per row */
  int shape;        /**< index of the kernel, by planes per thread and maximum threads */
  int threads;      /**< threads per block */
  int bytes;        /**< shared memory per block */
  float *buffers;   /**< after p[0]: rows published by this rank and its neighbours */
  int64_t planes;   /**< planes of the whole grid and of a buffer */
  int first_buffer; /**< index of the buffer that the next launch uses first */
};

/** Number of sweeps between two memory fences of a block. */
#define CUDA_RESIDENT_FENCED 12
/** Size of the buffers in fields of the layout, for himeno_kernel.extra_arrays. */
#define CUDA_RESIDENT_FIELDS (CUDA_RESIDENT_FENCED + 4)

/** \brief Distributes the owned box of \a layout over the current device, and clears the buffers.
 * \a pass is that of p[0], whose memory includes the buffers: only one kernel at a time can use
 * them. If the coefficients exceed the shared memory of all multiprocessors together, only sets
 * *fits to 0. */
cudaError_t cuda_resident_open(const struct cuda_pass *pass, const struct layout *layout,
                               struct cuda_resident *resident, int *fits);

/** \brief Launches \a sweeps sweeps, at least one, over the box given to cuda_resident_open;
 * pass.gosa has one element per sweep. \a link: NULL without neighbours. An exchange of halos must
 * follow. */
cudaError_t cuda_resident_launch(struct cuda_resident *resident, const struct cuda_pass *pass, int sweeps,
                                 const struct halo_link *link, cudaStream_t stream);

/** \brief Returns the kernel that cuda_resident_launch runs without neighbours. */
const void *cuda_resident_kernel(const struct cuda_resident *resident);

#ifdef __cplusplus
}
#endif

#endif
