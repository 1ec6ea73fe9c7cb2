// SPDX-License-Identifier: MIT
// Buffers that pass rows between the blocks of a resident sweep, and between ranks; resident.cu
// explains them.
#ifndef HIMENO_KERNELS_CUDA_RESIDENT_BUFFER_CUH
#define HIMENO_KERNELS_CUDA_RESIDENT_BUFFER_CUH

#include "comm/halo/cuda/link.cuh"
#include "himeno/kernels/cuda/pass.h"
extern "C" {
#include "himeno/kernels/cuda/resident.h"
}

static constexpr int FENCED = CUDA_RESIDENT_FENCED, BUFFERS = CUDA_RESIDENT_FIELDS, AHEAD = BUFFERS - 2;
// A NaN that no sweep produces: the NaN from arithmetic on NVIDIA GPUs has no sign.
static constexpr unsigned NOTHING = 0xffffffffu;
// Floats before and after p, because a row is read one point beyond both of its ends.
static constexpr int MARGIN = 4;
static constexpr unsigned SPINS = 1024; // polls of another rank's row per check of the clock

struct resident_args {
  cuda_pass pass;
  float *buffers; // BUFFERS copies of the field, `planes` planes apart
  int64_t planes;
  int blocks[2], quads;
  int sweeps, first_buffer;
  int reach_lo[2], reach_hi[2]; // planes and rows that any rank publishes: the box and its halo
  halo_link link;               // link.n is 0 if the rank has no neighbours
};

// The rows of a block, and their location in shared memory.
struct resident_tile {
  int block[2];
  int lo[2], rows[2]; // lo: first own plane and row in the arrays; rows: number of each
  int quads, pitch;   // quads: number per row; pitch: floats from row to row in shared memory
  float *p;

  __device__ resident_tile(const resident_args &args, float *shared)
  {
    block[0] = blockIdx.x / args.blocks[1], block[1] = blockIdx.x % args.blocks[1];
    for (int d = 0; d < 2; d++) {
      int first = args.pass.lo[d], n = args.pass.hi[d] - first, hi = (block[d] + 1) * n / args.blocks[d];
      lo[d] = first + block[d] * n / args.blocks[d];
      rows[d] = first + hi - lo[d];
    }
    quads = args.quads, pitch = 4 * quads;
    p = shared + MARGIN;
  }

  // Returns row (i, j) of p, counted from the first own row; -1 and rows[d] are rows of neighbours.
  __device__ float *row(int i, int j) const
  {
    return p + ((i + 1) * (rows[1] + 2) + j + 1) * pitch;
  }

  // Returns the offset of row (i, j), counted as in row(), in an array of the grid.
  __device__ int offset(const cuda_pass &pass, int i, int j) const
  {
    return (lo[0] + i) * (int)pass.plane + (lo[1] + j) * pass.pitch;
  }
};

// Stores four floats in a buffer. LINKED: several devices access the memory.
template <bool LINKED> static __device__ __forceinline__ void buffer_write(float *at, float4 v)
{
  if (LINKED)
    asm volatile("st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(v.x), "f"(v.y),
                 "f"(v.z), "f"(v.w)
                 : "memory");
  else
    asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(v.x), "f"(v.y),
                 "f"(v.z), "f"(v.w)
                 : "memory");
}

template <bool LINKED> static __device__ __forceinline__ float4 buffer_read(const float *at)
{
  float4 v;
  if (LINKED)
    asm volatile("ld.relaxed.sys.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(at)
                 : "memory");
  else
    asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(at)
                 : "memory");
  return v;
}

template <bool LINKED> static __device__ __forceinline__ void buffer_fence()
{
  if (LINKED)
    link_fence();
  else
    __threadfence();
}

// Returns the offset in floats of the buffer of \a sweep, for planes of \a plane floats.
static __device__ __forceinline__ int64_t buffer_of(const resident_args &args, int sweep, int64_t plane)
{
  return (unsigned)(args.first_buffer + sweep) % BUFFERS * args.planes * plane;
}

static __device__ __forceinline__ float4 nothing()
{
  const float v = __uint_as_float(NOTHING);
  return make_float4(v, v, v, v);
}

static __device__ __forceinline__ bool is_there(float4 v)
{
  return __float_as_uint(v.x) != NOTHING && __float_as_uint(v.y) != NOTHING &&
         __float_as_uint(v.z) != NOTHING && __float_as_uint(v.w) != NOTHING;
}

// Returns whether this thread or another one has given up waiting for a row that the rank in
// direction (di, dj) publishes. (0, 0) is this rank.
static __device__ __noinline__ bool halo_given_up(const halo_link &link, int sweep, int di, int dj,
                                                  uint64_t *begin, bool *told)
{
  uint64_t now = link_nanoseconds();
  if (link_broken(link)) return true;
  if (*begin == 0) *begin = now;
  if (!(di || dj) || now - *begin < LINK_TELL_NS) return false;
  bool late = now - *begin > link.timeout_ns;
  for (int m = 0; m < link.n && (late || !*told); m++)
    if (link.message[m].dir[0] == di && link.message[m].dir[1] == dj)
      link_tell(link, link.state->base + sweep + 1, 1u << m, late);
  *told = true;
  return late;
}

// Source and target of a quad of the halo; `from` is NULL at the grid's boundary.
template <bool LINKED> struct halo_quad {
  const float *from;
  float4 *to;
  int di, dj; // direction of the rank that owns the quad

  // Sets up row n of the rows around the tile: first those of the plane before the tile, then of
  // the plane after it, then the rows at both sides of each plane.
  __device__ halo_quad(const resident_args &args, const resident_tile &tile, const float *buffer, int n,
                       int quad)
  {
    const cuda_pass &pass = args.pass;
    const int across = tile.rows[1] + 2, side = n - 2 * across;
    int i = n < across ? -1 : tile.rows[0], j = n < across ? n - 1 : n - across - 1;
    if (side >= 0) i = side / 2, j = side % 2 ? tile.rows[1] : -1;
    int at_i = tile.lo[0] + i, at_j = tile.lo[1] + j;
    bool inside = side < 2 * tile.rows[0] && at_i >= args.reach_lo[0] && at_i < args.reach_hi[0] &&
                  at_j >= args.reach_lo[1] && at_j < args.reach_hi[1];
    from = inside ? buffer + tile.offset(pass, i, j) + 4 * quad : nullptr;
    to = (float4 *)tile.row(i, j) + quad;
    di = (at_i >= pass.hi[0]) - (at_i < pass.lo[0]), dj = (at_j >= pass.hi[1]) - (at_j < pass.lo[1]);
  }

  __device__ void finish(const halo_link &link, int sweep, float4 v) const
  {
    uint64_t begin = 0;
    bool told = false;
    for (unsigned looks = 1; !is_there(v); looks++) {
      v = buffer_read<LINKED>(from);
      if (LINKED && looks % SPINS == 0 && halo_given_up(link, sweep, di, dj, &begin, &told)) break;
    }
    if (LINKED && told && !link_broken(link)) link.plea->missing = 0;
    *to = v;
  }

  // Clears a row that another rank writes, if this block is adjacent to it. A corner of the box is
  // cleared by the block in that corner.
  __device__ void empty(const resident_args &args, const resident_tile &tile, int n, int sweep) const
  {
    const int across = tile.rows[1] + 2, j = n < across ? n : n - across;
    const bool corner = n < 2 * across && (j == 0 || j == across - 1);
    if (!from || !(corner ? di && dj : di || dj)) return;
    const int64_t plane = args.pass.plane;
    buffer_write<true>((float *)from + buffer_of(args, sweep + AHEAD, plane) - buffer_of(args, sweep, plane),
                       nothing());
  }
};

// Fetches the rows around the tile that other blocks own, once they are published. A group of 1 <<
// log lanes fetches two rows at a time.
template <bool LINKED>
static __device__ __forceinline__ void halo_fetch(const resident_args &args, const resident_tile &tile,
                                                  int sweep, int log)
{
  const float *buffer = args.buffers + buffer_of(args, sweep, args.pass.plane);
  const int lanes = 1 << log, groups = blockDim.x >> log;
  const int rows = 2 * (tile.rows[0] + tile.rows[1] + 2);
  for (int quad = threadIdx.x & (lanes - 1); quad < tile.quads; quad += lanes)
    for (int n = threadIdx.x >> log; n < rows; n += 2 * groups) {
      halo_quad<LINKED> one(args, tile, buffer, n, quad), two(args, tile, buffer, n + groups, quad);
      float4 first, second;
      if (one.from) first = buffer_read<LINKED>(one.from);
      if (two.from) second = buffer_read<LINKED>(two.from);
      if (one.from) one.finish(args.link, sweep, first);
      if (two.from) two.finish(args.link, sweep, second);
      if (LINKED) one.empty(args, tile, n, sweep), two.empty(args, tile, n + groups, sweep);
    }
}

#endif
