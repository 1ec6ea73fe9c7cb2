/* SPDX-License-Identifier: MIT */
/* Reads and writes in given proportions, and the bandwidth of the cache levels. */
#include "tools/memory/cuda/mem_cuda.h"

#define WORDS 4 /* words of 16 bytes that a thread has in flight from one array */
/* Threads per block of the window kernel: few, so that each thread has enough work in a window that
 * fits a multiprocessor's own cache. */
#define WINDOW_THREADS 256

struct arrays {
  const uint4 *at[MEM_ARRAYS_MAX];
};

static __device__ uint4 operator^(uint4 a, uint4 b)
{
  return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
}

static __device__ uint32_t sum_of(uint4 v)
{
  return v.x + v.y + v.z + v.w;
}

static __device__ void sum_add(uint32_t *sum, uint32_t mine)
{
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

template <int THREADS>
static __global__ void __launch_bounds__(THREADS)
    read_only(const uint4 *__restrict__ from, uint64_t n, uint32_t *sum)
{
  uint64_t step = (uint64_t)gridDim.x * THREADS;
  uint32_t mine = 0;
  uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x;
  for (; i + (WORDS - 1) * step < n; i += WORDS * step) {
    uint4 v[WORDS];
#pragma unroll
    for (int w = 0; w < WORDS; w++) v[w] = __ldcs(from + i + w * step);
#pragma unroll
    for (int w = 0; w < WORDS; w++) mine += sum_of(v[w]);
  }
  for (; i < n; i += step) mine += sum_of(__ldcs(from + i));
  sum_add(sum, mine);
}

template <int THREADS> static __global__ void __launch_bounds__(THREADS) write_only(uint4 *to, uint64_t n)
{
  uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x;
  if (i < n)
    __stcs(to + i, make_uint4(mem_word_written(4 * i), mem_word_written(4 * i + 1),
                              mem_word_written(4 * i + 2), mem_word_written(4 * i + 3)));
}

template <int THREADS, int READS>
static __global__ void __launch_bounds__(THREADS)
    combine(const CUDA_GRID_CONSTANT struct arrays from, uint4 *__restrict__ to, uint64_t n)
{
  uint64_t i = blockIdx.x * (uint64_t)THREADS + threadIdx.x;
  if (i >= n) return;
  uint4 v[READS];
#pragma unroll
  for (int r = 0; r < READS; r++) v[r] = from.at[r][i];
#pragma unroll
  for (int r = 1; r < READS; r++) v[0] = v[0] ^ v[r];
  to[i] = v[0];
}

template <int THREADS> static void mix_launch(const struct mem_mix *mix, int units, cudaStream_t stream)
{
  uint64_t n = mix->bytes / sizeof(uint4);
  unsigned groups = (unsigned)((n + THREADS - 1) / THREADS);
  uint4 *to = (uint4 *)mix->arrays[mix->reads].handle;
  struct arrays from;
  for (int r = 0; r < mix->reads; r++) from.at[r] = (const uint4 *)mix->arrays[r].handle;
  if (!mix->writes)
    read_only<THREADS>
        <<<units *(2048 / THREADS), THREADS, 0, stream>>>(from.at[0], n, (uint32_t *)mix->sum.handle);
  else if (mix->reads == 0)
    write_only<THREADS><<<groups, THREADS, 0, stream>>>(to, n);
  else if (mix->reads == 1)
    combine<THREADS, 1><<<groups, THREADS, 0, stream>>>(from, to, n);
  else if (mix->reads == 3)
    combine<THREADS, 3><<<groups, THREADS, 0, stream>>>(from, to, n);
  else
    combine<THREADS, 13><<<groups, THREADS, 0, stream>>>(from, to, n);
}

/* The fastest shape differs between chips, as for the copies. */
static const struct {
  void (*launch)(const struct mem_mix *, int, cudaStream_t);
  const char *name;
} mixes[] = {{mix_launch<1024>, "1024 threads a block"},
             {mix_launch<512>, "512 threads a block"},
             {mix_launch<256>, "256 threads a block"}};
static_assert(sizeof mixes / sizeof *mixes <= MEM_SHAPES_MAX, "there is room for so many");

struct mem_shapes mem_cuda_mix_shapes(void)
{
  struct mem_shapes shapes = {0, {NULL}};
  for (const auto &shape : mixes) shapes.names[shapes.n++] = shape.name;
  return shapes;
}

status_t mem_cuda_mix(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_mix *mix)
{
  mixes[mix->shape].launch(mix, mem_cuda_units(exec), cuda_queue_handle(queue));
  return mem_cuda_launched("reading and writing");
}

/* If \a own is 1, each block reads the whole window, so that its multiprocessor's own cache serves
 * the reads. Otherwise blocks share the window, and each block reads a different part in each pass,
 * so that the common cache serves the reads. */
static __global__ void __launch_bounds__(WINDOW_THREADS)
    window_read(const uint4 *from, uint64_t n, int passes, int own, uint32_t *sum)
{
  uint64_t step = own ? WINDOW_THREADS : (uint64_t)gridDim.x * WINDOW_THREADS;
  uint32_t mine = 0;
  for (int pass = 0; pass < passes; pass++) {
    unsigned share = own ? 0 : (blockIdx.x + pass * 61u) % gridDim.x;
    uint64_t i = share * (uint64_t)WINDOW_THREADS + threadIdx.x;
    for (; i + (WORDS - 1) * step < n; i += WORDS * step) {
      uint4 v[WORDS];
#pragma unroll
      for (int w = 0; w < WORDS; w++) v[w] = from[i + w * step];
#pragma unroll
      for (int w = 0; w < WORDS; w++) mine += sum_of(v[w]);
    }
    for (; i < n; i += step) mine += sum_of(from[i]);
  }
  sum_add(sum, mine);
}

status_t mem_cuda_window(struct mem_exec *exec, struct gpu_queue *queue, struct mem_window *w)
{
  int blocks = mem_cuda_units(exec) * (2048 / WINDOW_THREADS);
  w->readers = w->own ? blocks : 1;
  window_read<<<blocks, WINDOW_THREADS, 0, cuda_queue_handle(queue)>>>(
      (const uint4 *)w->mem.handle, w->bytes / sizeof(uint4), w->passes, w->own, (uint32_t *)w->sum.handle);
  return mem_cuda_launched("reading a window");
}
