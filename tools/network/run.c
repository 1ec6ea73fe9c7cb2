/* SPDX-License-Identifier: MIT */
/* One run of comm-gpu: places the ranks, measures part by part, and reads the network cards before
 * and after each part. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/report.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/memory.h"
#include "comm/ranks/watch.h"
#include "suite/progress.h"
#include "tools/network/cmdline.h"
#include "tools/network/pattern.h"

#define CPU_MAX_BYTES ((int64_t)16 << 20)
#define GPU_MAX_BYTES ((int64_t)256 << 20)
/* Device memory for a pair's two fields and the buffers of a staging transport, in units of the
 * largest transfer. */
#define PAIR_COPIES 6
/* Default seconds of --time for up to FEW_RANKS ranks, and for more ranks. */
#define FEW_RANKS    8
#define FEW_SECONDS  30
#define MANY_SECONDS 60
/* Assumed seconds per byte until a large size was measured. */
#define BYTE_SECONDS 2e-8
/* Accepted uncertainty, relative to the median of a size's batches. */
#define UNCERTAIN 0.01

static status_t bench_ranks_gather(struct bench *bench)
{
  const struct placement *p = &bench->placement;
  struct rank_row mine = rank_row_of(p);
  bench->ranks = calloc((size_t)p->ranks, sizeof mine);
  RETURN_IF_FAILED(agree_status(
      p->comm, bench->ranks ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for ranks")));
  return watch_allgather(p->comm, &mine, bench->ranks, sizeof mine, "where the ranks are");
}

static status_t transport_check(const struct bench *bench)
{
  char reason[GPU_TEXT_MAX] = "";
  const struct halo_transport *transport = bench->config.transport;
  if (!transport || transport->available(bench->placement.backend, reason)) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "--transport %s: %s", transport->name, reason);
}

/* Chooses the largest transfer for all ranks: as requested, or the default, halved until it
 * fits. */
static status_t bench_sizes_choose(struct bench *bench)
{
  struct bench_config *c = &bench->config;
  struct placement *p = &bench->placement;
  struct memory_budget memory;
  char what[64];
  RETURN_IF_FAILED(memory_measure(p->comm, bench->device, p->shared + 1, &memory));
  const uint64_t least = memory.usable_least / PAIR_COPIES;
  int64_t standard = p->info.is_cpu ? CPU_MAX_BYTES : GPU_MAX_BYTES;
  if (!c->max_given) {
    c->max_bytes = standard > c->min_bytes ? standard : c->min_bytes;
    while (c->max_bytes > c->min_bytes && (uint64_t)c->max_bytes > least) c->max_bytes /= 2;
    c->max_bytes = c->max_bytes / 8 * 8;
    if (c->max_bytes < c->min_bytes) c->max_bytes = c->min_bytes;
  }
  snprintf(what, sizeof what, "a transfer of %s", report_bytes((uint64_t)c->max_bytes));
  return memory_check(&memory, (uint64_t)c->max_bytes * PAIR_COPIES, what, "; use a smaller --max");
}

static status_t grid_choose(struct bench *bench)
{
  struct bench_config *c = &bench->config;
  const struct decomp_rules rules = {.depth = (int)c->depth};
  if (!c->size_given) c->size = *grid_size_named(bench->placement.info.is_cpu ? 2 : 3);
  return decomp_cut(bench->placement.ranks, c->size.extent, c->weak, &rules, c->procs, bench->procs,
                    bench->global);
}

static status_t bench_choose(struct bench *bench)
{
  const struct bench_config *c = &bench->config;
  RETURN_IF_FAILED(rank_place(&bench->placement, c->backend, c->device, c->binding, 0, &bench->device));
  RETURN_IF_FAILED(bench_ranks_gather(bench));
  MPI_Comm comm = bench->placement.comm;
  RETURN_IF_FAILED(agree_status(comm, transport_check(bench)));
  RETURN_IF_FAILED(agree_status(comm, bench_sizes_choose(bench)));
  return c->parts & BENCH_HALO ? agree_status(comm, grid_choose(bench)) : STATUS_OK;
}

/* Runs the parts, and reads the cards before and after each. Proofs of peers precede pairs, which
 * depend on them. Host copies, which predictions do not need, come last, as time may run out. */
static status_t parts_run(struct bench *bench)
{
  static struct cards before, after;
  static status_t (*const run[BENCH_PARTS])(struct bench *) = {
      bench_host_run,  bench_pairs_run, bench_halo_run,        bench_reduce_run,
      bench_wires_run, bench_peers_run, bench_collectives_run, bench_fabric_run};
  static const int order[BENCH_PARTS] = {5, 1, 2, 3, 6, 4, 7, 0};
  for (int p = 0; p < BENCH_PARTS; p++) {
    const int part = order[p];
    if (!(bench->config.parts >> part & 1)) continue;
    const uint64_t sent = bench->between_hosts;
    bench->plan.uncertain = UNCERTAIN;
    bench_counters_read(bench->placement.info.pci, &before);
    RETURN_IF_FAILED(run[part](bench));
    if (bench->plan.counting) continue;
    RETURN_IF_FAILED(watch_barrier(bench->placement.comm, "a barrier"));
    bench_counters_read(bench->placement.info.pci, &after);
    struct bench_counters *counters = &bench->counters[bench->n_counters++];
    counters->part = bench_part_names[part];
    RETURN_IF_FAILED(cards_compare(bench->placement.comm, &before, &after, bench->placement.host_first,
                                   bench->between_hosts - sent, &counters->cards));
  }
  return STATUS_OK;
}

static status_t plan_run(struct bench *bench, double begin)
{
  struct bench_config *c = &bench->config;
  if (!c->seconds_given) c->seconds = bench->placement.ranks > FEW_RANKS ? MANY_SECONDS : FEW_SECONDS;
  bench->plan = (struct bench_plan){
      .counting = 1, .end = c->seconds > 0 ? begin + c->seconds : INFINITY, .byte_seconds = BYTE_SECONDS};
  RETURN_IF_FAILED(parts_run(bench));
  bench->plan.counting = 0;
  if (c->seconds > 0) progress_expect(begin + c->seconds - stats_now());
  return parts_run(bench);
}

static void point_blank(struct bench_point *p)
{
  p->seconds = p->best = p->noise = NAN;
  p->stages.known = 0;
}

static void paths_blank(struct bench_path *paths, int n)
{
  for (int p = 0; p < n; p++) {
    struct bench_curve *curve = &paths[p].curve;
    for (int i = 0; i < curve->n; i++) point_blank(&curve->points[i]);
    curve->fit.points = 0;
  }
}

/* Removes meaningless times of an emulator; keeps times of collectives in host memory. */
static void times_blank(struct bench *bench)
{
  if (!bench->placement.info.emulated) return;
  paths_blank(bench->host, bench->n_host);
  paths_blank(bench->pairs, bench->n_pairs);
  for (int h = 0; h < bench->n_halo; h++) {
    point_blank(&bench->halo[h].point);
    for (int p = 0; p < HALO_PHASES; p++) bench->halo[h].phases[p] = NAN;
  }
}

status_t bench_run(struct bench *bench)
{
  static struct cards before, after;
  const double begin = stats_now();
  bench_cmdline_ignore(&bench->config);
  pattern_fault_read();
  RETURN_IF_FAILED(bench_choose(bench));
  cards_read(bench->placement.info.pci, &before);
  RETURN_IF_FAILED(plan_run(bench, begin));
  RETURN_IF_FAILED(watch_barrier(bench->placement.comm, "a barrier"));
  cards_read(bench->placement.info.pci, &after);
  bench->seconds = stats_now() - begin;
  times_blank(bench);
  const int64_t mine = bench->transfers;
  RETURN_IF_FAILED(
      watch_allreduce(bench->placement.comm, &mine, &bench->transfers, 1, MPI_INT64_T, MPI_SUM, "transfers"));
  return cards_compare(bench->placement.comm, &before, &after, bench->placement.host_first,
                       bench->between_hosts, &bench->cards);
}

void bench_close(struct bench *bench)
{
  gpu_close(bench->device);
  cards_free(&bench->cards);
  for (int c = 0; c < bench->n_counters; c++) cards_free(&bench->counters[c].cards);
  free(bench->ranks);
  free(bench->host);
  free(bench->pairs);
  free(bench->wire);
  free(bench->flows);
}
