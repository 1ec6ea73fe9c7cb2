/* SPDX-License-Identifier: MIT */
/* The model's terms, and predictions with them. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "tools/predict/model.h"

/* 90% of runs lie between the 5% and the 95% quantile. */
#define QUANTILE 0.95

int model_way(const struct model *model, const char *transport)
{
  for (int w = 0; w < model->paths.n; w++)
    if (strcmp(model->paths.ways[w].name, transport) == 0) return w;
  return -1;
}

const char *model_term_name(const struct model *model, int column, char text[96])
{
  static const char *const names[TERMS] = {"pass",         "point",        "cache",
                                           "idle",         "slab_point_i", "slab_point_j",
                                           "slab_point_k", "reduction",    "reduction_log2"};
  static const char *const way_names[WAY_TERMS] = {"synchronisation", "neighbour",         "latency_factor",
                                                   "bytes_factor",    "host_bytes_factor", "slab"};
  if (column < TERMS)
    snprintf(text, 96, "%s", names[column]);
  else
    snprintf(text, 96, "%s %s", model->paths.ways[(column - TERMS) / WAY_TERMS].name,
             way_names[(column - TERMS) % WAY_TERMS]);
  return text;
}

int model_at_once(const char *transport)
{
  return strcmp(transport, "p2p") == 0;
}

int model_within_hosts(const char *transport)
{
  return strcmp(transport, "p2p") == 0 || strcmp(transport, "ipc") == 0;
}

void model_between_set(const struct study_between *between, struct study_paths *paths)
{
  for (int w = 0; w < paths->n && between->bandwidth > 0; w++) {
    struct study_way *way = &paths->ways[w];
    if (model_within_hosts(way->name)) continue;
    way->known[STUDY_OTHER_HOST] = 1;
    way->latency[STUDY_OTHER_HOST] = between->latency;
    way->bandwidth[STUDY_OTHER_HOST] = between->bandwidth;
    way->residual[STUDY_OTHER_HOST] = 0;
  }
}

struct model_route model_route(const struct model *model, int hosts, int way)
{
  if (hosts == 1 || !model_within_hosts(model->paths.ways[way].name)) return (struct model_route){{way, way}};
  return (struct model_route){{way, model_way(model, "staged")}};
}

/* The longest of an exchange's latencies, and the path, within the host or beyond, whose bytes take
 * longest: all are under way at once. What comm-gpu measures between hosts it measures with a pair
 * for each path, and there are no more: for a host's term they send as much as two. */
static void paths_rows_make(const struct model *model, const struct geometry *g,
                            const struct model_route *route, struct model_rows *rows)
{
  const double company[STUDY_WHERES] = {g->host_bytes, 2 * g->bytes[STUDY_OTHER_HOST]};
  double latest = -1, longest = -1;
  for (int where = 0; where < STUDY_WHERES; where++) {
    if (g->messages[where] == 0) continue;
    const struct study_way *path = &model->paths.ways[route->way[where]];
    const int first = model_way_column(route->way[where], 0);
    const double *value = model->value + first, rate = path->bandwidth[where] * g->depth;
    const double latency = path->latency[where] / g->depth, own = g->bytes[where] / rate,
                 host = model_at_once(path->name) ? 0 : company[where] / rate;
    if (value[WAY_LATENCY] * latency > latest) {
      latest = value[WAY_LATENCY] * latency;
      memset(rows->latency, 0, sizeof rows->latency);
      rows->latency[first + WAY_LATENCY] = latency;
    }
    if (value[WAY_BANDWIDTH] * own + value[WAY_HOST] * host > longest) {
      longest = value[WAY_BANDWIDTH] * own + value[WAY_HOST] * host;
      memset(rows->bytes, 0, sizeof rows->bytes);
      rows->bytes[first + WAY_BANDWIDTH] = own;
      rows->bytes[first + WAY_HOST] = host;
    }
  }
}

/* Points that the last tile of each row has and the row has not. */
static double idle_points(const struct geometry *g, double tile_points)
{
  return tile_points > 0 ? g->rows * (ceil(g->row / tile_points) * tile_points - g->row) : 0;
}

void model_rows_make(const struct model *model, const struct geometry *g, int way, struct model_rows *rows)
{
  memset(rows, 0, sizeof *rows);
  rows->interior[TERM_PASS] = 1;
  rows->interior[TERM_POINT] = g->inner;
  if (model->cache_points > 0) rows->interior[TERM_CACHE] = -fmin(g->inner, model->cache_points);
  rows->interior[TERM_IDLE] = idle_points(g, model->tile_points);
  if (way < 0) return;
  const struct model_route route = model_route(model, g->hosts, way);
  const int mixed = route.way[STUDY_OTHER_HOST] != way, host_way = route.way[STUDY_OTHER_HOST];
  paths_rows_make(model, g, &route, rows);
  if (model_at_once(model->paths.ways[host_way].name)) {
    rows->chain[model_way_column(way, WAY_SLAB)] = g->slabs > 0;
  } else {
    double messages = mixed ? g->messages[STUDY_OTHER_HOST] : g->neighbours;
    rows->boundary[model_way_column(host_way, WAY_SLAB)] = g->slabs;
    rows->latency[model_way_column(host_way, WAY_NEIGHBOUR)] = messages / g->depth;
  }
  for (int d = 0; d < 3; d++) rows->boundary[TERM_SLAB_I + d] = g->slab_points[d];
  rows->synchronisation[model_way_column(host_way, WAY_SYNC)] = 1;
  rows->reduction[TERM_REDUCE] = 1;
  rows->reduction[TERM_REDUCE_LOG] = log2(g->ranks);
}

double model_product(const struct model *model, const double *row)
{
  double sum = 0;
  for (int c = 0; c < model->columns; c++) sum += row[c] * model->value[c];
  return sum;
}

static void row_add(const struct model *model, const double *row, double *total)
{
  for (int c = 0; c < model->columns; c++) total[c] += row[c];
}

void model_row_total(const struct model *model, const struct model_rows *rows, int overlap, double *total)
{
  double interior = model_product(model, rows->interior);
  double exchange = model_product(model, rows->chain) + model_product(model, rows->latency) +
                    model_product(model, rows->bytes);
  memset(total, 0, MODEL_COLUMNS_MAX * sizeof *total);
  if (!overlap || interior >= exchange) row_add(model, rows->interior, total);
  if (!overlap || interior < exchange) {
    row_add(model, rows->chain, total);
    row_add(model, rows->latency, total);
    row_add(model, rows->bytes, total);
  }
  row_add(model, rows->boundary, total);
  row_add(model, rows->synchronisation, total);
  row_add(model, rows->reduction, total);
}

/* ---- prediction ---- */

static void scale_rows(const struct model *model, const struct model_scale *scale, struct model_rows *rows)
{
  for (int c = 0; c < model->columns; c++) {
    rows->interior[c] *= scale->compute;
    rows->boundary[c] *= scale->compute;
    rows->chain[c] *= scale->compute;
    rows->latency[c] *= scale->exchange;
    rows->bytes[c] *= scale->exchange;
  }
}

static int beyond(const struct model *model, const struct geometry *g, int way)
{
  int what = 0;
  if (g->ranks > model->ranks_most) what |= BEYOND_RANKS;
  if (g->hosts > model->hosts_most) what |= BEYOND_HOSTS;
  if (g->hosts == 1 && model->hosts_most == 1 && g->ranks > model->ranks_most) what |= BEYOND_HOST;
  if (g->points < 0.999 * model->points_least) what |= BEYOND_SMALL;
  if (g->points > 1.001 * model->points_most) what |= BEYOND_LARGE;
  if (way < 0) return what;
  if (g->bytes[0] + g->bytes[1] > 1.001 * model->bytes_most) what |= BEYOND_BYTES;
  return what;
}

/* A term that this geometry has and no run had cannot be told. */
static status_t seen_check(const struct model *model, const struct geometry *g, const char *transport,
                           const double *total)
{
  char name[96];
  for (int c = 0; c < model->columns; c++) {
    if (total[c] == 0 || model->seen[c]) continue;
    if (c >= TERM_SLAB_I && c <= TERM_SLAB_K)
      return log_fail(
          STATUS_ENVIRONMENT,
          "the cut %dx%dx%d needs a run that cuts %c, and the study has none: measure one with -p",
          g->procs[0], g->procs[1], g->procs[2], "ijk"[c - TERM_SLAB_I]);
    if (c >= TERMS)
      return log_fail(STATUS_ENVIRONMENT,
                      "no run of the study is bound by its exchange by %s: measure a smaller --size, or more "
                      "ranks, with -x %s",
                      transport, transport);
    return log_fail(STATUS_ENVIRONMENT,
                    "the study tells nothing of the term \"%s\": measure more sizes and ranks",
                    model_term_name(model, c, name));
  }
  return STATUS_OK;
}

/* What was never measured between hosts has nothing to stand for it. */
status_t model_paths_check(const struct model *model, const struct geometry *g, int way)
{
  const struct model_route route = model_route(model, g->hosts, way);
  for (int where = 0; where < STUDY_WHERES; where++) {
    if (g->messages[where] == 0) continue;
    if (route.way[where] < 0)
      return log_fail(STATUS_ENVIRONMENT,
                      "pairs on different hosts go by staged, and there are no parameters of it: measure "
                      "himeno-gpu and comm-gpu with -x staged");
    if (model->paths.ways[route.way[where]].known[where]) continue;
    return log_fail(STATUS_ENVIRONMENT,
                    "%d hosts, and the path %s by %s was never measured: %s, or say how many ranks a host "
                    "has by --per-host",
                    g->hosts, where == STUDY_OTHER_HOST ? "between hosts" : "within a host",
                    model->paths.ways[route.way[where]].name,
                    where == STUDY_OTHER_HOST
                        ? "run comm-gpu on two hosts, or give it by --between MICROSECONDS,GB/S"
                        : "run comm-gpu on two ranks of a host");
  }
  return STATUS_OK;
}

static const char *limit_name(const struct model_time *t, int overlap)
{
  double exchange = t->latency + t->bytes, largest = t->boundary;
  const char *name = "boundary";
  if ((!overlap || t->interior >= exchange) && t->interior >= largest)
    largest = t->interior, name = "interior";
  if ((!overlap || t->interior < exchange) && exchange >= largest)
    largest = exchange, name = t->latency > t->bytes ? "exchange latency" : "exchange bandwidth";
  if (t->synchronisation > largest) largest = t->synchronisation, name = "synchronisation";
  if (t->reduction > largest) name = "reduction";
  return name;
}

/* Spread of a run about the model, and what the parameters' own errors add; wider beyond the
 * measured ranks. */
static void interval_set(const struct model *model, int way, const double *total, struct model_time *t)
{
  double spread = way < 0 ? model->spread : model->way_spread[way];
  if (model->freedom <= 0) return;
  double variance = lsq_variance(model->covariance, model->columns, MODEL_COLUMNS_MAX, total);
  if (t->extrapolated & (BEYOND_RANKS | BEYOND_HOSTS))
    spread = fmax(spread, way < 0 ? model->far_spread : model->way_far_spread[way]);
  double parameters = model->spread * model->spread * variance / (t->seconds * t->seconds);
  double off = lsq_student(QUANTILE, model->freedom) * sqrt(spread * spread + parameters);
  t->low = t->seconds * exp(-off);
  t->high = t->seconds * exp(off);
}

status_t model_predict(const struct model *model, const struct geometry *g, const char *transport,
                       const struct model_scale *scale, struct model_time *time)
{
  struct model_rows rows;
  double total[MODEL_COLUMNS_MAX];
  int way = g->neighbours > 0 ? model_way(model, transport) : -1;
  if (g->neighbours > 0 && way < 0)
    return log_fail(STATUS_ENVIRONMENT,
                    "no parameters of transport %s: measure its paths with comm-gpu -x %s, and runs with "
                    "himeno-gpu -x %s",
                    transport, transport, transport);
  if (way >= 0) RETURN_IF_FAILED(model_paths_check(model, g, way));
  model_rows_make(model, g, way, &rows);
  scale_rows(model, scale, &rows);
  model_row_total(model, &rows, g->overlap, total);
  RETURN_IF_FAILED(seen_check(model, g, transport, total));
  struct model_time t = {.seconds = model_product(model, total),
                         .interior = model_product(model, rows.interior),
                         .latency = model_product(model, rows.chain) + model_product(model, rows.latency),
                         .bytes = model_product(model, rows.bytes),
                         .boundary = model_product(model, rows.boundary),
                         .synchronisation = model_product(model, rows.synchronisation),
                         .reduction = model_product(model, rows.reduction),
                         .extrapolated = beyond(model, g, way)};
  t.limit = limit_name(&t, g->overlap);
  interval_set(model, way, total, &t);
  *time = t;
  return STATUS_OK;
}

status_t model_slowest(const struct model *model, int per_host, const char *transport,
                       const struct model_scale *scale, struct geometry *geometry, struct model_time *time)
{
  struct geometry slowest = *geometry, one;
  struct model_time longest, t;
  RETURN_IF_FAILED(model_predict(model, geometry, transport, scale, &longest));
  for (int r = 0; r < geometry->ranks; r++) {
    RETURN_IF_FAILED(geometry_of_rank(geometry->global, geometry->procs, geometry->depth, geometry->overlap,
                                      per_host, r, &one));
    RETURN_IF_FAILED(model_predict(model, &one, transport, scale, &t));
    if (t.seconds > longest.seconds) slowest = one, longest = t;
  }
  *geometry = slowest;
  *time = longest;
  return STATUS_OK;
}
