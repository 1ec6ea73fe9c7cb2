/* SPDX-License-Identifier: MIT */
/* Measures host memory bandwidth with four access patterns, with one thread and all threads (or as
 * many as requested), and with normal and streaming stores. Rates count only bytes that the loop
 * reads and writes, although a store that first reads its cache line moves more. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/openmp.h"
#include "base/report.h"
#include "gpu/host.h"
#include "tools/memory/cpu/mem_cpu.h"
#include "tools/memory/state.h"

#define LEAST_BYTES ((uint64_t)64 << 20)
#define MOST_BYTES  ((uint64_t)512 << 20)
#define ARRAYS      3

enum access { COPY, TRIADD, READ, MEMCPY, ACCESSES };
const char *const mem_access_names[] = {"COPY", "TRIADD", "READ", "MEMCPY"};
static const int access_arrays[] = {2, 3, 1, 2};

/** One access with a number of threads, on three arrays of n floats. */
struct host_job {
  enum access access;
  int streaming, threads, team; /**< team: number of threads that OpenMP started */
  float *to, *x, *y;
  size_t n;
  uint32_t sum;
};

static void host_copy(float *restrict to, const float *restrict from, size_t n)
{
  for (size_t i = 0; i < n; i++) to[i] = from[i];
}

static void host_add(float *restrict to, const float *restrict x, const float *restrict y, size_t n)
{
  for (size_t i = 0; i < n; i++) to[i] = x[i] + y[i];
}

static void job_share(struct host_job *job, size_t begin, size_t n, uint32_t *sum)
{
  float *to = job->to + begin;
  const float *x = job->x + begin, *y = job->y + begin;
  if (job->access == COPY)
    (job->streaming ? mem_cpu_copy_streaming : host_copy)(to, x, n);
  else if (job->access == TRIADD)
    (job->streaming ? mem_cpu_add_streaming : host_add)(to, x, y, n);
  else if (job->access == READ)
    *sum += mem_cpu_sum((const uint32_t *)x, n);
  else
    memcpy(to, x, n * sizeof *to);
}

static status_t host_job_run(void *context)
{
  struct host_job *job = context;
  uint32_t sum = 0;
  int team = 0;
#pragma omp parallel num_threads(job->threads) reduction(+ : sum, team)
  {
    size_t id = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads();
    team++;
    size_t begin = job->n / 16 * id / threads * 16, end = job->n / 16 * (id + 1) / threads * 16;
    job_share(job, begin, end - begin, &sum);
  }
  job->sum = sum;
  job->team = team;
  return STATUS_OK;
}

static float word_float(uint32_t array, uint64_t w)
{
  return mem_float(mem_flops_bits(mem_word(array, w)));
}

static uint64_t count_wrong(const struct host_job *job)
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

static status_t host_contents(struct mem_rig *rig, struct host_job *job)
{
  memset(job->to, 0xff, job->n * sizeof *job->to);
  RETURN_IF_FAILED(host_job_run(job));
  if (job->team != job->threads)
    return log_fail(STATUS_ENVIRONMENT, "host: OpenMP gives %d thread%s where %d were asked for", job->team,
                    job->team == 1 ? "" : "s", job->threads);
  if (mem_contents_corrupt(rig)) {
    job->to[job->n / 2] = -job->to[job->n / 2];
    job->sum ^= 1;
  }
  uint64_t wrong = count_wrong(job);
  if (!wrong) return STATUS_OK;
  return log_fail(STATUS_WRONG, "host memory, %s%s with %d thread%s: %llu of %zu words (4 bytes) are wrong",
                  mem_access_names[job->access], job->streaming ? ", streaming stores," : "", job->threads,
                  job->threads == 1 ? "" : "s", (unsigned long long)wrong, job->n);
}

/** Maximum number of jobs: accesses × normal or streaming stores × numbers of threads. */
#define JOBS_MAX (2 * ACCESSES * MEM_VALUES_MAX)

static int host_plan(struct host_job jobs[JOBS_MAX], const struct mem_values *threads, struct host_job plain)
{
  int n = 0;
  for (int t = 0; t < threads->n; t++)
    for (int access = 0; access < ACCESSES; access++)
      for (int streaming = 0; streaming < 2; streaming++) {
        int stores = access == COPY || access == TRIADD;
        if (streaming && (!stores || !mem_cpu_copy_streaming)) continue;
        plain.access = (enum access)access;
        plain.streaming = streaming;
        plain.threads = (int)threads->at[t];
        jobs[n++] = plain;
      }
  return n;
}

static status_t host_measure(struct mem_run *run, struct sampler *sampler, const struct mem_values *threads,
                             struct host_job plain, double seconds)
{
  struct host_job jobs[JOBS_MAX];
  uint64_t bytes = plain.n * sizeof(float);
  int n = host_plan(jobs, threads, plain);
  status_t status = STATUS_ENVIRONMENT;
  struct sampler_item *items = calloc((size_t)n, sizeof *items);
  struct mem_host_point *longer = realloc(run->host, (size_t)(run->n_host + n) * sizeof *longer);
  if (longer) run->host = longer;
  if (!items || !longer) {
    log_fail(status, "out of host memory for %d measurements", n);
    goto done;
  }
  for (int i = 0; i < n; i++) {
    TRY(host_contents(&run->rig, &jobs[i]), done);
    items[i] = (struct sampler_item){
        .run = host_job_run, .context = &jobs[i], .work = (double)bytes * access_arrays[jobs[i].access]};
  }
  TRY(sampler_run(sampler, items, n, seconds), done);
  for (int i = 0; i < n; i++)
    run->host[run->n_host++] = (struct mem_host_point){mem_access_names[jobs[i].access], jobs[i].streaming,
                                                       jobs[i].threads, bytes, items[i].rate};
done:
  free(items);
  return status;
}

/* Uses the largest number of threads, so that each first touches the data that it will work on. */
static void host_fill(const struct host_job *job, const struct mem_values *threads)
{
  uint64_t most = 1;
  for (int t = 0; t < threads->n; t++) most = threads->at[t] > most ? threads->at[t] : most;
#pragma omp parallel for schedule(static) num_threads((int)most)
  for (size_t i = 0; i < job->n; i++) {
    job->x[i] = word_float(0, i);
    job->y[i] = word_float(1, i);
    job->to[i] = 0;
  }
}

static status_t host_size_run(struct mem_run *run, struct gpu_device *cpu, struct sampler *sampler,
                              const struct mem_values *threads, uint64_t bytes, double seconds)
{
  struct gpu_mem arrays[ARRAYS] = {{NULL, 0}};
  status_t status;
  for (int a = 0; a < ARRAYS; a++) TRY(gpu_alloc(cpu, bytes, &arrays[a]), done);
  struct host_job plain = {
      .to = arrays[0].handle, .x = arrays[1].handle, .y = arrays[2].handle, .n = bytes / sizeof(float)};
  host_fill(&plain, threads);
  status = host_measure(run, sampler, threads, plain, seconds);
done:
  for (int a = 0; a < ARRAYS; a++) gpu_free(cpu, &arrays[a]);
  return status;
}

/* By default, arrays have four times the size of the last cache, within limits, and runs with one
 * thread and with all threads are measured. If several --sizes are given, those too large for the
 * host are skipped. --threads is ignored if it is the number of threads per GPU block. */
static status_t host_sizes_run(struct mem_run *run, struct gpu_device *cpu, struct sampler *sampler)
{
  const int all = host_threads(), of_blocks = run->config.sections.copies && run->rig.traits.blocks_max > 1;
  struct mem_values sizes = run->config.sizes, threads = run->config.threads;
  uint64_t bytes = 4 * cpu->info.cache_bytes;
  if (bytes < LEAST_BYTES) bytes = LEAST_BYTES;
  if (!sizes.n) sizes = (struct mem_values){{bytes > MOST_BYTES ? MOST_BYTES : bytes}, 1};
  if (!threads.n || of_blocks) threads = (struct mem_values){{1, (uint64_t)all}, all > 1 ? 2 : 1};
  RETURN_IF_FAILED(mem_threads_check(&threads, all, cpu->info.name));
  for (int i = 0; i < sizes.n; i++) {
    uint64_t available;
    RETURN_IF_FAILED(gpu_memory_free(cpu, &available));
    if (sizes.n > 1 && sizes.at[i] > available / ARRAYS)
      log_warn("--sizes %s: not measured by --host: %d arrays of it need more than the %s of free memory",
               report_bytes(sizes.at[i]), ARRAYS, report_bytes(available));
    else
      RETURN_IF_FAILED(
          host_size_run(run, cpu, sampler, &threads, sizes.at[i], run->config.seconds / sizes.n));
  }
  return run->n_host ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "too little host memory for any of --sizes");
}

status_t mem_host_run(struct mem_run *run)
{
  struct gpu_device *cpu = NULL;
  struct sampler sampler = {NULL, NULL, NULL, 0};
  status_t status;
  RETURN_IF_FAILED(gpu_open(&gpu_backend_cpu, 0, &cpu));
  omp_set_dynamic(0); /* OpenMP must not use fewer threads than the table shows */
  TRY(sampler_open(cpu, &sampler), close_device);
  status = host_sizes_run(run, cpu, &sampler);
  sampler_close(&sampler);
close_device:
  gpu_close(cpu);
  return status;
}
