/* SPDX-License-Identifier: MIT */
#include "himeno/result/ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/cards.h"
#include "himeno/result/result.h"

/* Returns the seconds per sweep at the rank's ceiling, infinite if that is unknown. */
static double ceiling_seconds(const struct himeno_rank *rank)
{
  return HIMENO_BYTES_PER_POINT * (double)rank->points / rank->ceiling;
}

double himeno_own_seconds(const struct himeno_rank *rank, double compute, double waited)
{
  return fmax(compute - waited, fmin(compute, ceiling_seconds(rank)));
}

double himeno_own_noise(const struct himeno_rank *rank, const struct stats_summary *seconds)
{
  const double noise = stats_noise_max(seconds);
  return rank->row.info.is_cpu && seconds->median == ceiling_seconds(rank) ? fmax(noise, rank->ceiling_noise)
                                                                           : noise;
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

static void himeno_paths_fill(const struct solver_halo *halo, const struct path_probe *probes,
                              struct himeno_rank *rank, struct path_texts *texts)
{
  const struct halo_message *message;
  struct halo_path path;
  for (int m = 0; (message = solver_message(halo, m, &path)); m++) {
    struct himeno_path *p = &rank->paths[rank->n_paths++];
    struct path_texts *t = &texts[m];
    p->peer = message->peer;
    p->probe = probes[m];
    p->bytes = message->count * (int64_t)sizeof(float);
    halo_dir_name(message->dir, p->face);
    snprintf(t->used, sizeof t->used, "%s", path.used->name);
    snprintf(t->why, sizeof t->why, "%s", path.why);
    snprintf(t->handover, sizeof t->handover, "%s", path.handover);
    snprintf(t->handover_why, sizeof t->handover_why, "%s", path.handover_why);
  }
}

static void mine_fill(const struct placement *placement, struct solver *solver, const struct record *record,
                      const struct himeno_result *result, struct himeno_rank *mine, struct path_texts *texts)
{
  const struct himeno_timing *timing = &result->timing;
  *mine = (struct himeno_rank){.row = rank_row_of(placement)};
  mine->points = (int64_t)box_points(&solver_layout(solver_grid(solver))->owned);
  mine->telemetry = record->telemetry;
  mine->ceiling = result->ceiling.mine;
  mine->ceiling_noise = result->ceiling.mine_noise;
  mine->energy = result->energy;
  for (int p = 0; p < HIMENO_PHASES && timing->n_samples > 0; p++)
    mine->phases[p] = timing->phase_sums[p] / timing->n_samples;
  mine->waited = timing->n_samples > 0 ? timing->waited_sum / timing->n_samples : 0;
  /* from the rank's own compute time: a slow device shows even if its neighbours wait for it */
  const double compute = mine->phases[PHASE_INTERIOR] + mine->phases[PHASE_BOUNDARY];
  mine->row.gflops = himeno_gflops((double)mine->points, 1, himeno_own_seconds(mine, compute, mine->waited));
  himeno_paths_fill(solver_halo(solver), result->probes, mine, texts);
  cards_fill(mine);
}

/* Gathers \a bytes per rank in *all on rank 0, which frees it; the others get NULL. */
static status_t parts_gather(const struct placement *p, const void *mine, size_t bytes, void **all,
                             const char *what)
{
  free(*all);
  *all = p->rank == 0 ? malloc(bytes * (size_t)p->ranks + 1) : NULL;
  RETURN_IF_FAILED(memory_agree(p->comm, p->rank != 0 || *all));
  return watch_gather(p->comm, mine, *all, bytes, what);
}

/* Keeps each distinct set of texts once: copies for 8192 ranks would take 60 MB. */
static status_t texts_keep(const struct path_texts *from, struct himeno_ranks *ranks,
                           struct himeno_path *path)
{
  struct path_texts **at = &ranks->texts;
  while (*at && memcmp(*at, from, offsetof(struct path_texts, next)) != 0) at = &(*at)->next;
  if (!*at && (*at = malloc(sizeof **at))) **at = *from;
  if (!*at) return log_fail(STATUS_ENVIRONMENT, "out of host memory for paths");
  path->texts = *at;
  return STATUS_OK;
}

static status_t texts_take(const struct path_texts *texts, int m, struct himeno_ranks *ranks)
{
  for (int r = 0; r < ranks->n; r++)
    if (m < ranks->rank[r].n_paths) RETURN_IF_FAILED(texts_keep(&texts[r], ranks, &ranks->rank[r].paths[m]));
  return STATUS_OK;
}

/* Gathers lists in rounds, one entry per rank and round, because few ranks have many entries. */
static status_t lists_gather(const struct placement *p, const struct record *record,
                             const struct path_texts *mine, int n_paths, struct himeno_ranks *ranks)
{
  const int n[2] = {record->telemetry.n_changes, n_paths};
  int most[2];
  void *texts = NULL;
  status_t status = watch_allreduce(p->comm, n, most, 2, MPI_INT, MPI_MAX, "changes and paths");
  for (int c = 0; status == STATUS_OK && c < most[0] && c < RECORD_CHANGES_MAX; c++)
    status = parts_gather(p, &record->changes[c], sizeof *record->changes, (void **)&ranks->changes[c],
                          "changes of devices");
  for (int m = 0; status == STATUS_OK && m < most[1]; m++) {
    status = parts_gather(p, &mine[m], sizeof *mine, &texts, "texts of paths");
    if (status == STATUS_OK)
      status = agree_status(p->comm, p->rank == 0 ? texts_take(texts, m, ranks) : STATUS_OK);
  }
  free(texts);
  return status;
}

static int paths_equal(const struct himeno_path *a, const struct himeno_path *b)
{
  return a->bytes == b->bytes && a->medium == b->medium && a->texts == b->texts &&
         strcmp(a->face, b->face) == 0;
}

void himeno_media_find(struct himeno_ranks *ranks)
{
  ranks->groups = NULL;
  for (int r = 0; r < ranks->n; r++)
    for (int m = 0; m < ranks->rank[r].n_paths; m++) {
      struct himeno_path *path = &ranks->rank[r].paths[m];
      struct himeno_path **group = &ranks->groups;
      path->medium = path_medium(path, rank_same_host(&ranks->rank[r].row, &ranks->rank[path->peer].row));
      while (*group && !paths_equal(*group, path)) group = &(*group)->next;
      if (!*group) *group = path;
      path->first = *group;
    }
}

/* Gathers the times of all kept blocks, with each rank's waits for slow ranks removed. The median
 * is used, so that one interrupted block does not make a device slow. */
static status_t blocks_take(const struct record *record, struct himeno_ranks *ranks)
{
  const int n = ranks->kept_blocks = record->n;
  double *compute = malloc(((size_t)n + 1) * sizeof *compute);
  if (!compute) return log_fail(STATUS_ENVIRONMENT, "out of host memory for times of blocks");
  memcpy(ranks->when, record->when, sizeof ranks->when);
  for (int r = 0; r < ranks->n; r++) {
    struct himeno_rank *rank = &ranks->rank[r];
    for (int b = 0; b < n; b++) {
      struct record_block *block = &ranks->times[r * n + b];
      compute[b] = block->compute = himeno_own_seconds(rank, block->compute, block->waited);
      block->waited = 0;
    }
    struct stats_summary s = stats_summarise(compute, (size_t)n);
    rank->compute = s.median;
    rank->noise = himeno_own_noise(rank, &s);
  }
  free(compute);
  return STATUS_OK;
}

status_t himeno_ranks_gather(const struct placement *p, struct solver *solver, struct record *record,
                             struct himeno_result *result)
{
  struct himeno_ranks *ranks = &result->ranks;
  struct himeno_rank mine;
  struct path_texts texts[HALO_MESSAGES_MAX] = {0};
  record_finish(record);
  mine_fill(p, solver, record, result, &mine, texts);
  RETURN_IF_FAILED(parts_gather(p, &mine, sizeof mine, (void **)&ranks->rank, "what the ranks found"));
  if (p->rank == 0) ranks->n = p->ranks;
  RETURN_IF_FAILED(lists_gather(p, record, texts, mine.n_paths, ranks));
  himeno_media_find(ranks);
  const int n = result->timing.n_samples; /* the same on all ranks */
  free(ranks->throttled);
  ranks->throttled = calloc((size_t)n + 1, sizeof *ranks->throttled);
  RETURN_IF_FAILED(memory_agree(p->comm, ranks->throttled != NULL));
  RETURN_IF_FAILED(watch_allreduce(p->comm, record->throttled, ranks->throttled, n, MPI_DOUBLE, MPI_MAX,
                                   "throttled blocks"));
  const size_t rows = (size_t)series_rows(&record->series) * sizeof *record->series.rows;
  RETURN_IF_FAILED(parts_gather(p, record->series.rows, rows, (void **)&ranks->series, "devices' samples"));
  if (p->info.emulated) return STATUS_OK;
  const size_t bytes = (size_t)record->n * sizeof *record->blocks;
  RETURN_IF_FAILED(parts_gather(p, record->blocks, bytes, (void **)&ranks->times, "times of blocks"));
  return agree_status(p->comm, p->rank == 0 ? blocks_take(record, ranks) : STATUS_OK);
}

status_t himeno_counts_gather(MPI_Comm comm, const struct solver_grid *grid, struct himeno_counts *sum)
{
  enum { COUNTS = sizeof(struct himeno_counts) / sizeof(uint64_t) };
  struct himeno_counts mine = solver_counts(grid);
  return watch_allreduce(comm, &mine, sum, COUNTS, MPI_UINT64_T, MPI_SUM, "counts");
}

void himeno_result_free(struct himeno_result *result)
{
  free(result->timing.samples);
  for (int c = 0; c < RECORD_CHANGES_MAX; c++) free(result->ranks.changes[c]);
  for (struct path_texts *next, *t = result->ranks.texts; t; t = next) {
    next = t->next;
    free(t);
  }
  free(result->ranks.throttled);
  free(result->ranks.series);
  free(result->ranks.times);
  free(result->ranks.rank);
}

double himeno_timing_gflops(const struct himeno_timing *timing)
{
  return himeno_gflops(timing->points, (double)timing->sweeps, timing->seconds);
}
