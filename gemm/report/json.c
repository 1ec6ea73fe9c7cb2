/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/report.h"
#include "gemm/ladder.h"
#include "gemm/report/report.h"

static void size_set(json_t *o, const struct gemm_problem *p)
{
  object_whole(o, "m", p->m);
  object_whole(o, "n", p->n);
  object_whole(o, "k", p->k);
}

/* Sizes, kernels and devices of a ladder stand elsewhere than a product's. */
static json_t *config_json(const struct gemm_run *run)
{
  const struct gemm_problem *p = run->ladder    ? &run->ladder->sizes[0].problem
                                 : run->cluster ? &run->cluster->whole
                                                : &run->problem;
  json_t *o = json_object();
  if (run->ladder) {
    object_text(o, "device", run->placement.info.name);
    object_text(o, "driver", run->placement.info.driver);
    object_whole(o, "ranks", run->placement.ranks);
  } else {
    size_set(o, p);
    object_whole(o, "lda", p->ld[GEMM_A]);
    object_whole(o, "ldb", p->ld[GEMM_B]);
    object_whole(o, "ldc", p->ld[GEMM_C]);
    object_text(o, "kernel", run->series[0].kernel->name);
  }
  object_text(o, "type", gemm_types[p->type].name);
  object_text(o, "trans", gemm_trans_name(p));
  object_real(o, "alpha", (double)p->alpha);
  object_real(o, "beta", (double)p->beta);
  object_text(o, "data", gemm_data_names[run->config.data]);
  object_text(o, "backend", run->placement.backend->name);
  object_real(o, "block_seconds", run->config.block);
  object_flag(o, "accept", run->config.accept);
  if (run->cluster) object_set(o, "distributed", gemm_cluster_config_json(run->cluster, run->config.weak));
  return o;
}

static json_t *rate_or_null(double rate)
{
  return rate > 0 ? report_json_real(rate) : json_null();
}

static json_t *ceilings_json(const struct gemm_ceilings *c)
{
  json_t *o = json_object();
  object_set(o, "gflops", rate_or_null(c->flops / 1e9));
  object_set(o, "gbps", rate_or_null(c->bytes_per_second / 1e9));
  object_set(o, "local_gbps", rate_or_null(c->local_bytes_per_second / 1e9));
  return o;
}

/* null for an emulator, which has none. */
static json_t *speed_json(const struct gemm_run *run, double gflops)
{
  return run->placement.info.emulated ? json_null() : report_json_real(gflops);
}

static json_t *counts_json(const struct gemm_counts *c)
{
  json_t *counts = json_pack("{s:I, s:I, s:I, s:I}", "instructions", (json_int_t)c->instructions,
                             "arithmetic", (json_int_t)c->arithmetic, "flop", (json_int_t)c->flop,
                             "loop_turns", (json_int_t)c->loop_turns);
  if (counts && c->estimate_seconds > 0)
    json_object_set_new(counts, "estimate_seconds", report_json_real(c->estimate_seconds));
  return counts;
}

static json_t *samples_json(const struct gemm_series *s)
{
  json_t *samples = json_array();
  for (int n = 0; n < s->n_samples; n++) json_array_append_new(samples, report_json_real(s->samples[n]));
  return samples;
}

static json_t *blocks_json(const struct gemm_blocks *b)
{
  json_t *o = json_object();
  object_whole(o, "group_m", b->group_m);
  object_whole(o, "group_n", b->group_n);
  object_whole(o, "group_k", b->group_k);
  object_whole(o, "item_m", b->item_m);
  object_whole(o, "item_n", b->item_n);
  object_whole(o, "stages", b->stages);
  object_flag(o, "ahead", b->ahead);
  object_whole(o, "splits", b->splits > 0 ? b->splits : 1);
  object_flag(o, "stays", b->stays);
  return o;
}

static json_t *resources_json(const struct gemm_resources *r)
{
  return json_pack("{s:i, s:i, s:i, s:o}", "threads", r->threads, "registers", r->registers, "local_bytes",
                   r->local_bytes, "occupancy", report_json_real(r->occupancy));
}

/* Of what was compared with nothing there is no error. */
static json_t *error_json(const struct gemm_check *c, double error)
{
  return c->how == GEMM_NOT_VERIFIED ? json_null() : report_json_real(error);
}

static json_t *check_json(const struct gemm_check *c)
{
  json_t *o = json_object();
  object_text(o, "how", gemm_verified_name(c->how));
  object_whole(o, "compared", c->compared);
  object_set(o, "element_error", error_json(c, c->element_error));
  object_set(o, "element_bound", error_json(c, c->bounds.element));
  object_set(o, "norm_error", error_json(c, c->norm_error));
  object_set(o, "norm_bound", error_json(c, c->bounds.norm));
  return o;
}

/* What the model says of the blocks; null where it says nothing. */
static json_t *predicted_json(const struct gemm_run *run, const struct gemm_series *s)
{
  const struct gemm_prediction *p = &s->predicted;
  double peak = run->ceilings.flops / 1e9, gflops = p->seconds > 0 ? s->flop / p->seconds / 1e9 : 0;
  if (gflops <= 0) return json_null();
  json_t *o = json_object();
  object_real(o, "gflops", gflops * run->placement.ranks);
  object_real(o, "peak_share", gflops / peak);
  object_text(o, "bound", gemm_bound_name(p->bound));
  object_real(o, "device_intensity", p->device_intensity);
  object_set(o, "local_intensity", rate_or_null(p->local_intensity));
  object_real(o, "filled", p->filled);
  return o;
}

static json_t *series_json(const struct gemm_run *run, const struct gemm_series *s)
{
  json_t *series = json_object();
  object_text(series, "kernel", s->kernel->name);
  object_text(series, "step", s->kernel->step);
  object_flag(series, "yardstick", s->kernel->yardstick);
  object_whole(series, "rung", s->kernel->rung);
  object_text(series, "verdict", gemm_series_verdict(run, s));
  object_set(series, "gflops", speed_json(run, gemm_series_gflops(run, s)));
  object_set(series, "peak_share", rate_or_null(gemm_series_share(run, s)));
  object_set(series, "predicted", predicted_json(run, s));
  object_whole(series, "launches", s->launches);
  object_set(series, "samples", samples_json(s));
  object_set(series, "blocks", blocks_json(&s->blocks));
  object_set(series, "resources", resources_json(&s->resources));
  object_set(series, "check", check_json(&s->check));
  if (run->placement.info.emulated) object_set(series, "counts", counts_json(&s->counts));
  if (s->why[0]) object_text(series, "why", s->why);
  if (strcmp(gemm_series_verdict(run, s), "incomplete") == 0)
    object_text(series, "why", run->partial ? "a signal ended the run" : "a wrong result ended the run");
  return series;
}

/* The kernel may be right where the run is not: a library in an acceptance, or A and B in device
 * memory. */
static void run_judge(const struct gemm_run *run, json_t *result)
{
  char why[sizeof run->ranks->fault + 32];
  int r = 0;
  while (r + 1 < run->placement.ranks && !run->ranks[r].fault[0]) r++;
  snprintf(why, sizeof why, "rank %d: %s", r, run->ranks[r].fault);
  object_text(result, "verdict", status_verdict(run->verdict));
  object_text(result, "why", why);
}

static json_t *result_json(const struct gemm_run *run)
{
  const struct gemm_series *s = &run->series[0];
  json_t *result = series_json(run, s);
  if (run->verdict == STATUS_WRONG && s->status != STATUS_WRONG) run_judge(run, result);
  object_real(result, "seconds", s->seconds);
  return result;
}

static json_t *yardsticks_json(const struct gemm_run *run)
{
  json_t *yardsticks = json_array();
  double ours = gemm_series_gflops(run, &run->series[0]);
  for (int y = 1; y < run->n_series; y++) {
    json_t *one = series_json(run, &run->series[y]);
    double rate = gemm_series_gflops(run, &run->series[y]);
    object_set(one, "ours_share", rate > 0 ? report_json_real(ours / rate) : json_null());
    json_array_append_new(yardsticks, one);
  }
  return yardsticks;
}

/* A rank's own finding, whatever the others found. */
static json_t *rank_finding(const struct gemm_run *run, int n)
{
  const struct gemm_rank *r = &run->ranks[n];
  json_t *rank = rank_json(&r->row, n, 1);
  object_text(rank, "verdict",
              status_verdict(r->fault[0]    ? STATUS_WRONG
                             : run->partial ? STATUS_INCOMPLETE
                                            : STATUS_OK));
  object_set(rank, "element_error", error_json(&r->check, r->check.element_error));
  object_set(rank, "norm_error", error_json(&r->check, r->check.norm_error));
  object_set(rank, "starved", r->starved < 0 ? json_null() : report_json_real(r->starved));
  if (r->fault[0]) object_text(rank, "why", r->fault);
  if (r->warning[0]) object_text(rank, "warning", r->warning);
  return rank;
}

static json_t *ranks_json(const struct gemm_run *run)
{
  json_t *ranks = json_array();
  for (int r = 0; r < run->placement.ranks; r++) json_array_append_new(ranks, rank_finding(run, r));
  return ranks;
}

static json_t *sizes_json(const struct gemm_run *run)
{
  json_t *sizes = json_array();
  for (int n = 0; n < run->ladder->n; n++) {
    const struct gemm_ladder_size *l = &run->ladder->sizes[n];
    json_t *size = json_object(), *rungs = json_array();
    size_set(size, &l->problem);
    for (int s = 0; s < l->n_series; s++) json_array_append_new(rungs, series_json(run, &l->series[s]));
    object_set(size, "rungs", rungs);
    json_array_append_new(sizes, size);
  }
  return sizes;
}

static json_t *worth_of_json(const struct gemm_run *run)
{
  const struct worth worth = gemm_worth(run);
  json_t *o = json_object();
  worth_json(&worth, o);
  return o;
}

json_t *gemm_report_json(const struct gemm_run *run)
{
  json_t *document = report_json_frame(run->ladder ? "gemm-ladder/2" : "gemm-gpu/1", "gemm-gpu");
  object_flag(document, "partial", run->partial);
  object_set(document, "config", config_json(run));
  object_set(document, "ceilings", ceilings_json(&run->ceilings));
  if (run->ladder) {
    object_set(document, "sizes", sizes_json(run));
    return document;
  }
  object_set(document, "result", result_json(run));
  object_set(document, "yardsticks", yardsticks_json(run));
  if (run->cluster) object_set(document, "phases", gemm_cluster_phases_json(run));
  if (run->cluster) object_set(document, "paths", gemm_cluster_paths_json(run));
  object_set(document, "ranks", ranks_json(run));
  if (run->config.accept && !run->placement.info.emulated) object_set(document, "worth", worth_of_json(run));
  return document;
}
