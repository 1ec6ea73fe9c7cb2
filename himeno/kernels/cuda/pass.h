/* SPDX-License-Identifier: MIT */
/** \file \brief The arguments of a CUDA sweep kernel, for C, nvcc, and NVRTC (a user's own
 * kernel). */
#ifndef HIMENO_KERNELS_CUDA_PASS_H
#define HIMENO_KERNELS_CUDA_PASS_H

#include <stdint.h>

#include "himeno/problem.h"

#define CUDA_PACKS 3 /**< interleaved arrays with four floats per point */
/** Index of point k in row j of the temporal kernels' interleaved arrays. The two points of a pair
 * are swapped if k / 8 and j / 2 differ in parity. Threads that read two points each from shared
 * memory then have no bank conflicts, along a row or down the short rows of an edge. */
#define CUDA_PACK_PLACE(j, k) ((k) ^ (((k) >> 3 ^ (j) >> 1) & 1))

/** Parameters of a sweep kernel. Indices are local; the box is half-open and not empty. */
struct cuda_pass {
  const float *p;
  float *out;
  const float *coefficient[HIMENO_COEFFICIENTS];
  /** per point: a0 a1 a2 a3 | b0 b1 b2 wrk1 | c0 c1 c2 bnd; NULL if the kernel uses none */
  const float *pack[CUDA_PACKS];
  double *gosa;     /**< element of gosa for this sweep */
  int64_t plane;    /**< floats from plane to plane */
  int pitch;        /**< floats from row to row, a multiple of 4 */
  int lo[3], hi[3]; /**< box to sweep */
  int first_k;      /**< start of the tiles: lo[2] rounded down, so that loads are aligned */
  int backward;     /**< 1 in every other sweep, which may sweep the box from its end */
};

#endif
