// SPDX-License-Identifier: MIT
// Four neighbouring points a thread, one plane a block: the coefficients come in aligned loads of 16 bytes
// and pass the caches by, which are left to p. What no sweep writes is on its way before the sweep before is
// complete.
#include "himeno/cuda/point.cuh"

// p along k from k0 − 1 to k0 + 4: the four points of a thread and their outer neighbours.
struct row {
  float at[6];
};

static __device__ __forceinline__ row row_load(const float *p)
{
  float4 q = *(const float4 *)p;
  return {{0, q.x, q.y, q.z, q.w, 0}};
}

// `first` and `last`: no neighbour is needed there, and there may be none in the array.
static __device__ __forceinline__ row row_load_wide(const float *p, bool first, bool last)
{
  row r = row_load(p);
  if (!first) r.at[0] = p[-1];
  if (!last) r.at[5] = p[4];
  return r;
}

// The five rows whose outer neighbours are needed, and the four at the edges.
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

// The neighbours of the point at position x of the rows, 1 … 4.
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

// A load that leaves L1 to p but keeps the value in L2, for grids that fit there.
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

// Writes the points of [k, k + 4) that lie in the box.
static __device__ __forceinline__ void store(float *out, const float value[4], int k, int lo, int hi)
{
  if (k >= lo && k + 4 <= hi) {
    *(float4 *)out = make_float4(value[0], value[1], value[2], value[3]);
  } else {
    for (int x = 0; x < 4; x++)
      if (k + x >= lo && k + x < hi) out[x] = value[x];
  }
}

// Sum of ss² of the four points at (i, j, k …), k a multiple of 4.
template <bool KEEP>
static __device__ __forceinline__ double quad(const struct cuda_pass &pass, int i, int j, int k)
{
  int64_t at = i * pass.plane + (int64_t)j * pass.pitch + k;
  coefficients4 c = coefficients4_load<KEEP>(pass, at);
  wait_for_inputs(pass);
  rows r = rows_load(pass.p + at, pass.plane, pass.pitch, k == 0, k + 4 >= pass.pitch);
  float value[4], ss[4];
  double gosa = 0;
#pragma unroll
  for (int x = 0; x < 4; x++) {
    value[x] = relax(rows_stencil(r, x + 1), coefficients4_at(c, x), &ss[x]);
    if (k + x >= pass.lo[2] && k + x < pass.hi[2]) gosa += squared(ss[x]);
  }
  store(pass.out + at, value, k, pass.lo[2], pass.hi[2]);
  return gosa;
}

// THREADS_K × THREADS_J threads; AXIS_X is the dimension of neighbouring blocks: 2 is k, 1 is j, 0 is i.
// Every other sweep runs backward in i and j: the cache still holds what the sweep before read and wrote
// last.
template <int THREADS_K, int THREADS_J, int AXIS_X, bool KEEP>
static __global__ void __launch_bounds__(THREADS_K *THREADS_J)
    stream(const CUDA_GRID_CONSTANT struct cuda_pass pass)
{
  int block_i = AXIS_X == 0 ? blockIdx.x : blockIdx.z;
  int block_j = AXIS_X == 1 ? blockIdx.x : blockIdx.y;
  int block_k = AXIS_X == 2 ? blockIdx.x : AXIS_X == 1 ? blockIdx.y : blockIdx.z;
  if (pass.backward) {
    block_i = (AXIS_X == 0 ? gridDim.x : gridDim.z) - 1 - block_i;
    block_j = (AXIS_X == 1 ? gridDim.x : gridDim.y) - 1 - block_j;
  }
  int i = pass.lo[0] + block_i;
  int j = pass.lo[1] + block_j * THREADS_J + threadIdx.y;
  int k = pass.first_k + (block_k * THREADS_K + threadIdx.x) * 4;
  double gosa = 0;
  next_may_start();
  if (j < pass.hi[1] && k < pass.hi[2]) gosa = quad<KEEP>(pass, i, j, k);
  wait_for_previous();
  gosa_add(gosa, pass.gosa);
}

#define STEP(name, threads_k, threads_j, axis_x, axis_y, axis_z, keep)                                       \
  const struct cuda_step name = {stream<threads_k, threads_j, axis_x, keep>,                                 \
                                 {threads_k, threads_j, 1},                                                  \
                                 {1, threads_j, 4 * threads_k},                                              \
                                 {axis_x, axis_y, axis_z},                                                   \
                                 0}

STEP(cuda_step_stream, 64, 4, 2, 1, 0, false);
STEP(cuda_step_stream_32x2, 32, 2, 2, 1, 0, false);
STEP(cuda_step_stream_32x8, 32, 8, 2, 1, 0, false);
STEP(cuda_step_stream_32x16, 32, 16, 2, 1, 0, false);
STEP(cuda_step_stream_128x1, 128, 1, 2, 1, 0, false);
STEP(cuda_step_stream_j, 64, 4, 1, 2, 0, false);
STEP(cuda_step_stream_i, 64, 4, 0, 1, 2, false);
STEP(cuda_step_stream_keep, 32, 16, 2, 1, 0, true);
