// SPDX-License-Identifier: MIT
// Links between CUDA devices of a host, or between processes on one device: kernels that store
// faces into the neighbours' memory, set flags and wait for flags.
#include "comm/halo/cuda/link.cuh"

extern "C" {
#include "base/log.h"
#include "gpu/cuda/cuda_device.h"
}

// EACH: number of quads (groups of four floats) that a thread has in flight
static const unsigned THREADS = 256, EACH = 4;
static const unsigned BLOCKS = 264; // maximum number of blocks per message
// Launch shape if no message has more than FEW quads: each quad then has a thread of its own.
// Blocks are as large as possible, because each executes a fence and adds to a flag.
static const unsigned FEW_THREADS = 1024, FEW = BLOCKS * THREADS;
static const unsigned WARP = 32, QUAD = 4;

// first[m] is the index of the first block of message m, and first[n] is the number of all blocks.
// An empty message has one block, which sets the flag.
struct shares {
  unsigned first[HALO_MESSAGES_MAX + 1];
};

// A face, divided into quads that are aligned in the target. The first and the last quad of a row
// may have fewer than four floats.
struct face {
  float *out;
  const float *in;
  int64_t out_plane, out_pitch, in_plane, in_pitch;
  // rows: rows per plane; width: floats per row; lead: floats missing in a row's first quad; quads:
  // quads per row
  unsigned rows, width, lead, quads;
  bool aligned; // the quads are aligned in the source, too
};

static __device__ __forceinline__ unsigned lead_of(const float *at)
{
  return (unsigned)((uintptr_t)at / sizeof(float) % QUAD);
}

static __device__ face face_of(const halo_link &link, const halo_link_message &m, const float *field,
                               int which)
{
  face f;
  f.out = m.to[which];
  f.in = field + m.lo[0] * link.plane + m.lo[1] * link.pitch + m.lo[2];
  f.out_plane = m.plane, f.out_pitch = m.pitch, f.in_plane = link.plane, f.in_pitch = link.pitch;
  f.rows = m.hi[1] - m.lo[1], f.width = m.hi[2] - m.lo[2];
  f.lead = lead_of(f.out);
  f.quads = (f.lead + f.width + QUAD - 1) / QUAD;
  f.aligned = f.lead == lead_of(f.in);
  return f;
}

// Addresses of a quad in source and target. k is the index of its first float in the row; k is
// negative if the quad begins before the row.
struct place {
  const float *in;
  float *out;
  int k;
};

static __device__ __forceinline__ place place_of(const face &f, unsigned n)
{
  unsigned row = n / f.quads, i = row / f.rows, j = row % f.rows;
  int k = (int)(n % f.quads * QUAD) - (int)f.lead;
  return {f.in + i * f.in_plane + j * f.in_pitch + k, f.out + i * f.out_plane + j * f.out_pitch + k, k};
}

static __device__ __forceinline__ float4 quad_load(const face &f, const place &at)
{
  float v[QUAD] = {};
  if (f.aligned && at.k >= 0 && at.k + (int)QUAD <= (int)f.width) return *(const float4 *)at.in;
  for (int x = 0; x < (int)QUAD; x++)
    if (at.k + x >= 0 && at.k + x < (int)f.width) v[x] = at.in[x];
  return make_float4(v[0], v[1], v[2], v[3]);
}

static __device__ __forceinline__ void quad_store(const face &f, const place &at, float4 value)
{
  const float v[QUAD] = {value.x, value.y, value.z, value.w};
  if (at.k >= 0 && at.k + (int)QUAD <= (int)f.width) {
    link_store(at.out, value);
    return;
  }
  for (int x = 0; x < (int)QUAD; x++)
    if (at.k + x >= 0 && at.k + x < (int)f.width) at.out[x] = v[x];
}

// Stores the part of a face that belongs to block `block` of `blocks`, with EACH quads in flight
// per thread.
static __device__ void quads_push(const face &f, unsigned total, unsigned block, unsigned blocks)
{
  for (unsigned first = block * THREADS * EACH; first < total; first += blocks * THREADS * EACH) {
    float4 value[EACH];
    place at[EACH];
#pragma unroll
    for (unsigned e = 0; e < EACH; e++) {
      unsigned n = first + e * THREADS + threadIdx.x;
      at[e] = place_of(f, n);
      if (n < total) value[e] = quad_load(f, at[e]);
    }
#pragma unroll
    for (unsigned e = 0; e < EACH; e++)
      if (first + e * THREADS + threadIdx.x < total) quad_store(f, at[e], value[e]);
  }
}

// Forces the compiler to compute the place here, not after the wait that follows.
static __device__ __forceinline__ void settle(place &at)
{
  asm volatile("" : "+l"(at.in), "+l"(at.out), "+r"(at.k));
  __builtin_assume(__isGlobal(at.in) && __isGlobal(at.out));
}

// A thread block's part of an exchange.
struct work {
  const halo_link_message *to;
  // block: this block's index among the message's blocks; blocks: number of the message's blocks;
  // total: number of the message's quads
  unsigned block, blocks, total;
  face f;
};

static __device__ __forceinline__ work work_of(const halo_link &link, const shares &share, const float *field,
                                               int which)
{
  int m = 0;
  while (m < link.n - 1 && blockIdx.x >= share.first[m + 1]) m++;
  work w;
  w.to = &link.message[m];
  w.block = blockIdx.x - share.first[m], w.blocks = share.first[m + 1] - share.first[m];
  w.f = face_of(link, *w.to, field, which);
  w.total = link.n > 0 ? (w.to->hi[0] - w.to->lo[0]) * w.f.rows * w.f.quads : 0;
  return w;
}

// Sets the neighbours' flags. With AWAIT, one block then waits until this rank's flags are set.
template <bool AWAIT>
static __device__ __forceinline__ void work_end(const halo_link &link, const work &w, uint64_t step,
                                                uint64_t start, bool broken)
{
  bool mine = blockIdx.x == 0;
  if (link.adds && link.n > 0)
    link_part_sent(w.to->flag, w.block, w.blocks, threadIdx.x, broken);
  else
    mine = link_sent(link, link.state->base + step, gridDim.x, threadIdx.x);
  if (!mine || threadIdx.x >= WARP) return;
  uint64_t sent = link_nanoseconds();
  if (AWAIT) link_await(link, link.state->base + step, threadIdx.x);
  if (threadIdx.x > 0) return;
  link.state->push_ns += sent - start;
  if (AWAIT) link.state->wait_ns += link_nanoseconds() - sent;
}

// Stores the faces. If a message has at most one quad per thread, each thread uses the place that
// it computed before the wait for the previous kernel, and all quads are in flight at once.
template <bool AWAIT>
static __global__ void __launch_bounds__(THREADS)
    push_faces(const CUDA_GRID_CONSTANT halo_link link, const CUDA_GRID_CONSTANT shares share,
               const float *field, int which, uint64_t step)
{
  const work w = work_of(link, share, field, which);
  unsigned own = w.block * THREADS + threadIdx.x;
  place at = w.total > 0 ? place_of(w.f, own) : place{};
  next_may_start();
  settle(at);
  wait_for_previous();
  uint64_t start = link_nanoseconds();
  bool few = w.total <= w.blocks * THREADS;
  float4 value = {};
  if (few && own < w.total) value = quad_load(w.f, at);
  bool broken = link_broken(link);
  if (few && own < w.total && !broken) quad_store(w.f, at, value);
  if (!few && !broken) quads_push(w.f, w.total, w.block, w.blocks);
  work_end<AWAIT>(link, w, step, start, broken);
}

// Variant of push_faces with larger blocks, used if all messages are short. `at` and `value` are
// declared in this form because the compiler otherwise generates slower code.
template <bool AWAIT>
static __global__ void __launch_bounds__(FEW_THREADS)
    push_few(const CUDA_GRID_CONSTANT halo_link link, const CUDA_GRID_CONSTANT shares share,
             const float *field, int which, uint64_t step)
{
  const work w = work_of(link, share, field, which);
  unsigned own = w.block * FEW_THREADS + threadIdx.x;
  place at;
  at = w.total > 0 ? place_of(w.f, own) : place{};
  next_may_start();
  settle(at);
  wait_for_previous();
  uint64_t start = link_nanoseconds();
  float4 value[1] = {};
  if (own < w.total) value[0] = quad_load(w.f, at);
  bool broken = link_broken(link);
  if (own < w.total && !broken) quad_store(w.f, at, value[0]);
  work_end<AWAIT>(link, w, step, start, broken);
}

static __global__ void raise_flags(const CUDA_GRID_CONSTANT halo_link link, uint64_t step)
{
  link_sent(link, link.state->base + step, 1, threadIdx.x);
}

static __global__ void await_flags(const CUDA_GRID_CONSTANT halo_link link, uint64_t step)
{
  uint64_t start = link_nanoseconds();
  link_await(link, link.state->base + step, threadIdx.x);
  if (threadIdx.x == 0) link.state->wait_ns += link_nanoseconds() - start;
}

static __global__ void advance_base(halo_state *state, uint64_t steps)
{
  state->base += steps;
}

static status_t launched(const char *what)
{
  cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? STATUS_OK : cuda_fail(error, what);
}

static cudaStream_t stream_of(struct gpu_queue *queue)
{
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_queue_handle(queue);
}

static unsigned quads_most(const halo_link_message &m)
{
  unsigned rows = (unsigned)(m.hi[0] - m.lo[0]) * (unsigned)(m.hi[1] - m.lo[1]);
  return rows * ((unsigned)(m.hi[2] - m.lo[2]) / QUAD + 2);
}

static bool are_few(const struct halo_link *link)
{
  for (int m = 0; m < link->n; m++)
    if (quads_most(link->message[m]) > FEW) return false;
  return true;
}

static shares shares_plan(const struct halo_link *link, unsigned threads)
{
  shares share = {};
  for (int m = 0; m < link->n; m++) {
    unsigned quads = quads_most(link->message[m]), blocks = quads > 0 ? (quads + threads - 1) / threads : 1;
    share.first[m + 1] = share.first[m] + (blocks < BLOCKS ? blocks : BLOCKS);
  }
  if (link->n == 0) share.first[1] = 1;
  return share;
}

// Returns whether the code loaded for this device supports programmatic dependent launch.
static bool overlaps(const void *kernel)
{
  static const int code = [kernel] {
    int built = 0;
    return cuda_code_of(kernel, &built) == cudaSuccess ? built : 0;
  }();
  return code >= 90;
}

static const void *link_kernel_of(bool await, bool few)
{
  if (few) return await ? (const void *)push_few<true> : (const void *)push_few<false>;
  return await ? (const void *)push_faces<true> : (const void *)push_faces<false>;
}

// Stores the faces. On Hopper and later, the kernel may start before the previous kernel ends.
static status_t faces_launch(bool await, struct gpu_queue *queue, const struct halo_link *link,
                             struct gpu_mem field, int which, uint64_t step)
{
  cuda_queue *q = (cuda_queue *)queue;
  const bool few = are_few(link);
  const unsigned threads = few ? FEW_THREADS : THREADS;
  const void *kernel = link_kernel_of(await, few);
  shares share = shares_plan(link, threads);
  const float *from = (const float *)field.handle;
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(share.first[link->n ? link->n : 1]);
  config.blockDim = dim3(threads);
  config.stream = q->stream;
  config.attrs = &attribute;
  void *arguments[] = {(void *)link, &share, &from, &which, &step};
  RETURN_IF_FAILED(cuda_use(queue->device));
  config.numAttrs = q->overlap && overlaps(kernel);
  q->overlap = 1;
  cudaError_t error = cudaLaunchKernelExC(&config, kernel, arguments);
  return error == cudaSuccess ? STATUS_OK : cuda_fail(error, "launching the push of faces");
}

static status_t push(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field, int which,
                     uint64_t step)
{
  return faces_launch(false, queue, link, field, which, step);
}

static status_t exchange(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field,
                         int which, uint64_t step)
{
  return faces_launch(true, queue, link, field, which, step);
}

static status_t raise(struct gpu_queue *queue, const struct halo_link *link, uint64_t step)
{
  RETURN_IF_FAILED(cuda_use(queue->device));
  raise_flags<<<1, WARP, 0, stream_of(queue)>>>(*link, step);
  return launched("launching the raising of flags");
}

static status_t await(struct gpu_queue *queue, const struct halo_link *link, uint64_t step)
{
  RETURN_IF_FAILED(cuda_use(queue->device));
  await_flags<<<1, WARP, 0, stream_of(queue)>>>(*link, step);
  return launched("launching the wait for flags");
}

static status_t advance(struct gpu_queue *queue, const struct halo_link *link, uint64_t steps)
{
  RETURN_IF_FAILED(cuda_use(queue->device));
  advance_base<<<1, 1, 0, stream_of(queue)>>>(link->state, steps);
  return launched("launching the advance of flags");
}

static int adds(struct gpu_device *device, const char *uuid)
{
  int own = ((struct cuda_device *)device)->ordinal, peer = cuda_ordinal_of(uuid), native = 0;
  if (peer == own) return 1;
  if (peer < 0 ||
      cudaDeviceGetP2PAttribute(&native, cudaDevP2PAttrNativeAtomicSupported, own, peer) != cudaSuccess)
    native = 0;
  return native;
}

const struct halo_link_ops halo_link_ops_cuda = {adds, push, raise, await, exchange, advance};
