/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/report.h"
#include "gemm/ladder.h"
#include "gemm/report/report.h"

#define SCHEMA "gemm-ladder/2"

static json_t *config_json(const struct gemm_run *run)
{
  const struct gemm_problem *p = &run->ladder->sizes[0].problem;
  const struct placement *place = &run->placement;
  json_t *o = json_object();
  object_text(o, "type", gemm_types[p->type].name);
  object_text(o, "trans", gemm_trans_name(p));
  object_real(o, "alpha", (double)p->alpha);
  object_real(o, "beta", (double)p->beta);
  object_text(o, "data", gemm_data_names[run->config.data]);
  object_text(o, "backend", place->backend->name);
  object_text(o, "device", place->info.name);
  object_text(o, "driver", place->info.driver);
  object_whole(o, "ranks", place->ranks);
  object_real(o, "block_seconds", run->config.block);
  object_flag(o, "accept", run->config.accept);
  return o;
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
  object_flag(document, "partial", run->partial);
  object_set(document, "config", config_json(run));
  object_set(document, "ceilings", gemm_ceilings_json(&run->ceilings));
  object_set(document, "sizes", sizes);
  return document;
}
