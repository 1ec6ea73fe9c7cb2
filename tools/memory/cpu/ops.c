/* SPDX-License-Identifier: MIT */
/* mem-gpu's kernels on the host's own cores. All threads are one block. An element of a
 * copy is a page-sized piece. Paced copies have a barrier before each piece. */
#include <string.h>

#include "base/openmp.h"
#include "gpu/host.h"
#include "tools/memory/cpu/mem_cpu.h"
#include "tools/memory/kernels/mem_ops.h"

static status_t mem_cpu_open(struct gpu_device *device, struct mem_exec **exec)
{
  *exec = (struct mem_exec *)device;
  return STATUS_OK;
}

static void cpu_traits(const struct mem_exec *x, struct mem_traits *traits)
{
  (void)x;
  *traits = (struct mem_traits){.line = 64,
                                .threads_max = host_threads(),
                                .blocks_max = 1,
                                .assign = 1 << MEM_CYCLIC | 1 << MEM_BLOCK,
                                .copy_shapes = {1, {"one part per thread"}},
                                .mix_shapes = {1, {"one part per thread"}},
                                .pointers = 1,
                                .types = 1 << MEM_FP32};
}

static status_t mem_cpu_fill(struct mem_exec *x, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                             int number)
{
  uint32_t *word = mem.handle;
  (void)x, (void)queue;
#pragma omp parallel for schedule(static)
  for (uint64_t w = 0; w < bytes / 4; w++) word[w] = mem_word((uint32_t)number, w);
  return STATUS_OK;
}

static status_t cpu_check(struct mem_exec *x, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                          struct mem_check *check)
{
  const uint32_t *word = mem.handle;
  uint64_t wrong = 0, first = UINT64_MAX;
  uint32_t sum = 0;
  int written = check->expect == MEM_EXPECT_WRITTEN, arrays = check->arrays;
  (void)x, (void)queue;
#pragma omp parallel for schedule(static) reduction(+ : wrong, sum) reduction(min : first)
  for (uint64_t w = 0; w < bytes / 4; w++) {
    uint32_t want = written ? mem_word_written(w) : mem_word_xor(arrays, w);
    sum += want;
    if (!word || word[w] == want) continue;
    wrong++;
    if (w < first) first = w;
  }
  check->wrong = wrong;
  check->first = first;
  check->sum = sum;
  return STATUS_OK;
}

static void study_share(const struct mem_copy *c, uint64_t id, uint64_t threads)
{
  uint64_t n = c->bytes / (uint64_t)c->streams / MEM_CPU_PIECE, trips = (n + threads - 1) / threads;
  char *to = c->to.handle;
  const char *from = c->from.handle;
  for (uint64_t trip = 0; trip < trips; trip++) {
    uint64_t i = c->assign == MEM_CYCLIC ? id + trip * threads : id * trips + trip;
    for (uint64_t s = 0; s < (uint64_t)c->streams; s++) {
      if (c->paced) {
#pragma omp barrier
      }
      if (i < n) memcpy(to + (s * n + i) * MEM_CPU_PIECE, from + (s * n + i) * MEM_CPU_PIECE, MEM_CPU_PIECE);
    }
  }
}

/* Sets begin and end, in bytes, of the calling thread's share. */
static void mem_cpu_share(uint64_t bytes, uint64_t *begin, uint64_t *end)
{
  uint64_t pieces = bytes / MEM_CPU_PIECE, id = (uint64_t)omp_get_thread_num();
  uint64_t threads = (uint64_t)omp_get_num_threads();
  *begin = pieces * id / threads * MEM_CPU_PIECE;
  *end = pieces * (id + 1) / threads * MEM_CPU_PIECE;
}

static void babel_copy(double *restrict to, const double *restrict from, uint64_t n)
{
#pragma omp parallel for schedule(static)
  for (uint64_t i = 0; i < n; i++) to[i] = from[i];
}

/* If the data exceeds the caches, uses stores that bypass them if the instruction set has these. */
static void tuned_copy(const struct mem_copy *c, uint64_t cache)
{
  int past = mem_cpu_copy_streaming && 2 * c->bytes > cache;
#pragma omp parallel
  {
    uint64_t begin, end;
    mem_cpu_share(c->bytes, &begin, &end);
    char *to = (char *)c->to.handle + begin;
    const char *from = (const char *)c->from.handle + begin;
    if (past)
      mem_cpu_copy_streaming((float *)to, (const float *)from, (end - begin) / sizeof(float));
    else
      memcpy(to, from, end - begin);
  }
}

static status_t mem_cpu_copy(struct mem_exec *x, struct gpu_queue *queue, const struct mem_copy *c)
{
  (void)queue;
  if (c->method == MEM_STUDY) {
#pragma omp parallel num_threads(c->threads)
    study_share(c, (uint64_t)omp_get_thread_num(), (uint64_t)omp_get_num_threads());
  } else if (c->method == MEM_TUNED) {
    tuned_copy(c, ((const struct gpu_device *)x)->info.cache_bytes);
  } else if (c->method == MEM_BABEL) {
    babel_copy(c->to.handle, c->from.handle, c->bytes / sizeof(double));
  } else {
    memcpy(c->to.handle, c->from.handle, c->bytes);
  }
  return STATUS_OK;
}

static status_t cpu_mix(struct mem_exec *x, struct gpu_queue *queue, const struct mem_mix *mix)
{
  uint32_t *to = mix->arrays[mix->reads].handle, sum = 0;
  (void)x, (void)queue;
#pragma omp parallel reduction(+ : sum)
  {
    uint64_t begin, end;
    const uint32_t *from[MEM_ARRAYS_MAX];
    mem_cpu_share(mix->bytes, &begin, &end);
    for (int r = 0; r < mix->reads; r++) from[r] = (const uint32_t *)mix->arrays[r].handle + begin / 4;
    if (!mix->writes)
      sum += mem_cpu_sum(from[0], (end - begin) / 4);
    else if (mix->reads)
      mem_cpu_combine(to + begin / 4, from, mix->reads, (end - begin) / 4);
    else
      for (uint64_t w = begin / 4; w < end / 4; w++) to[w] = mem_word_written(w);
  }
  if (!mix->writes) *(uint32_t *)mix->sum.handle += sum;
  return STATUS_OK;
}

static status_t cpu_ring_fill(struct mem_exec *x, struct gpu_queue *queue, struct gpu_mem mem,
                              const struct mem_ring *ring)
{
  (void)x, (void)queue, (void)mem;
#pragma omp parallel for schedule(static)
  for (uint64_t k = 0; k < ring->nodes; k++)
    *(uint64_t *)(uintptr_t)mem_ring_at(ring, k) = mem_ring_at(ring, k + 1);
  return STATUS_OK;
}

static status_t cpu_chase(struct mem_exec *x, struct gpu_queue *queue, struct mem_chase *chase)
{
  uint64_t at = chase->start;
  (void)x;
  RETURN_IF_FAILED(gpu_record(chase->begin_event, queue));
  for (uint64_t hop = 0; hop < chase->hops; hop++) at = *(volatile uint64_t *)(uintptr_t)at;
  RETURN_IF_FAILED(gpu_record(chase->end_event, queue));
  chase->end = at;
  chase->cycles = 0;
  return STATUS_OK;
}

static status_t cpu_window(struct mem_exec *x, struct gpu_queue *queue, struct mem_window *window)
{
  uint32_t sum = 0;
  int readers = 1;
  (void)x, (void)queue;
#pragma omp parallel reduction(+ : sum)
  {
    uint64_t begin = 0, end = window->bytes;
    if (!window->own) mem_cpu_share(window->bytes, &begin, &end);
#pragma omp single
    readers = window->own ? omp_get_num_threads() : 1;
    for (int pass = 0; pass < window->passes; pass++)
      sum += mem_cpu_sum((const uint32_t *)window->mem.handle + begin / 4, (end - begin) / 4);
  }
  *(uint32_t *)window->sum.handle += sum;
  window->readers = readers;
  return STATUS_OK;
}

static status_t cpu_flops(struct mem_exec *x, struct gpu_queue *queue, struct mem_flops *flops)
{
  uint32_t sum = 0;
  (void)x, (void)queue;
#pragma omp parallel reduction(+ : sum)
  {
    uint64_t begin, end;
    mem_cpu_share(flops->bytes, &begin, &end);
    sum += mem_cpu_flops((const uint32_t *)flops->mem.handle + begin / 4, (end - begin) / 4, flops->flop16);
  }
  *(uint32_t *)flops->sum.handle += sum;
  return STATUS_OK;
}

const struct mem_ops mem_ops_cpu = {
    .backend = "cpu",
    .native = "memcpy",
    .open = mem_cpu_open,
    .traits = cpu_traits,
    .fill = mem_cpu_fill,
    .check = cpu_check,
    .copy = mem_cpu_copy,
    .mix = cpu_mix,
    .ring_fill = cpu_ring_fill,
    .chase = cpu_chase,
    .window = cpu_window,
    .flops = cpu_flops,
};
