// SPDX-License-Identifier: MIT
#define STUDY 2
// A column of 16 planes a thread. STUDY: 0 reckons the place of each point from i, j and k; 1 adds
// a plane to sixteen pointers; 2 as 1, and a barrier of the block before each point (pacing).
#include "himeno/kernels/cuda/point.cuh"

__constant__ int threads[3] = {64, 4, 1};
__constant__ int tile[3] = {16, 4, 64};

__global__ void sweep(const struct cuda_pass pass)
{
  const int lo = pass.lo[0] + blockIdx.z * 16, hi = min(lo + 16, pass.hi[0]);
  const int j = pass.lo[1] + blockIdx.y * 4 + threadIdx.y;
  const int k = pass.first_k + blockIdx.x * 64 + threadIdx.x;
  double gosa = 0;
  const bool mine = in_box(pass, lo, j, k);
#if STUDY == 0
  for (int i = lo; i < hi; i++) {
    if (!mine) continue;
    const int64_t at = i * pass.plane + (int64_t)j * pass.pitch + k;
    const float *p = pass.p + at;
    float ss;
    pass.out[at] =
        relax(stencil_at(p - pass.plane, p, p + pass.plane, pass.pitch), coefficients_at(pass, at), &ss);
    gosa += squared(ss);
  }
#else
  const int64_t from = lo * pass.plane + (int64_t)j * pass.pitch + k;
  const float *below = pass.p + from - pass.plane, *here = pass.p + from, *above = pass.p + from + pass.plane;
  float *out = pass.out + from;
  const float *c[HIMENO_COEFFICIENTS];
#pragma unroll
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) c[m] = pass.coefficient[m] + from;
  for (int i = lo; i < hi; i++) {
#if STUDY == 2
    __syncthreads();
#endif
    if (mine) {
      const coefficients values = {*c[HIMENO_A0], *c[HIMENO_A1], *c[HIMENO_A2],  *c[HIMENO_A3],
                                   *c[HIMENO_B0], *c[HIMENO_B1], *c[HIMENO_B2],  *c[HIMENO_C0],
                                   *c[HIMENO_C1], *c[HIMENO_C2], *c[HIMENO_BND], *c[HIMENO_WRK1]};
      float ss;
      *out = relax(stencil_at(below, here, above, pass.pitch), values, &ss);
      gosa += squared(ss);
    }
    below = here;
    here = above;
    above += pass.plane;
    out += pass.plane;
#pragma unroll
    for (int m = 0; m < HIMENO_COEFFICIENTS; m++) c[m] += pass.plane;
  }
#endif
  gosa_add(gosa, pass.gosa);
}
