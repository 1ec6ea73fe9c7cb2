// SPDX-License-Identifier: MIT
// Interleaved coefficients: three streams with four floats per point instead of twelve with one.
// One thread per point.
#include "himeno/kernels/cuda/point.cuh"

static const int THREADS_K = 64, THREADS_J = 4;

static __device__ __forceinline__ coefficients unpack(float4 a, float4 b, float4 c)
{
  return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, c.x, c.y, c.z, c.w, b.w};
}

static __global__ void __launch_bounds__(THREADS_K *THREADS_J)
    packed(const CUDA_GRID_CONSTANT struct cuda_pass pass)
{
  int i = pass.lo[0] + blockIdx.z;
  int j = pass.lo[1] + blockIdx.y * THREADS_J + threadIdx.y;
  int k = pass.first_k + blockIdx.x * THREADS_K + threadIdx.x;
  double gosa = 0;
  next_may_start();
  if (in_box(pass, i, j, k)) {
    float ss;
    int64_t at = i * pass.plane + (int64_t)j * pass.pitch + k;
    const float *p = pass.p + at;
    float4 a = __ldcs((const float4 *)pass.pack[0] + at);
    float4 b = __ldcs((const float4 *)pass.pack[1] + at);
    float4 c = __ldcs((const float4 *)pass.pack[2] + at);
    wait_for_previous();
    pass.out[at] = relax(stencil_at(p - pass.plane, p, p + pass.plane, pass.pitch), unpack(a, b, c), &ss);
    gosa = squared(ss);
  }
  wait_for_previous();
  gosa_add(gosa, pass.gosa);
}

const struct cuda_variant cuda_variant_packed = {
    packed, {THREADS_K, THREADS_J, 1}, {1, THREADS_J, THREADS_K}, {2, 1, 0}, 1};
