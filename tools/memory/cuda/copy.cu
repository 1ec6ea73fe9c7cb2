/* SPDX-License-Identifier: MIT */
/* Copy kernels: those for the study of streams, pacing and assignment, the suite's fastest copy,
 * and BabelStream's copy. */
#include "tools/memory/cuda/mem_cuda.h"

#define BABEL_THREADS 1024

/* The elements of a stream that a thread copies: begin, begin + step, … below end. `trips` is the
 * same for all threads of a block, so that all of them reach each barrier. */
struct walk {
  uint64_t begin, step, end, trips;
};

static __device__ struct walk walk_of(uint64_t n, enum mem_assign assign)
{
  uint64_t threads = (uint64_t)gridDim.x * blockDim.x, id = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
  uint64_t parts = assign == MEM_GROUP ? gridDim.x : threads, run = (n + parts - 1) / parts;
  struct walk w = {id, threads, n, run};
  if (assign == MEM_CYCLIC) return w;
  w.begin = (assign == MEM_GROUP ? blockIdx.x : id) * run;
  w.end = w.begin + run < n ? w.begin + run : n;
  w.step = 1;
  if (assign == MEM_BLOCK) return w;
  w.begin += threadIdx.x;
  w.step = blockDim.x;
  w.trips = (run + blockDim.x - 1) / blockDim.x;
  return w;
}

/* Copies one element of each stream, then the next element of each, and so on. There are n elements
 * per stream. */
template <class T, bool PACED>
static __global__ void study(const T *__restrict__ from, T *__restrict__ to, uint64_t n, int streams,
                             enum mem_assign assign)
{
  struct walk w = walk_of(n, assign);
  uint64_t i = w.begin;
  for (uint64_t trip = 0; trip < w.trips; trip++, i += w.step) {
    uint64_t at = i;
    for (int s = 0; s < streams; s++, at += n) {
      if (PACED) __syncthreads();
      if (i < w.end) to[at] = from[at];
    }
  }
}

/* Each block copies one tile; the last tile ends where the data ends. */
template <int THREADS, int WORDS>
static __global__ void __launch_bounds__(THREADS)
    tile(const uint4 *__restrict__ from, uint4 *__restrict__ to, uint64_t n)
{
  uint64_t first = blockIdx.x * (uint64_t)(THREADS * WORDS) + threadIdx.x;
  uint4 word[WORDS];
#pragma unroll
  for (int w = 0; w < WORDS; w++)
    if (first + w * THREADS < n) word[w] = from[first + w * THREADS];
#pragma unroll
  for (int w = 0; w < WORDS; w++)
    if (first + w * THREADS < n) to[first + w * THREADS] = word[w];
}

static __global__ void babel(const double *__restrict__ from, double *__restrict__ to)
{
  uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
  to[i] = from[i];
}

template <class T> static void study_launch(const struct mem_copy *c, int units, cudaStream_t stream)
{
  uint64_t n = c->bytes / (uint64_t)c->streams / sizeof(T);
  const T *from = (const T *)c->from.handle;
  T *to = (T *)c->to.handle;
  if (c->paced)
    study<T, true><<<units * c->blocks, c->threads, 0, stream>>>(from, to, n, c->streams, c->assign);
  else
    study<T, false><<<units * c->blocks, c->threads, 0, stream>>>(from, to, n, c->streams, c->assign);
}

static unsigned copy_groups(uint64_t n, uint64_t each)
{
  return (unsigned)((n + each - 1) / each);
}

template <int THREADS, int WORDS> static void copy_tiles(const struct mem_copy *c, cudaStream_t stream)
{
  uint64_t n = c->bytes / sizeof(uint4);
  tile<THREADS, WORDS><<<copy_groups(n, THREADS * WORDS), THREADS, 0, stream>>>((const uint4 *)c->from.handle,
                                                                                (uint4 *)c->to.handle, n);
}

/* For data beyond the caches, one 16-byte word per thread is fastest. On an H100, blocks of 1024
 * threads reach 98 to 105% of the rate of cudaMemcpy. On an H200, blocks of 256 threads reach 100%,
 * and blocks of 1024 reach 97%. For data in the caches, bytes in flight matter, so a block loads a
 * tile before it stores the first word. These shapes are the best of 23 tested on the H100 and of
 * 52 on the H200, loops and bulk copies among them. */
static const struct {
  void (*launch)(const struct mem_copy *, cudaStream_t);
  const char *name;
} tuned[] = {{copy_tiles<1024, 1>, "1024 threads a block, 1 word a thread"},
             {copy_tiles<512, 1>, "512 threads a block, 1 word a thread"},
             {copy_tiles<256, 1>, "256 threads a block, 1 word a thread"},
             {copy_tiles<128, 1>, "128 threads a block, 1 word a thread"},
             {copy_tiles<1024, 2>, "1024 threads a block, 2 words a thread"},
             {copy_tiles<256, 8>, "256 threads a block, 8 words a thread"}};
static_assert(sizeof tuned / sizeof *tuned <= MEM_SHAPES_MAX, "there is room for so many");

struct mem_shapes mem_cuda_copy_shapes(void)
{
  struct mem_shapes shapes = {0, {NULL}};
  for (const auto &shape : tuned) shapes.names[shapes.n++] = shape.name;
  return shapes;
}

status_t mem_cuda_copy(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_copy *c)
{
  cudaStream_t stream = cuda_queue_handle(queue);
  if (c->method == MEM_STUDY && c->width == 4)
    study_launch<uint32_t>(c, mem_cuda_units(exec), stream);
  else if (c->method == MEM_STUDY)
    study_launch<uint4>(c, mem_cuda_units(exec), stream);
  else if (c->method == MEM_TUNED)
    tuned[c->shape].launch(c, stream);
  else if (c->method == MEM_BABEL)
    babel<<<copy_groups(c->bytes / 8, BABEL_THREADS), BABEL_THREADS, 0, stream>>>(
        (const double *)c->from.handle, (double *)c->to.handle);
  else
    cudaMemcpyAsync(c->to.handle, c->from.handle, c->bytes, cudaMemcpyDeviceToDevice, stream);
  return mem_cuda_launched("copying");
}
