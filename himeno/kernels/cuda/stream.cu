// SPDX-License-Identifier: MIT
// Four adjacent points per thread, one plane per block: coefficients are read by aligned loads of
// 16 bytes that bypass the caches, which are left to p. Coefficients are requested before the
// previous sweep is complete, because no sweep writes them.
#include "himeno/kernels/cuda/linked.cuh"
#include "himeno/kernels/cuda/point.cuh"

// p along k from k0 − 1 to k0 + 4: the four points of a thread and their outer neighbours.
struct row {
  float at[6];
};

static __device__ __forceinline__ row row_load(const float *p)
{
  float4 q = *(const float4 *)p;
  return {{0, q.x, q.y, q.z, q.w, 0}};
}

// Loads a row. `first`, `last`: the outer neighbour on that side is not needed, and may be outside
// of the array.
static __device__ __forceinline__ row row_load_wide(const float *p, bool first, bool last)
{
  row r = row_load(p);
  if (!first) r.at[0] = p[-1];
  if (!last) r.at[5] = p[4];
  return r;
}

// Rows of p around a point. Those with outer neighbours come first; un, us, dn and ds have none.
struct rows {
  row here, u, d, n, s;
  row un, us, dn, ds;
};

static __device__ __forceinline__ rows rows_load(const float *p, int64_t plane, int pitch, bool first,
                                                 bool last)
{
  rows r;
  r.here = row_load_wide(p, first, last);
  r.u = row_load_wide(p + plane, first, last);
  r.d = row_load_wide(p - plane, first, last);
  r.n = row_load_wide(p + pitch, first, last);
  r.s = row_load_wide(p - pitch, first, last);
  r.un = row_load(p + plane + pitch);
  r.us = row_load(p + plane - pitch);
  r.dn = row_load(p - plane + pitch);
  r.ds = row_load(p - plane - pitch);
  return r;
}

// Returns the neighbours of the point at position x of the rows, 1 … 4.
static __device__ __forceinline__ stencil rows_stencil(const rows &r, int x)
{
  stencil p;
  p.here = r.here.at[x], p.e = r.here.at[x + 1], p.w = r.here.at[x - 1];
  p.u = r.u.at[x], p.ue = r.u.at[x + 1], p.uw = r.u.at[x - 1];
  p.d = r.d.at[x], p.de = r.d.at[x + 1], p.dw = r.d.at[x - 1];
  p.n = r.n.at[x], p.ne = r.n.at[x + 1], p.nw = r.n.at[x - 1];
  p.s = r.s.at[x], p.se = r.s.at[x + 1], p.sw = r.s.at[x - 1];
  p.un = r.un.at[x], p.us = r.us.at[x], p.dn = r.dn.at[x], p.ds = r.ds.at[x];
  return p;
}

struct coefficients4 {
  float value[HIMENO_COEFFICIENTS][4];
};

// Loads a quad past L1 but keeps it in L2, for grids that fit into L2.
static __device__ __forceinline__ float4 load_keep(const float4 *at)
{
#if __CUDA_ARCH__ >= 700
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "l"(at));
  return v;
#else
  return __ldg(at);
#endif
}

template <bool KEEP>
static __device__ __forceinline__ coefficients4 coefficients4_load(const struct cuda_pass &pass, int64_t at)
{
  coefficients4 c;
#pragma unroll
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) {
    const float4 *from = (const float4 *)(pass.coefficient[m] + at);
    float4 q = KEEP ? load_keep(from) : __ldcs(from);
    c.value[m][0] = q.x, c.value[m][1] = q.y, c.value[m][2] = q.z, c.value[m][3] = q.w;
  }
  return c;
}

static __device__ __forceinline__ coefficients coefficients4_at(const coefficients4 &c, int x)
{
  return {c.value[HIMENO_A0][x], c.value[HIMENO_A1][x], c.value[HIMENO_A2][x],  c.value[HIMENO_A3][x],
          c.value[HIMENO_B0][x], c.value[HIMENO_B1][x], c.value[HIMENO_B2][x],  c.value[HIMENO_C0][x],
          c.value[HIMENO_C1][x], c.value[HIMENO_C2][x], c.value[HIMENO_BND][x], c.value[HIMENO_WRK1][x]};
}

// Writes the points of [k, k + 4) that are in the box.
static __device__ __forceinline__ void store(float *out, const float value[4], int k, int lo, int hi)
{
  if (k >= lo && k + 4 <= hi) {
    *(float4 *)out = make_float4(value[0], value[1], value[2], value[3]);
  } else {
    for (int x = 0; x < 4; x++)
      if (k + x >= lo && k + x < hi) out[x] = value[x];
  }
}

// Computes four points from (i, j, k) on, k a multiple of 4. Returns the sum of ss² in [lo, hi).
template <bool KEEP>
static __device__ __forceinline__ double quad(const struct cuda_pass &pass, int64_t at, int k, int lo, int hi,
                                              const coefficients4 &c, float value[4])
{
  rows r = rows_load(pass.p + at, pass.plane, pass.pitch, k == 0, k + 4 >= pass.pitch);
  float ss[4];
  double gosa = 0;
#pragma unroll
  for (int x = 0; x < 4; x++) {
    value[x] = relax(rows_stencil(r, x + 1), coefficients4_at(c, x), &ss[x]);
    if (k + x >= lo && k + x < hi) gosa += squared(ss[x]);
  }
  store(pass.out + at, value, k, lo, hi);
  return gosa;
}

template <bool KEEP>
static __device__ __forceinline__ double quad_sweep(const struct cuda_pass &pass, int i, int j, int k)
{
  int64_t at = i * pass.plane + (int64_t)j * pass.pitch + k;
  coefficients4 c = coefficients4_load<KEEP>(pass, at);
  float value[4];
  wait_for_previous();
  return quad<KEEP>(pass, at, k, pass.lo[2], pass.hi[2], c, value);
}

// Sweeps the slabs of a linked sweep, one quad per thread. Waits for halos still in flight.
template <bool KEEP>
static __device__ __forceinline__ double slab_sweep(const struct cuda_linked &job, unsigned number,
                                                    unsigned thread, unsigned threads)
{
  const struct cuda_pass &pass = job.pass;
  const cuda_linked_box &box = linked_box(job, number);
  unsigned n = (number - box.first_block) * threads + thread;
  unsigned rows = box.hi[1] - box.lo[1], row = n / box.quads;
  int i = box.lo[0] + (int)(row / rows), j = box.lo[1] + (int)(row % rows);
  int k = box.lo[2] / 4 * 4 + (int)(n % box.quads) * 4;
  bool inside = i < box.hi[0];
  int64_t at = inside ? i * pass.plane + (int64_t)j * pass.pitch + k : 0;
  coefficients4 c = coefficients4_load<KEEP>(pass, at);
  double gosa = 0;
  wait_for_previous();
  uint64_t here = linked_await(job, thread);
  if (inside) {
    float value[4];
    gosa = quad<KEEP>(pass, at, k, box.lo[2], box.hi[2], c, value);
    linked_store(job, i, j, k, value, box.lo[2], box.hi[2]);
  }
  linked_sent(job, here, thread);
  return gosa;
}

// A block has THREADS_K × THREADS_J threads. AXIS_X is the dimension of adjacent blocks: 2 is k, 1
// is j, 0 is i. Every other sweep runs backward in i and j, because the cache still holds the data
// that the previous sweep used last.
template <int THREADS_K, int THREADS_J, int AXIS_X, bool KEEP>
static __device__ __forceinline__ double tile_sweep(const struct cuda_pass &pass, uint3 block, uint3 grid)
{
  int block_i = AXIS_X == 0 ? block.x : block.z;
  int block_j = AXIS_X == 1 ? block.x : block.y;
  int block_k = AXIS_X == 2 ? block.x : AXIS_X == 1 ? block.y : block.z;
  if (pass.backward) {
    block_i = (AXIS_X == 0 ? grid.x : grid.z) - 1 - block_i;
    block_j = (AXIS_X == 1 ? grid.x : grid.y) - 1 - block_j;
  }
  int i = pass.lo[0] + block_i;
  int j = pass.lo[1] + block_j * THREADS_J + threadIdx.y;
  int k = pass.first_k + (block_k * THREADS_K + threadIdx.x) * 4;
  double gosa = 0;
  if (j < pass.hi[1] && k < pass.hi[2]) gosa = quad_sweep<KEEP>(pass, i, j, k);
  wait_for_previous();
  return gosa;
}

template <int THREADS_K, int THREADS_J, int AXIS_X, bool KEEP>
static __global__ void __launch_bounds__(THREADS_K *THREADS_J)
    stream(const CUDA_GRID_CONSTANT struct cuda_pass pass)
{
  next_may_start();
  double gosa =
      tile_sweep<THREADS_K, THREADS_J, AXIS_X, KEEP>(pass, blockIdx, {gridDim.x, gridDim.y, gridDim.z});
  gosa_add(gosa, pass.gosa);
}

// The linked sweep. Blocks of the slabs for neighbours start early, so that the transfer
// overlaps the rest of the sweep. They mostly wait for halos, so they are spread among other
// blocks.
template <int THREADS_K, int THREADS_J, int AXIS_X, bool KEEP>
static __global__ void __launch_bounds__(THREADS_K *THREADS_J, KEEP ? 2 : 1)
    linked(const CUDA_GRID_CONSTANT struct cuda_linked job)
{
  double gosa;
  unsigned number;
  next_may_start();
  if (linked_is_slab(job, &number))
    gosa = slab_sweep<KEEP>(job, number, threadIdx.x + threadIdx.y * THREADS_K, THREADS_K * THREADS_J);
  else
    gosa = tile_sweep<THREADS_K, THREADS_J, AXIS_X, KEEP>(job.pass, linked_tile(job, number), job.grid);
  gosa_add(gosa, job.pass.gosa);
}

#define STEP(name, threads_k, threads_j, axis_x, axis_y, axis_z, keep)                                       \
  const struct cuda_variant name = {stream<threads_k, threads_j, axis_x, keep>,                              \
                                    {threads_k, threads_j, 1},                                               \
                                    {1, threads_j, 4 * threads_k},                                           \
                                    {axis_x, axis_y, axis_z},                                                \
                                    0,                                                                       \
                                    linked<threads_k, threads_j, axis_x, keep>}

STEP(cuda_variant_stream, 64, 4, 2, 1, 0, false);
STEP(cuda_variant_stream_32x2, 32, 2, 2, 1, 0, false);
STEP(cuda_variant_stream_32x8, 32, 8, 2, 1, 0, false);
STEP(cuda_variant_stream_32x16, 32, 16, 2, 1, 0, false);
STEP(cuda_variant_stream_128x1, 128, 1, 2, 1, 0, false);
STEP(cuda_variant_stream_j, 64, 4, 1, 2, 0, false);
STEP(cuda_variant_stream_i, 64, 4, 0, 1, 2, false);
STEP(cuda_variant_stream_keep, 32, 16, 2, 1, 0, true);
