/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>

#include "base/meta.h"
#include "base/report.h"
#include "himeno/ladder.h"
#include "himeno/report/report.h"

#define SCHEMA "himeno-ladder/1"

static const char *rung_verdict(const struct himeno_rung *rung)
{
  if (rung->status == STATUS_ENVIRONMENT || rung->status == STATUS_USAGE) return "cannot run here";
  if (rung->status != STATUS_OK) return "WRONG";
  return rung->verified == VERIFY_NO ? "not verified" : "right";
}

static void rung_text(const struct himeno_rung *rung, int n, double best, FILE *out)
{
  char bar[64];
  double share = rung->ceiling > 0 ? rung->bytes_per_second / rung->ceiling : 0;
  report_bar(bar, sizeof bar, best > 0 ? rung->gflops / best : 0, 12);
  fprintf(out, "  %2d  %-14s %9.1f %9.1f %7.1f%%  %5d %8d %7d %6.0f%%  %-15s %s\n", n, rung->kernel->name,
          rung->gflops, rung->bytes_per_second / 1e9, 100 * share, rung->resources.registers,
          rung->resources.local_bytes, rung->resources.threads, 100 * rung->resources.occupancy,
          rung_verdict(rung), bar);
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

void himeno_ladder_text(const struct himeno_config *config, const struct himeno_choice *choice,
                        const struct himeno_ladder *ladder, FILE *out)
{
  const struct placement *p = &choice->placement;
  double best = 0;
  for (int r = 0; r < ladder->n; r++)
    if (ladder->rungs[r].gflops > best) best = ladder->rungs[r].gflops;
  fprintf(out, "himeno-gpu %s, ladder of backend %s on %s\n", meta_version(), p->backend->name, p->info.name);
  fprintf(out, "  %s: %" PRId64 " x %" PRId64 " x %" PRId64 ", %s data, %d rank%s%s\n\n", choice->size.name,
          choice->global[0], choice->global[1], choice->global[2], himeno_data_names[config->data], p->ranks,
          p->ranks > 1 ? "s" : "",
          p->info.emulated ? ", emulated: no speed" : ", ceiling measured beside each rung");
  if (p->info.emulated) {
    emulated_text(ladder, out);
    return;
  }
  fprintf(out, "      kernel            GFLOPS      GB/s  ceiling   regs   shared threads   occ.  result\n");
  for (int r = 0; r < ladder->n; r++) rung_text(&ladder->rungs[r], r + 1, best, out);
  if (ladder->partial) fprintf(out, "  PARTIAL: a signal ended the ladder\n");
}

static json_t *rung_json(const struct himeno_rung *rung, int emulated)
{
  char checksum[17];
  json_t *counts = emulated ? himeno_counts_json(&rung->counts) : NULL;
  snprintf(checksum, sizeof checksum, "%016" PRIx64, rung->checksum);
  return json_pack(
      "{s:s, s:s, s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:i, s:s, s:i, s:i, s:i, s:o, s:o*}", "kernel",
      rung->kernel->name, "step", rung->kernel->step, "class",
      rung->kernel->class_ == HIMENO_CLASSIC ? "classic" : "temporal", "T", rung->kernel->sweeps, "verdict",
      status_verdict(rung->status), "gflops", emulated ? json_null() : report_json_real(rung->gflops), "gbps",
      emulated ? json_null() : report_json_real(rung->bytes_per_second / 1e9), "ceiling_gbps",
      report_json_real(rung->ceiling / 1e9), "ceiling_share",
      rung->ceiling > 0 ? report_json_real(rung->bytes_per_second / rung->ceiling) : json_null(), "gosa",
      report_json_real(rung->gosa), "checksum", checksum, "blocks", rung->blocks, "verified",
      verify_source_name(rung->verified), "registers", rung->resources.registers, "local_bytes",
      rung->resources.local_bytes, "threads", rung->resources.threads, "occupancy",
      report_json_real(rung->resources.occupancy), "counts", counts);
}

json_t *himeno_ladder_json(const struct himeno_config *config, const struct himeno_choice *choice,
                           const struct himeno_ladder *ladder)
{
  json_t *document = report_json_frame(SCHEMA, "himeno-gpu"), *rungs = json_array();
  const struct placement *p = &choice->placement;
  json_t *chosen =
      json_pack("{s:s, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:i, s:[i,i,i]}", "size", choice->size.name, "imax",
                (json_int_t)choice->global[0], "jmax", (json_int_t)choice->global[1], "kmax",
                (json_int_t)choice->global[2], "data", himeno_data_names[config->data], "backend",
                p->backend->name, "device", p->info.name, "driver", p->info.driver, "ranks", p->ranks,
                "procs", choice->procs[0], choice->procs[1], choice->procs[2]);
  for (int r = 0; r < ladder->n; r++)
    json_array_append_new(rungs, rung_json(&ladder->rungs[r], p->info.emulated));
  int failed = json_object_set_new(document, "config", chosen) |
               json_object_set_new(document, "partial", json_boolean(ladder->partial)) |
               json_object_set_new(document, "rungs", rungs);
  if (!failed) return document;
  json_decref(document);
  return NULL;
}
