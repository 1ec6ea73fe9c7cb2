/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/report.h"
#include "tools/predict/model_json.h"
#include "tools/predict/report.h"

#define SCHEMA "himeno-predict/1"

static const struct {
  enum model_beyond what;
  const char *name;
} beyonds[] = {{BEYOND_RANKS, "ranks"},        {BEYOND_HOSTS, "hosts"},  {BEYOND_PATH, "path between hosts"},
               {BEYOND_SMALL, "fewer points"}, {BEYOND_LARGE, "points"}, {BEYOND_BYTES, "bytes"},
               {BEYOND_HOST, "one host"}};

static json_t *beyond_json(int what)
{
  json_t *list = json_array();
  for (size_t b = 0; b < sizeof beyonds / sizeof beyonds[0]; b++)
    if (what & (int)beyonds[b].what) json_array_append_new(list, json_string(beyonds[b].name));
  return list;
}

static json_t *text_or_null(const char *text)
{
  return text ? json_string(text) : json_null();
}

/* An end of the interval; null without one. */
static json_t *bound(double value)
{
  return value > 0 ? report_json_real(value) : json_null();
}

static json_t *config_json(const struct predict *p)
{
  const struct predict_config *c = &p->config;
  const struct study_run *run = p->study.n > 0 ? &p->study.runs[0] : NULL;
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:i, s:i, s:o, s:o, s:o}", "study",
                   text_or_null(c->study), "comm", text_or_null(c->comm), "model", text_or_null(c->model),
                   "kernel", text_or_null(run ? run->kernel : NULL), "backend",
                   text_or_null(run ? run->backend : NULL), "device", text_or_null(run ? run->device : NULL),
                   "fit_ranks", (json_int_t)c->fit_ranks, "runs", p->study.n, "left_aside", p->study.skipped,
                   "per_host", json_integer(c->per_host > 0 ? c->per_host : p->model.per_host),
                   "compute_time", report_json_real(c->scale.compute), "exchange_time",
                   report_json_real(c->scale.exchange));
}

static json_t *terms_json(const struct model_time *t, int overlap)
{
  double exchange = t->latency + t->bytes, exposed = overlap ? exchange - t->interior : exchange;
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "interior", report_json_real(t->interior),
                   "exchange_latency", report_json_real(t->latency), "exchange_bytes",
                   report_json_real(t->bytes), "boundary", report_json_real(t->boundary), "synchronisation",
                   report_json_real(t->synchronisation), "reduction", report_json_real(t->reduction),
                   "exposed_exchange", report_json_real(exposed > 0 ? exposed : 0));
}

static json_t *point_json(const struct predict_point *point)
{
  const struct geometry *g = &point->geometry;
  const struct model_time *t = &point->time;
  json_t *json =
      json_pack("{s:s, s:s, s:i, s:s}", "size", point->size.name, "scaling", point->weak ? "weak" : "strong",
                "ranks", point->ranks, "transport", point->transport);
  if (!point->predicted) {
    json_object_set_new(json, "why_not", json_string(point->why));
    return json;
  }
  json_t *rest =
      json_pack("{s:I, s:I, s:I, s:[i,i,i], s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o}",
                "imax", (json_int_t)g->global[0], "jmax", (json_int_t)g->global[1], "kmax",
                (json_int_t)g->global[2], "procs", g->procs[0], g->procs[1], g->procs[2], "hosts", g->hosts,
                "seconds", report_json_real(t->seconds), "low", bound(t->low), "high", bound(t->high),
                "gflops", report_json_real(point->gflops), "gflops_low", bound(point->gflops_low),
                "gflops_high", bound(point->gflops_high), "efficiency", report_json_real(point->efficiency),
                "limit", t->limit, "terms", terms_json(t, g->overlap), "twice_network",
                json_pack("{s:o, s:o}", "seconds", report_json_real(point->twice_network), "gain",
                          report_json_real(t->seconds / point->twice_network - 1)),
                "extrapolated", beyond_json(t->extrapolated));
  json_object_update(json, rest);
  json_decref(rest);
  return json;
}

static json_t *points_json(const struct predict *p)
{
  json_t *list = json_array();
  for (int n = 0; n < p->n; n++) json_array_append_new(list, point_json(&p->points[n]));
  return list;
}

static json_t *ends_json(const struct predict *p)
{
  json_t *list = json_array();
  for (int n = 0; n < p->n_ends; n++) {
    const struct predict_end *end = &p->ends[n];
    json_array_append_new(list,
                          json_pack("{s:s, s:s, s:i, s:o, s:i, s:i}", "size", end->size.name, "transport",
                                    end->transport, "fastest_ranks", end->fastest_ranks, "fastest_seconds",
                                    report_json_real(end->fastest_seconds), "half_efficiency_ranks",
                                    end->efficient_ranks, "searched_ranks", end->searched_ranks));
  }
  return list;
}

static json_t *pair_json(const struct validate_pair *pair, int with_left)
{
  const struct study_run *run = &pair->run;
  int inside = run->seconds >= pair->time.low && run->seconds <= pair->time.high;
  json_t *json = json_pack(
      "{s:s, s:s, s:i, s:[i,i,i], s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "size", run->size, "scaling",
      run->weak ? "weak" : "strong", "ranks", run->ranks, "procs", run->procs[0], run->procs[1],
      run->procs[2], "transport", run->transport, "measured", report_json_real(run->seconds), "predicted",
      pair->predicted ? report_json_real(pair->time.seconds) : json_null(), "low", bound(pair->time.low),
      "high", bound(pair->time.high), "error", pair->predicted ? report_json_real(pair->error) : json_null(),
      "inside", pair->predicted && pair->time.low > 0 ? json_boolean(inside) : json_null());
  if (with_left) {
    json_object_set_new(json, "left_out", json_string(pair->left));
    json_object_set_new(json, "kind", json_string(validate_kind_name(pair->kind)));
  }
  return json;
}

static json_t *table_json(const struct validate_table *table, int with_left)
{
  double median, worst;
  int n;
  json_t *pairs = json_array();
  validate_summary(table, &median, &worst, &n);
  for (int p = 0; p < table->n; p++) json_array_append_new(pairs, pair_json(&table->pairs[p], with_left));
  return json_pack("{s:i, s:o, s:o, s:o}", "predicted", n, "median_error",
                   n > 0 ? report_json_real(median) : json_null(), "worst_error",
                   n > 0 ? report_json_real(worst) : json_null(), "pairs", pairs);
}

json_t *predict_report_json(const struct predict *p)
{
  json_t *document = report_json_frame(SCHEMA, "himeno-predict");
  int failed = json_object_set_new(document, "config", config_json(p)) |
               json_object_set_new(document, "model", model_json(&p->model)) |
               json_object_set_new(document, "predictions", points_json(p)) |
               json_object_set_new(document, "scaling_ends", ends_json(p)) |
               json_object_set_new(document, "validation", table_json(&p->validation, 1));
  if (p->config.against) failed |= json_object_set_new(document, "against", table_json(&p->against, 0));
  if (!failed) return document;
  json_decref(document);
  return NULL;
}
