/* SPDX-License-Identifier: MIT */
#include "himeno/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/cards.h"

/* What its ceiling allows of a sweep, infinite where that is unknown. */
static double ceiling_seconds(const struct himeno_rank *rank)
{
  return HIMENO_BYTES_PER_POINT * (double)rank->points / rank->ceiling;
}

double himeno_own_seconds(const struct himeno_rank *rank, double compute, double waited)
{
  if (!(rank->ceiling > 0)) return compute;
  return fmax(compute - waited, fmin(compute, ceiling_seconds(rank)));
}

double himeno_own_noise(const struct himeno_rank *rank, const struct stats_summary *seconds)
{
  const double noise = stats_noise_max(seconds);
  return rank->row.info.is_cpu && seconds->median == ceiling_seconds(rank) ? fmax(noise, rank->ceiling_noise)
                                                                           : noise;
}

/* By the rank's own compute time: a slow device shows, whoever it waits for. 0 where that is
 * unknown. */
static double rank_gflops(const struct himeno_rank *rank)
{
  const double compute = rank->phases[PHASE_INTERIOR] + rank->phases[PHASE_BOUNDARY];
  return himeno_gflops((double)rank->points, 1, himeno_own_seconds(rank, compute, rank->waited));
}

static status_t memory_agree(MPI_Comm comm, int have)
{
  return agree_status(comm, have ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for ranks"));
}

static void cards_fill(struct himeno_rank *mine)
{
  struct cards cards;
  cards_read(mine->row.info.pci, &cards);
  for (int c = 0; c < cards.n; c++) {
    const struct card *card = &cards.card[c];
    if (strcasecmp(card->state, "active") != 0 && strcasecmp(card->state, "up") != 0) continue;
    mine->cards++;
    if (mine->cards_gbps == 0 || card->gbps < mine->cards_gbps) mine->cards_gbps = card->gbps;
  }
}

static void paths_fill(const struct solver *solver, const struct himeno_way *ways, struct himeno_rank *rank)
{
  rank->n_paths = solver_messages(solver);
  for (int m = 0; m < rank->n_paths; m++) {
    struct halo_path path;
    const struct halo_message *message = solver_message(solver, m, &path);
    struct himeno_path *p = &rank->paths[m];
    p->peer = message->peer;
    p->way = ways[m];
    p->bytes = message->count * (int64_t)sizeof(float);
    halo_dir_name(message->dir, p->face);
    snprintf(p->used, sizeof p->used, "%s", path.used->name);
    snprintf(p->why, sizeof p->why, "%s", path.why);
    snprintf(p->handover, sizeof p->handover, "%s", path.handover);
    snprintf(p->handover_why, sizeof p->handover_why, "%s", path.handover_why);
  }
}

static void mine_fill(const struct placement *placement, const struct solver *solver,
                      const struct record *record, const struct himeno_result *result,
                      struct himeno_rank *mine)
{
  *mine = (struct himeno_rank){.row = rank_row_of(placement)};
  mine->points = (int64_t)box_points(&solver_decomp(solver)->owned);
  mine->telemetry = record->telemetry;
  mine->ceiling = result->own_ceiling;
  mine->ceiling_noise = result->own_ceiling_noise;
  mine->energy = result->energy;
  for (int p = 0; p < HIMENO_PHASES && result->n_samples > 0; p++)
    mine->phases[p] = result->phase_sums[p] / result->n_samples;
  mine->waited = result->n_samples > 0 ? result->waited_sum / result->n_samples : 0;
  mine->row.gflops = rank_gflops(mine);
  paths_fill(solver, result->ways, mine);
  cards_fill(mine);
}

static status_t mine_gather(const struct placement *p, const struct solver *solver, struct record *record,
                            struct himeno_result *result)
{
  struct himeno_rank mine;
  record_finish(record);
  mine_fill(p, solver, record, result, &mine);
  if (p->rank == 0 && !result->ranks) result->ranks = calloc((size_t)p->ranks, sizeof mine);
  RETURN_IF_FAILED(memory_agree(p->comm, p->rank != 0 || result->ranks));
  if (p->rank == 0) result->n_ranks = p->ranks;
  return watch_gather(p->comm, &mine, result->ranks, sizeof mine, "what the ranks found");
}

/* All ranks have the same number of blocks. */
static status_t throttled_gather(const struct placement *p, const struct record *record,
                                 struct himeno_result *result)
{
  int n = result->n_samples;
  free(result->throttled);
  result->throttled = calloc((size_t)n + 1, sizeof *result->throttled);
  RETURN_IF_FAILED(memory_agree(p->comm, result->throttled != NULL));
  return watch_allreduce(p->comm, record->throttled, result->throttled, n, MPI_DOUBLE, MPI_MAX,
                         "throttled blocks");
}

static status_t series_gather(const struct placement *p, const struct record *record,
                              struct himeno_result *result)
{
  const struct series *mine = &record->series;
  size_t bytes = (size_t)series_rows(mine) * sizeof *mine->rows;
  free(result->series);
  result->series = p->rank == 0 ? malloc(bytes * (size_t)p->ranks + 1) : NULL;
  RETURN_IF_FAILED(memory_agree(p->comm, p->rank != 0 || result->series));
  return watch_gather(p->comm, mine->rows, result->series, bytes, "devices' samples");
}

/* ---- blocks ---- */

/* times: [rank · blocks + block]. The median, since one interrupted block is no slow device. */
static status_t compute_fill(int n, struct himeno_result *result, const struct record_block *times)
{
  double *compute = malloc(((size_t)n + 1) * sizeof *compute);
  if (!compute) return log_fail(STATUS_ENVIRONMENT, "out of host memory for times of blocks");
  for (int r = 0; r < result->n_ranks; r++) {
    for (int b = 0; b < n; b++) compute[b] = times[r * n + b].compute;
    struct stats_summary s = stats_summarise(compute, (size_t)n);
    result->ranks[r].compute = s.median;
    result->ranks[r].noise = himeno_own_noise(&result->ranks[r], &s);
  }
  free(compute);
  return STATUS_OK;
}

/* Whoever waits for a slow rank takes as long as that: from here on its times are its own. */
static void waits_take(struct himeno_result *result, int n)
{
  for (int b = 0; b < n * result->n_ranks; b++) {
    struct record_block *block = &result->times[b];
    block->compute = himeno_own_seconds(&result->ranks[b / n], block->compute, block->waited);
    block->waited = 0;
  }
}

static status_t blocks_take(const struct record *record, struct himeno_result *result)
{
  result->kept_blocks = record->n;
  waits_take(result, record->n);
  memcpy(result->when, record->when, sizeof result->when);
  return compute_fill(record->n, result, result->times);
}

static status_t blocks_gather(const struct placement *p, const struct record *record,
                              struct himeno_result *result)
{
  int bytes = record->n * (int)sizeof(struct record_block);
  free(result->times);
  result->times = p->rank == 0 ? malloc((size_t)bytes * (size_t)p->ranks + 1) : NULL;
  status_t status = memory_agree(p->comm, p->rank != 0 || result->times);
  if (status == STATUS_OK)
    status = watch_gather(p->comm, record->blocks, result->times, bytes, "times of blocks");
  if (status == STATUS_OK)
    status = agree_status(p->comm, p->rank == 0 ? blocks_take(record, result) : STATUS_OK);
  return status;
}

status_t himeno_ranks_gather(const struct placement *p, const struct solver *solver, struct record *record,
                             struct himeno_result *result)
{
  RETURN_IF_FAILED(mine_gather(p, solver, record, result));
  RETURN_IF_FAILED(throttled_gather(p, record, result));
  RETURN_IF_FAILED(series_gather(p, record, result));
  return p->info.emulated ? STATUS_OK : blocks_gather(p, record, result);
}

status_t himeno_counts_gather(MPI_Comm comm, const struct solver *solver, struct himeno_result *result)
{
  enum { COUNTS = sizeof(struct himeno_counts) / sizeof(uint64_t) };
  struct himeno_counts mine = solver_counts(solver);
  return watch_allreduce(comm, &mine, &result->counts, COUNTS, MPI_UINT64_T, MPI_SUM, "counts");
}

/* ---- the result ---- */

void himeno_result_free(struct himeno_result *result)
{
  free(result->samples);
  free(result->throttled);
  free(result->series);
  free(result->times);
  free(result->ranks);
}

double himeno_result_gflops(const struct himeno_result *result)
{
  return himeno_gflops(result->points, (double)result->sweeps, result->seconds);
}
