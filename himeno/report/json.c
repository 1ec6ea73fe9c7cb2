/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "base/stats.h"
#include "himeno/accept/accept.h"
#include "himeno/accept/ways.h"
#include "himeno/report/report.h"
#include "himeno/soak/report.h"
#include "suite/progress.h"

#define SCHEMA "himeno-gpu/2"

static json_t *hex64(uint64_t value)
{
  char text[17];
  snprintf(text, sizeof text, "%016" PRIx64, value);
  return report_json_text(text);
}

static json_t *config_json(const struct himeno_config *c, const struct himeno_choice *choice, int64_t sweeps)
{
  json_t *o = json_object();
  object_text(o, "size", choice->size.name);
  object_whole(o, "imax", choice->global[0]);
  object_whole(o, "jmax", choice->global[1]);
  object_whole(o, "kmax", choice->global[2]);
  object_flag(o, "weak", c->weak);
  object_text(o, "data", himeno_data_names[c->data]);
  object_text(o, "backend", choice->placement.backend->name);
  object_text(o, "kernel", choice->kernel->name);
  object_text(o, "kernel_choice", choice_words[choice->kernel_origin].name);
  object_text(o, "class", himeno_class_names[choice->kernel->class_]);
  object_whole(o, "T", choice->kernel->sweeps);
  object_whole(o, "pad", (int)c->pad);
  object_text(o, "transport", choice->transport->name);
  object_set(o, "procs", json_pack("[i,i,i]", choice->procs[0], choice->procs[1], choice->procs[2]));
  object_whole(o, "sweeps", sweeps);
  object_whole(o, "block", (c->sweeps_given ? c->sweeps : c->block));
  object_flag(o, "overlap", !c->no_overlap);
  return o;
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
    if (r->throttled[s] > 0) json_array_append_new(list, json_integer(s));
  return list;
}

/* Nothing passes before it has ended. */
static const char *verdict_word(const struct himeno_result *r)
{
  return status_verdict(status_worst(r->verdict, r->partial ? STATUS_INCOMPLETE : STATUS_OK));
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

/* By data set. */
static json_t *ceilings_json(const struct himeno_config *c, const struct himeno_result *r)
{
  if (!(r->ceiling > 0 && r->other_ceiling > 0)) return json_null();
  const double gbps[2] = {r->ceiling / 1e9, r->other_ceiling / 1e9};
  json_t *o = json_object();
  for (int d = 0; d < 2; d++) object_real(o, himeno_data_names[d], gbps[d != c->data]);
  return o;
}

/* Of the fullest rank, and its share of a device. */
static json_t *memory_json(const struct himeno_choice *choice)
{
  const uint64_t all = choice->placement.info.memory_bytes;
  if (choice->bytes == 0 || all == 0) return json_null();
  json_t *o = json_object();
  object_whole(o, "bytes", (int64_t)choice->bytes);
  object_real(o, "share", (double)choice->bytes / (double)all);
  return o;
}

static json_t *wall_json(void)
{
  const struct progress_phase *phases;
  const int n = progress_phases(&phases);
  json_t *wall = json_array();
  for (int f = 0; f < n; f++)
    json_array_append_new(wall, json_pack("{s:s, s:o}", "phase", phases[f].name, "seconds",
                                          report_json_real(phases[f].seconds)));
  return wall;
}

static json_t *result_json(const struct himeno_config *c, const struct himeno_choice *choice,
                           const struct himeno_result *r)
{
  int emulated = choice->placement.info.emulated;
  double gflops = himeno_result_gflops(r), rate = himeno_bytes_per_second(gflops);
  json_t *result = json_object();
  object_real(result, "seconds", r->seconds);
  object_set(result, "wall", wall_json());
  object_set(result, "gflops", emulated ? json_null() : report_json_real(gflops));
  object_set(result, "gbps", emulated ? json_null() : report_json_real(rate / 1e9));
  object_set(result, "ceiling_gbps", r->ceiling > 0 ? report_json_real(r->ceiling / 1e9) : json_null());
  object_set(result, "ceiling_share", r->ceiling > 0 ? report_json_real(rate / r->ceiling) : json_null());
  object_set(result, "ceilings", ceilings_json(c, r));
  object_set(result, "memory", memory_json(choice));
  object_real(result, "gosa", r->last.gosa);
  object_set(result, "checksum", hex64(r->last.checksum));
  object_whole(result, "blocks", r->n_samples);
  object_text(result, "verified", verify_source_name(r->verified));
  object_text(result, "verdict", verdict_word(r));
  object_set(result, "energy", himeno_energy_json(r));
  object_set(result, "samples", samples_json(r));
  object_set(result, "checks", checks_json(choice->kernel, r));
  object_set(result, "throttled", throttled_json(r));
  if (r->soak.blocks > 0) object_set(result, "soak", soak_json(r, c->soak_every));
  if (r->accept.asked) object_set(result, "accept", accept_json(r));
  if (emulated) object_set(result, "counts", himeno_counts_json(&r->counts));
  if (choice->kernel->toward_zero) object_set(result, "bound", himeno_bound_json(&r->counts));
  if (c->official && !emulated) object_real(result, "score", gflops * 1e3 / HIMENO_OFFICIAL_MFLOPS);
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
    object_set(phases, himeno_phase_names[p],
               json_pack("{s:o, s:o, s:o}", "min", report_json_real(s.min), "median",
                         report_json_real(s.median), "max", report_json_real(s.max)));
  }
  return phases;
}

/* What went through a pair in its measurement, and what the device counted of it. */
static json_t *sent_json(const struct himeno_result *result, int rank, const struct himeno_path *p)
{
  const char *went = ways_went_names[ways_went(result, rank, p)];
  json_t *o = json_object();
  object_real(o, "bytes", p->way.sent);
  object_set(o, "nvlink", report_json_known(p->way.counted.nvlink));
  object_set(o, "pcie", report_json_known(p->way.counted.pcie));
  object_set(o, "went", went ? report_json_text(went) : json_null());
  return o;
}

static json_t *paths_json(const struct himeno_choice *choice, const struct himeno_result *result)
{
  json_t *paths = json_array();
  for (int r = 0; r < result->n_ranks; r++) {
    const struct himeno_rank *rank = &result->ranks[r];
    for (int m = 0; m < rank->n_paths; m++) {
      const struct himeno_path *p = &rank->paths[m];
      json_t *one = json_object();
      object_whole(one, "rank", r);
      object_whole(one, "peer", p->peer);
      object_text(one, "face", p->face);
      object_whole(one, "bytes", p->bytes);
      object_text(one, "used", p->used);
      if (p->way.seconds > 0) {
        object_real(one, "latency", p->way.seconds);
        object_real(one, "gbps", p->way.bytes_per_second / 1e9);
      }
      if (p->way.sent > 0) object_set(one, "sent", sent_json(result, r, p));
      object_text(one, "why", p->why[0] ? p->why : choice_words[choice->transport_origin].of_transport);
      if (p->handover[0]) object_text(one, "handover", p->handover);
      if (p->handover[0]) object_text(one, "handover_why", p->handover_why);
      json_array_append_new(paths, one);
    }
  }
  return paths;
}

/* Of the device's own compute time, which nobody knows where ranks take turns in it. */
static json_t *rank_share(const struct himeno_rank *rank)
{
  if (!(rank->ceiling > 0 && rank->compute > 0) || rank->row.shared) return json_null();
  const double gflops = himeno_gflops((double)rank->points, 1, rank->compute);
  return report_json_real(himeno_bytes_per_second(gflops) / rank->ceiling);
}

/* By clocks and widths that the device tells. */
static json_t *theory_json(const struct himeno_rank *rank)
{
  const double bytes = telemetry_peak_bytes(&rank->telemetry.after),
               flops = telemetry_peak_flops(&rank->telemetry.after);
  if (!(bytes > 0 || flops > 0)) return json_null();
  json_t *o = json_object();
  object_set(o, "gbps", bytes > 0 ? report_json_real(bytes / 1e9) : json_null());
  object_set(o, "gflops", flops > 0 ? report_json_real(flops / 1e9) : json_null());
  object_set(o, "share",
             bytes > 0 && rank->ceiling > 0 ? report_json_real(rank->ceiling / bytes) : json_null());
  return o;
}

static json_t *ranks_json(const struct himeno_result *result)
{
  json_t *ranks = json_array();
  for (int r = 0; r < result->n_ranks; r++) {
    const struct himeno_rank *rank = &result->ranks[r];
    json_t *json = rank_json(&rank->row, r, 1), *phases = json_object();
    for (int p = 0; p < HIMENO_PHASES; p++) object_real(phases, himeno_phase_names[p], rank->phases[p]);
    object_set(json, "phases", phases);
    object_set(json, "ceiling_gbps", rank->ceiling > 0 ? report_json_real(rank->ceiling / 1e9) : json_null());
    object_set(json, "ceiling_share", rank_share(rank));
    object_set(json, "theory", theory_json(rank));
    object_set(json, "energy", himeno_rank_energy_json(rank));
    object_set(json, "starved",
               rank->telemetry.starved < 0 ? json_null() : report_json_real(rank->telemetry.starved));
    object_set(json, "telemetry", himeno_telemetry_json(result, r));
    object_set(json, "counted", himeno_counted_json(&result->ranks[r].telemetry));
    json_array_append_new(ranks, json);
  }
  return ranks;
}

json_t *himeno_report_json(const struct himeno_config *config, const struct himeno_choice *choice,
                           const struct himeno_result *result)
{
  json_t *document = report_json_frame(SCHEMA, "himeno-gpu");
  object_set(document, "config", config_json(config, choice, result->sweeps));
  object_flag(document, "partial", result->partial);
  object_set(document, "result", result_json(config, choice, result));
  object_set(document, "phases", phases_json(result));
  object_set(document, "paths", paths_json(choice, result));
  object_set(document, "ranks", ranks_json(result));
  object_set(document, "stragglers", himeno_stragglers_json(result));
  object_set(document, "episodes", himeno_episodes_json(result));
  object_set(document, "series", himeno_series_json(result));
  return document;
}
