/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The resident kernel: all sweeps of a block in one launch, coefficients on the chip.
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

/** How a rank's part of the grid lies on the chip, and what blocks share. Launches must follow each
 * other in one stream. */
struct cuda_resident {
  int blocks[2];    /**< along i and j */
  int rows[2];      /**< most rows of k that a block owns, along i and j */
  int quads;        /**< of four points, in a row */
  int shape;        /**< of the kernel: how many planes a thread updates, and its most threads */
  int threads;      /**< of a block */
  int bytes;        /**< of a block's shared memory */
  float *buffers;   /**< behind p[0]: the rows that blocks need, here and on other ranks */
  int64_t planes;   /**< of the whole grid, as many as a buffer has */
  int first_buffer; /**< the buffer that the next launch publishes in first */
};

/** Sweeps from one fence of a block to its next. */
#define CUDA_RESIDENT_FENCED 12
/** Fields of the layout that the buffers take, for himeno_kernel.extra_arrays. */
#define CUDA_RESIDENT_FIELDS (CUDA_RESIDENT_FENCED + 4)

/** \brief Cuts the owned box of \a layout for the current device, and empties the buffers; \a pass
 * is p[0]'s, behind which one kernel at a time can have buffers. *fits is 0, and nothing else set,
 * where the coefficients exceed the shared memory of all multiprocessors together. */
cudaError_t cuda_resident_open(const struct cuda_pass *pass, const struct layout *layout,
                               struct cuda_resident *resident, int *fits);

/** \brief \a sweeps sweeps, at least one, over the box that it was opened with; pass.gosa has as
 * many slots. \a link: NULL without neighbours. An exchange of halos must follow. */
cudaError_t cuda_resident_launch(struct cuda_resident *resident, const struct cuda_pass *pass, int sweeps,
                                 const struct halo_link *link, cudaStream_t stream);

/** \brief The kernel that cuda_resident_launch runs without neighbours. */
const void *cuda_resident_kernel(const struct cuda_resident *resident);

#ifdef __cplusplus
}
#endif

#endif
