/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/meta.h"
#include "base/report.h"
#include "base/stats.h"
#include "gemm/report/report.h"
#include "suite/progress.h"

/* Sizes per table. */
#define COLUMNS_MAX 8

static const char *verdict_of(const struct gemm_series *s)
{
  if (s->status == STATUS_OK && s->n_samples == 0) return "not timed";
  if (s->status == STATUS_ENVIRONMENT) return "cannot run here";
  if (s->status != STATUS_OK) return "WRONG";
  return s->check.how == GEMM_NOT_VERIFIED ? "not verified" : "correct";
}

/* Returns the predicted rate as a share of the peak of the device that the prediction is for. */
static double predicted_share(const struct gemm_rig *rig, const struct gemm_series *s)
{
  const double peak = gemm_run_predicted(rig).ceilings.flops;
  return s->predicted.seconds > 0 && peak > 0 ? s->flop / s->predicted.seconds / peak : 0;
}

/* Writes a share as "12.3%", or a dash if it is unknown. Returns text. */
static const char *percent(double share, int width, char text[REPORT_NUMBER_BYTES])
{
  return share > 0 ? (snprintf(text, REPORT_NUMBER_BYTES, "%*.1f%%", width - 1, 100 * share), text)
                   : report_number(0, width, 0, text);
}

static void print_tile(const struct gemm_blocks *b, FILE *out)
{
  fprintf(out, b->group_m ? "      tile %dx%dx%d" : "      tile -", b->group_m, b->group_n, b->group_k);
  if (b->item_m) fprintf(out, ", %dx%d", b->item_m, b->item_n);
  if (b->splits > 1) fprintf(out, ", k in %d", b->splits);
}

static void print_rung(const struct gemm_rig *rig, const struct gemm_series *s, double best, FILE *out)
{
  double gflops = gemm_series_gflops(rig, s);
  char spread[REPORT_SPREAD_BYTES], bar[64], place[8] = "-", numbers[5][REPORT_NUMBER_BYTES];
  if (!s->kernel->is_reference) snprintf(place, sizeof place, "%d", s->kernel->rung);
  const struct stats_summary samples = stats_summarise(s->samples, (size_t)s->n_samples);
  report_bar(bar, sizeof bar, best > 0 ? gflops / best : 0, 12);
  fprintf(out, "  %2s  %-13s %s %s %s %s  %-13s  %-12s %s\n", place, s->kernel->name,
          report_number(gflops, 9, 1, numbers[0]),
          report_spread(stats_noise(&samples), samples.n > 2, 7, spread),
          percent(gemm_series_share(rig, s), 7, numbers[1]), percent(predicted_share(rig, s), 9, numbers[2]),
          s->predicted.seconds > 0 ? gemm_bound_names[s->predicted.bound] : "-", verdict_of(s), bar);
  if (rig->config.verbose) {
    print_tile(&s->blocks, out);
    fprintf(out, "; %s threads, %s registers", report_number(s->resources.threads, 0, 0, numbers[3]),
            report_number(s->resources.registers, 0, 0, numbers[4]));
    if (s->resources.local_bytes > 0) fprintf(out, ", %d bytes of local memory", s->resources.local_bytes);
    fprintf(out, "\n");
  }
  if (s->status != STATUS_OK) fprintf(out, "      %s\n", s->why);
}

/* Prints the table of one size. If `first`, explains each kernel. */
static void print_size(const struct gemm_rig *rig, const struct gemm_ladder_size *size, int first, FILE *out)
{
  const struct gemm_problem *p = &size->problem;
  double best = 0;
  for (int s = 0; s < size->n_series; s++)
    if (gemm_series_gflops(rig, &size->series[s]) > best) best = gemm_series_gflops(rig, &size->series[s]);
  fprintf(out, "\n  %" PRId64 " x %" PRId64 " x %" PRId64 " (m x n x k)\n", p->m, p->n, p->k);
  fprintf(out, "      kernel           GFLOPS std.dev    peak predicted  bound by       result\n");
  for (int s = 0; s < size->n_series; s++) {
    print_rung(rig, &size->series[s], best, out);
    if (first) fprintf(out, "      %s\n", size->series[s].kernel->step);
  }
}

/* Prints counts instead of rates: an emulator has no speed. */
static void print_emulated(const struct gemm_ladder_size *size, FILE *out)
{
  const struct gemm_problem *p = &size->problem;
  fprintf(out, "\n  %" PRId64 " x %" PRId64 " x %" PRId64 " (m x n x k), emulated: no speed\n", p->m, p->n,
          p->k);
  fprintf(out, "      kernel           instructions  arithmetic  of both ALUs  estimate, ms  result\n");
  for (int s = 0; s < size->n_series; s++) {
    const struct gemm_series *one = &size->series[s];
    const double percent = one->counts.instructions ? 100 / (double)one->counts.instructions : 0;
    char estimate[REPORT_NUMBER_BYTES];
    fprintf(out, "  %2d  %-13s %15" PRIu64 " %10.1f%% %12.1f%% %s  %s\n      %s\n", one->kernel->rung,
            one->kernel->name, one->counts.instructions, (double)one->counts.arithmetic * percent,
            one->flop / 32 * percent, report_number(one->counts.estimate_seconds * 1e3, 13, 3, estimate),
            verdict_of(one), one->status == STATUS_OK ? one->kernel->step : one->why);
  }
  fprintf(out, "      estimate: of a Raspberry Pi at 250 MHz, by a model and not measured "
               "(doc/explanation/qpu-time.md)\n");
}

static void print_shares(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  const struct gemm_ladder *l = result->ladder;
  int first = l->n > COLUMNS_MAX ? l->n - COLUMNS_MAX : 0;
  if (rig->ceilings.flops <= 0 || l->n < 2) return;
  fprintf(out, "\n  share of peak in %%, measured (predicted)\n      m =          ");
  for (int n = first; n < l->n; n++) fprintf(out, " %13" PRId64, l->sizes[n].problem.m);
  for (int s = 0; s < l->sizes[0].n_series; s++) {
    fprintf(out, "\n      %-13s", l->sizes[0].series[s].kernel->name);
    for (int n = first; n < l->n; n++) {
      const struct gemm_series *one = &l->sizes[n].series[s];
      char text[32] = "", share[REPORT_NUMBER_BYTES];
      if (one->predicted.seconds > 0) snprintf(text, sizeof text, "(%.1f)", 100 * predicted_share(rig, one));
      fprintf(out, " %s %-6s", report_number(100 * gemm_series_share(rig, one), 6, 1, share), text);
    }
  }
  fprintf(out, "\n");
}

static void print_ceilings(const struct gemm_rig *rig, FILE *out)
{
  const struct gemm_ceilings *c = &rig->ceilings;
  if (c->flops <= 0) return;
  fprintf(out,
          "  peak       %.1f GFLOPS, measured in this run by multiply-adds in registers; memory %.1f GB/s",
          c->flops / 1e9, c->bytes_per_second / 1e9);
  if (c->local_bytes_per_second > 0)
    fprintf(out, ", local memory %.0f GB/s", c->local_bytes_per_second / 1e9);
  fprintf(out, "\n");
  const struct gemm_machine *card = &rig->config.card;
  if (card->units)
    fprintf(out,
            "  predicted  shares of %.1f GFLOPS, for a device with these --ceilings: memory %.1f GB/s, local "
            "memory\n             %.0f GB/s, %d compute units\n",
            card->ceilings.flops / 1e9, card->ceilings.bytes_per_second / 1e9,
            card->ceilings.local_bytes_per_second / 1e9, card->units);
  else if (!gemm_run_modelled(rig))
    fprintf(out, "  model      does not describe OpenCL on a CPU\n");
}

/* Warns about incorrect results of libraries; the verdict depends only on the suite's kernels. */
static void gemm_ladder_print_warnings(const struct gemm_ladder *l, FILE *out)
{
  for (int n = 0; n < l->n; n++)
    for (int s = 0; s < l->sizes[n].n_series; s++) {
      const struct gemm_series *one = &l->sizes[n].series[s];
      if (one->kernel->is_reference && one->status == STATUS_WRONG)
        fprintf(out, "  WARNING    reference %s at %" PRId64 " x %" PRId64 " x %" PRId64 " %s\n",
                one->kernel->name, l->sizes[n].problem.m, l->sizes[n].problem.n, l->sizes[n].problem.k,
                one->why);
    }
}

/* Warns about the suite's kernel whose blocks vary most. */
static void print_noise(const struct gemm_ladder *l, FILE *out)
{
  const struct gemm_ladder_size *size = NULL;
  const struct gemm_kernel *kernel = NULL;
  double most = STATS_NOISY;
  for (int n = 0; n < l->n; n++)
    for (int s = 0; s < l->sizes[n].n_series; s++) {
      const struct gemm_series *one = &l->sizes[n].series[s];
      const struct stats_summary samples = stats_summarise(one->samples, (size_t)one->n_samples);
      if (one->kernel->is_reference || stats_noise(&samples) <= most) continue;
      most = stats_noise(&samples);
      size = &l->sizes[n];
      kernel = one->kernel;
    }
  if (kernel)
    fprintf(out,
            "  WARNING    noisy: blocks of %s at m = %" PRId64
            " vary by %.1f%%, smaller differences are noise\n",
            kernel->name, size->problem.m, 100 * most);
}

static void print_head(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  const struct gemm_problem *p = &result->ladder->sizes[0].problem;
  int ranks = rig->placement.ranks;
  fprintf(out, "gemm-gpu %s, ladder of backend %s on %s\n", meta_version(), rig->placement.backend->name,
          rig->placement.info.name);
  fprintf(out, "  %s, %s, alpha %g, beta %g, %d rank%s\n", gemm_types[p->type].name, gemm_trans_name(p),
          p->alpha, p->beta, ranks, ranks > 1 ? "s" : "");
  if (rig->placement.reason[0]) fprintf(out, "  backend    the CPU (%s)\n", rig->placement.reason);
  print_ceilings(rig, out);
}

void gemm_ladder_sizes_text(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  struct gemm_ladder *l = result->ladder;
  progress_clear();
  if (l->shown == 0) print_head(rig, result, out);
  for (; l->shown < l->n; l->shown++) {
    if (rig->placement.info.emulated)
      print_emulated(&l->sizes[l->shown], out);
    else
      print_size(rig, &l->sizes[l->shown], l->shown == 0, out);
  }
  fflush(out);
}

void gemm_ladder_text(const struct gemm_run *run, FILE *out)
{
  gemm_ladder_sizes_text(&run->rig, &run->result, out);
  print_shares(&run->rig, &run->result, out);
  gemm_ladder_print_warnings(run->result.ladder, out);
  if (!run->rig.placement.info.emulated) print_noise(run->result.ladder, out);
  if (run->result.partial) fprintf(out, "  INCOMPLETE: a signal ended the ladder early\n");
}
