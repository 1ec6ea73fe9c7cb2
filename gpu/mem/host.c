/* SPDX-License-Identifier: MIT */
/* Host memory in the report's four ways, by one thread and by all, through the caches and past them. Bytes are what the loop
 * names: a store that reads its line first moves more. */
#include "config.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/mem/cpu/kernels.h"
#include "gpu/mem/flops.h"
#include "gpu/mem/run.h"

#define LEAST_BYTES ((uint64_t)64 << 20)
#define MOST_BYTES  ((uint64_t)512 << 20)

enum access { COPY, TRIADD, READ, MEMCPY, ACCESSES };
static const char *const access_names[] = {"COPY", "TRIADD", "READ", "MEMCPY"};
static const int access_arrays[] = {2, 3, 1, 2};

/** One way, with some threads, on three arrays of n floats. */
struct job {
  enum access access;
  int streaming, threads;
  float *to, *x, *y;
  size_t n;
  uint32_t sum;
};

static void copy(float *restrict to, const float *restrict from, size_t n)
{
  for (size_t i = 0; i < n; i++) to[i] = from[i];
}

static void add(float *restrict to, const float *restrict x, const float *restrict y, size_t n)
{
  for (size_t i = 0; i < n; i++) to[i] = x[i] + y[i];
}

static void job_share(struct job *job, size_t begin, size_t n, uint32_t *sum)
{
  float *to = job->to + begin;
  const float *x = job->x + begin, *y = job->y + begin;
  if (job->access == COPY)
    (job->streaming ? mem_cpu_copy_streaming : copy)(to, x, n);
  else if (job->access == TRIADD)
    (job->streaming ? mem_cpu_add_streaming : add)(to, x, y, n);
  else if (job->access == READ)
    *sum += mem_cpu_sum((const uint32_t *)x, n);
  else
    memcpy(to, x, n * sizeof *to);
}

static status_t job_run(void *context)
{
  struct job *job = context;
  uint32_t sum = 0;
#pragma omp parallel num_threads(job->threads) reduction(+ : sum)
  {
    size_t id = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();
    size_t begin = job->n / 16 * id / threads * 16, end = job->n / 16 * (id + 1) / threads * 16;
    job_share(job, begin, end - begin, &sum);
  }
  job->sum = sum;
  return STATUS_OK;
}

/* ---- contents ---- */

static float word_float(uint32_t array, uint64_t w)
{
  uint32_t bits = mem_flops_bits(mem_word(array, w));
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t count_wrong(const struct job *job)
{
  uint64_t wrong = 0;
  uint32_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong, sum)
  for (size_t i = 0; i < job->n; i++) {
    float x = word_float(0, i), want = job->access == TRIADD ? x + word_float(1, i) : x;
    sum += mem_flops_bits(mem_word(0, i));
    wrong += memcmp(&job->to[i], &want, sizeof want) != 0;
  }
  return job->access == READ ? job->sum != sum : wrong;
}

static status_t contents(struct mem_run *run, struct job *job)
{
  const char *corrupt = getenv("HIMENO_MEM_CORRUPT");
  memset(job->to, 0xff, job->n * sizeof *job->to);
  RETURN_IF_FAILED(job_run(job));
  run->checks++;
  if (corrupt && strtoull(corrupt, NULL, 10) == run->checks) {
    job->to[job->n / 2] = -job->to[job->n / 2];
    job->sum ^= 1;
  }
  uint64_t wrong = count_wrong(job);
  if (!wrong) return STATUS_OK;
  return log_fail(STATUS_WRONG, "host %s%s with %d threads: %llu of %zu words are wrong",
                  access_names[job->access], job->streaming ? ", streaming stores," : "", job->threads,
                  (unsigned long long)wrong, job->n);
}

/* ---- measuring ---- */

static int plan(struct job jobs[MEM_HOST_MAX], struct job plain)
{
  int n = 0, threads = omp_get_max_threads();
  for (int all = 0; all <= (threads > 1); all++)
    for (int access = 0; access < ACCESSES; access++)
      for (int streaming = 0; streaming < 2; streaming++) {
        int stores = access == COPY || access == TRIADD;
        if (streaming && (!stores || !mem_cpu_copy_streaming)) continue;
        plain.access = (enum access)access;
        plain.streaming = streaming;
        plain.threads = all ? threads : 1;
        jobs[n++] = plain;
      }
  return n;
}

static status_t measure(struct mem_run *run, struct sampler *sampler, struct job plain)
{
  struct job jobs[MEM_HOST_MAX];
  struct sampler_item items[MEM_HOST_MAX];
  uint64_t bytes = plain.n * sizeof(float);
  int n = plan(jobs, plain);
  for (int i = 0; i < n; i++) {
    RETURN_IF_FAILED(contents(run, &jobs[i]));
    items[i] = (struct sampler_item){
        .run = job_run, .context = &jobs[i], .work = (double)bytes * access_arrays[jobs[i].access]};
  }
  RETURN_IF_FAILED(sampler_run(sampler, items, n, run->config.seconds));
  for (int i = 0; i < n; i++)
    run->host[i] = (struct mem_host_point){access_names[jobs[i].access], jobs[i].streaming, jobs[i].threads,
                                           bytes, items[i].rate};
  run->n_host = n;
  return STATUS_OK;
}

static uint64_t plan_bytes(const struct mem_run *run, const struct gpu_device *cpu)
{
  uint64_t bytes = 4 * cpu->info.cache_bytes;
  if (run->config.sizes.n) return run->config.sizes.at[0];
  if (bytes < LEAST_BYTES) bytes = LEAST_BYTES;
  return bytes > MOST_BYTES ? MOST_BYTES : bytes;
}

/* Threads touch first what they will work on. */
static void fill(const struct job *job)
{
  int threads = omp_get_max_threads();
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t i = 0; i < job->n; i++) {
    job->x[i] = word_float(0, i);
    job->y[i] = word_float(1, i);
    job->to[i] = 0;
  }
}

status_t mem_host_run(struct mem_run *run)
{
  struct gpu_device *cpu = NULL;
  struct sampler sampler = {NULL, NULL, NULL, 0};
  struct gpu_mem arrays[3] = {{NULL, 0}};
  status_t status;
  RETURN_IF_FAILED(gpu_open(&gpu_backend_cpu, 0, &cpu));
  TRY(sampler_open(cpu, &sampler), close_device);
  uint64_t bytes = plan_bytes(run, cpu);
  for (int a = 0; a < 3; a++) TRY(gpu_alloc(cpu, bytes, &arrays[a]), done);
  struct job plain = {
      .to = arrays[0].handle, .x = arrays[1].handle, .y = arrays[2].handle, .n = bytes / sizeof(float)};
  fill(&plain);
  status = measure(run, &sampler, plain);
done:
  for (int a = 0; a < 3; a++) gpu_free(cpu, &arrays[a]);
  sampler_close(&sampler);
close_device:
  gpu_close(cpu);
  return status;
}
