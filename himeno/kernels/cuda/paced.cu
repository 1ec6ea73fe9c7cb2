// SPDX-License-Identifier: MIT
// The kernel of 2009: blocks of 64×4 columns march through the planes. Shared memory holds three
// planes. A barrier per plane keeps the threads in step, so that few memory pages are in use at a
// time. A thread loads from the same offset of every plane, so it computes addresses once and then
// advances pointers; the next plane is loaded while this one is computed. Source: A. Naruse,
// "Performance evaluation of a GPGPU cluster", RIKEN HPC symposium, March 2009.
#include "himeno/kernels/cuda/point.cuh"

// SHARED: p from shared memory. CACHED, UNPACED: p through the caches, with and without a barrier
// per plane.
enum { SHARED, CACHED, UNPACED };

// A thread's part of loading planes into shared memory: COLUMNS_K × COLUMNS_J columns, and one more
// point on every side. Positions outside of the array are replaced by the nearest one inside.
template <int COLUMNS_K, int COLUMNS_J> struct plane_loads {
  static const int ROW = COLUMNS_K + 2, SIZE = ROW * (COLUMNS_J + 2), THREADS = COLUMNS_K * COLUMNS_J;
  static const int LOADS = (SIZE + THREADS - 1) / THREADS;
  const float *from[LOADS];
  float value[LOADS];

  // Index of the thread's load l in the plane.
  static __device__ __forceinline__ int place(int l)
  {
    return min((int)(threadIdx.x + COLUMNS_K * threadIdx.y) + l * THREADS, SIZE - 1);
  }

  // The columns start at row a0 and column k0. `stride`: distance between rows; `last`: last row.
  __device__ __forceinline__ plane_loads(const struct cuda_pass &pass, const float *plane, int64_t stride,
                                         int a0, int last, int k0)
  {
#pragma unroll
    for (int l = 0; l < LOADS; l++) {
      int a = min(a0 - 1 + place(l) / ROW, last);
      int k = max(min(k0 - 1 + place(l) % ROW, pass.hi[2]), pass.lo[2] - 1);
      from[l] = plane + a * stride + k;
    }
  }

  __device__ __forceinline__ void load(int64_t step)
  {
#pragma unroll
    for (int l = 0; l < LOADS; l++, from[l - 1] += step) value[l] = *from[l];
  }

  __device__ __forceinline__ void store(float *plane) const
  {
#pragma unroll
    for (int l = 0; l < LOADS; l++) plane[place(l)] = value[l];
  }
};

// A thread's values of a plane: its point and four neighbours.
struct cross {
  float here, up, down, e, w;
};

static __device__ __forceinline__ cross cross_at(const float *p, int64_t row)
{
  return {p[0], p[row], p[-row], p[1], p[-1]};
}

// Gathers the nineteen neighbours. Those at the corners of the middle plane are read from `p`.
template <int MARCH>
static __device__ __forceinline__ stencil gather(const cross &before, const cross &here, const cross &behind,
                                                 const float *p, int64_t row)
{
  float ne = p[row + 1], se = p[-row + 1], nw = p[row - 1], sw = p[-row - 1];
  if (MARCH == 0)
    return {here.here, behind.here, before.here, here.up,     here.down, here.e, here.w,
            behind.up, behind.down, before.up,   before.down, ne,        se,     nw,
            sw,        behind.e,    before.e,    behind.w,    before.w};
  return {here.here, here.up,   here.down,   behind.here, before.here, here.e,   here.w,
          behind.up, before.up, behind.down, before.down, behind.e,    before.e, behind.w,
          before.w,  ne,        se,          nw,          sw};
}

// Computes COLUMNS_K × COLUMNS_J columns along dimension MARCH (0: i, 1: j), up to DEPTH planes.
template <int COLUMNS_K, int COLUMNS_J, int DEPTH, int MARCH, int PACE>
static __global__ void __launch_bounds__(COLUMNS_K *COLUMNS_J, 1024 / (COLUMNS_K * COLUMNS_J))
    paced(const CUDA_GRID_CONSTANT struct cuda_pass pass)
{
  typedef plane_loads<COLUMNS_K, COLUMNS_J> loads;
  const int ACROSS = 1 - MARCH; // the dimension of threadIdx.y
  __shared__ float planes[PACE == SHARED ? 3 : 1][loads::SIZE];
  float *before = planes[0], *here = planes[PACE == SHARED], *behind = planes[PACE == SHARED ? 2 : 0];
  const int64_t step = MARCH == 0 ? pass.plane : pass.pitch, across = MARCH == 0 ? pass.pitch : pass.plane;
  int m = pass.lo[MARCH] + blockIdx.z * DEPTH, end = min(m + DEPTH, pass.hi[MARCH]);
  int a0 = pass.lo[ACROSS] + blockIdx.y * COLUMNS_J, k0 = pass.first_k + blockIdx.x * COLUMNS_K;
  int a = a0 + threadIdx.y, k = k0 + threadIdx.x;
  bool mine = a < pass.hi[ACROSS] && k >= pass.lo[2] && k < pass.hi[2];
  // a thread without a column computes the nearest one
  a = min(a, pass.hi[ACROSS] - 1), k = max(min(k, pass.hi[2] - 1), pass.lo[2]);
  int64_t point = m * step + a * across + k;
  // may be loaded early, because no sweep writes coefficients
  coefficients next = coefficients_at(pass, point);
  loads p(pass, pass.p + (m - 1) * step, across, a0, pass.hi[ACROSS], k0);
  const int64_t row = PACE == SHARED ? loads::ROW : across;
  const int at = (threadIdx.y + 1) * loads::ROW + threadIdx.x + 1;
  double gosa = 0;
  next_may_start();
  wait_for_previous();
  if (PACE == SHARED) {
    p.load(step);
    p.store(before);
    p.load(step);
    p.store(here);
    p.load(step);
    __syncthreads();
  }
  cross p0 = cross_at(PACE == SHARED ? before + at : pass.p + point - step, row);
  cross p1 = cross_at(PACE == SHARED ? here + at : pass.p + point, row);
#pragma unroll 1
  for (; m < end; m++, point += step) {
    coefficients c = next;
    if (PACE == SHARED) p.store(behind);
    if (m + 1 < end) {
      if (PACE == SHARED) p.load(step);
      next = coefficients_at(pass, point + step);
    }
    // the previous plane is in registers, so the next store overwrites nothing that is still read
    if (PACE != UNPACED) __syncthreads();
    cross p2 = cross_at(PACE == SHARED ? behind + at : pass.p + point + step, row);
    float ss;
    float value = relax(gather<MARCH>(p0, p1, p2, PACE == SHARED ? here + at : pass.p + point, row), c, &ss);
    if (mine) {
      pass.out[point] = value;
      gosa += squared(ss);
    }
    p0 = p1, p1 = p2;
    float *free = before;
    before = here, here = behind, behind = free;
  }
  gosa_add(gosa, pass.gosa);
}

#define PACED(name, columns_k, depth, pace)                                                                  \
  const struct cuda_variant name = {                                                                         \
      paced<columns_k, 4, depth, 0, pace>, {columns_k, 4, 1}, {depth, 4, columns_k}, {2, 1, 0}, 0}

PACED(cuda_variant_paced, 64, 16, SHARED);
PACED(cuda_variant_paced_64, 64, 64, SHARED);
PACED(cuda_variant_paced_128, 128, 64, SHARED);
PACED(cuda_variant_paced_cached, 64, 16, CACHED);
PACED(cuda_variant_unpaced, 64, 16, UNPACED);
const struct cuda_variant cuda_variant_paced_j = {
    paced<64, 4, 64, 1, SHARED>, {64, 4, 1}, {4, 64, 64}, {2, 0, 1}, 0};
