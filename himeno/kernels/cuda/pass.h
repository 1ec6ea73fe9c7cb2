/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a CUDA sweep kernel gets. Read by C, by nvcc, and by NVRTC for a user's own
 * kernel. */
#ifndef HIMENO_KERNELS_CUDA_PASS_H
#define HIMENO_KERNELS_CUDA_PASS_H

#include <stdint.h>

#include "himeno/problem.h"

#define CUDA_PACKS 3 /**< interleaved arrays of four floats a point */
/** Index of point k in interleaved row j of the temporal kernels. Every other group of eight points
 * is swapped in pairs, and in every other two rows the groups between, so that threads that read
 * two points each from shared memory have no bank conflicts, along a row or down the short rows of
 * an edge. */
#define CUDA_PACK_PLACE(j, k) ((k) ^ (((k) >> 3 ^ (j) >> 1) & 1))

/** Parameters of a sweep kernel. Indices are local; the box is half-open and not empty. */
struct cuda_pass {
  const float *p;
  float *out;
  const float *coefficient[HIMENO_COEFFICIENTS];
  const float *pack
      /** a0 a1 a2 a3 | b0 b1 b2 wrk1 | c0 c1 c2 bnd a point; NULL where the kernel has none */
      [CUDA_PACKS];
  double *gosa;     /**< the sweep's slot */
  int64_t plane;    /**< floats */
  int pitch;        /**< floats, a multiple of 4 */
  int lo[3], hi[3]; /**< the box */
  int first_k;      /**< where the tiles start: lo[2] rounded down, so that loads are aligned */
  int backward;     /**< set in every other sweep, which may run through the box from its end */
};

#endif
