/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/report.h"
#include "tools/network/cmdline.h"
#include "tools/network/report.h"

#define SCHEMA "comm-gpu/1"

static const char *const phase_names[HALO_PHASES] = {"pack", "d2h", "wait", "transfer", "h2d", "unpack"};

static json_t *parts_json(const struct bench *bench)
{
  json_t *parts = json_array();
  for (int part = 1; part & BENCH_ALL; part <<= 1)
    if (bench->config.parts & part)
      json_array_append_new(parts, json_string(bench_part_name((enum bench_part)part)));
  return parts;
}

static json_t *transports_json(const struct bench *bench)
{
  json_t *transports = json_array();
  for (int t = 0; halo_transports[t]; t++)
    if (bench_transport_wanted(bench, halo_transports[t]))
      json_array_append_new(transports, json_string(halo_transports[t]->name));
  return transports;
}

static json_t *grid_json(const struct bench *bench)
{
  const struct bench_config *c = &bench->config;
  if (!(c->parts & BENCH_HALO)) return json_null();
  return json_pack("{s:s, s:I, s:I, s:I, s:b, s:[i,i,i], s:I}", "size", c->size.name, "imax",
                   (json_int_t)bench->global[0], "jmax", (json_int_t)bench->global[1], "kmax",
                   (json_int_t)bench->global[2], "weak", c->weak, "procs", bench->procs[0], bench->procs[1],
                   bench->procs[2], "depth", (json_int_t)c->depth);
}

static json_t *config_json(const struct bench *bench)
{
  const struct bench_config *c = &bench->config;
  return json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "backend", bench->placement.backend->name,
                   "parts", parts_json(bench), "transports", transports_json(bench), "min_bytes",
                   (json_int_t)c->min_bytes, "max_bytes", (json_int_t)c->max_bytes, "step",
                   (json_int_t)c->step, "samples", (json_int_t)c->samples, "grid", grid_json(bench));
}

static json_t *point_json(const struct bench_point *point)
{
  return json_pack("{s:I, s:o, s:o, s:o, s:o, s:I}", "bytes", (json_int_t)point->bytes, "seconds",
                   report_json_real(point->seconds), "best", report_json_real(point->best), "noise",
                   report_json_real(point->noise), "gbps",
                   report_json_real(point->seconds > 0 ? (double)point->bytes / point->seconds / 1e9 : 0),
                   "transfers", (json_int_t)point->transfers);
}

static json_t *curve_json(const struct bench_curve *curve)
{
  json_t *points = json_array();
  for (int p = 0; p < curve->n; p++) json_array_append_new(points, point_json(&curve->points[p]));
  return points;
}

static json_t *fit_json(const struct bench_fit *fit)
{
  if (fit->points == 0) return json_null();
  return json_pack("{s:o, s:o, s:o, s:i}", "latency_seconds", report_json_real(fit->latency),
                   "bytes_per_second", report_json_real(fit->bandwidth), "residual",
                   report_json_real(fit->residual), "points", fit->points);
}

static json_t *path_json(const struct bench_path *path)
{
  return json_pack("{s:i, s:o, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "rank", path->rank, "peer",
                   path->peer >= 0 ? json_integer(path->peer) : json_null(), "way", path->way, "used",
                   path->used, "why", path->why, "direction", path->direction, "company", path->company,
                   "fit", fit_json(&path->curve.fit), "points", curve_json(&path->curve));
}

static json_t *paths_json(const struct bench_path *paths, int n)
{
  json_t *list = json_array();
  for (int p = 0; p < n; p++) json_array_append_new(list, path_json(&paths[p]));
  return list;
}

static json_t *halo_json(const struct bench *bench)
{
  json_t *list = json_array();
  for (int h = 0; h < bench->n_halo; h++) {
    const struct bench_halo *halo = &bench->halo[h];
    json_t *phases = json_object();
    for (int p = 0; p < HALO_PHASES; p++)
      json_object_set_new(phases, phase_names[p], report_json_real(halo->phases[p]));
    json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:i, s:o, s:o, s:o, s:I, s:o}", "way", halo->way,
                                          "used", halo->used, "bytes", (json_int_t)halo->bytes, "messages",
                                          halo->messages, "seconds", report_json_real(halo->point.seconds),
                                          "best", report_json_real(halo->point.best), "noise",
                                          report_json_real(halo->point.noise), "exchanges",
                                          (json_int_t)halo->point.transfers, "phases", phases));
  }
  return list;
}

static json_t *near_json(const struct cards_table *table, int row)
{
  json_t *near = json_array();
  for (int r = 0; r < table->ranks; r++) {
    enum cards_near how = (enum cards_near)table->near[row * table->ranks + r];
    if (how != CARDS_UNKNOWN)
      json_array_append_new(near, json_pack("{s:i, s:s}", "rank", r, "near", cards_near_name(how)));
  }
  return near;
}

static json_t *cards_json(const struct bench *bench)
{
  json_t *list = json_array();
  for (int c = 0; c < bench->cards.n; c++) {
    const struct cards_row *row = &bench->cards.rows[c];
    const struct card *card = &row->card;
    json_t *one = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:i, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o}", "host",
        card->host, "card", card->name, "link", card->link, "state", card->state, "pci", card->pci, "numa",
        card->numa, "gbit_per_second", card->gbps > 0 ? report_json_real(card->gbps) : json_null(), "errors",
        (json_int_t)card->errors, "errors_meanwhile", (json_int_t)row->errors, "received_before",
        (json_int_t)(card->received - row->received), "received_after", (json_int_t)card->received,
        "sent_before", (json_int_t)(card->sent - row->sent), "sent_after", (json_int_t)card->sent,
        "host_sent_bytes", (json_int_t)bench->cards.asked[c], "idle", row->idle, "near",
        near_json(&bench->cards, c));
    json_array_append_new(list, one);
  }
  return list;
}

static json_t *ranks_json(const struct bench *bench)
{
  json_t *ranks = json_array();
  for (int r = 0; r < bench->placement.ranks; r++)
    json_array_append_new(ranks, rank_json(&bench->ranks[r], r, 0));
  return ranks;
}

json_t *bench_report_json(const struct bench *bench)
{
  json_t *document = report_json_frame(SCHEMA, "comm-gpu");
  json_t *result = json_pack("{s:s, s:o, s:I}", "verdict", status_verdict(STATUS_OK), "seconds",
                             report_json_real(bench->seconds), "transfers", (json_int_t)bench->transfers);
  int failed = json_object_set_new(document, "config", config_json(bench)) |
               json_object_set_new(document, "result", result) |
               json_object_set_new(document, "host", paths_json(bench->host, bench->n_host)) |
               json_object_set_new(document, "pairs", paths_json(bench->pairs, bench->n_pairs)) |
               json_object_set_new(document, "halo", halo_json(bench)) |
               json_object_set_new(document, "allreduce", paths_json(bench->reduce, bench->n_reduce)) |
               json_object_set_new(document, "cards", cards_json(bench)) |
               json_object_set_new(document, "ranks", ranks_json(bench));
  if (!failed) return document;
  json_decref(document);
  return NULL;
}
