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
  json_t *o = json_object();
  object_text(o, "kernel", rung->kernel->name);
  object_text(o, "step", rung->kernel->step);
  object_text(o, "class", himeno_class_names[rung->kernel->class_]);
  object_whole(o, "T", rung->kernel->sweeps);
  object_text(o, "verdict", status_verdict(rung->status));
  object_set(o, "gflops", emulated ? json_null() : report_json_real(rung->gflops));
  object_set(o, "gbps", emulated ? json_null() : report_json_real(rung->bytes_per_second / 1e9));
  object_real(o, "ceiling_gbps", rung->ceiling / 1e9);
  object_set(o, "ceiling_share",
             rung->ceiling > 0 ? report_json_real(rung->bytes_per_second / rung->ceiling) : json_null());
  object_real(o, "gosa", rung->gosa);
  object_text(o, "checksum", checksum);
  object_whole(o, "blocks", rung->blocks);
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
    json_array_append_new(rungs, rung_json(&ladder->rungs[r], p->info.emulated));
  object_set(document, "config", chosen);
  object_flag(document, "partial", ladder->partial);
  object_set(document, "rungs", rungs);
  return document;
}
