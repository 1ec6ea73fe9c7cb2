// SPDX-License-Identifier: MIT
// The warptile kernel for sm_90 and later. One thread makes TMA load boxes of the matrices several
// tiles ahead; elements beyond an edge are zero. An operand whose rows run along k arrives with k
// in the inner dimension. All threads then transpose its next tile in blocks of 4×4 or 4×2 while
// they multiply the current one, so that the inner loop is the same for NN, NT, TN and TT. Small
// products are split along k: over the blocks of a cluster, which add up their parts through each
// other's shared memory, or into more parts, which a further kernel adds up. A separate kernel
// computes products with few rows of C and B stored along n. Device memory limits their speed.
#ifndef GEMM_KERNELS_CUDA_FP32_WARPTILE_BULK_CUH
#define GEMM_KERNELS_CUDA_FP32_WARPTILE_BULK_CUH

#include "gemm/kernels/cuda/fp32/warptile.cuh"

#define BULK_STAGES_MAX 8
// Largest number of parts of k that a cluster adds up. Clusters of four would load an H200's 132
// multiprocessors unevenly, because 33 such clusters are not resident at once.
#define BULK_CLUSTER_MAX 2

struct bulk_args {
  CUtensorMap a, b;
  cuda_job job;
  int rows, columns; // numbers of tiles
  int stages, splits;
};

// Bytes of a tile of A, of a tile of B, and of a stage, which has one of each.
template <class S> struct bulk_layout {
  static constexpr int a = S::m * S::k * (int)sizeof(float), b = S::n * S::k * (int)sizeof(float),
                       stage = a + b;
};

#if __CUDA_ARCH__ >= 900

// Transposes tiles [extent][depth], swizzled as TMA does for rows of 64 bytes, into
// [depth][extent].
template <int extent, int depth, int threads> struct tile_turn {
  static_assert(depth == 16, "rows of 64 bytes");
  static constexpr int width = extent * depth / 4 / threads >= 4 ? 4 : 2; // of a block
  static constexpr int share = extent * depth / 4 / width / threads;      // blocks per thread
  static_assert(share * width * 4 * threads == extent * depth, "whole blocks");
  float blocks[share][4][width];

  // Eight neighbouring lanes take 4 blocks along m or n and 2 along k, so that at most two accesses
  // conflict in a bank.
  static __device__ __forceinline__ void place(int id, int *x, int *y)
  {
    const int pairs = depth / width / 2;
    *y = (id % 2 + id / 8 % pairs * 2) * width;
    *x = (id / 2 % 4 + id / 8 / pairs * 4) * 4;
  }

  __device__ __forceinline__ void read(uint32_t from)
  {
#pragma unroll
    for (int n = 0; n < share; n++) {
      int x, y;
      place(threadIdx.x + n * threads, &x, &y);
#pragma unroll
      for (int r = 0; r < 4; r++) {
        const int row = x + r, swizzled = (y / 4 ^ (row / 2 & 3)) * 16 + y % 4 * (int)sizeof(float);
        const uint32_t at = from + row * depth * (int)sizeof(float) + swizzled;
        if (width == 4) {
          const float4 v = shared_load(at);
          blocks[n][r][0] = v.x, blocks[n][r][1] = v.y, blocks[n][r][width - 2] = v.z,
          blocks[n][r][width - 1] = v.w;
        } else {
          const float2 v = shared_load_pair(at);
          blocks[n][r][0] = v.x, blocks[n][r][1] = v.y;
        }
      }
    }
  }

  __device__ __forceinline__ void write(uint32_t to) const
  {
#pragma unroll
    for (int n = 0; n < share; n++) {
      int x, y;
      place(threadIdx.x + n * threads, &x, &y);
#pragma unroll
      for (int c = 0; c < width; c++)
        shared_store(to + ((y + c) * extent + x) * (int)sizeof(float), blocks[n][0][c], blocks[n][1][c],
                     blocks[n][2][c], blocks[n][3][c]);
    }
  }
};

// First row of A, first column of B and first step of k of a pair of boxes.
struct bulk_place {
  int i, j, l;
};

// The ring of stages: one thread fills it and all threads read it.
template <class S, bool turn_a, bool turn_b> struct bulk_ring {
  typedef bulk_layout<S> bytes;
  static constexpr bool turns = turn_a || turn_b;
  static constexpr uint32_t turned_a = turn_a ? bytes::a : 0, turned = turned_a + (turn_b ? bytes::b : 0);
  // number of tiles that must have arrived: the current one, and the one to transpose
  static constexpr int lead = turns ? 2 : 1;
  uint32_t begin, barriers;

  __device__ __forceinline__ uint32_t barrier(int stage) const
  {
    return barriers + stage * (int)sizeof(uint64_t);
  }

  __device__ __forceinline__ void ask(const bulk_args &args, const bulk_place &at, int stage) const
  {
    const uint32_t to = begin + stage * bytes::stage;
    barrier_expect(barrier(stage), bytes::stage);
    box_load(to, args.a, turn_a ? at.l : at.i, turn_a ? at.i : at.l, barrier(stage));
    box_load(to + bytes::a, args.b, turn_b ? at.l : at.j, turn_b ? at.j : at.l, barrier(stage));
  }

  __device__ __forceinline__ void turn_first(uint32_t buffers) const
  {
    tile_turn<S::m, S::k, S::threads> first_a;
    tile_turn<S::n, S::k, S::threads> first_b;
    if (turns) barrier_wait(barrier(0), 0);
    if (turn_a) first_a.read(begin), first_a.write(begin + buffers);
    if (turn_b) first_b.read(begin + bytes::a), first_b.write(begin + buffers + turned_a);
  }

  // Multiplies the last step of the previous tile and all but the last step of the current one.
  // Transposes the tile at `after` into the buffer at `other`; after the last tile this transposes
  // old elements, which are not used. Returns whether the awaited stage has arrived.
  __device__ __forceinline__ bool multiply(warptile_item<S> &item, uint32_t at_a, uint32_t at_b,
                                           uint32_t after, uint32_t other, int awaited, uint32_t parity) const
  {
    tile_turn<S::m, S::k, S::threads> next_a;
    tile_turn<S::n, S::k, S::threads> next_b;
    bool there = false;
#pragma unroll
    for (int step = 0; step < S::k; step++) {
      item.load(step, at_a + step * S::m * (int)sizeof(float), at_b + step * S::n * (int)sizeof(float));
      if (turn_a && step == 2) next_a.read(begin + after);
      if (turn_b && step == 2) next_b.read(begin + after + bytes::a);
      if (turn_a && step == S::k / 2 + 1) next_a.write(begin + other);
      if (turn_b && step == S::k / 2 + 1) next_b.write(begin + other + turned_a);
      if (step == S::k - 3) there = barrier_test(barrier(awaited), parity);
      item.multiply(step + 1);
    }
    return there;
  }
};

// The blocks of a cluster write their sums to their own shared memory. Each block then adds up its
// share of the tile's rows in the order of the parts, and stores these rows.
template <class S>
static __device__ __forceinline__ void bulk_combine(const warptile_item<S> &item, const bulk_args &args,
                                                    const corner &at, uint32_t begin)
{
  const cuda_job &job = args.job;
  const bool aligned = warptile_aligned(job);
  const int rows = S::m / args.splits, first = blockIdx.x % args.splits * rows;
  __syncthreads();
#pragma unroll
  for (int x = 0; x < S::item_m; x++)
#pragma unroll
    for (int y = 0; y < S::item_n; y += 4)
      shared_store(begin + ((item.i + item.row(x)) * S::n + item.j + item.column(y)) * (int)sizeof(float),
                   item.sums[x][y], item.sums[x][y + 1], item.sums[x][y + 2], item.sums[x][y + 3]);
  cluster_sync();
  for (int id = threadIdx.x * 4; id < rows * S::n; id += S::threads * 4) {
    const int row = first + id / S::n, i = at.i + row, j = at.j + id % S::n;
    float4 sum = {0, 0, 0, 0};
    for (int part = 0; part < args.splits; part++) {
      const float4 v = cluster_load(begin + (row * S::n + id % S::n) * (int)sizeof(float), part);
      sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    if (i < job.m) warptile_store(job.c + i * job.ldc + j, sum, job.n - j, aligned, job.alpha, job.beta);
  }
  // No block exits while others read its shared memory.
  cluster_sync();
}

#endif

template <class S, bool turn_a, bool turn_b>
static __global__ void __launch_bounds__(S::threads, S::blocks)
    warptile_bulk(const CUDA_GRID_CONSTANT bulk_args args)
{
#if __CUDA_ARCH__ >= 900
  typedef bulk_ring<S, turn_a, turn_b> ring_type;
  typedef bulk_layout<S> bytes;
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) uint64_t barriers[BULK_STAGES_MAX];
  const int all = (args.job.k - 1) / S::k + 1, part = blockIdx.x % args.splits;
  const int first = (int)((int64_t)all * part / args.splits);
  const int tiles = (int)((int64_t)all * (part + 1) / args.splits) - first;
  const corner at = warptile_corner(blockIdx.x / args.splits, args.rows, args.columns, S::m, S::n);
  const uint32_t begin = shared_address(memory), buffers = args.stages * bytes::stage;
  const ring_type ring = {begin, shared_address(barriers)};
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < args.stages; stage++) barrier_init(ring.barrier(stage));
    barriers_publish();
    for (int tile = 0; tile < min(args.stages, tiles); tile++)
      ring.ask(args, {at.i, at.j, (first + tile) * S::k}, tile);
  }
  __syncthreads();
  warptile_item<S> item;
  item.begin();
  ring.turn_first(buffers);
  const uint32_t of_a = begin + item.i * (int)sizeof(float);
  const uint32_t of_b = begin + (turn_b ? ring.turned_a : bytes::a) + item.j * (int)sizeof(float);
  uint32_t now = 0, buffer = buffers,
           parity = 0; // now: offset of the current tile; parity: parity of the awaited stage
  int stage = 0, awaited = ring.lead - 1;
  bool there = false;
#pragma unroll 1
  for (int tile = 0; tile < tiles; tile++) {
    __syncthreads();
    if (threadIdx.x == 0 && tile > 0 && tile - 1 + args.stages < tiles)
      ring.ask(args, {at.i, at.j, (first + tile - 1 + args.stages) * S::k},
               stage == 0 ? args.stages - 1 : stage - 1);
    if (!there && tile + ring.lead - 1 < tiles) barrier_wait(ring.barrier(awaited), parity);
    if (++awaited == args.stages) awaited = 0, parity ^= 1;
    uint32_t after = now + bytes::stage;
    if (++stage == args.stages) stage = 0, after = 0;
    const uint32_t other = buffers + (buffer == buffers ? ring.turned : 0);
    there = ring.multiply(item, of_a + (turn_a ? buffer : now), of_b + (turn_b ? buffer : now), after, other,
                          awaited, parity);
    now = after;
    buffer = other;
  }
  item.multiply(S::k - 1);
  if (args.splits > BULK_CLUSTER_MAX)
    warptile_finish(item, warptile_partial(args.job, part), at);
  else if (args.splits > 1)
    bulk_combine(item, args, at, begin);
  else
    warptile_finish(item, args.job, at);
#endif
}

// For at most S::m rows of C: each thread computes four columns, and loads B from device memory to
// registers. A is stored in shared memory, with its rows interleaved.
#define ROWS_DEPTH 64
#define ROWS_AHEAD 8 // loads of B in flight per thread
template <class S, bool turn_a, bool>
static __global__ void __launch_bounds__(S::threads, S::blocks)
    warptile_rows(const CUDA_GRID_CONSTANT bulk_args args)
{
  static_assert(S::n == 4 * S::threads && S::item_m == S::m && S::item_n == 4, "four columns per thread");
  __shared__ __align__(16) float a[ROWS_DEPTH][S::m];
  const cuda_job &job = args.job;
  const int part = blockIdx.x % args.splits, tile = blockIdx.x / args.splits;
  const int all = (job.k - 1) / S::k + 1, i = tile / args.columns * S::m;
  const int j = tile % args.columns * S::n + 4 * (int)threadIdx.x;
  const int first = (int)((int64_t)all * part / args.splits) * S::k;
  const int end = min((int64_t)job.k, (int64_t)all * (part + 1) / args.splits * S::k);
  float sums[S::m][4] = {};
  for (int l = first; l < end; l += ROWS_DEPTH) {
    const int depth = min(ROWS_DEPTH, end - l);
    __syncthreads();
    for (int id = threadIdx.x; id < ROWS_DEPTH * S::m; id += S::threads) {
      const int d = turn_a ? id % ROWS_DEPTH : id / S::m, row = turn_a ? id / ROWS_DEPTH : id % S::m;
      const bool inside = d < depth && i + row < job.m;
      a[d][row] = !inside ? 0 : job.a[turn_a ? (i + row) * job.lda + l + d : (l + d) * job.lda + i + row];
    }
    __syncthreads();
    if (j >= job.n) continue;
    const float *b = job.b + l * job.ldb + j;
#pragma unroll 1
    for (int d = 0; d < depth; d += ROWS_AHEAD) {
      float4 v[ROWS_AHEAD];
#pragma unroll
      for (int e = 0; e < ROWS_AHEAD; e++)
        v[e] = d + e < depth ? __ldg((const float4 *)(b + (d + e) * job.ldb)) : float4{0, 0, 0, 0};
#pragma unroll
      for (int e = 0; e < ROWS_AHEAD; e++)
#pragma unroll
        for (int x = 0; x < S::m; x++) {
          sums[x][0] = fmaf(a[d + e][x], v[e].x, sums[x][0]);
          sums[x][1] = fmaf(a[d + e][x], v[e].y, sums[x][1]);
          sums[x][2] = fmaf(a[d + e][x], v[e].z, sums[x][2]);
          sums[x][3] = fmaf(a[d + e][x], v[e].w, sums[x][3]);
        }
    }
  }
  const cuda_job to = args.splits > 1 ? warptile_partial(job, part) : job;
#pragma unroll
  for (int x = 0; x < S::m; x++)
    if (i + x < job.m && j < job.n)
      warptile_store(to.c + (i + x) * to.ldc + j, {sums[x][0], sums[x][1], sums[x][2], sums[x][3]}, job.n - j,
                     warptile_aligned(to), to.alpha, to.beta);
}

#endif
