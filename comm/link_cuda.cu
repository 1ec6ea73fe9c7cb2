// SPDX-License-Identifier: MIT
// Links between CUDA devices of a host, or between processes on one: kernels that store faces over the wire,
// set flags and wait for them.
#include "comm/cuda/link.cuh"

extern "C" {
#include "base/log.h"
#include "gpu/cuda/cuda_device.h"
}

static const unsigned THREADS = 256, EACH = 4; // a block moves THREADS·EACH floats
static const unsigned WARP = 32;

// First block of each message, and one behind the last.
struct shares {
  unsigned first[HALO_MESSAGES_MAX + 1];
};

static __host__ __device__ unsigned points(const halo_link_message &m)
{
  return (unsigned)(m.hi[0] - m.lo[0]) * (unsigned)(m.hi[1] - m.lo[1]) * (unsigned)(m.hi[2] - m.lo[2]);
}

static __global__ void __launch_bounds__(THREADS)
    push_faces(const CUDA_GRID_CONSTANT halo_link link, const CUDA_GRID_CONSTANT shares share,
               const float *field, int which, uint64_t step)
{
  int m = 0;
  while (m < link.n - 1 && blockIdx.x >= share.first[m + 1]) m++;
  const halo_link_message &to = link.message[m];
  unsigned begin = (blockIdx.x - share.first[m]) * THREADS * EACH + threadIdx.x, count = points(to);
  unsigned rows = to.hi[1] - to.lo[1], width = to.hi[2] - to.lo[2];
  uint64_t start = link_nanoseconds();
  for (unsigned e = 0; e < EACH; e++) {
    unsigned n = begin + e * THREADS;
    if (n >= count || *(volatile int *)&link.state->broken) break;
    int i = n / width / rows, j = n / width % rows, k = n % width;
    to.to[which][i * to.plane + j * to.pitch + k] =
        field[(to.lo[0] + i) * link.plane + (to.lo[1] + j) * link.pitch + to.lo[2] + k];
  }
  link_sent(link, link.state->base + step, gridDim.x, threadIdx.x);
  if (blockIdx.x == 0 && threadIdx.x == 0) link.state->push_ns += link_nanoseconds() - start;
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

static status_t push(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field, int which,
                     uint64_t step)
{
  shares share = {};
  RETURN_IF_FAILED(cuda_use(queue->device));
  for (int m = 0; m < link->n; m++)
    share.first[m + 1] = share.first[m] + (points(link->message[m]) + THREADS * EACH - 1) / (THREADS * EACH);
  unsigned blocks = share.first[link->n] ? share.first[link->n] : 1;
  push_faces<<<blocks, THREADS, 0, stream_of(queue)>>>(*link, share, (const float *)field.handle, which,
                                                       step);
  return launched("launching the push of faces");
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

const struct halo_linker halo_linker_cuda = {"cuda", push, raise, await, advance};
