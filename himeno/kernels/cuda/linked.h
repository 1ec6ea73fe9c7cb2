/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A sweep that exchanges its halos itself: interface between the CUDA kernel set (plain C)
 * and its kernels. */
#ifndef HIMENO_KERNELS_CUDA_LINKED_H
#define HIMENO_KERNELS_CUDA_LINKED_H

#include <cuda_runtime_api.h>

#include "comm/halo/link.h"
#include "himeno/kernels/cuda/pass.h"

/** A slab that neighbours need, as rows of quads: four points, aligned. */
struct cuda_linked_box {
  int lo[3], hi[3];     /**< half-open, not empty */
  unsigned quads;       /**< of a row */
  unsigned first_block; /**< of the launch */
};

/** One launch, by value: a one-dimensional grid, whose every spread-th block is a slab's as long as
 * there are such, and all others the inner box's, which is pass.lo, pass.hi. */
struct cuda_linked {
  struct cuda_pass pass;
  uint3 grid;           /**< tiles of the inner box, as a grid of the plain kernel */
  unsigned slab_blocks; /**< a quad a thread */
  unsigned spread;
  int n, which; /**< slabs; the neighbours' field that is written, as the link counts them */
  /** the exchange that takes the new points away; the one before brings the halos */
  uint64_t step;
  struct cuda_linked_box box[HALO_BOUNDARIES_MAX];
  struct halo_link link;
};

#endif
