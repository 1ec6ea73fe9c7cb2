/* SPDX-License-Identifier: MIT */
/* The roofline: bandwidth of the levels, kernels from 1/16 to 512 operations per byte, and the
 * peaks. Source: Williams, Waterman and Patterson, "Roofline: an insightful visual performance
 * model for multicore architectures", CACM 52(4), 2009.
 *
 * gemm-gpu's ceilings are different: multiply-adds without reads, and reads of zeros, measured for
 * a tenth of a second and unchecked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/report.h"
#include "tools/memory/cpu/mem_cpu.h"
#include "tools/memory/state.h"

#define GPU_BYTES   ((uint64_t)1 << 30)
#define CPU_BYTES   ((uint64_t)128 << 20)
#define CHECK_BYTES ((uint64_t)1 << 20)
#define L1_BYTES    ((uint64_t)16 << 10) /* fits a compute unit's first cache */
/* bytes of data for which the host recomputes the results */
#define FP32_BYTES ((uint64_t)64 << 10)
#define WINDOW_READ                                                                                          \
  ((uint64_t)64 << 20) /* minimum bytes that each reader of a cache's window reads per sample */
#define PEAK_PASSES  1000
#define PEAK_CHECKED 4
/* Relative tolerance for a matrix unit: it adds in single precision, in an unknown order. */
#define TENSOR_TOLERANCE 1e-4
/* Beyond this intensity a CPU is bound by arithmetic, so that a point needs less data. */
#define CPU_BOUND_FLOP16 1024

struct roofline_work {
  struct mem_rig *rig;
  struct mem_roofline *found;
  double seconds; /**< time for the samples of the section */
  struct gpu_mem mem, sum;
  uint64_t bytes;
};

static int is_on(int set, int bit)
{
  return set >> bit & 1;
}

struct window_job {
  struct mem_rig *rig;
  struct mem_window window;
};

static status_t window_run(void *context)
{
  struct window_job *job = context;
  return job->rig->ops->window(job->rig->exec, job->rig->sampler.queue, &job->window);
}

static status_t window_check(struct roofline_work *work, struct window_job *job, const char *level)
{
  uint32_t want;
  char what[64];
  int passes = job->window.passes;
  job->window.passes = 1;
  RETURN_IF_FAILED(gpu_clear(work->rig->sampler.queue, work->sum, 0, sizeof want));
  RETURN_IF_FAILED(window_run(job));
  job->window.passes = passes;
  RETURN_IF_FAILED(mem_sum_of(work->rig, job->window.bytes, &want));
  snprintf(what, sizeof what, "reading from %s", level);
  return mem_word_check(work->rig, work->sum, want * (uint32_t)job->window.readers, what);
}

/* Chooses windows for the first cache, the last cache and memory. Leaves out the last cache if the
 * device does not report it. Returns their number. */
static int plan_windows(const struct roofline_work *work, struct mem_window_point points[MEM_WINDOWS])
{
  uint64_t cache = work->rig->device->info.cache_bytes;
  int n = 0;
  points[n++] = (struct mem_window_point){.level = "L1", .bytes = L1_BYTES};
  if (cache > 8 * L1_BYTES && cache / 4 <= work->bytes)
    points[n++] = (struct mem_window_point){.level = "cache", .bytes = cache / 4 / MEM_GRAIN * MEM_GRAIN};
  points[n++] = (struct mem_window_point){.level = "memory", .bytes = work->bytes};
  return n;
}

static status_t windows_measure(struct roofline_work *work)
{
  struct mem_roofline *r = work->found;
  struct window_job jobs[MEM_WINDOWS];
  struct sampler_item items[MEM_WINDOWS];
  int n = plan_windows(work, r->windows);
  for (int w = 0; w < n; w++) {
    uint64_t bytes = r->windows[w].bytes;
    int own = w == 0, last = w == n - 1;
    int passes = last ? 1 : (int)(WINDOW_READ * (own ? 1 : 16) / bytes) + 1;
    jobs[w] = (struct window_job){
        work->rig, {.mem = work->mem, .sum = work->sum, .bytes = bytes, .passes = passes, .own = own}};
    RETURN_IF_FAILED(window_check(work, &jobs[w], r->windows[w].level));
    items[w] = (struct sampler_item){
        .run = window_run, .context = &jobs[w], .work = (double)bytes * passes * jobs[w].window.readers};
  }
  RETURN_IF_FAILED(sampler_run(&work->rig->sampler, items, n, work->seconds / 4));
  for (int w = 0; w < n; w++) r->windows[w].rate = items[w].rate;
  r->n_windows = n;
  return STATUS_OK;
}

struct flops_job {
  struct mem_rig *rig;
  struct mem_flops flops;
};

static status_t flops_run(void *context)
{
  struct flops_job *job = context;
  return job->rig->ops->flops(job->rig->exec, job->rig->sampler.queue, &job->flops);
}

/* Compares the sum with the host's result: single precision gives the same bits everywhere. */
static status_t fp32_check(struct roofline_work *work, struct flops_job *job)
{
  char what[64];
  uint64_t words = FP32_BYTES / 4;
  uint32_t *copy = malloc(FP32_BYTES), want;
  status_t status = STATUS_ENVIRONMENT;
  if (!copy) return log_fail(status, "out of host memory for a comparison");
  for (uint64_t w = 0; w < words; w++) copy[w] = mem_word(0, w);
  want = mem_cpu_flops_plain(copy, words, job->flops.flop16);
  free(copy);
  job->flops.bytes = FP32_BYTES;
  RETURN_IF_FAILED(gpu_clear(work->rig->sampler.queue, work->sum, 0, sizeof want));
  RETURN_IF_FAILED(flops_run(job));
  snprintf(what, sizeof what, "%d multiply-adds for each 16 bytes", job->flops.flop16 / 2);
  return mem_word_check(work->rig, work->sum, want, what);
}

/* Returns the sum that tensor.cu must find, and sets *size to the sum of absolute values. The loads
 * of a thread in one round are `threads` words of 16 bytes apart. */
static double tensor_expect(const struct mem_flops *f, double *size)
{
  int one = f->type == MEM_TF32 ? MEM_TENSOR_FLOP16 / 2 : MEM_TENSOR_FLOP16;
  uint64_t loads = f->flop16 < one ? (uint64_t)(one / f->flop16) : 1, n = f->bytes / 16,
           round = loads * f->threads;
  double products = f->flop16 < one ? 1 : f->flop16 / one, sum = 0;
  *size = 0;
  for (uint64_t first = 0; first < n; first += round)
    for (uint64_t w = 4 * first; w < 4 * (first + f->threads); w++) {
      uint32_t word = 0;
      for (uint64_t load = 0; load < loads; load++) word ^= mem_word(0, w + 4 * load * f->threads);
      double value = mem_tensor_sum(f->type, word);
      sum += value;
      *size += fabs(value);
    }
  *size *= products * MEM_TENSOR_B_SUM;
  return sum * products * MEM_TENSOR_B_SUM;
}

static status_t real_check(struct roofline_work *work, double want, double size, const char *what)
{
  float got;
  work->rig->checks++;
  RETURN_IF_FAILED(gpu_read(work->rig->sampler.queue, &got, work->sum, 0, sizeof got));
  if (fabs((double)got - want) <= TENSOR_TOLERANCE * size) return STATUS_OK;
  return log_fail(STATUS_WRONG, "%s: the sum is %g, must be %g", what, (double)got, want);
}

static status_t tensor_check(struct roofline_work *work, struct flops_job *job)
{
  char what[64];
  double size;
  job->flops.bytes = CHECK_BYTES;
  RETURN_IF_FAILED(gpu_clear(work->rig->sampler.queue, work->sum, 0, sizeof(float)));
  RETURN_IF_FAILED(flops_run(job));
  double want = tensor_expect(&job->flops, &size);
  snprintf(what, sizeof what, "%s products, %d operations for each 16 bytes", mem_type_names[job->flops.type],
           job->flops.flop16);
  return real_check(work, want, size, what);
}

static status_t type_measure(struct roofline_work *work, enum mem_type type, double seconds)
{
  const int is_cpu = work->rig->device->info.is_cpu;
  struct mem_roofline *r = work->found;
  struct flops_job jobs[MEM_INTENSITIES];
  struct sampler_item items[MEM_INTENSITIES];
  for (int i = 0; i < MEM_INTENSITIES; i++) {
    jobs[i] =
        (struct flops_job){work->rig, {.type = type, .mem = work->mem, .sum = work->sum, .flop16 = 1 << i}};
    RETURN_IF_FAILED((type == MEM_FP32 ? fp32_check : tensor_check)(work, &jobs[i]));
    jobs[i].flops.bytes = work->bytes;
    for (int f = CPU_BOUND_FLOP16; is_cpu && f < 1 << i && jobs[i].flops.bytes > CHECK_BYTES; f *= 2)
      jobs[i].flops.bytes /= 2;
    items[i] = (struct sampler_item){
        .run = flops_run, .context = &jobs[i], .work = (double)jobs[i].flops.bytes / 16 * (1 << i)};
  }
  RETURN_IF_FAILED(sampler_run(&work->rig->sampler, items, MEM_INTENSITIES, seconds));
  for (int i = 0; i < MEM_INTENSITIES; i++)
    r->points[r->n_points++] = (struct mem_flops_point){type, (1 << i) / 16.0, items[i].rate};
  return STATUS_OK;
}

struct peak_job {
  struct roofline_work *work;
  enum mem_type type;
  int passes;
  double flop, expect;
};

static status_t peak_run(void *context)
{
  struct peak_job *job = context;
  struct mem_rig *rig = job->work->rig;
  return rig->ops->peak(rig->exec, rig->sampler.queue, job->type, job->passes, job->work->sum, &job->flop,
                        &job->expect);
}

static status_t peak_measure(struct roofline_work *work, enum mem_type type, double *rate)
{
  struct peak_job job = {work, type, PEAK_CHECKED, 0, 0};
  char what[64];
  RETURN_IF_FAILED(gpu_clear(work->rig->sampler.queue, work->sum, 0, sizeof(float)));
  RETURN_IF_FAILED(peak_run(&job));
  snprintf(what, sizeof what, "%s products by warpgroups", mem_type_names[type]);
  RETURN_IF_FAILED(real_check(work, job.expect, 10 * fabs(job.expect), what));
  job.passes = PEAK_PASSES;
  RETURN_IF_FAILED(peak_run(&job));
  struct sampler_item item = {.run = peak_run, .context = &job, .work = job.flop};
  RETURN_IF_FAILED(sampler_run(&work->rig->sampler, &item, 1, work->seconds / 8));
  *rate = item.rate.median;
  return STATUS_OK;
}

static status_t peak_find(struct roofline_work *work, enum mem_type type)
{
  struct mem_roofline *r = work->found;
  struct mem_peak *peak = &r->peaks[r->n_peaks++];
  *peak = (struct mem_peak){type, 0, "the kernels of the roofline"};
  for (int p = 0; p < r->n_points; p++)
    if (r->points[p].type == type && r->points[p].rate.median > peak->rate)
      peak->rate = r->points[p].rate.median;
  if (!work->rig->ops->peak || !is_on(work->rig->traits.peaks, (int)type)) return STATUS_OK;
  double rate;
  RETURN_IF_FAILED(peak_measure(work, type, &rate));
  if (rate > peak->rate) *peak = (struct mem_peak){type, rate, "warpgroup products in shared memory"};
  return STATUS_OK;
}

static status_t roofline_measure(struct roofline_work *work)
{
  struct mem_rig *rig = work->rig;
  int types = rig->traits.types, n = 0;
  for (int t = 0; t < MEM_TYPES; t++) n += is_on(types, t);
  RETURN_IF_FAILED(rig->ops->fill(rig->exec, rig->sampler.queue, work->mem, work->bytes, 0));
  RETURN_IF_FAILED(windows_measure(work));
  for (int t = 0; t < MEM_TYPES; t++) {
    if (!is_on(types, t)) continue;
    RETURN_IF_FAILED(type_measure(work, (enum mem_type)t, work->seconds / n));
    RETURN_IF_FAILED(peak_find(work, (enum mem_type)t));
  }
  return STATUS_OK;
}

status_t mem_roofline_run(struct mem_run *run)
{
  struct gpu_device *device = run->rig.device;
  struct roofline_work work = {.rig = &run->rig, .found = &run->roofline, .seconds = run->config.seconds};
  uint64_t available;
  status_t status;
  if (run->config.kernels) RETURN_IF_FAILED(mem_place_read(run->config.kernels, &run->roofline));
  RETURN_IF_FAILED(gpu_memory_free(device, &available));
  work.bytes = device->info.is_cpu ? CPU_BYTES : GPU_BYTES;
  while (work.bytes > CHECK_BYTES && work.bytes > available / 2) work.bytes /= 2;
  if (run->config.sizes.n) work.bytes = run->config.sizes.at[0];
  if (run->config.sizes.n > 1)
    log_warn("--sizes: --roofline uses only the first, %s", report_bytes(work.bytes));
  if (work.bytes < CHECK_BYTES) work.bytes = CHECK_BYTES;
  RETURN_IF_FAILED(gpu_alloc(device, work.bytes, &work.mem));
  TRY(gpu_alloc(device, 64, &work.sum), done);
  status = roofline_measure(&work);
  gpu_free(device, &work.sum);
done:
  gpu_free(device, &work.mem);
  return status;
}
