/* SPDX-License-Identifier: MIT */
/* Latency of a load over strides and footprints. Each curve is measured from end to end several
 * times, so that samples of one point are far apart in time. For each sample the ring is linked
 * anew, visited once if that can warm a cache, and timed by a chase that continues from there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "suite/progress.h"
#include "tools/memory/state.h"

#define GPU_SHARE   0.8
#define CPU_MOST    ((uint64_t)1 << 30)
#define LEAST_BYTES ((uint64_t)4096)
/* Footprints per octave: more on GPUs, which link a ring quickly. */
#define GPU_OCTAVE     6
#define CPU_OCTAVE     4
#define ROUNDS_MAX     9
#define SAMPLE_SECONDS 1e-3
#define HOPS_MIN       2048
#define HOPS_MAX       65536
#define WARM_MOST      ((uint64_t)1 << 19)
/* Rings larger than this many times the last cache are not visited first: caches would not hold
 * them. The factor allows for drivers that report too small a cache. */
#define WARM_CACHES 4
#define WARM_LEAST  ((uint64_t)64 << 20)
#define COLD_HOPS   ((uint64_t)4096)

struct latency_walk {
  struct mem_rig *rig;
  struct gpu_mem mem;
  double launch; /**< seconds of a chase of one hop */
  /** samples of the current curve */
  double ns[ROUNDS_MAX][MEM_POINTS_MAX], cycles[ROUNDS_MAX][MEM_POINTS_MAX];
};

/* ---- plan ---- */

static status_t most_bytes(struct gpu_device *device, uint64_t footprint, uint64_t *bytes)
{
  const struct gpu_device_info *info = &device->info;
  uint64_t available, most;
  RETURN_IF_FAILED(gpu_memory_free(device, &available));
  most = (uint64_t)(GPU_SHARE * (double)available);
  if (info->max_alloc_bytes && most > info->max_alloc_bytes) most = info->max_alloc_bytes;
  if (info->is_cpu && most > CPU_MOST) most = CPU_MOST;
  if (footprint) most = footprint;
  *bytes = most;
  return STATUS_OK;
}

/* Sets the curve's footprints. Each is a whole number of slots, at least four. */
static void plan_curve(struct mem_curve *curve, uint64_t stride, uint64_t most, int octave)
{
  uint64_t least = LEAST_BYTES > 4 * stride ? LEAST_BYTES : 4 * stride;
  curve->stride = stride;
  for (int p = 0; curve->n < MEM_POINTS_MAX; p++) {
    uint64_t bytes = (uint64_t)((double)least * exp2((double)p / octave)) / stride * stride;
    if (bytes > most) break;
    if (curve->n == 0 || bytes > curve->bytes[curve->n - 1]) curve->bytes[curve->n++] = bytes;
  }
}

static status_t latency_plan(const struct mem_rig *rig, const struct mem_values *asked, uint64_t most,
                             struct mem_latency *l)
{
  const uint64_t page = rig->device->info.is_cpu ? 4 << 10 : 64 << 10;
  const struct mem_values strides =
      asked->n ? *asked : (struct mem_values){{rig->traits.line, page, 2 << 20}, 3};
  l->curves = calloc((size_t)strides.n, sizeof *l->curves);
  if (!l->curves) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the latency curves");
  for (int s = 0; s < strides.n; s++) {
    plan_curve(&l->curves[l->n], strides.at[s], most, rig->device->info.is_cpu ? CPU_OCTAVE : GPU_OCTAVE);
    if (l->curves[l->n].n > 0)
      l->n++;
    else if (asked->n)
      return log_fail(STATUS_USAGE, "--strides %s: a footprint of %s does not hold four of them",
                      report_bytes(strides.at[s]), report_bytes(most));
  }
  return STATUS_OK;
}

/* ---- measuring ---- */

static status_t latency_chase_run(struct mem_rig *rig, struct mem_chase *chase, double *seconds)
{
  chase->begin_event = rig->sampler.begin;
  chase->end_event = rig->sampler.end;
  RETURN_IF_FAILED(rig->ops->chase(rig->exec, rig->sampler.queue, chase));
  chase->start = chase->end;
  return gpu_elapsed(rig->sampler.begin, rig->sampler.end, seconds);
}

/* Returns the number of nodes to visit before the timed chase. */
static uint64_t warm_hops(const struct mem_rig *rig, const struct mem_ring *ring)
{
  uint64_t cache = rig->device->info.cache_bytes;
  if (!rig->device->info.is_cpu && cache < WARM_LEAST) cache = WARM_LEAST;
  if (ring->nodes * ring->line > WARM_CACHES * cache) return COLD_HOPS;
  return ring->nodes < WARM_MOST ? ring->nodes : WARM_MOST;
}

static status_t ring_prepare(struct mem_rig *rig, struct gpu_mem mem, uint64_t stride, uint64_t bytes,
                             struct mem_ring *ring, struct mem_chase *chase, uint64_t *hops)
{
  double seconds;
  *ring = (struct mem_ring){.base = rig->traits.pointers ? (uint64_t)(uintptr_t)mem.handle : 0,
                            .nodes = bytes / stride,
                            .stride = (uint32_t)stride,
                            .line = (uint32_t)rig->traits.line};
  RETURN_IF_FAILED(rig->ops->ring_fill(rig->exec, rig->sampler.queue, mem, ring));
  *chase = (struct mem_chase){.mem = mem, .start = mem_ring_at(ring, 0), .hops = warm_hops(rig, ring)};
  *hops = chase->hops;
  return latency_chase_run(rig, chase, &seconds);
}

/* Takes a sample of a point: the time per hop. A short chase sets the length of the timed chase. */
static status_t point_sample(struct latency_walk *w, const struct mem_curve *curve, int p, int round)
{
  struct mem_rig *rig = w->rig;
  struct mem_ring ring;
  struct mem_chase chase;
  uint64_t hops;
  double seconds;
  char what[96];
  RETURN_IF_FAILED(ring_prepare(rig, w->mem, curve->stride, curve->bytes[p], &ring, &chase, &hops));
  chase.hops = HOPS_MIN;
  hops += chase.hops;
  RETURN_IF_FAILED(latency_chase_run(rig, &chase, &seconds));
  chase.hops = (uint64_t)fmin(fmax(HOPS_MIN * SAMPLE_SECONDS / fmax(seconds, 1e-9), HOPS_MIN), HOPS_MAX);
  hops += chase.hops;
  RETURN_IF_FAILED(latency_chase_run(rig, &chase, &seconds));
  w->ns[round][p] = 1e9 * fmax(seconds - w->launch, 1e-12) / (double)(chase.hops - 1);
  w->cycles[round][p] = chase.cycles / (double)chase.hops;
  snprintf(what, sizeof what, "chase of stride %s over %s", report_bytes(curve->stride),
           report_bytes(curve->bytes[p]));
  return mem_position_check(rig, chase.end, mem_ring_at(&ring, hops), what);
}

/* Sets w->launch to the median time of several chases of one hop. */
static status_t launch_measure(struct latency_walk *w)
{
  enum { SAMPLES = 9 };
  double seconds[SAMPLES];
  struct mem_ring ring;
  struct mem_chase chase;
  uint64_t hops;
  RETURN_IF_FAILED(ring_prepare(w->rig, w->mem, w->rig->traits.line, LEAST_BYTES, &ring, &chase, &hops));
  chase.hops = 1;
  for (int s = 0; s < SAMPLES; s++) RETURN_IF_FAILED(latency_chase_run(w->rig, &chase, &seconds[s]));
  w->launch = stats_summarise(seconds, SAMPLES).median;
  return STATUS_OK;
}

static double latency_median(double values[ROUNDS_MAX][MEM_POINTS_MAX], int rounds, int p, double *spread)
{
  double samples[ROUNDS_MAX];
  for (int r = 0; r < rounds; r++) samples[r] = values[r][p];
  struct stats_summary s = stats_summarise(samples, (size_t)rounds);
  if (spread) *spread = s.max / s.min - 1;
  return s.median;
}

static status_t latency_curve_measure(struct latency_walk *w, struct mem_curve *curve, double seconds)
{
  double begin = stats_now();
  int rounds = 0;
  do {
    for (int p = 0; p < curve->n; p++) {
      RETURN_IF_FAILED(point_sample(w, curve, p, rounds));
      progress_tick();
    }
    rounds++;
  } while (rounds < SAMPLES_MIN || (rounds < ROUNDS_MAX && stats_now() - begin < seconds));
  for (int p = 0; p < curve->n; p++) {
    curve->ns[p] = latency_median(w->ns, rounds, p, &curve->spread[p]);
    curve->cycles[p] = latency_median(w->cycles, rounds, p, NULL);
  }
  return STATUS_OK;
}

static void find_levels(const struct mem_rig *rig, struct mem_latency *l)
{
  const struct gpu_device_info *info = &rig->device->info;
  struct levels_curve curves[MEM_CURVES_MAX];
  /* Ignore cache sizes of GPUs from OpenCL drivers, which may be sums of first-level caches. */
  const uint64_t cache = info->is_cpu || rig->traits.last_cache ? info->cache_bytes : 0;
  for (int c = 0; c < l->n; c++)
    curves[c] = (struct levels_curve){.stride = l->curves[c].stride,
                                      .n = l->curves[c].n,
                                      .bytes = l->curves[c].bytes,
                                      .ns = l->curves[c].ns};
  l->n_levels = levels_find(curves, l->n, rig->traits.line, cache, info->is_cpu, l->levels);
}

status_t mem_latency_run(struct mem_run *run)
{
  struct mem_latency *l = &run->latency;
  uint64_t most;
  status_t status;
  struct latency_walk *w = NULL;
  RETURN_IF_FAILED(most_bytes(run->rig.device, run->config.footprint, &most));
  RETURN_IF_FAILED(latency_plan(&run->rig, &run->config.strides, most, l));
  if (!(w = calloc(1, sizeof *w))) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the chase");
  w->rig = &run->rig;
  TRY(gpu_alloc(run->rig.device, most, &w->mem), done);
  TRY(launch_measure(w), done);
  for (int c = 0; c < l->n; c++)
    TRY(latency_curve_measure(w, &l->curves[c], run->config.seconds / l->n), done);
  find_levels(w->rig, l);
done:
  gpu_free(run->rig.device, &w->mem);
  free(w);
  return status;
}
