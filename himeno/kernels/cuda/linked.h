/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A sweep that exchanges its halos itself: interface between the CUDA kernel set (plain C)
 * and its kernels. */
#ifndef HIMENO_KERNELS_CUDA_LINKED_H
#define HIMENO_KERNELS_CUDA_LINKED_H

#include <cuda_runtime_api.h>

#include "comm/halo/link.h"
#include "himeno/kernels/cuda/pass.h"

/** A slab that neighbours need, divided into rows of quads; a quad is four aligned points. */
struct cuda_linked_box {
  int lo[3], hi[3];     /**< points of the slab: half-open, not empty */
  unsigned quads;       /**< number of quads per row */
  unsigned first_block; /**< number of the slab's first block in the launch */
};

/** Argument of one launch, a one-dimensional grid. Every spread-th block belongs to a slab until
 * all slabs are assigned; the others belong to the inner box, pass.lo to pass.hi. */
struct cuda_linked {
  struct cuda_pass pass;
  uint3 grid;           /**< number of tiles of the inner box, in the grid of the plain kernel */
  unsigned slab_blocks; /**< number of blocks for all slabs, with one quad per thread */
  unsigned spread;
  int n, which; /**< n: number of slabs; which: index of the neighbours' field to write */
  /** number of the exchange that sends the new points; the previous one brings the halos */
  uint64_t step;
  struct cuda_linked_box box[HALO_BOUNDARIES_MAX];
  struct halo_link link;
};

#endif
