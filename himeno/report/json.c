/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "base/stats.h"
#include "himeno/accept/accept.h"
#include "himeno/report/report.h"
#include "himeno/soak/report.h"

#define SCHEMA "himeno-gpu/1"

static json_t *hex64(uint64_t value)
{
  char text[17];
  snprintf(text, sizeof text, "%016" PRIx64, value);
  return json_string(text);
}

static json_t *config_json(const struct himeno_config *c, const struct himeno_choice *choice, int64_t sweeps)
{
  return json_pack(
      "{s:s, s:I, s:I, s:I, s:b, s:s, s:s, s:s, s:s, s:s, s:i, s:n, s:i, s:s, s:[i,i,i], s:I, s:I, s:b}",
      "size", choice->size.name, "imax", (json_int_t)choice->global[0], "jmax", (json_int_t)choice->global[1],
      "kmax", (json_int_t)choice->global[2], "weak", c->weak, "data", himeno_data_names[c->data], "backend",
      choice->placement.backend->name, "kernel", choice->kernel->name, "kernel_choice",
      choice_words[choice->kernel_origin].name, "class",
      choice->kernel->class_ == HIMENO_CLASSIC ? "classic" : "temporal", "T", choice->kernel->sweeps, "tile",
      "pad", (int)c->pad, "transport", choice->transport->name, "procs", choice->procs[0], choice->procs[1],
      choice->procs[2], "sweeps", (json_int_t)sweeps, "block",
      (json_int_t)(c->sweeps_given ? c->sweeps : c->block), "overlap", !c->no_overlap);
}

static json_t *samples_json(const struct himeno_result *r)
{
  json_t *samples = json_array();
  for (int s = 0; s < r->n_samples; s++) json_array_append_new(samples, report_json_real(r->samples[s]));
  return samples;
}

/* Which samples were taken while a device was throttled. */
static json_t *throttled_json(const struct himeno_result *r)
{
  json_t *list = json_array();
  for (int s = 0; s < r->n_samples; s++)
    if (r->throttled[s]) json_array_append_new(list, json_integer(s));
  return list;
}

/* Nothing passes before it has ended. */
static const char *verdict_word(const struct himeno_result *r)
{
  return r->partial && r->verdict != STATUS_WRONG ? "partial" : status_verdict(r->verdict);
}

/* What was compared beside the ends of blocks; null where nothing was. */
static json_t *checks_json(const struct himeno_kernel *kernel, const struct himeno_result *r)
{
  const struct solver_check *checks = r->check_points;
  if (r->n_check_points == 0) return json_null();
  json_t *points = json_array();
  for (int c = 0; c < r->n_check_points; c++)
    json_array_append_new(points,
                          json_pack("{s:i, s:o, s:o}", "sweeps", checks[c].sweeps, "gosa",
                                    report_json_real(checks[c].gosa), "checksum", hex64(checks[c].checksum)));
  return json_pack("{s:i, s:b, s:i, s:o, s:o}", "every", solver_check_sweeps(kernel), "timed", r->pauses,
                   "untimed", r->check_blocks, "coefficients", hex64(r->coefficients), "points", points);
}

static json_t *result_json(const struct himeno_config *c, const struct himeno_choice *choice,
                           const struct himeno_result *r)
{
  int emulated = choice->placement.info.emulated;
  double gflops = himeno_result_gflops(r), rate = himeno_bytes_per_second(gflops);
  json_t *result = json_pack(
      "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:s, s:s, s:o}", "seconds", report_json_real(r->seconds),
      "gflops", emulated ? json_null() : report_json_real(gflops), "gbps",
      emulated ? json_null() : report_json_real(rate / 1e9), "ceiling_gbps",
      r->ceiling > 0 ? report_json_real(r->ceiling / 1e9) : json_null(), "ceiling_share",
      r->ceiling > 0 ? report_json_real(rate / r->ceiling) : json_null(), "gosa",
      report_json_real(r->last.gosa), "checksum", hex64(r->last.checksum), "blocks", r->n_samples, "verified",
      verify_source_name(r->verified), "verdict", verdict_word(r), "samples", samples_json(r));
  if (result) json_object_set_new(result, "checks", checks_json(choice->kernel, r));
  if (result) json_object_set_new(result, "throttled", throttled_json(r));
  if (result && r->soak.blocks > 0) json_object_set_new(result, "soak", soak_json(&r->soak, c->soak_every));
  if (result && r->accept.asked) json_object_set_new(result, "accept", accept_json(r));
  if (result && emulated) json_object_set_new(result, "counts", himeno_counts_json(&r->counts));
  if (result && choice->kernel->toward_zero)
    json_object_set_new(result, "bound", himeno_bound_json(&r->counts));
  if (result && c->official && !emulated)
    json_object_set_new(result, "score", report_json_real(gflops * 1e3 / HIMENO_OFFICIAL_MFLOPS));
  return result;
}

static json_t *phases_json(const struct himeno_result *result)
{
  int n = result->n_ranks;
  double values[n + 1];
  json_t *phases = json_object();
  for (int p = 0; p < HIMENO_PHASES; p++) {
    for (int r = 0; r < n; r++) values[r] = result->ranks[r].phases[p];
    struct stats_summary s = stats_summarise(values, (size_t)n);
    json_object_set_new(phases, himeno_phase_names[p],
                        json_pack("{s:o, s:o, s:o}", "min", report_json_real(s.min), "median",
                                  report_json_real(s.median), "max", report_json_real(s.max)));
  }
  return phases;
}

static json_t *paths_json(const struct himeno_choice *choice, const struct himeno_result *result)
{
  json_t *paths = json_array();
  for (int r = 0; r < result->n_ranks; r++) {
    const struct himeno_rank *rank = &result->ranks[r];
    for (int m = 0; m < rank->n_paths; m++) {
      const struct himeno_path *p = &rank->paths[m];
      json_array_append_new(
          paths, json_pack("{s:i, s:i, s:s, s:I, s:s, s:s}", "rank", r, "peer", p->peer, "face", p->face,
                           "bytes", (json_int_t)p->bytes, "used", p->used, "why",
                           p->why[0] ? p->why : choice_words[choice->transport_origin].of_transport));
    }
  }
  return paths;
}

static json_t *ranks_json(const struct himeno_result *result)
{
  json_t *ranks = json_array();
  for (int r = 0; r < result->n_ranks; r++) {
    const struct himeno_rank *rank = &result->ranks[r];
    json_t *json = rank_json(&rank->row, r, 1), *phases = json_object();
    for (int p = 0; p < HIMENO_PHASES; p++)
      json_object_set_new(phases, himeno_phase_names[p], report_json_real(rank->phases[p]));
    json_object_set_new(json, "phases", phases);
    json_object_set_new(json, "telemetry", himeno_telemetry_json(result, r));
    json_array_append_new(ranks, json);
  }
  return ranks;
}

json_t *himeno_report_json(const struct himeno_config *config, const struct himeno_choice *choice,
                           const struct himeno_result *result)
{
  json_t *document = report_json_frame(SCHEMA, "himeno-gpu");
  int failed = json_object_set_new(document, "config", config_json(config, choice, result->sweeps)) |
               json_object_set_new(document, "partial", json_boolean(result->partial)) |
               json_object_set_new(document, "result", result_json(config, choice, result)) |
               json_object_set_new(document, "phases", phases_json(result)) |
               json_object_set_new(document, "paths", paths_json(choice, result)) |
               json_object_set_new(document, "ranks", ranks_json(result)) |
               json_object_set_new(document, "stragglers", himeno_stragglers_json(result));
  if (!failed) return document;
  json_decref(document);
  return NULL;
}
