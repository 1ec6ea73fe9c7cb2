/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "base/report.h"
#include "gemm/report/report.h"

#define SCHEMA "gemm-gpu/1"

static json_t *config_json(const struct gemm_run *run)
{
  const struct gemm_problem *p = &run->problem;
  return json_pack("{s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:s, s:s, s:s, s:o, s:b}", "m",
                   (json_int_t)p->m, "n", (json_int_t)p->n, "k", (json_int_t)p->k, "type",
                   gemm_types[p->type].name, "trans", gemm_trans_name(p), "lda", (json_int_t)p->ld[GEMM_A],
                   "ldb", (json_int_t)p->ld[GEMM_B], "ldc", (json_int_t)p->ld[GEMM_C], "alpha",
                   report_json_real((double)p->alpha), "beta", report_json_real((double)p->beta), "data",
                   gemm_data_names[run->config.data], "backend", run->placement.backend->name, "kernel",
                   run->series[0].kernel->name, "block_seconds", report_json_real(run->config.block),
                   "accept", run->config.accept);
}

/* null for an emulator, which has none. */
static json_t *speed_json(const struct gemm_run *run, double gflops)
{
  return run->placement.info.emulated ? json_null() : report_json_real(gflops);
}

static json_t *counts_json(const struct gemm_counts *c)
{
  return json_pack("{s:I, s:I, s:I, s:I}", "instructions", (json_int_t)c->instructions, "arithmetic",
                   (json_int_t)c->arithmetic, "flop", (json_int_t)c->flop, "loop_turns",
                   (json_int_t)c->loop_turns);
}

static json_t *samples_json(const struct gemm_series *s)
{
  json_t *samples = json_array();
  for (int n = 0; n < s->n_samples; n++) json_array_append_new(samples, report_json_real(s->samples[n]));
  return samples;
}

static json_t *blocks_json(const struct gemm_blocks *b)
{
  return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:i, s:b}", "group_m", b->group_m, "group_n",
                   b->group_n, "group_k", b->group_k, "item_m", b->item_m, "item_n", b->item_n, "stages",
                   b->stages, "ahead", b->ahead, "splits", b->splits > 0 ? b->splits : 1, "stays", b->stays);
}

static json_t *resources_json(const struct gemm_resources *r)
{
  return json_pack("{s:i, s:i, s:i, s:o}", "threads", r->threads, "registers", r->registers, "local_bytes",
                   r->local_bytes, "occupancy", report_json_real(r->occupancy));
}

static json_t *check_json(const struct gemm_check *c)
{
  int done = c->how != GEMM_NOT_VERIFIED;
  return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "how", gemm_verified_name(c->how), "compared",
                   (json_int_t)c->compared, "element_error",
                   done ? report_json_real(c->element_error) : json_null(), "element_bound",
                   done ? report_json_real(c->bounds.element) : json_null(), "norm_error",
                   done ? report_json_real(c->norm_error) : json_null(), "norm_bound",
                   done ? report_json_real(c->bounds.norm) : json_null());
}

/* What the model says of the blocks; null where it says nothing. */
static json_t *predicted_json(const struct gemm_run *run, const struct gemm_series *s)
{
  const struct gemm_prediction *p = &s->predicted;
  double peak = run->ceilings.flops / 1e9, gflops = p->seconds > 0 ? s->flop / p->seconds / 1e9 : 0;
  if (gflops <= 0) return json_null();
  return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "gflops",
                   report_json_real(gflops * run->placement.ranks), "peak_share",
                   report_json_real(gflops / peak), "bound", gemm_bound_name(p->bound), "device_intensity",
                   report_json_real(p->device_intensity), "local_intensity",
                   p->local_intensity > 0 ? report_json_real(p->local_intensity) : json_null(), "filled",
                   report_json_real(p->filled));
}

json_t *gemm_series_json(const struct gemm_run *run, const struct gemm_series *s)
{
  double share = gemm_series_share(run, s);
  json_t *series = json_pack(
      "{s:s, s:s, s:b, s:i, s:s, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "kernel", s->kernel->name, "step",
      s->kernel->step, "yardstick", s->kernel->yardstick, "rung", s->kernel->rung, "verdict",
      gemm_series_verdict(run, s), "gflops", speed_json(run, gemm_series_gflops(run, s)), "peak_share",
      share > 0 ? report_json_real(share) : json_null(), "predicted", predicted_json(run, s), "launches",
      s->launches, "samples", samples_json(s), "blocks", blocks_json(&s->blocks), "resources",
      resources_json(&s->resources), "check", check_json(&s->check));
  if (series && run->placement.info.emulated) json_object_set_new(series, "counts", counts_json(&s->counts));
  if (series && s->why[0]) json_object_set_new(series, "why", json_string(s->why));
  if (series && strcmp(gemm_series_verdict(run, s), "partial") == 0)
    json_object_set_new(
        series, "why", json_string(run->partial ? "a signal ended the run" : "a wrong result ended the run"));
  return series;
}

/* The kernel may be right where the run is not: a library in an acceptance, or A and B in device memory. */
static void run_judge(const struct gemm_run *run, json_t *result)
{
  char why[sizeof run->ranks->fault + 32];
  int r = 0;
  while (r + 1 < run->placement.ranks && !run->ranks[r].fault[0]) r++;
  snprintf(why, sizeof why, "rank %d: %s", r, run->ranks[r].fault);
  json_object_set_new(result, "verdict", json_string(status_verdict(run->verdict)));
  json_object_set_new(result, "why", json_string(why));
}

static json_t *result_json(const struct gemm_run *run)
{
  const struct gemm_series *s = &run->series[0];
  json_t *result = gemm_series_json(run, s);
  if (!result) return NULL;
  if (run->verdict == STATUS_WRONG && s->status != STATUS_WRONG) run_judge(run, result);
  json_object_set_new(result, "seconds", report_json_real(s->seconds));
  return result;
}

static json_t *yardsticks_json(const struct gemm_run *run)
{
  json_t *yardsticks = json_array();
  double ours = gemm_series_gflops(run, &run->series[0]);
  for (int y = 1; y < run->n_series; y++) {
    json_t *one = gemm_series_json(run, &run->series[y]);
    double rate = gemm_series_gflops(run, &run->series[y]);
    json_object_set_new(one, "ours_share", rate > 0 ? report_json_real(ours / rate) : json_null());
    json_array_append_new(yardsticks, one);
  }
  return yardsticks;
}

static json_t *error_json(const struct gemm_check *c, double error)
{
  return c->how == GEMM_NOT_VERIFIED ? json_null() : report_json_real(error);
}

/* A rank's own finding, whatever the others found. */
static json_t *rank_finding(const struct gemm_run *run, int n)
{
  const struct gemm_rank *r = &run->ranks[n];
  json_t *rank = rank_json(&r->row, n, 1);
  const char *verdict = r->fault[0] ? "wrong" : run->partial ? "partial" : "pass";
  json_object_set_new(rank, "verdict", json_string(verdict));
  json_object_set_new(rank, "element_error", error_json(&r->check, r->check.element_error));
  json_object_set_new(rank, "norm_error", error_json(&r->check, r->check.norm_error));
  if (r->fault[0]) json_object_set_new(rank, "why", json_string(r->fault));
  if (r->warning[0]) json_object_set_new(rank, "warning", json_string(r->warning));
  return rank;
}

static json_t *ranks_json(const struct gemm_run *run)
{
  json_t *ranks = json_array();
  for (int r = 0; r < run->placement.ranks; r++) json_array_append_new(ranks, rank_finding(run, r));
  return ranks;
}

json_t *gemm_report_json(const struct gemm_run *run)
{
  json_t *document = report_json_frame(SCHEMA, "gemm-gpu");
  int failed = json_object_set_new(document, "partial", json_boolean(run->partial)) |
               json_object_set_new(document, "config", config_json(run)) |
               json_object_set_new(document, "ceilings", gemm_ceilings_json(&run->ceilings)) |
               json_object_set_new(document, "result", result_json(run)) |
               json_object_set_new(document, "yardsticks", yardsticks_json(run)) |
               json_object_set_new(document, "ranks", ranks_json(run));
  if (!failed) return document;
  json_decref(document);
  return NULL;
}
