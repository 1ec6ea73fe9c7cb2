/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/report.h"
#include "gemm/ladder.h"
#include "gemm/report/report.h"

#define SCHEMA "gemm-ladder/1"

static json_t *config_json(const struct gemm_run *run)
{
  const struct gemm_problem *p = &run->ladder->sizes[0].problem;
  const struct placement *place = &run->placement;
  return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:i, s:o, s:b}", "type",
                   gemm_types[p->type].name, "trans", gemm_trans_name(p), "alpha",
                   report_json_real((double)p->alpha), "beta", report_json_real((double)p->beta), "data",
                   gemm_data_names[run->config.data], "backend", place->backend->name, "device",
                   place->info.name, "driver", place->info.driver, "ranks", place->ranks, "block_seconds",
                   report_json_real(run->config.block), "accept", run->config.accept);
}

static json_t *rate_or_null(double rate)
{
  return rate > 0 ? report_json_real(rate) : json_null();
}

json_t *gemm_ceilings_json(const struct gemm_ceilings *c)
{
  return json_pack("{s:o, s:o, s:o}", "gflops", rate_or_null(c->flops / 1e9), "gbps",
                   rate_or_null(c->bytes_per_second / 1e9), "local_gbps",
                   rate_or_null(c->local_bytes_per_second / 1e9));
}

static json_t *size_json(const struct gemm_run *run, const struct gemm_ladder_size *size)
{
  const struct gemm_problem *p = &size->problem;
  json_t *rungs = json_array();
  for (int s = 0; s < size->n_series; s++)
    json_array_append_new(rungs, gemm_series_json(run, &size->series[s]));
  return json_pack("{s:I, s:I, s:I, s:o}", "m", (json_int_t)p->m, "n", (json_int_t)p->n, "k",
                   (json_int_t)p->k, "rungs", rungs);
}

json_t *gemm_ladder_json(const struct gemm_run *run)
{
  json_t *document = report_json_frame(SCHEMA, "gemm-gpu"), *sizes = json_array();
  for (int n = 0; n < run->ladder->n; n++)
    json_array_append_new(sizes, size_json(run, &run->ladder->sizes[n]));
  int failed = json_object_set_new(document, "partial", json_boolean(run->partial)) |
               json_object_set_new(document, "config", config_json(run)) |
               json_object_set_new(document, "ceilings", gemm_ceilings_json(&run->ceilings)) |
               json_object_set_new(document, "sizes", sizes);
  if (!failed) return document;
  json_decref(document);
  return NULL;
}
