/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Between the CUDA kernel set (plain C) and edges.cu. */
#ifndef HIMENO_CUDA_EDGES_H
#define HIMENO_CUDA_EDGES_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "comm/link.h"
#include "himeno/cuda/pass.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_EDGES_THREADS 128
#define CUDA_EDGES_EACH    4 /**< points of a thread */

struct cuda_edges_box {
  int lo[3], hi[3];     /**< half-open, not empty */
  unsigned first_block; /**< set by the launch */
};

/** One launch, by value. pass.lo, hi and first_k are not used. */
struct cuda_edges {
  struct cuda_pass pass;
  int n, which; /**< boxes; the neighbours' field that is written, as the link counts them */
  uint64_t step;
  struct cuda_edges_box box[HALO_BOUNDARIES_MAX];
  struct halo_link link;
};

/** \brief Launches \a job; with \a overlap it may start while the work before it in the stream drains. */
cudaError_t cuda_edges_launch(struct cuda_edges *job, bool overlap, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
