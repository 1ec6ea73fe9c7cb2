// SPDX-License-Identifier: MIT
// Persistent blocks: as many as are resident at one time, each with the same share of all tiles and
// steps of k, to within one step. So no multiprocessor idles in a last, half-empty round (Osama et
// al., "Stream-K", PPoPP 2023). Full rounds consist of whole tiles. The remaining tiles, between
// one and two per block, form one sequence of steps, which is cut into equal pieces. A block begins
// with the last tile of its piece. If the next block shares that tile, this block stores its sums
// in device memory at once. The next block computes the shared tile last, and adds the stored sums.
// The order of additions is fixed, and blocks wait only for blocks with lower numbers.
#ifndef GEMM_KERNELS_CUDA_FP32_WARPTILE_STREAM_CUH
#define GEMM_KERNELS_CUDA_FP32_WARPTILE_STREAM_CUH

#include "gemm/kernels/cuda/fp32/warptile_bulk.cuh"

#if __CUDA_ARCH__ >= 900

// Steps `from` to `end` along k, counted in tiles of k, of tile `number` of C.
struct stream_segment {
  int number, from, end;
};

// The order of work for all blocks.
struct stream_plan {
  // deep: steps per tile; rounds: number of rounds of whole tiles; line: number of shared tiles
  int deep, blocks, rounds, line;

  __device__ __forceinline__ stream_plan(int tiles, int deep_, int blocks_) : deep(deep_), blocks(blocks_)
  {
    rounds = max(tiles / blocks - 1, 0);
    line = tiles - rounds * blocks;
  }

  __device__ __forceinline__ int64_t piece(int block) const
  {
    return (int64_t)line * deep * block / blocks;
  }

  __device__ __forceinline__ int steps(int block) const
  {
    return (int)(piece(block + 1) - piece(block)) + rounds * deep;
  }

  __device__ __forceinline__ stream_segment segment(int block, int which) const
  {
    const int64_t low = piece(block), high = piece(block + 1);
    const int last = (int)((high - 1) / deep), first = (int)(low / deep), number = last - which;
    if (number < first) return {line + (which - (last - first + 1)) * blocks + block, 0, deep};
    const int64_t begin = (int64_t)number * deep;
    return {number, (int)(max(low, begin) - begin), (int)(min(high, begin + deep) - begin)};
  }
};

// State of the thread that requests boxes. It is in shared memory, because all registers are in
// use.
struct stream_course {
  int which, l, end; // which: segment number; l, end: its next step and end (tiles of k)
  corner at;
};

template <class S> struct stream_asker {
  const stream_plan &plan;
  const bulk_args &args;
  stream_course &course;

  __device__ __forceinline__ bulk_place next()
  {
    if (course.l == course.end) {
      const stream_segment s = plan.segment(blockIdx.x, ++course.which);
      course.l = s.from;
      course.end = s.end;
      course.at = warptile_corner(s.number, args.rows, args.columns, S::m, S::n);
    }
    return {course.at.i, course.at.j, course.l++ * S::k};
  }
};

// Tiles of A and B pass through the ring in order, whichever tile of C they belong to.
template <class S, bool turn_a, bool turn_b> struct stream_flow {
  typedef bulk_layout<S> bytes;
  typedef bulk_ring<S, turn_a, turn_b> ring_type;
  const bulk_args &args;
  const ring_type ring;
  uint32_t buffers; // offset of the transposed tiles
  int left;         // number of tiles still to multiply
  // now: offset of the current tile; parity: parity of the awaited stage
  uint32_t now, buffer, parity;
  int stage, awaited;
  bool there;

  __device__ __forceinline__ stream_flow(const bulk_args &args_, char *memory, uint64_t *barriers, int tiles)
      : args(args_), ring({shared_address(memory), shared_address(barriers)}),
        buffers(args_.stages * bytes::stage), left(tiles), now(0), buffer(buffers), parity(0), stage(0),
        awaited(ring_type::lead - 1), there(false)
  {
  }

  // Fills the ring, and transposes the first tile.
  __device__ __forceinline__ void start(stream_asker<S> &asker)
  {
    if (threadIdx.x == 0) {
      for (int which = 0; which < args.stages; which++) barrier_init(ring.barrier(which));
      barriers_publish();
      for (int which = 0; which < min(args.stages, left); which++) ring.ask(args, asker.next(), which);
    }
    __syncthreads();
    ring.turn_first(buffers);
  }

  // Multiplies all but the last step of the next tile. `more`: later tiles must still be requested.
  __device__ __forceinline__ void multiply(warptile_item<S> &item, stream_asker<S> &asker, bool more)
  {
    __syncthreads();
    if (threadIdx.x == 0 && more) ring.ask(args, asker.next(), stage == 0 ? args.stages - 1 : stage - 1);
    if (!there && left >= ring_type::lead) barrier_wait(ring.barrier(awaited), parity);
    if (++awaited == args.stages) awaited = 0, parity ^= 1;
    uint32_t after = now + bytes::stage;
    if (++stage == args.stages) stage = 0, after = 0;
    const uint32_t at_a = ring.begin + item.i * (int)sizeof(float) + (turn_a ? buffer : now);
    const uint32_t at_b =
        ring.begin + item.j * (int)sizeof(float) + (turn_b ? buffer + ring_type::turned_a : now + bytes::a);
    const uint32_t other = buffers + (buffer == buffers ? ring_type::turned : 0);
    there = ring.multiply(item, at_a, at_b, after, other, awaited, parity);
    now = after;
    buffer = other;
    left--;
  }
};

// Sums that one block passes to the next. Each thread's sums are stored where the same thread of
// the other block reads them.
template <class S> struct stream_parcel {
  static constexpr int quads = S::item_m * S::item_n / 4, floats = quads * 4 * S::threads;
  float4 *room;
  unsigned *ready;

  __device__ __forceinline__ stream_parcel(const cuda_job &job, int block)
      : room((float4 *)job.work + (int64_t)block * quads * S::threads + threadIdx.x),
        ready((unsigned *)(job.work + (int64_t)gridDim.x * floats) + block)
  {
  }

  __device__ __forceinline__ void send(const warptile_item<S> &item) const
  {
#pragma unroll
    for (int q = 0; q < quads; q++) {
      const float *from = &item.sums[q * 4 / S::item_n][q * 4 % S::item_n];
      __stcg(room + q * S::threads, make_float4(from[0], from[1], from[2], from[3]));
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(ready, 1u);
  }

  // Waits for the sums, adds them, and resets the flag for the next launch.
  __device__ __forceinline__ void add(warptile_item<S> &item) const
  {
    if (threadIdx.x == 0) {
      while (atomicExch(ready, 0u) == 0) __nanosleep(100);
      __threadfence();
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < quads; q++) {
      const float4 v = __ldcg(room + q * S::threads);
      float *to = &item.sums[q * 4 / S::item_n][q * 4 % S::item_n];
      to[0] += v.x, to[1] += v.y, to[2] += v.z, to[3] += v.w;
    }
  }
};

template <class S>
static __device__ __forceinline__ void stream_finish(warptile_item<S> &item, const bulk_args &args,
                                                     const stream_plan &plan, const stream_segment &segment)
{
  const int64_t begin = (int64_t)segment.number * plan.deep;
  const int block = blockIdx.x;
  if (segment.end < plan.deep) return stream_parcel<S>(args.job, block).send(item);
  if (segment.from > 0)
    for (int before = block - 1; before >= 0 && plan.piece(before + 1) > begin; before--)
      stream_parcel<S>(args.job, before).add(item);
  warptile_finish(item, args.job, warptile_corner(segment.number, args.rows, args.columns, S::m, S::n));
}

#endif

template <class S, bool turn_a, bool turn_b>
static __global__ void __launch_bounds__(S::threads, S::blocks)
    warptile_stream(const CUDA_GRID_CONSTANT bulk_args args)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char memory[];
  __shared__ __align__(8) uint64_t barriers[BULK_STAGES_MAX];
  __shared__ stream_course course;
  const stream_plan plan(args.rows * args.columns, (args.job.k - 1) / S::k + 1, gridDim.x);
  stream_asker<S> asker = {plan, args, course};
  stream_flow<S, turn_a, turn_b> flow(args, memory, barriers, plan.steps(blockIdx.x));
  const int steps = flow.left;
  warptile_item<S> item;
  if (threadIdx.x == 0) course.which = -1, course.l = course.end = 0;
  flow.start(asker);
#pragma unroll 1
  for (int which = 0; flow.left > 0; which++) {
    const stream_segment segment = plan.segment(blockIdx.x, which);
    item.begin();
#pragma unroll 1
    for (int tile = segment.from; tile < segment.end; tile++)
      flow.multiply(item, asker, flow.left < steps && flow.left >= args.stages);
    item.multiply(S::k - 1);
    stream_finish(item, args, plan, segment);
  }
#endif
}

#endif
