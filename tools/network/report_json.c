/* SPDX-License-Identifier: MIT */
#include "base/report.h"
#include "tools/network/cmdline.h"
#include "tools/network/bench.h"

#define SCHEMA "comm-gpu/1"

static const char *const phase_names[HALO_PHASES] = {HALO_PHASE_NAMES};

static json_t *parts_json(const struct bench *bench)
{
  json_t *parts = json_array();
  for (int bit = 0; bit < BENCH_PARTS; bit++)
    if (bench->config.parts >> bit & 1) json_array_append_new(parts, report_json_text(bench_part_names[bit]));
  return parts;
}

static json_t *transports_json(const struct bench *bench)
{
  json_t *transports = json_array();
  for (int t = 0; halo_transports[t]; t++)
    if (bench_transport_wanted(bench, halo_transports[t]))
      json_array_append_new(transports, report_json_text(halo_transports[t]->name));
  return transports;
}

static json_t *grid_json(const struct bench *bench)
{
  const struct bench_config *c = &bench->config;
  if (!(c->parts & BENCH_HALO)) return json_null();
  json_t *o = json_object();
  object_text(o, "size", c->size.name);
  object_whole(o, "imax", bench->global[0]);
  object_whole(o, "jmax", bench->global[1]);
  object_whole(o, "kmax", bench->global[2]);
  object_flag(o, "weak", c->weak);
  object_set(o, "procs", json_pack("[i,i,i]", bench->procs[0], bench->procs[1], bench->procs[2]));
  object_whole(o, "depth", c->depth);
  return o;
}

static json_t *config_json(const struct bench *bench)
{
  const struct bench_config *c = &bench->config;
  json_t *o = json_object();
  object_text(o, "backend", bench->placement.backend->name);
  object_set(o, "parts", parts_json(bench));
  object_set(o, "transports", transports_json(bench));
  object_whole(o, "min_bytes", c->min_bytes);
  object_whole(o, "max_bytes", c->max_bytes);
  object_whole(o, "step", c->step);
  object_whole(o, "samples", c->samples);
  object_set(o, "grid", grid_json(bench));
  return o;
}

static json_t *stages_json(const struct bench_stages *stages)
{
  static const char *const names[BENCH_STAGES] = {BENCH_STAGE_NAMES};
  json_t *o = json_object();
  for (int s = 0; s < BENCH_STAGES; s++) object_real(o, names[s], stages->at[s]);
  return o;
}

static json_t *point_json(const struct bench_point *point)
{
  json_t *o = json_object();
  object_whole(o, "bytes", point->bytes);
  object_real(o, "seconds", point->seconds);
  object_real(o, "best", point->best);
  object_real(o, "noise", point->noise);
  object_real(o, "gbps", point->seconds > 0 ? (double)point->bytes / point->seconds / 1e9 : 0);
  object_whole(o, "transfers", point->transfers);
  if (point->stages.known) object_set(o, "stages", stages_json(&point->stages));
  return o;
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
  json_t *o = json_object();
  object_whole(o, "rank", path->rank);
  object_set(o, "peer", path->peer >= 0 ? json_integer(path->peer) : json_null());
  object_text(o, "way", path->way);
  object_text(o, "used", path->used);
  object_text(o, "why", path->why);
  if (path->handover[0]) object_text(o, "handover", path->handover);
  object_text(o, "direction", path->direction);
  object_text(o, "company", path->company);
  object_set(o, "fit", fit_json(&path->curve.fit));
  object_set(o, "points", curve_json(&path->curve));
  return o;
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
    for (int p = 0; p < HALO_PHASES; p++) object_real(phases, phase_names[p], halo->phases[p]);
    json_t *one = json_object();
    object_text(one, "way", halo->way);
    object_text(one, "used", halo->used);
    object_whole(one, "bytes", halo->bytes);
    object_whole(one, "messages", halo->messages);
    object_real(one, "seconds", halo->point.seconds);
    object_real(one, "best", halo->point.best);
    object_real(one, "noise", halo->point.noise);
    object_whole(one, "exchanges", halo->point.transfers);
    object_set(one, "phases", phases);
    if (halo->point.stages.known) object_set(one, "stages", stages_json(&halo->point.stages));
    json_array_append_new(list, one);
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
    json_t *one = json_object();
    object_text(one, "host", card->host);
    object_text(one, "card", card->name);
    object_text(one, "link", card->link);
    object_text(one, "state", card->state);
    object_text(one, "pci", card->pci);
    object_whole(one, "numa", card->numa);
    object_set(one, "gbit_per_second", card->gbps > 0 ? report_json_real(card->gbps) : json_null());
    object_whole(one, "errors", card->errors);
    object_whole(one, "errors_meanwhile", row->errors);
    object_whole(one, "received_before", (card->received - row->received));
    object_whole(one, "received_after", card->received);
    object_whole(one, "sent_before", (card->sent - row->sent));
    object_whole(one, "sent_after", card->sent);
    object_whole(one, "host_sent_bytes", bench->cards.asked[c]);
    object_flag(one, "idle", row->idle);
    object_set(one, "near", near_json(&bench->cards, c));
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
  object_set(document, "config", config_json(bench));
  object_set(document, "result", result);
  object_set(document, "host", paths_json(bench->host, bench->n_host));
  object_set(document, "pairs", paths_json(bench->pairs, bench->n_pairs));
  object_set(document, "halo", halo_json(bench));
  object_set(document, "allreduce", paths_json(&bench->reduce, bench->n_reduce));
  object_set(document, "cards", cards_json(bench));
  object_set(document, "ranks", ranks_json(bench));
  return document;
}
