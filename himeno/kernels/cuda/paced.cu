// SPDX-License-Identifier: MIT
// The 2009 kernel: a block of 64×4 columns marches over up to 64 planes; a plane of p is loaded
// just before it is needed, into one of three in shared memory, and barriers at every plane keep
// the threads at one pace, so that few memory pages are in use at a time. Source: A. Naruse,
// "Performance evaluation of a GPGPU cluster", RIKEN HPC symposium, March 2009.
#include "himeno/kernels/cuda/point.cuh"

// THREADS_K × THREADS_J columns, DEPTH planes, marching along dimension MARCH (0 is i, 1 is j).
template <int THREADS_K, int THREADS_J, int MARCH> struct paced_tile {
  static const int ACROSS = 1 - MARCH; // the dimension of threadIdx.y
  static const int ROW = THREADS_K + 2, ROWS = THREADS_J + 2, PLANE = ROW * ROWS;
  static const int THREADS = THREADS_K * THREADS_J;

  // Loads plane m of the march, with the ring of neighbours around the tile.
  static __device__ __forceinline__ void load(float *tile, const struct cuda_pass &pass, int m, int a0,
                                              int k0)
  {
    int64_t step = MARCH == 0 ? pass.plane : pass.pitch, across = MARCH == 0 ? pass.pitch : pass.plane;
    const float *p = pass.p + m * step;
    for (int n = threadIdx.x + THREADS_K * threadIdx.y; n < PLANE; n += THREADS) {
      int a = a0 - 1 + n / ROW, k = k0 - 1 + n % ROW;
      if (a <= pass.hi[ACROSS] && k >= pass.lo[2] - 1 && k <= pass.hi[2]) tile[n] = p[a * across + k];
    }
  }

  // The nineteen neighbours from planes m − 1, m, m + 1 of the march.
  static __device__ __forceinline__ stencil gather(const float *before, const float *here,
                                                   const float *behind)
  {
    stencil p = stencil_at(before, here, behind, ROW);
    if (MARCH == 0) return p;
    // stencil_at took the march for i: exchange the roles of i and j
    stencil q = p;
    q.u = p.n, q.n = p.u, q.d = p.s, q.s = p.d;
    q.us = p.dn, q.dn = p.us;
    q.ne = p.ue, q.se = p.de, q.nw = p.uw, q.sw = p.dw;
    q.ue = p.ne, q.de = p.se, q.uw = p.nw, q.dw = p.sw;
    return q;
  }
};

template <int THREADS_K, int THREADS_J, int DEPTH, int MARCH>
static __global__ void __launch_bounds__(THREADS_K *THREADS_J)
    paced(const CUDA_GRID_CONSTANT struct cuda_pass pass)
{
  typedef paced_tile<THREADS_K, THREADS_J, MARCH> tile;
  __shared__ float planes[3][tile::PLANE];
  const int ACROSS = tile::ACROSS;
  int m = pass.lo[MARCH] + blockIdx.z * DEPTH, end = min(m + DEPTH, pass.hi[MARCH]);
  int a0 = pass.lo[ACROSS] + blockIdx.y * THREADS_J, k0 = pass.first_k + blockIdx.x * THREADS_K;
  int a = a0 + threadIdx.y, k = k0 + threadIdx.x;
  int at = (threadIdx.y + 1) * tile::ROW + threadIdx.x + 1;
  bool mine = a < pass.hi[ACROSS] && k >= pass.lo[2] && k < pass.hi[2];
  double gosa = 0;
  next_may_start();
  wait_for_previous();
  tile::load(planes[(m - 1) % 3], pass, m - 1, a0, k0);
  tile::load(planes[m % 3], pass, m, a0, k0);
  for (; m < end; m++) {
    tile::load(planes[(m + 1) % 3], pass, m + 1, a0, k0);
    __syncthreads();
    if (mine) {
      float ss;
      int64_t point = MARCH == 0 ? m * pass.plane + (int64_t)a * pass.pitch + k
                                 : a * pass.plane + (int64_t)m * pass.pitch + k;
      stencil p = tile::gather(planes[(m - 1) % 3] + at, planes[m % 3] + at, planes[(m + 1) % 3] + at);
      pass.out[point] = relax(p, coefficients_at(pass, point), &ss);
      gosa += squared(ss);
    }
    __syncthreads();
  }
  gosa_add(gosa, pass.gosa);
}

const struct cuda_variant cuda_variant_paced = {paced<64, 4, 64, 0>, {64, 4, 1}, {64, 4, 64}, {2, 1, 0}, 0};
const struct cuda_variant cuda_variant_paced_16 = {
    paced<64, 4, 16, 0>, {64, 4, 1}, {16, 4, 64}, {2, 1, 0}, 0};
const struct cuda_variant cuda_variant_paced_128 = {
    paced<128, 4, 64, 0>, {128, 4, 1}, {64, 4, 128}, {2, 1, 0}, 0};
const struct cuda_variant cuda_variant_paced_j = {paced<64, 4, 64, 1>, {64, 4, 1}, {4, 64, 64}, {2, 0, 1}, 0};
