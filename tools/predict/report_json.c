/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "base/report.h"
#include "tools/predict/model.h"
#include "tools/predict/predict.h"
#include "tools/predict/workload.h"

const struct predict_beyond predict_beyonds[PREDICT_BEYONDS] = {
    {BEYOND_RANKS, "ranks", "more ranks than any run"},
    {BEYOND_HOSTS, "hosts", "more hosts than any run"},
    {BEYOND_SMALL, "fewer points", "fewer"},
    {BEYOND_LARGE, "points", "more"},
    {BEYOND_BYTES, "bytes", "more bytes in an exchange than any run"},
    {BEYOND_PASS, "sweeps a pass", "another number of sweeps a pass than the runs'"},
    {BEYOND_HOST, "one host",
     "the study has one host; one that holds so many ranks is imagined (--per-host)"}};

static json_t *beyond_json(int what)
{
  json_t *list = json_array();
  for (int b = 0; b < PREDICT_BEYONDS; b++)
    if (what & (int)predict_beyonds[b].what)
      json_array_append_new(list, report_json_text(predict_beyonds[b].name));
  return list;
}

static json_t *text_or_null(const char *text)
{
  return text ? report_json_text(text) : json_null();
}

/* An end of the interval; null without one. */
static json_t *bound(double value)
{
  return value > 0 ? report_json_real(value) : json_null();
}

static json_t *left_json(const struct study *study)
{
  json_t *list = json_array();
  for (int l = 0; l < study->n_left; l++) {
    json_t *one = json_object();
    object_text(one, "file", study->left[l].file);
    object_text(one, "as", study_reason_names[study->left[l].reason]);
    object_text(one, "why", study->left[l].why);
    json_array_append_new(list, one);
  }
  return list;
}

static json_t *config_json(const struct predict *p)
{
  const struct predict_config *c = &p->config;
  const struct study_run *run = p->study.n > 0 ? &p->study.runs[0] : NULL;
  json_t *o = json_object();
  object_set(o, "study", text_or_null(c->study));
  object_set(o, "comm", text_or_null(c->comm));
  object_set(o, "model", text_or_null(c->model));
  object_text(o, "program", model_program_names[p->model.program]);
  object_set(o, "kernel", text_or_null(run ? run->kernel : NULL));
  object_set(o, "backend", text_or_null(run ? run->backend : NULL));
  object_set(o, "device", text_or_null(run ? run->device : NULL));
  object_whole(o, "fit_ranks", c->fit_ranks);
  object_whole(o, "runs", p->study.n);
  object_whole(o, "left_aside", p->study.n_left);
  object_set(o, "left_out", left_json(&p->study));
  object_whole(o, "per_host", c->per_host > 0 ? c->per_host : p->model.per_host);
  object_set(o, "between",
             c->between.bandwidth > 0
                 ? json_pack("{s:o, s:o}", "latency_seconds", report_json_real(c->between.latency),
                             "bytes_per_second", report_json_real(c->between.bandwidth))
                 : json_null());
  object_whole(o, "sweeps_a_pass", c->sweeps_a_pass > 0 ? c->sweeps_a_pass : p->model.depth);
  object_real(o, "compute_time", c->scale.compute);
  object_real(o, "exchange_time", c->scale.exchange);
  return o;
}

static json_t *terms_json(const struct model_time *t)
{
  json_t *o = json_object();
  object_real(o, "interior", t->interior);
  object_real(o, "exchange_latency", t->latency);
  object_real(o, "exchange_bytes", t->bytes);
  object_real(o, "boundary", t->boundary);
  object_real(o, "synchronisation", t->synchronisation);
  object_real(o, "reduction", t->reduction);
  object_real(o, "exposed_exchange", t->exposed);
  return o;
}

static json_t *procs_json(const int procs[3])
{
  return procs[2] > 0 ? json_pack("[i,i,i]", procs[0], procs[1], procs[2])
                      : json_pack("[i,i]", procs[0], procs[1]);
}

static json_t *point_json(const struct predict_point *point, const struct workload *of)
{
  const struct geometry *g = &point->geometry;
  const struct model_time *t = &point->time;
  json_t *json =
      json_pack("{s:s, s:s, s:i, s:s}", "size", point->size.name, "scaling", point->weak ? "weak" : "strong",
                "ranks", point->ranks, "transport", point->transport);
  if (!point->predicted) {
    object_text(json, "why_not", point->why);
    return json;
  }
  json_t *rest = json_object();
  for (int d = 0; d < 3; d++) object_whole(rest, of->extents[d], g->global[d]);
  object_set(rest, "procs", procs_json(g->procs));
  object_whole(rest, "hosts", g->hosts);
  object_real(rest, "seconds", t->seconds);
  object_set(rest, "low", bound(t->low));
  object_set(rest, "high", bound(t->high));
  object_real(rest, "gflops", point->gflops);
  object_set(rest, "gflops_low", bound(point->gflops_low));
  object_set(rest, "gflops_high", bound(point->gflops_high));
  object_real(rest, "efficiency", point->efficiency);
  object_text(rest, "limit", t->limit);
  object_set(rest, "terms", terms_json(t));
  object_set(rest, "twice_network",
             json_pack("{s:o, s:o}", "seconds", report_json_real(point->twice_network), "gain",
                       report_json_real(t->seconds / point->twice_network - 1)));
  object_set(rest, "extrapolated", beyond_json(t->extrapolated));
  json_object_update(json, rest);
  json_decref(rest);
  return json;
}

static json_t *points_json(const struct predict *p)
{
  json_t *list = json_array();
  for (int n = 0; n < p->n; n++)
    json_array_append_new(list, point_json(&p->points[n], &workloads[p->model.program]));
  return list;
}

static json_t *ends_json(const struct predict *p)
{
  json_t *list = json_array();
  for (int n = 0; n < p->n_ends; n++) {
    const struct predict_end *end = &p->ends[n];
    json_t *one = json_object();
    object_text(one, "size", end->size.name);
    object_text(one, "transport", end->transport);
    object_whole(one, "fastest_ranks", end->fastest_ranks);
    object_real(one, "fastest_seconds", end->fastest_seconds);
    object_whole(one, "half_efficiency_ranks", end->efficient_ranks);
    object_whole(one, "searched_ranks", end->searched_ranks);
    json_array_append_new(list, one);
  }
  return list;
}

static json_t *pair_json(const struct predict *p, const struct validate_table *table,
                         const struct validate_pair *pair)
{
  const struct study_run *run = &pair->run;
  json_t *json = json_object();
  object_text(json, "size", run->size);
  object_text(json, "scaling", run->weak ? "weak" : "strong");
  object_whole(json, "ranks", run->ranks);
  object_set(json, "procs", procs_json(run->procs));
  object_text(json, "transport", run->transport);
  object_real(json, "measured", run->seconds);
  object_set(json, "predicted", pair->predicted ? report_json_real(pair->time.seconds) : json_null());
  object_set(json, "low", bound(pair->time.low));
  object_set(json, "high", bound(pair->time.high));
  object_set(json, "error", pair->predicted ? report_json_real(pair->error) : json_null());
  object_set(json, "inside",
             pair->predicted && pair->time.low > 0 ? json_boolean(!validate_is_outside(pair)) : json_null());
  if (table == &p->validation) {
    object_text(json, "left_out", pair->left);
    object_text(json, "kind", model_kind_names[pair->kind]);
  }
  return json;
}

static json_t *table_json(const struct predict *p, const struct validate_table *table)
{
  double median, worst;
  int predicted;
  json_t *pairs = json_array();
  validate_summary(table, &median, &worst, &predicted);
  for (int n = 0; n < table->n; n++) json_array_append_new(pairs, pair_json(p, table, &table->pairs[n]));
  return json_pack("{s:i, s:o, s:o, s:o}", "predicted", predicted, "median_error",
                   predicted > 0 ? report_json_real(median) : json_null(), "worst_error",
                   predicted > 0 ? report_json_real(worst) : json_null(), "pairs", pairs);
}

json_t *predict_report_json(const struct predict *p)
{
  json_t *document = report_json_frame(MODEL_SCHEMA, "himeno-predict");
  object_set(document, "config", config_json(p));
  object_set(document, "model", model_json(&p->model));
  object_set(document, "predictions", points_json(p));
  object_set(document, "scaling_ends", ends_json(p));
  object_set(document, "validation", table_json(p, &p->validation));
  if (p->config.against) object_set(document, "against", table_json(p, &p->against));
  return document;
}
