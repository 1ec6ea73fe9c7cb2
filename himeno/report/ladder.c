/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>

#include "base/report.h"
#include "base/stats.h"
#include "himeno/result/result.h"
#include "himeno/report/report.h"
#include "suite/progress.h"

static const char *rung_verdict(const struct himeno_rung *rung)
{
  if (rung->status == STATUS_ENVIRONMENT || rung->status == STATUS_USAGE) return "cannot run here";
  if (rung->status != STATUS_OK) return "WRONG";
  return rung->verified == VERIFY_NO ? "not verified" : "correct";
}

/* The bar shows the share of the ceiling, because later rungs may be faster than this one. */
static void rung_text(const struct himeno_ladder *ladder, int r, int verbose, FILE *out)
{
  const struct himeno_rung *rung = &ladder->rungs[r];
  char bar[64], spread[REPORT_SPREAD_BYTES], numbers[6][REPORT_NUMBER_BYTES];
  const double share = ladder->ceiling > 0 ? rung->bytes_per_second / ladder->ceiling : 0;
  const struct himeno_resources *used = &rung->resources;
  report_bar(bar, sizeof bar, share, 12);
  fprintf(out, "  %2d  %-14s %s %s %s %s%s  %-15s %s\n", r + 1, rung->kernel->name,
          report_number(rung->gflops, 9, 1, numbers[0]),
          report_spread(rung->noise, rung->n_samples > 2, 7, spread),
          report_number(rung->bytes_per_second / 1e9, 9, 1, numbers[1]),
          report_number(100 * share, 7, 1, numbers[2]), share > 0 ? "%" : " ", rung_verdict(rung), bar);
  if (verbose && used->threads > 0)
    fprintf(out, "      %s registers, %d bytes of shared memory, %s threads, occupancy %s%%\n",
            report_number(used->registers, 0, 0, numbers[3]), used->local_bytes,
            report_number(used->threads, 0, 0, numbers[4]),
            report_number(100 * used->occupancy, 0, 0, numbers[5]));
  fprintf(out, "      %s%s\n", rung->kernel->step,
          rung->kernel->class_ == HIMENO_TEMPORAL ? " (nominal GB/s)" : "");
}

/* Prints counts instead of rates, because an emulator has no speed. */
static void emulated_text(const struct himeno_ladder *ladder, FILE *out)
{
  fprintf(out, "      kernel         instructions  arithmetic  estimate, us  result\n");
  for (int r = 0; r < ladder->n; r++) {
    const struct himeno_rung *rung = &ladder->rungs[r];
    fprintf(out, "  %2d  %-14s", r + 1, rung->kernel->name);
    himeno_rung_counts_text(&rung->counts, out);
    fprintf(out, "  %s\n      %s\n", rung_verdict(rung), rung->kernel->step);
  }
  fprintf(out,
          "      instructions: per 16 points of a sweep; estimate: of 1000 points on a Raspberry Pi at 250 "
          "MHz,\n      by a model and not measured (doc/explanation/qpu-time.md)\n");
  if (ladder->n > 0) himeno_bound_text(&ladder->rungs[ladder->n - 1].counts, out);
}

static void head_text(const struct himeno_choice *choice, const struct himeno_ladder *ladder, FILE *out)
{
  const struct placement *p = &choice->placement;
  char spread[REPORT_SPREAD_BYTES];
  fprintf(out, "himeno-gpu %s, ladder of backend %s on %s\n", meta_version(), p->backend->name, p->info.name);
  fprintf(out, "  %s: %" PRId64 " x %" PRId64 " x %" PRId64 ", %s data, %d rank%s%s\n", choice->size.name,
          choice->global[0], choice->global[1], choice->global[2], himeno_data_names[choice->config->data],
          p->ranks, p->ranks > 1 ? "s" : "", p->info.emulated ? ", emulated: no speed\n" : "");
  if (p->reason[0]) fprintf(out, "  backend    the CPU (%s)\n", p->reason);
  if (p->info.emulated) return;
  fprintf(out, "  ceiling    %.2f GB/s %s, measured %d times between the kernels\n\n", ladder->ceiling / 1e9,
          report_spread(ladder->ceiling_noise, ladder->ceilings.n > 2, 0, spread), ladder->ceilings.n);
  fprintf(out, "      kernel            GFLOPS std.dev      GB/s  ceiling  result\n");
}

void himeno_ladder_rungs_text(const struct himeno_choice *choice, struct himeno_ladder *ladder, int n,
                              FILE *out)
{
  progress_clear();
  if (ladder->shown == 0) head_text(choice, ladder, out);
  for (; ladder->shown < n; ladder->shown++) rung_text(ladder, ladder->shown, choice->config->verbose, out);
  fflush(out);
}

/* Warns about the rung whose blocks vary most, and about noise in the ceiling. */
static void noise_text(const struct himeno_ladder *ladder, FILE *out)
{
  const struct himeno_rung *most = &ladder->rungs[0];
  for (int r = 1; r < ladder->n; r++)
    if (ladder->rungs[r].noise > most->noise) most = &ladder->rungs[r];
  if (most->noise > STATS_NOISY)
    fprintf(out, "  WARNING    noisy ladder: blocks of %s vary by %.1f%%, smaller differences are noise\n",
            most->kernel->name, 100 * most->noise);
  if (ladder->ceiling_noise > STATS_NOISY)
    fprintf(out, "  WARNING    noisy ceiling: its measurements vary by %.1f%%\n",
            100 * ladder->ceiling_noise);
}

void himeno_ladder_text(const struct himeno_choice *choice, struct himeno_ladder *ladder, FILE *out)
{
  if (choice->placement.info.emulated) {
    head_text(choice, ladder, out);
    emulated_text(ladder, out);
  } else {
    himeno_ladder_rungs_text(choice, ladder, ladder->n, out);
    noise_text(ladder, out);
  }
  if (ladder->partial)
    fprintf(out, "  INCOMPLETE: a signal ended the ladder early, after %d of %d kernels\n", ladder->n,
            ladder->made);
}

static void ladder_samples_document(struct doc *d, const struct himeno_rung *rung, int emulated)
{
  if (!doc_list(d, "samples", DOC_OPTIONAL | DOC_NULLABLE,
                "Seconds of each timed block, whose median counts; null on an emulator.", !emulated))
    return;
  for (int s = 0; doc_each(d, s, rung->n_samples); s++) doc_real(d, NULL, 0, "s", "", rung->samples[s]);
  doc_end(d);
}

static void rung_document(struct doc *d, const struct himeno_ladder *ladder, const struct himeno_rung *rung,
                          int emulated)
{
  static const char *const verdicts[] = {"pass", "wrong", "environment", "usage"};
  const struct doc_words sources = {verify_source_names, VERIFY_REHEARSAL, sizeof *verify_source_names};
  const int timed = rung->n_samples > 0, has_speed = timed && !emulated;
  doc_object(d, NULL, 0, "", 1);
  doc_text(d, "kernel", 0, "", rung->kernel->name);
  doc_text(d, "step", 0, "What it does that the rung below does not.", rung->kernel->step);
  himeno_kernel_document(d, rung->kernel);
  doc_enum(d, "verdict", 0, DOC_WORDS(verdicts),
           "environment, usage: it cannot run here; its figures are null.", status_verdict(rung->status));
  doc_real(d, "gflops", DOC_NULLABLE, "GFLOPS", "null if there is no speed, as on an emulator; so is gbps.",
           has_speed ? rung->gflops : NAN);
  doc_real(d, "gbps", DOC_NULLABLE, "GB/s", "Nominal if class is temporal.",
           has_speed ? rung->bytes_per_second / 1e9 : NAN);
  doc_real(d, "ceiling_gbps", 0, "GB/s", "One for all rungs: the median of batches between them.",
           ladder->ceiling / 1e9);
  doc_real(d, "ceiling_share", DOC_NULLABLE, "", "",
           doc_known(rung->bytes_per_second) / doc_known(ladder->ceiling));
  doc_real(d, "gosa", DOC_NULLABLE | DOC_ANY, "", "Of the last sweep; null if unknown or not finite.",
           timed ? rung->gosa : NAN);
  doc_hex(d, "checksum", DOC_NULLABLE, 16, "", timed, rung->checksum);
  doc_whole(d, "blocks", 0, "", rung->n_samples);
  doc_whole(d, "block", DOC_OPTIONAL,
            "Sweeps per block: fewer if the first sweep was slow; 0 if it could not run.", rung->sweeps);
  ladder_samples_document(d, rung, emulated);
  doc_real(d, "noise", DOC_OPTIONAL | DOC_NULLABLE, "",
           "Of the samples, relative, as of the ceiling; null if there were fewer than three.",
           !emulated && rung->n_samples > 2 ? rung->noise : NAN);
  doc_enum(d, "verified", 0, sources, "", verify_source_names[rung->verified]);
  const struct himeno_resources *used = &rung->resources;
  doc_whole(d, "registers", DOC_NULLABLE, "Per thread.", used->registers ? used->registers : -1);
  doc_whole(d, "local_bytes", DOC_NULLABLE, "Shared memory per block.",
            used->threads ? used->local_bytes : -1);
  doc_whole(d, "threads", DOC_NULLABLE, "Per block.", used->threads ? used->threads : -1);
  doc_real(d, "occupancy", DOC_NULLABLE, "", "At most 1.", doc_known(used->occupancy));
  himeno_counts_document(d, emulated ? &rung->counts : NULL);
  doc_end(d);
}

static void ladder_config_document(struct doc *d, const struct himeno_choice *choice)
{
  const struct himeno_config *config = choice->config;
  const struct placement *p = &choice->placement;
  doc_object(d, "config", 0, "", 1);
  himeno_grid_document(d, choice);
  doc_enum(d, "data", 0, DOC_WORDS(himeno_data_names), "", himeno_data_names[config->data]);
  doc_enum(d, "backend", 0, DOC_WORDS(gpu_backend_names), "", p->backend->name);
  doc_text(d, "device", 0, "Rank 0's.", p->info.name);
  doc_text(d, "driver", DOC_ANY, "", p->info.driver);
  doc_whole(d, "ranks", DOC_POSITIVE, "", p->ranks);
  doc_wholes(d, "procs", DOC_POSITIVE,
             "Decomposition of the last rung: one that needs whole planes may use a different one.",
             choice->procs[0], choice->procs[1], choice->procs[2]);
  doc_end(d);
}

void himeno_ladder_document(struct doc *d, const struct himeno_choice *choice,
                            const struct himeno_ladder *ladder)
{
  doc_frame(
      d, "himeno-ladder/1", "himeno-gpu", "Ladder of himeno-gpu",
      "One run with --ladder: the kernels of one backend, one after the other, from the simplest up. Rates "
      "count 34 flop and 56 bytes per point and sweep.");
  ladder_config_document(d, choice);
  doc_flag(d, "partial", DOC_OPTIONAL,
           "A signal ended the ladder: higher rungs or later rounds are missing, and the last may be short.",
           ladder->partial);
  doc_whole(d, "rounds", DOC_OPTIONAL | DOC_POSITIVE,
            "Every rung is timed once per round, so that all see the same load of the machine.",
            ladder->rounds);
  doc_real(
      d, "ceiling_noise", DOC_OPTIONAL | DOC_NULLABLE, "",
      "Of the ceiling's batches, relative: 1.4826 median absolute deviations; null if they were too few.",
      ladder->ceilings.n > 2 ? ladder->ceiling_noise : NAN);
  doc_list(d, "rungs", DOC_POSITIVE, "", 1);
  for (int r = 0; doc_each(d, r, ladder->n); r++)
    rung_document(d, ladder, doc_at(d, ladder->rungs, r), choice->placement.info.emulated);
  doc_end(d);
}
