// SPDX-License-Identifier: MIT
// One point of the sweep, bitwise equal in every kernel: arithmetic that is never contracted, the
// nineteen neighbours, and the block's sum of gosa.
#ifndef HIMENO_KERNELS_CUDA_POINT_CUH
#define HIMENO_KERNELS_CUDA_POINT_CUH

extern "C" {
#include "himeno/kernels/cuda/pass.h"
#ifndef __CUDACC_RTC__
#include "gpu/cuda/cuda_device.h"
#include "himeno/kernels/cuda/variant.h"
#endif
}
#ifndef __CUDACC_RTC__
#include "gpu/cuda/cuda_overlap.cuh"
#endif

// A float whose operations are rounded one by one, regardless of the compiler's flags for
// contraction.
struct rounded {
  float value;
  __device__ __forceinline__ rounded(float v) : value(v)
  {
  }
};
__device__ __forceinline__ rounded operator+(rounded a, rounded b)
{
  return __fadd_rn(a.value, b.value);
}
__device__ __forceinline__ rounded operator-(rounded a, rounded b)
{
  return __fsub_rn(a.value, b.value);
}
__device__ __forceinline__ rounded operator*(rounded a, rounded b)
{
  return __fmul_rn(a.value, b.value);
}

// Neighbours by direction: i − 1 and i + 1 (d, u), j − 1 and j + 1 (s, n), k − 1 and k + 1 (w, e).
struct stencil {
  float here, u, d, n, s, e, w;
  float un, us, dn, ds; // the b0 term
  float ne, se, nw, sw; // the b1 term
  float ue, de, uw, dw; // the b2 term
};

struct coefficients {
  float a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1;
};

// Gathers from three planes that have the same pitch; all three pointers are at the point's (j, k).
template <class Pitch>
__device__ __forceinline__ stencil stencil_at(const float *below, const float *here, const float *above,
                                              Pitch pitch)
{
  stencil p;
  p.here = *here;
  p.u = *above;
  p.d = *below;
  p.n = here[pitch];
  p.s = here[-pitch];
  p.e = here[1];
  p.w = here[-1];
  p.un = above[pitch];
  p.us = above[-pitch];
  p.dn = below[pitch];
  p.ds = below[-pitch];
  p.ne = here[pitch + 1];
  p.se = here[-pitch + 1];
  p.nw = here[pitch - 1];
  p.sw = here[-pitch - 1];
  p.ue = above[1];
  p.de = below[1];
  p.uw = above[-1];
  p.dw = below[-1];
  return p;
}

__device__ __forceinline__ coefficients coefficients_at(const struct cuda_pass &pass, int64_t at)
{
  const float *const *c = pass.coefficient;
  return {c[HIMENO_A0][at], c[HIMENO_A1][at], c[HIMENO_A2][at],  c[HIMENO_A3][at],
          c[HIMENO_B0][at], c[HIMENO_B1][at], c[HIMENO_B2][at],  c[HIMENO_C0][at],
          c[HIMENO_C1][at], c[HIMENO_C2][at], c[HIMENO_BND][at], c[HIMENO_WRK1][at]};
}

// Returns the new value, evaluated left to right. Sets *ss to the residual.
__device__ __forceinline__ float relax(const stencil &p, const coefficients &c, float *ss)
{
  rounded s0 = rounded(c.a0) * p.u + rounded(c.a1) * p.n + rounded(c.a2) * p.e;
  s0 = s0 + rounded(c.b0) * (rounded(p.un) - p.us - p.dn + p.ds);
  s0 = s0 + rounded(c.b1) * (rounded(p.ne) - p.se - p.nw + p.sw);
  s0 = s0 + rounded(c.b2) * (rounded(p.ue) - p.de - p.uw + p.dw);
  s0 = s0 + rounded(c.c0) * p.d + rounded(c.c1) * p.s + rounded(c.c2) * p.w + rounded(c.wrk1);
  rounded residual = (s0 * c.a3 - p.here) * c.bnd;
  *ss = residual.value;
  return (rounded(p.here) + rounded(HIMENO_OMEGA) * residual).value;
}

// The square of a float is exact in double, so contraction changes nothing.
__device__ __forceinline__ double squared(float ss)
{
  return (double)ss * (double)ss;
}

// Adds the block's sum of `mine` to *total with one atomic. All threads of the block must call it.
__device__ __forceinline__ void gosa_add(double mine, double *total)
{
  __shared__ double warps[32];
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int n = (blockDim.x * blockDim.y * blockDim.z + 31) / 32;
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lane);
  if (thread % 32 == 0) warps[thread / 32] = mine;
  __syncthreads();
  if (thread >= 32) return;
  mine = thread < n ? warps[thread] : 0;
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lane);
  if (thread == 0) atomicAdd(total, mine);
}

// Returns whether (i, j, k) is in the pass's box.
__device__ __forceinline__ bool in_box(const struct cuda_pass &pass, int i, int j, int k)
{
  return i >= pass.lo[0] && i < pass.hi[0] && j >= pass.lo[1] && j < pass.hi[1] && k >= pass.lo[2] &&
         k < pass.hi[2];
}

#endif
