// SPDX-License-Identifier: MIT
// One thread per point; each value is loaded from global memory through the caches.
#include "himeno/kernels/cuda/point.cuh"

static const int THREADS_K = 64, THREADS_J = 4;

static __global__ void __launch_bounds__(THREADS_K *THREADS_J)
    naive(const CUDA_GRID_CONSTANT struct cuda_pass pass)
{
  int i = pass.lo[0] + blockIdx.z;
  int j = pass.lo[1] + blockIdx.y * THREADS_J + threadIdx.y;
  int k = pass.first_k + blockIdx.x * THREADS_K + threadIdx.x;
  double gosa = 0;
  next_may_start();
  wait_for_previous();
  if (in_box(pass, i, j, k)) {
    float ss;
    int64_t at = i * pass.plane + (int64_t)j * pass.pitch + k;
    const float *p = pass.p + at;
    pass.out[at] =
        relax(stencil_at(p - pass.plane, p, p + pass.plane, pass.pitch), coefficients_at(pass, at), &ss);
    gosa = squared(ss);
  }
  gosa_add(gosa, pass.gosa);
}

const struct cuda_variant cuda_variant_naive = {
    naive, {THREADS_K, THREADS_J, 1}, {1, THREADS_J, THREADS_K}, {2, 1, 0}, 0};
