/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>

#include "base/meta.h"
#include "base/report.h"
#include "base/stats.h"
#include "himeno/ladder.h"
#include "himeno/report/report.h"
#include "suite/progress.h"

#define SCHEMA "himeno-ladder/1"

static const char *rung_verdict(const struct himeno_rung *rung)
{
  if (rung->status == STATUS_ENVIRONMENT || rung->status == STATUS_USAGE) return "cannot run here";
  if (rung->status != STATUS_OK) return "WRONG";
  return rung->verified == VERIFY_NO ? "not verified" : "right";
}

/* The bar is of the ceiling: the best of the rungs may not have run yet. */
static void rung_text(const struct himeno_ladder *ladder, int r, FILE *out)
{
  const struct himeno_rung *rung = &ladder->rungs[r];
  char bar[64], spread[REPORT_SPREAD_BYTES];
  const double share = ladder->ceiling > 0 ? rung->bytes_per_second / ladder->ceiling : 0;
  report_bar(bar, sizeof bar, share, 12);
  fprintf(out, "  %2d  %-14s %9.1f %s %9.1f %7.1f%%  %5d %8d %7d %6.0f%%  %-15s %s\n", r + 1,
          rung->kernel->name, rung->gflops, report_spread(rung->noise, rung->n_samples > 2, 7, spread),
          rung->bytes_per_second / 1e9, 100 * share, rung->resources.registers, rung->resources.local_bytes,
          rung->resources.threads, 100 * rung->resources.occupancy, rung_verdict(rung), bar);
  fprintf(out, "      %s%s\n", rung->kernel->step,
          rung->kernel->class_ == HIMENO_TEMPORAL ? " (temporal: nominal GB/s)" : "");
}

/* Counts instead of rates: an emulator has no speed. */
static void emulated_text(const struct himeno_ladder *ladder, FILE *out)
{
  fprintf(out,
          "      kernel         instructions  arithmetic  result     (issued for 16 points of a sweep)\n");
  for (int r = 0; r < ladder->n; r++) {
    const struct himeno_rung *rung = &ladder->rungs[r];
    fprintf(out, "  %2d  %-14s", r + 1, rung->kernel->name);
    himeno_rung_counts_text(&rung->counts, out);
    fprintf(out, "  %s\n      %s\n", rung_verdict(rung), rung->kernel->step);
  }
  if (ladder->n > 0) himeno_bound_text(&ladder->rungs[ladder->n - 1].counts, out);
}

static void head_text(const struct himeno_config *config, const struct himeno_choice *choice,
                      const struct himeno_ladder *ladder, FILE *out)
{
  const struct placement *p = &choice->placement;
  char spread[REPORT_SPREAD_BYTES];
  fprintf(out, "himeno-gpu %s, ladder of backend %s on %s\n", meta_version(), p->backend->name, p->info.name);
  fprintf(out, "  %s: %" PRId64 " x %" PRId64 " x %" PRId64 ", %s data, %d rank%s%s\n", choice->size.name,
          choice->global[0], choice->global[1], choice->global[2], himeno_data_names[config->data], p->ranks,
          p->ranks > 1 ? "s" : "", p->info.emulated ? ", emulated: no speed\n" : "");
  if (p->reason[0]) fprintf(out, "  backend    %s\n", p->reason);
  if (p->info.emulated) return;
  fprintf(out, "  ceiling    %.2f GB/s %s of all rungs, from %d batches between them\n\n",
          ladder->ceiling / 1e9, report_spread(ladder->ceiling_noise, ladder->ceilings.n > 2, 0, spread),
          ladder->ceilings.n);
  fprintf(
      out,
      "      kernel            GFLOPS  spread      GB/s  ceiling   regs   shared threads   occ.  result\n");
}

void himeno_ladder_rungs_text(const struct himeno_config *config, const struct himeno_choice *choice,
                              struct himeno_ladder *ladder, int n, FILE *out)
{
  progress_clear();
  if (ladder->shown == 0) head_text(config, choice, ladder, out);
  for (; ladder->shown < n; ladder->shown++) rung_text(ladder, ladder->shown, out);
  fflush(out);
}

/* Of the rung whose blocks differ most, and of the ceiling's batches. */
static void noise_text(const struct himeno_ladder *ladder, FILE *out)
{
  const struct himeno_rung *most = &ladder->rungs[0];
  for (int r = 1; r < ladder->n; r++)
    if (ladder->rungs[r].noise > most->noise) most = &ladder->rungs[r];
  if (most->noise > STATS_NOISY)
    fprintf(out,
            "  WARNING    this ladder was noisy: blocks of %s vary by %.1f%%, and steps below that mean "
            "nothing\n",
            most->kernel->name, 100 * most->noise);
  if (ladder->ceiling_noise > STATS_NOISY)
    fprintf(out, "  WARNING    the ceiling was noisy: its batches vary by %.1f%%\n",
            100 * ladder->ceiling_noise);
}

void himeno_ladder_text(const struct himeno_config *config, const struct himeno_choice *choice,
                        struct himeno_ladder *ladder, FILE *out)
{
  if (choice->placement.info.emulated) {
    head_text(config, choice, ladder, out);
    emulated_text(ladder, out);
  } else {
    himeno_ladder_rungs_text(config, choice, ladder, ladder->n, out);
    noise_text(ladder, out);
  }
  if (ladder->partial)
    fprintf(out, "  INCOMPLETE: a signal ended the ladder early, after %d of %d kernels\n", ladder->n,
            ladder->made);
}

static json_t *samples_json(const struct himeno_rung *rung)
{
  json_t *samples = json_array();
  for (int s = 0; s < rung->n_samples; s++)
    json_array_append_new(samples, report_json_real(rung->samples[s]));
  return samples;
}

/* null where there were too few to tell. */
static json_t *noise_json(double noise, int n)
{
  return n > 2 ? report_json_real(noise) : json_null();
}

static json_t *rung_json(const struct himeno_ladder *ladder, const struct himeno_rung *rung, int emulated)
{
  char checksum[17];
  json_t *counts = emulated ? himeno_counts_json(&rung->counts) : NULL;
  snprintf(checksum, sizeof checksum, "%016" PRIx64, rung->checksum);
  json_t *o = json_object();
  object_text(o, "kernel", rung->kernel->name);
  object_text(o, "step", rung->kernel->step);
  object_text(o, "class", himeno_class_names[rung->kernel->class_]);
  object_whole(o, "T", rung->kernel->sweeps);
  object_text(o, "verdict", status_verdict(rung->status));
  object_set(o, "gflops", emulated ? json_null() : report_json_real(rung->gflops));
  object_set(o, "gbps", emulated ? json_null() : report_json_real(rung->bytes_per_second / 1e9));
  object_real(o, "ceiling_gbps", ladder->ceiling / 1e9);
  object_set(o, "ceiling_share",
             ladder->ceiling > 0 ? report_json_real(rung->bytes_per_second / ladder->ceiling) : json_null());
  object_real(o, "gosa", rung->gosa);
  object_text(o, "checksum", checksum);
  object_whole(o, "blocks", rung->n_samples);
  object_whole(o, "block", rung->sweeps);
  object_set(o, "samples", emulated ? json_null() : samples_json(rung));
  object_set(o, "noise", emulated ? json_null() : noise_json(rung->noise, rung->n_samples));
  object_text(o, "verified", verify_source_name(rung->verified));
  object_whole(o, "registers", rung->resources.registers);
  object_whole(o, "local_bytes", rung->resources.local_bytes);
  object_whole(o, "threads", rung->resources.threads);
  object_real(o, "occupancy", rung->resources.occupancy);
  if (counts) object_set(o, "counts", counts);
  return o;
}

json_t *himeno_ladder_json(const struct himeno_config *config, const struct himeno_choice *choice,
                           const struct himeno_ladder *ladder)
{
  json_t *document = report_json_frame(SCHEMA, "himeno-gpu"), *rungs = json_array();
  const struct placement *p = &choice->placement;
  json_t *chosen = json_object();
  object_text(chosen, "size", choice->size.name);
  object_whole(chosen, "imax", choice->global[0]);
  object_whole(chosen, "jmax", choice->global[1]);
  object_whole(chosen, "kmax", choice->global[2]);
  object_text(chosen, "data", himeno_data_names[config->data]);
  object_text(chosen, "backend", p->backend->name);
  object_text(chosen, "device", p->info.name);
  object_text(chosen, "driver", p->info.driver);
  object_whole(chosen, "ranks", p->ranks);
  object_set(chosen, "procs", json_pack("[i,i,i]", choice->procs[0], choice->procs[1], choice->procs[2]));
  for (int r = 0; r < ladder->n; r++)
    json_array_append_new(rungs, rung_json(ladder, &ladder->rungs[r], p->info.emulated));
  object_set(document, "config", chosen);
  object_flag(document, "partial", ladder->partial);
  object_whole(document, "rounds", ladder->rounds);
  object_set(document, "ceiling_noise", noise_json(ladder->ceiling_noise, ladder->ceilings.n));
  object_set(document, "rungs", rungs);
  return document;
}
