// SPDX-License-Identifier: MIT
// Thin boxes, such as the points next to a neighbour: one thread per point, numbered through the
// box, so that no thread is idle.
#include "himeno/kernels/cuda/point.cuh"

static __global__ void __launch_bounds__(CUDA_SLAB_THREADS)
    slab(const CUDA_GRID_CONSTANT struct cuda_pass pass)
{
  unsigned width = pass.hi[2] - pass.lo[2], rows = pass.hi[1] - pass.lo[1];
  unsigned n = blockIdx.x * CUDA_SLAB_THREADS + threadIdx.x;
  int i = pass.lo[0] + (int)(n / width / rows), j = pass.lo[1] + (int)(n / width % rows);
  int k = pass.lo[2] + (int)(n % width);
  double gosa = 0;
  next_may_start();
  if (i < pass.hi[0]) {
    float ss;
    int64_t at = i * pass.plane + (int64_t)j * pass.pitch + k;
    const float *p = pass.p + at;
    coefficients c = coefficients_at(pass, at);
    wait_for_previous();
    pass.out[at] = relax(stencil_at(p - pass.plane, p, p + pass.plane, pass.pitch), c, &ss);
    gosa = squared(ss);
  }
  wait_for_previous();
  gosa_add(gosa, pass.gosa);
}

void (*const cuda_slab)(struct cuda_pass) = slab;
