// SPDX-License-Identifier: MIT
// A kernel of your own. Copy this file, change it, and see its place on the ladder:
//
// himeno-gpu -b cuda --ladder --kernel-file my.cu -s L
//
// Every sweep of it is verified: an incorrect result is reported, and the program ends with code
// 4. As it is, the kernel is the ladder's first rung: one thread per point.
//
// What you get, in `pass` (himeno/kernels/cuda/pass.h):
//   p, out         the field before the sweep, and where the new values go
//   coefficient    twelve arrays, by the names HIMENO_A0 … HIMENO_WRK1
//   gosa           where the squares of the residuals are added up
//   plane, pitch   distances in memory from i to i + 1, from j to j + 1: point (i, j, k) is at
//                  i * plane + j * pitch + k, and pitch is a multiple of 4
//   lo, hi         the box of points to compute, in the order i, j, k; hi is outside. Write no
//                  others.
//   first_k        a multiple of 32 at or below lo[2]: from there on, loads are aligned
//
// What helps (himeno/kernels/cuda/point.cuh):
//   in_box            whether a point is to be computed
//   stencil_at        gathers the nineteen neighbours, from global or shared memory
//   coefficients_at   the twelve coefficients of a point
//   relax             the new value, with the roundings that the checksum expects
//   squared           the square of a point's residual
//   gosa_add          adds them up; all threads of the block must call it
#include "himeno/kernels/cuda/point.cuh"

// Threads of a block along x, y, z, and how many points along i, j, k a block computes. There are
// as many blocks as cover the box: blockIdx.x counts them along k, y along j, z along i.
__constant__ int threads[3] = {64, 4, 1};
__constant__ int tile[3] = {1, 4, 64};

__global__ void sweep(const struct cuda_pass pass)
{
  int i = pass.lo[0] + blockIdx.z;
  int j = pass.lo[1] + blockIdx.y * 4 + threadIdx.y;
  int k = pass.first_k + blockIdx.x * 64 + threadIdx.x;
  double gosa = 0;
  if (in_box(pass, i, j, k)) {
    int64_t at = i * pass.plane + (int64_t)j * pass.pitch + k;
    const float *p = pass.p + at;
    float ss;
    stencil neighbours = stencil_at(p - pass.plane, p, p + pass.plane, pass.pitch);
    pass.out[at] = relax(neighbours, coefficients_at(pass, at), &ss);
    gosa = squared(ss);
  }
  gosa_add(gosa, pass.gosa);
}
