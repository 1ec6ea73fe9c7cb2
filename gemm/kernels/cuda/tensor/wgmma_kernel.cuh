// SPDX-License-Identifier: MIT
// C = alpha op(A) op(B) + beta C on Hopper's warpgroup tensor cores. Persistent blocks compute one
// tile of C after the other. Two blocks that are neighbours along m form a cluster and share the
// columns of B. One warp fills a ring of stages in shared memory by TMA, two warpgroups multiply 64
// rows each, and TMA stores a finished tile while the next one is computed.
#ifndef GEMM_KERNELS_CUDA_TENSOR_WGMMA_KERNEL_CUH
#define GEMM_KERNELS_CUDA_TENSOR_WGMMA_KERNEL_CUH

#include "gemm/kernels/cuda/tensor/hopper.cuh"
#include "gemm/kernels/cuda/tensor/tile_order.cuh"
#include "gemm/kernels/cuda/tensor/wgmma_op.cuh"
#include "gpu/cuda/cuda_overlap.cuh"

struct wgmma_args {
  int m, n, k; // elements
  float alpha, beta;
  float *c;
  int64_t ldc;
  int bulk_store; // 1: beta is 0 and TMA can store C by map_c
  // clock cycles between the starts of two groups of pairs of blocks; pair n is in group n %
  // SPREAD_TURNS
  int spread;
  // Number of parts of k. If it is more than 1, map_c stores part p from row p × part_rows on.
  int splits, part_rows;
  tile_order order;
};

enum { SPREAD_TURNS = 4 };

// TF32 products read operands in shared memory only along k, but can take A from registers, which
// are loaded in any order. So they support an A stored along m. If B is stored along n,
// the kernel receives B as its A, A as its B, n as its m and m as its n, and computes C `turned`.
template <class T, int columns_, bool a_across_, bool b_across_, bool turned_ = false> struct wgmma_shape {
  typedef T type;
  // A is stored along m; B is stored along n
  static constexpr bool a_across = a_across_, b_across = b_across_;
  static constexpr bool turned = turned_, by_registers = sizeof(T) == 4 && a_across;
  static constexpr int rows = 128, columns = columns_, depth = 128 / sizeof(T);
  static constexpr int slices = 2; // slices of 64 rows of 32 floats, for a warpgroup's stores
  static constexpr uint32_t a_bytes = rows * 128, b_bytes = columns * 128, stage_bytes = a_bytes + b_bytes;
  static constexpr int stages = (192 << 10) / stage_bytes;
  // Each block of a cluster loads half of B: half of the columns, or half of the depth if boxes of
  // 64 columns cannot be halved.
  static constexpr bool halves_depth = b_across && columns % 128 != 0;
  static constexpr int b_box_rows = b_across ? depth / (halves_depth ? 2 : 1) : columns / 2;
  static constexpr uint32_t slice_bytes = 64 * 128, box_bytes = 64 * 128, across_bytes = depth * 128;
  static constexpr uint32_t smem_bytes = 1024 + stages * stage_bytes + 2 * slices * slice_bytes + 16 * stages;
  static constexpr int threads = 384;
};

// Offsets in shared memory, which are equal in both blocks of the cluster.
template <class S> struct wgmma_storage {
  uint32_t base;
  __device__ explicit wgmma_storage(uint32_t start) : base((start + 1023) & ~1023u)
  {
  }
  __device__ uint32_t a(int stage) const
  {
    return base + stage * S::stage_bytes;
  }
  __device__ uint32_t b(int stage) const
  {
    return a(stage) + S::a_bytes;
  }
  __device__ uint32_t slice(int group, int n) const
  {
    return base + S::stages * S::stage_bytes + (group * S::slices + n) * S::slice_bytes;
  }
  __device__ uint32_t full(int stage) const
  {
    return slice(2, 0) + 8 * stage;
  }
  __device__ uint32_t empty(int stage) const
  {
    return full(S::stages) + 8 * stage;
  }
};

// One part of k of a tile of C: the tile's first row and column, and the part's range of steps.
struct wgmma_unit {
  int m, n, first, steps, part;
};

template <class S>
static __device__ __forceinline__ wgmma_unit wgmma_unit_of(const wgmma_args &args, int number)
{
  const int part = number / args.order.tiles, all = (args.k - 1) / S::depth + 1;
  int row, column;
  args.order.place(number - part * args.order.tiles, &row, &column);
  const int first = (int)((int64_t)all * part / args.splits);
  const int end = (int)((int64_t)all * (part + 1) / args.splits);
  return {(2 * row + (int)cluster_rank()) * S::rows, column * S::columns, first, end - first, part};
}

// A position in the ring of stages: the index, and the parity of the current round.
template <int stages> struct ring {
  int stage = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ void next()
  {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// `idle`: the block's rows are beyond the matrix, and it loads only B.
template <class S>
static __device__ __forceinline__ void wgmma_load(const wgmma_storage<S> &storage, const CUtensorMap &a,
                                                  const CUtensorMap &b, int stage, int m, int n, int k,
                                                  uint32_t rank, bool idle)
{
  uint32_t full = storage.full(stage), to = storage.b(stage);
  barrier_expect(full, idle ? S::b_bytes : S::stage_bytes);
  if (S::a_across && !idle) {
    for (int box = 0; box < S::rows / S::depth; box++)
      box_load(storage.a(stage) + box * S::across_bytes, a, m + S::depth * box, k, full);
  } else if (!idle) {
    box_load(storage.a(stage), a, k, m, full);
  }
  constexpr int half = S::columns / 2;
  if (S::halves_depth) {
    for (int box = 0; box < S::columns / 64; box++)
      box_load_all(to + box * S::box_bytes + rank * S::box_bytes / 2, b, n + 64 * box,
                   k + rank * S::b_box_rows, full, 3);
    return;
  }
  n += rank * half;
  to += rank * half * 128;
  if (S::b_across) {
    for (int box = 0; box < half / 64; box++)
      box_load_all(to + box * S::box_bytes, b, n + 64 * box, k, full, 3);
  } else {
    box_load_all(to, b, k, n, full, 3);
  }
}

// All tiles take equally long, so their stores would coincide. So each pair of blocks waits for its
// start time before its first tile.
static __device__ void begin_apart(int spread)
{
  const int64_t begin = clock64(), wait = (int64_t)spread * (blockIdx.x / 2 % SPREAD_TURNS);
  while (clock64() - begin < wait) continue;
}

// Runs in one thread: waits for stages that both blocks have released, and fills them. Every other
// tile runs backwards along k, so that its first data are those that the previous tile read last
// into the L2 cache.
template <class S>
static __device__ void wgmma_produce(const wgmma_storage<S> &storage, const CUtensorMap &a,
                                     const CUtensorMap &b, const wgmma_args &args)
{
  const uint32_t rank = cluster_rank();
  ring<S::stages> at;
  begin_apart(args.spread);
  const int units = args.order.tiles * args.splits;
  bool back = false;
  for (int number = blockIdx.x / 2; number < units; number += gridDim.x / 2, back = !back) {
    const wgmma_unit unit = wgmma_unit_of<S>(args, number);
    for (int step = 0; step < unit.steps; step++) {
      const int k = (unit.first + (back ? unit.steps - 1 - step : step)) * S::depth;
      barrier_wait(storage.empty(at.stage), at.parity ^ 1);
      wgmma_load<S>(storage, a, b, at.stage, unit.m, unit.n, k, rank, unit.m >= args.m);
      at.next();
    }
  }
}

// Issues the products of one stage: four products, each of 32 bytes along k.
template <class S>
static __device__ __forceinline__ void wgmma_stage(float (&d)[S::columns / 2], uint32_t a, uint32_t b,
                                                   int accumulate)
{
  uint64_t a_operand = operand(a, S::box_bytes, 1024);
  uint64_t b_operand = operand(b, S::box_bytes, 1024);
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < 4; i++)
    wgmma_op<typename S::type, S::columns>::template run<S::a_across, S::b_across>(
        d, a_operand + i * (S::a_across ? 2048 : 32) / 16, b_operand + i * (S::b_across ? 2048 : 32) / 16,
        i ? 1 : accumulate);
  wgmma_commit();
}

// The k loop of a tile: one stage's products are in flight while those of the next stage are
// issued. A stage is released to both blocks of the cluster, because each block's multicast of B
// writes to both blocks.
template <class S>
static __device__ __forceinline__ void wgmma_multiply(const wgmma_storage<S> &storage,
                                                      float (&d)[S::columns / 2], ring<S::stages> &at,
                                                      int group, int steps)
{
  const int thread = threadIdx.x % 128;
  int last = 0;
  for (int step = 0; step < steps; step++) {
    barrier_wait(storage.full(at.stage), at.parity);
    wgmma_stage<S>(d, storage.a(at.stage) + group * S::box_bytes, storage.b(at.stage), step > 0);
    wgmma_wait<1>();
    if (step > 0 && thread % 32 == 0 && thread < 64) barrier_arrive_at(storage.empty(last), thread / 32);
    last = at.stage;
    at.next();
  }
  wgmma_wait<0>();
  registers_fence(d);
  if (thread % 32 == 0 && thread < 64) barrier_arrive_at(storage.empty(last), thread / 32);
}

// The rows and elements, among a warpgroup's 64 rows, that a thread loads if A comes from
// registers. Its two rows are neighbours. A warp's 16 rows are placed so that neither loads of 8
// along k nor stores of 8 columns have bank conflicts.
struct spread_place {
  int box, chunk, half,
      // indices of the 32-row box, 16-byte chunk, 8-byte half, and lane among 4 threads along k
      lane;
  __device__ __forceinline__ spread_place()
  {
    const int warp = threadIdx.x % 128 / 32, row = threadIdx.x % 32 / 4;
    box = warp / 2;
    chunk = warp % 2 ^ row / 2 % 2 * 5 ^ row / 4 * 2;
    half = row % 2;
    lane = threadIdx.x % 4;
  }
  __device__ __forceinline__ int row() const
  {
    return 32 * box + 4 * chunk + 2 * half;
  }
  // Returns a byte offset in boxes of 32 swizzled rows of 128 bytes, stored one after the other:
  // that of the thread's element at position `along`.
  __device__ __forceinline__ uint32_t at(int along) const
  {
    return (32 * box + along) * 128 + (chunk ^ along % 8) * 16 + half * 8;
  }
};

// Loads elements of two rows at two positions along k, from the 8 positions that start at `from`.
static __device__ __forceinline__ void rows_load(uint32_t (&x)[4], uint32_t from, const spread_place &place)
{
#pragma unroll
  for (int i = 0; i < 2; i++)
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                 : "=r"(x[2 * i]), "=r"(x[2 * i + 1])
                 : "r"(from + place.at(place.lane + 4 * i))
                 : "memory");
}

// The k loop of a tile with A from registers, which are loaded two products before they are needed.
template <class S>
static __device__ __forceinline__ void wgmma_multiply_rows(const wgmma_storage<S> &storage,
                                                           float (&d)[S::columns / 2], ring<S::stages> &at,
                                                           int group, int steps)
{
  const spread_place place;
  const int lane = threadIdx.x % 32;
  uint32_t x[4][4];
  uint32_t from = storage.a(at.stage) + group * S::box_bytes;
  barrier_wait(storage.full(at.stage), at.parity);
  rows_load(x[0], from, place);
  rows_load(x[1], from + 1024, place);
  int last = 0;
  for (int step = 0; step < steps; step++) {
    const int stage = at.stage;
    const uint64_t b = operand(storage.b(stage), S::box_bytes, 1024);
    at.next();
#pragma unroll
    for (int i = 0; i < 4; i++) {
      wgmma_fence();
      wgmma_tf32_registers(d, x[i], b + 2 * i, step + i > 0);
      wgmma_commit();
      wgmma_wait<2>();
      if (i == 1 && step > 0 && lane < 2) barrier_arrive_at(storage.empty(last), lane);
      if (i < 2) {
        rows_load(x[i + 2], from + (i + 2) * 1024, place);
      } else if (step + 1 < steps) {
        if (i == 2) {
          from = storage.a(at.stage) + group * S::box_bytes;
          barrier_wait(storage.full(at.stage), at.parity);
        }
        rows_load(x[i - 2], from + (i - 2) * 1024, place);
      }
    }
    last = stage;
  }
  wgmma_wait<0>();
  registers_fence(d);
  if (lane < 2) barrier_arrive_at(storage.empty(last), lane);
}

// A warpgroup whose rows are beyond the matrix releases the stages without using them.
template <class S>
static __device__ __forceinline__ void wgmma_pass(const wgmma_storage<S> &storage, ring<S::stages> &at,
                                                  int steps)
{
  const int lane = threadIdx.x % 32, thread = threadIdx.x % 128;
  for (int step = 0; step < steps; step++, at.next()) {
    barrier_wait(storage.full(at.stage), at.parity);
    if (S::by_registers && lane < 2)
      barrier_arrive_at(storage.empty(at.stage), lane);
    else if (!S::by_registers && lane == 0 && thread < 64)
      barrier_arrive_at(storage.empty(at.stage), thread / 32);
  }
}

// Returns the index, among the warpgroup's 64 rows, of the thread's first or (`high`) second row.
template <class S> static __device__ __forceinline__ int wgmma_row(int high)
{
  return S::by_registers ? spread_place().row() + high
                         : threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + 8 * high;
}

// Writes a slice, 128 bytes of each of 64 rows, to shared memory, swizzled.
template <class S>
static __device__ __forceinline__ void slice_write(uint32_t slice, const float (&d)[16], float alpha)
{
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    int at = wgmma_row<S>(i % 2);
    uint32_t to = slice + at * 128 + ((i / 2 * 2 + lane % 4 / 2) ^ (at & 7)) * 16 + lane % 2 * 8;
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(alpha * d[2 * i]),
                 "f"(alpha * d[2 * i + 1])
                 : "memory");
  }
}

// Writes a slice of a transposed tile as two boxes of 32×32 elements of C.
static __device__ __forceinline__ void slice_write_turned(uint32_t slice, const float (&d)[16], float alpha)
{
  const spread_place place;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int at = i / 2 * 4 + i % 2;
    asm volatile(
        "st.shared.v2.f32 [%0], {%1, %2};" ::"r"(slice + place.at(i / 2 * 8 + 2 * place.lane + i % 2)),
        "f"(alpha * d[at]), "f"(alpha * d[at + 2])
        : "memory");
  }
}

// Returns whether this thread starts the stores of a box: one thread per box does.
template <class S> static __device__ __forceinline__ bool wgmma_storing()
{
  return threadIdx.x % (S::turned ? 64 : 128) == 0;
}

// Stores the tile slice by slice from shared memory to C by TMA.
template <class S>
static __device__ __forceinline__ void wgmma_store_bulk(const wgmma_storage<S> &storage,
                                                        const CUtensorMap &map, float (&d)[S::columns / 2],
                                                        int group, int m, int n, float alpha)
{
  const int thread = threadIdx.x % 128;
  const bool storing = wgmma_storing<S>();
#pragma unroll
  for (int part = 0; part < S::columns / 32; part++) {
    uint32_t slice = storage.slice(group, part % S::slices);
    if (storing) box_store_read<S::slices - 1>();
    group_sync(1 + group);
    float x[16];
#pragma unroll
    for (int i = 0; i < 16; i++) x[i] = d[part * 16 + i];
    if (S::turned)
      slice_write_turned(slice, x, alpha);
    else
      slice_write<S>(slice, x, alpha);
    proxy_fence();
    group_sync(1 + group);
    if (storing && S::turned)
      box_store(map, m + thread / 2, n + 32 * part, slice + thread * (S::slice_bytes / 128));
    else if (storing)
      box_store(map, n + 32 * part, m, slice);
  }
}

// Each thread stores its own pairs of elements: works for any leading dimension, and reads C if
// beta is not 0.
template <class S>
static __device__ __forceinline__ void wgmma_store_plain(float (&d)[S::columns / 2], const wgmma_args &args,
                                                         int m, int n)
{
  const int column = n + threadIdx.x % 4 * 2;
  const int64_t down = S::turned ? 1 : args.ldc, right = S::turned ? args.ldc : 1;
#pragma unroll
  for (int high = 0; high < 2; high++) {
    const int row = m + wgmma_row<S>(high);
    if (row >= args.m) continue;
    float *c = args.c + row * down + column * right;
#pragma unroll
    for (int j = 0; j < S::columns / 8; j++)
#pragma unroll
      for (int i = 0; i < 2; i++)
        if (column + 8 * j + i < args.n) {
          float x = args.alpha * d[4 * j + 2 * high + i];
          float *to = c + (8 * j + i) * right;
          *to = args.beta == 0 ? x : __fmaf_rn(args.beta, *to, x);
        }
  }
}

template <class S>
static __device__ void wgmma_consume(const wgmma_storage<S> &storage, const CUtensorMap &c,
                                     const wgmma_args &args, int group)
{
  const int units = args.order.tiles * args.splits;
  ring<S::stages> at;
  float d[S::columns / 2];
  for (int number = blockIdx.x / 2; number < units; number += gridDim.x / 2) {
    const wgmma_unit unit = wgmma_unit_of<S>(args, number);
    const int m = unit.m + 64 * group, n = unit.n, down = unit.part * args.part_rows;
    if (m >= args.m) {
      wgmma_pass<S>(storage, at, unit.steps);
      continue;
    }
    if constexpr (S::by_registers)
      wgmma_multiply_rows<S>(storage, d, at, group, unit.steps);
    else
      wgmma_multiply<S>(storage, d, at, group, unit.steps);
    if (args.bulk_store)
      wgmma_store_bulk<S>(storage, c, d, group, S::turned ? m : m + down, S::turned ? n + down : n,
                          args.alpha);
    else
      wgmma_store_plain<S>(d, args, m, n);
  }
  if (wgmma_storing<S>()) box_store_wait();
}

template <class S>
static __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(S::threads, 1)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 const __grid_constant__ CUtensorMap c, const __grid_constant__ wgmma_args args)
{
  extern __shared__ uint8_t shared[];
  const wgmma_storage<S> storage(shared_address(shared));
  if (threadIdx.x == 0) {
    map_prefetch(a);
    map_prefetch(b);
    if (args.bulk_store) map_prefetch(c);
    for (int stage = 0; stage < S::stages; stage++) {
      barrier_init(storage.full(stage), 1);
      // one arrival per warpgroup of both blocks, or per warp if warps read A themselves
      barrier_init(storage.empty(stage), S::by_registers ? 16 : 4);
    }
    barrier_init_fence();
  }
  next_may_start();
  cluster_sync();
  wait_for_previous();
  if (threadIdx.x < 128) {
    registers_less<24>();
    if (threadIdx.x == 0) wgmma_produce<S>(storage, a, b, args);
  } else {
    registers_more<240>();
    wgmma_consume<S>(storage, c, args, threadIdx.x / 128 - 1);
  }
  cluster_sync(); // copies and arrivals of the other block still write here
}

#endif
