/* SPDX-License-Identifier: MIT */
#include "judge/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"

#define SECONDS_MAX 1e9

const json_t *view_at(const json_t *object, const char *path)
{
  char key[64];
  for (size_t n; *path; path += n + (path[n] == '.')) {
    n = strcspn(path, ".");
    snprintf(key, sizeof key, "%.*s", (int)n, path);
    object = json_is_array(object) ? json_array_get(object, (size_t)atoi(key)) : json_object_get(object, key);
  }
  return json_is_null(object) ? NULL : object;
}

double view_number(const json_t *object, const char *path)
{
  const json_t *value = view_at(object, path);
  return json_is_boolean(value)  ? json_is_true(value)
         : json_is_number(value) ? json_number_value(value)
                                 : NAN;
}

const char *view_text(const json_t *object, const char *path)
{
  const char *text = json_string_value(view_at(object, path));
  return text ? text : "";
}

static status_t view_out_of_memory(void)
{
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for a document");
}

static status_t damaged(const char *where)
{
  return log_fail(STATUS_ENVIRONMENT, "%s: its series or ranks are damaged", where);
}

/* Returns the lowest rank on the same host, by the row's field host_first or by the host's name. */
static int host_of(const json_t *ranks, size_t rank)
{
  const json_t *row = json_array_get(ranks, rank);
  const double host = view_number(row, "host_first");
  size_t first = 0;
  if (host >= 0 && host <= (double)rank) return (int)host;
  while (strcmp(view_text(json_array_get(ranks, first), "host"), view_text(row, "host")) != 0) first++;
  return (int)first;
}

/* \a on_cpu: whether the backend is a CPU, for documents that do not state this per rank. */
static struct judge_rank rank_of(const json_t *ranks, size_t rank, int on_cpu)
{
  const json_t *row = json_array_get(ranks, rank);
  const double sharers = view_number(row, "device_sharers");
  struct judge_rank r = {.row = row,
                         .host = host_of(ranks, rank),
                         .points = view_number(row, "points"),
                         .noise = view_number(row, "noise"),
                         .starved = view_number(row, "starved"),
                         .sharers = isnan(sharers) ? view_number(row, "device_shared") : sharers,
                         .sweep_bytes = view_number(row, "sweep_bytes"),
                         .cache_bytes = view_number(row, "cache_bytes"),
                         .cpus_shared = view_number(row, "cpus_shared") > 0,
                         .is_cpu = (view_at(row, "is_cpu") ? view_number(row, "is_cpu") > 0 : on_cpu),
                         .takes_cores =
                             (view_at(row, "takes_cores") ? view_number(row, "takes_cores") > 0 : on_cpu)};
  for (int k = 0; k < CHECK_KINDS; k++) {
    const struct check_kind *kind = &check_kinds[k];
    r.value[k] = kind->of_rank ? kind->of_rank(row) : kind->path ? view_number(row, kind->path) : NAN;
  }
  return r;
}

double view_path_number(const json_t *from, const char *key, size_t n)
{
  const json_t *value = json_object_get(from, key);
  if (json_is_array(value)) value = json_array_get(value, n);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

status_t view_paths_visit(const json_t *document, view_visit visit, void *context)
{
  static const char *const lists[] = {"paths", "path_groups"};
  size_t g;
  json_t *from;
  for (size_t l = 0; l < 2; l++) json_array_foreach(json_object_get(document, lists[l]), g, from)
    {
      const json_t *ranks = json_object_get(from, "rank");
      const size_t n = json_is_array(ranks) ? json_array_size(ranks) : 1;
      for (size_t p = 0; p < n; p++) RETURN_IF_FAILED(visit(from, p, context));
    }
  return STATUS_OK;
}

struct view_paths {
  struct judge_run *run;
  const char *where, *transport;
  size_t n;
};

/* Counts paths while no memory is allocated for them, otherwise stores them. */
static status_t view_path_add(const json_t *from, size_t n, void *context)
{
  struct view_paths *v = context;
  const double at = view_path_number(from, "rank", n), peer = view_path_number(from, "peer", n);
  if (!(at >= 0 && at < v->run->n_ranks && peer >= 0 && peer < v->run->n_ranks)) return damaged(v->where);
  struct judge_rank *rank = &v->run->ranks[(int)at];
  v->n++;
  if (rank->n_paths++, !v->run->paths) return STATUS_OK;
  struct judge_path *path = &rank->paths[rank->n_paths - 1];
  *path = (struct judge_path){.peer = (int)peer,
                              .face = view_text(from, "face"),
                              .used = view_text(from, "used"),
                              .handover = view_text(from, "handover"),
                              .bytes = view_number(from, "bytes"),
                              .us = 1e6 * view_path_number(from, "latency", n),
                              .gbps = view_path_number(from, "gbps", n)};
  path->detour = strcmp(path->used, v->transport) != 0;
  v->run->has_pairs |= path->us > 0;
  return STATUS_OK;
}

static status_t view_paths_read(const json_t *document, const char *where, struct judge_run *run)
{
  struct view_paths v = {run, where, view_text(document, "config.transport"), 0};
  RETURN_IF_FAILED(view_paths_visit(document, view_path_add, &v));
  struct judge_path *next = run->paths = calloc(v.n + 1, sizeof *run->paths);
  if (!run->paths) return view_out_of_memory();
  for (int r = 0; r < run->n_ranks; r++) {
    run->ranks[r].paths = next;
    next += run->ranks[r].n_paths;
    run->ranks[r].n_paths = 0;
  }
  return view_paths_visit(document, view_path_add, &v);
}

static status_t ranks_read(const json_t *document, struct judge_run *run)
{
  const json_t *ranks = json_object_get(document, "ranks");
  const size_t n = json_array_size(ranks);
  const int on_cpu = strcmp(view_text(document, "config.backend"), "cpu") == 0;
  run->n_ranks = (int)n;
  run->ranks = calloc(n + 1, sizeof *run->ranks);
  if (!run->ranks) return view_out_of_memory();
  for (size_t rank = 0; rank < n; rank++) run->ranks[rank] = rank_of(ranks, rank, on_cpu);
  return STATUS_OK;
}

/* Reads element \a at in seconds. Returns whether the list has \a n elements and this is a time. */
static int seconds_read(const json_t *values, size_t n, size_t at, double *seconds)
{
  const json_t *value = json_array_size(values) == n ? json_array_get(values, at) : NULL;
  *seconds = json_is_number(value) ? json_number_value(value) : NAN;
  return *seconds >= 0 && *seconds < SECONDS_MAX;
}

static int rank_blocks_read(const json_t *series, size_t rank, size_t n, struct judge_block *blocks)
{
  const json_t *compute = json_array_get(json_object_get(series, judge_of_names[JUDGE_COMPUTE]), rank),
               *exchange = json_array_get(json_object_get(series, judge_of_names[JUDGE_EXCHANGE]), rank);
  int whole = 1;
  for (size_t b = 0; b < n; b++)
    whole &=
        seconds_read(compute, n, b, &blocks[b].compute) && seconds_read(exchange, n, b, &blocks[b].exchange);
  return whole;
}

static status_t series_read(const json_t *document, const char *where, struct judge_run *run)
{
  const json_t *series = view_at(document, "series"), *ends = json_object_get(series, "ends");
  const size_t n = json_array_size(ends);
  double block;
  if (!series) return STATUS_OK;
  int whole = run->n_ranks > 0 && n > 0 && n <= JUDGE_BLOCKS_MAX;
  for (size_t b = 0; whole && b < n; b++) {
    whole = seconds_read(ends, n, b, &run->ends[b].end) &&
            seconds_read(json_object_get(series, "blocks"), n, b, &block);
    if (whole) run->ends[b].block = (int)block;
  }
  run->blocks = whole ? calloc((size_t)run->n_ranks * n, sizeof *run->blocks) : NULL;
  if (whole && !run->blocks) return view_out_of_memory();
  for (size_t rank = 0; whole && rank < (size_t)run->n_ranks; rank++)
    whole = rank_blocks_read(series, rank, n, run->blocks + rank * n);
  if (!whole) return damaged(where);
  run->n_blocks = (int)n;
  return STATUS_OK;
}

status_t view_samples(const json_t *samples, double **seconds, int *n)
{
  size_t at;
  json_t *one;
  json_array_foreach((json_t *)samples, at, one)
  {
    if (json_number_value(one) > 0) RETURN_IF_FAILED(stats_add(seconds, n, json_number_value(one)));
  }
  return STATUS_OK;
}

static int stragglers_find(struct judge_run *run)
{
  struct straggler_work *work = calloc((size_t)run->n_ranks + 1, sizeof *work);
  const struct straggler_ranks in = {run->n_ranks, run->n_blocks, run->blocks, work};
  run->knows_work = work != NULL;
  for (int r = 0; work && r < run->n_ranks; r++) {
    const struct judge_rank *rank = &run->ranks[r];
    run->knows_work &= rank->points > 0;
    work[r] = (struct straggler_work){.points = rank->points, .neighbours = rank->n_paths};
    for (int m = 0; m < rank->n_paths; m++) {
      work[r].bytes += rank->paths[m].bytes;
      work[r].between += run->ranks[rank->paths[m].peer].host != rank->host;
      work[r].detours += rank->paths[m].detour;
    }
  }
  const int found = !work ? -1 : run->knows_work ? straggler_find(&in, run->stragglers, JUDGE_FOUND_MAX) : 0;
  free(work);
  return found;
}

status_t judge_find(struct judge_run *run)
{
  const struct slowdown_ranks in = {run->n_ranks, run->n_blocks, run->blocks, run->ends};
  run->n_stragglers = stragglers_find(run);
  run->n_slowdowns = slowdown_find(&in, run->slowdowns, JUDGE_FOUND_MAX);
  return run->n_stragglers < 0 || run->n_slowdowns < 0 ? view_out_of_memory() : STATUS_OK;
}

status_t judge_view(const json_t *document, const char *where, struct judge_run *run)
{
  const char *type = view_text(document, "config.type");
  *run = (struct judge_run){.document = document,
                            .program = view_text(document, "program"),
                            .type = *type && !view_at(document, "config.distributed") ? type : NULL,
                            .power_share = view_number(document, "worth.power_share"),
                            .emulated = view_at(document, "result.counts") != NULL,
                            .soak = view_at(document, "result.soak") != NULL,
                            .gflops = view_number(document, "result.gflops")};
  status_t status = ranks_read(document, run);
  if (status == STATUS_OK) status = view_paths_read(document, where, run);
  if (status == STATUS_OK)
    status = view_samples(view_at(document, "result.samples"), &run->samples, &run->n_samples);
  if (status == STATUS_OK) status = series_read(document, where, run);
  if (status == STATUS_OK) status = judge_find(run);
  if (status != STATUS_OK) judge_run_free(run);
  return status;
}

void judge_run_free(struct judge_run *run)
{
  free(run->ranks);
  free(run->paths);
  free(run->samples);
  free(run->blocks);
  *run = (struct judge_run){.n_ranks = 0};
}
