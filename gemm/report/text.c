/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/meta.h"
#include "base/report.h"
#include "base/stats.h"
#include "gemm/report/report.h"

#define WRONG_SHOWN 64

static void gemm_print_config(const struct gemm_run *run, FILE *out)
{
  const struct gemm_problem *p = run->work.cluster ? &run->work.cluster->whole : &run->work.problem;
  int ranks = run->rig.placement.ranks,
      hosts = ranks_hosts(run->result.ranks, sizeof *run->result.ranks, ranks);
  fprintf(out,
          "\n  problem    %" PRId64 " x %" PRId64 " x %" PRId64
          " (m x n x k), %s, %s, alpha %g, beta %g, %s data\n",
          p->m, p->n, p->k, gemm_types[p->type].name, gemm_trans_name(p), p->alpha, p->beta,
          gemm_data_names[run->rig.config.data]);
  fprintf(out, "  where      %d rank%s on %d host%s, backend %s", ranks, ranks > 1 ? "s" : "", hosts,
          hosts > 1 ? "s" : "", run->rig.placement.backend->name);
  if (run->work.cluster)
    fprintf(out, ", one product divided %dx%d", run->work.cluster->grid.procs[0],
            run->work.cluster->grid.procs[1]);
  else if (ranks > 1)
    fprintf(out, ", each computes the whole product");
  fprintf(out, "\n");
  ranks_print_backend(run->result.ranks, sizeof *run->result.ranks, ranks, out);
  fprintf(out, "  kernel     %s: %s\n", run->result.series[0].kernel->name,
          run->result.series[0].kernel->step);
  if (run->work.cluster) gemm_cluster_text(run, out);
}

static void gemm_print_warnings(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  int wrong = 0;
  for (int r = 0; r < rig->placement.ranks; r++) {
    const struct gemm_rank *rank = &result->ranks[r];
    if (rank->warning[0] && wrong++ < WRONG_SHOWN)
      fprintf(out, "  WARNING    WRONG on rank %d on %s, device %s: %s\n", r, rank->row.host,
              rank_device(&rank->row), rank->warning);
  }
  if (wrong > WRONG_SHOWN) fprintf(out, "  ... and %d more: see --json\n", wrong - WRONG_SHOWN);
  ranks_print_sharing(result->ranks, sizeof *result->ranks, rig->placement.ranks, out);
}

static void print_reference(const struct gemm_rig *rig, const struct gemm_result *result,
                            const struct gemm_series *s, FILE *out)
{
  double rate = gemm_series_gflops(rig, s), ours = gemm_series_gflops(rig, &result->series[0]);
  if (rate > 0)
    fprintf(out, "  reference  library %s: %.2f GFLOPS%s; this kernel is %.2f times as fast\n",
            s->kernel->name, rate, s->status == STATUS_WRONG ? " with a WRONG result" : "", ours / rate);
  else
    fprintf(out, "  reference  library %s: %s\n", s->kernel->name, s->why[0] ? s->why : "not timed");
}

/* Prints counts: an emulator has no speed. A QPU can issue an addition and a multiplication of 16
 * lanes per instruction. */
static void print_counts(const struct gemm_run *run, FILE *out)
{
  const struct gemm_series *s = &run->result.series[0];
  const int sharers = run->work.cluster ? run->rig.placement.ranks : 1;
  const double instructions = (double)s->counts.instructions;
  fprintf(out, "\n  emulated   no speed: the emulator took %.3f s per product\n", s->seconds);
  fprintf(out,
          "  counts     %" PRIu64
          " instructions, %.1f%% with float arithmetic; the product needs %.1f%% of what both ALUs can do\n",
          s->counts.instructions, 100 * (double)s->counts.arithmetic / instructions,
          100 * s->flop * sharers / (32 * instructions));
  if (!(s->counts.estimate_seconds > 0)) return;
  fprintf(out, "  estimate   %.3f ms for ", s->counts.estimate_seconds * 1e3);
  if (sharers > 1)
    fprintf(out, "the slowest of %d Raspberry Pis at 250 MHz, exchanges aside,", sharers);
  else
    fprintf(out, "a product on a Raspberry Pi at 250 MHz,");
  fprintf(out, " by a model and not measured\n             (doc/explanation/qpu-time.md)\n");
}

static void gemm_print_speed(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  const struct gemm_series *s = &result->series[0];
  const double share = gemm_series_share(rig, s);
  fprintf(out, "  speed      %.2f GFLOPS", gemm_series_gflops(rig, s));
  if (share > 0) fprintf(out, ", %.1f%% of the peak", 100 * share);
  if (rig->placement.ranks > 1) fprintf(out, "; %d x the GFLOPS of the slowest rank", rig->placement.ranks);
  fprintf(out, "\n");
  report_noise(s->samples, s->n_samples, 1, out);
}

static void print_peak(const struct gemm_rig *rig, const struct gemm_series *s, FILE *out)
{
  const double seconds = s->predicted.seconds;
  const int arithmetic = s->predicted.bound == GEMM_BOUND_ARITHMETIC;
  if (gemm_series_share(rig, s) <= 0) return;
  fprintf(out, "  peak       %.2f GFLOPS%s, measured in this run by multiply-adds in registers\n",
          rig->ceilings.flops / 1e9, rig->placement.ranks > 1 ? " per device" : "");
  if (seconds > 0)
    fprintf(out, "  model      expects %.1f%% of the peak: %s%s\n",
            100 * s->flop / seconds / rig->ceilings.flops,
            arithmetic ? "loads, idle cores and tile edges cost the rest" : "limited by ",
            arithmetic ? "" : gemm_bound_names[s->predicted.bound]);
  else if (!gemm_run_modelled(rig))
    fprintf(out, "  model      does not describe OpenCL on a CPU\n");
}

static void gemm_print_timing(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  const struct gemm_series *s = &result->series[0];
  struct stats_summary summary = stats_summarise(s->samples, (size_t)s->n_samples);
  fprintf(out, "\n");
  print_peak(rig, s, out);
  for (int y = 1; y < result->n_series; y++) print_reference(rig, result, &result->series[y], out);
  fprintf(out,
          "  timed      %d block%s of %d product%s: %.3f s in all; the speed is that of the median block\n",
          s->n_samples, s->n_samples == 1 ? "" : "s", s->launches, s->launches > 1 ? "s" : "",
          summary.mean * (double)s->n_samples);
  report_noise(s->samples, s->n_samples, 0, out);
}

static void print_reference_error(const struct gemm_rig *rig, const struct gemm_series *s, FILE *out)
{
  const char *arithmetic = gemm_arithmetic_of(rig, s);
  if (s->n_samples == 0 || s->check.how == GEMM_NOT_VERIFIED) return;
  fprintf(out, "             library %s: %.3g and %.3g", s->kernel->name, s->check.element_error,
          s->check.norm_error);
  if (arithmetic) fprintf(out, "; float64 arithmetic: %s", arithmetic);
  fprintf(out, "\n");
}

static void print_wrong(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  int n = rig->placement.ranks, wrong = 0;
  for (int r = 0; r < n; r++) wrong += result->ranks[r].fault[0] != 0;
  fprintf(out, "  verdict    WRONG: %d of %d rank%s: the product differs from the reference result\n", wrong,
          n, n > 1 ? "s" : "");
  for (int r = 0, shown = 0; r < n; r++) {
    const struct gemm_rank *rank = &result->ranks[r];
    if (rank->fault[0] && shown++ < WRONG_SHOWN)
      fprintf(out, "  wrong      rank %d on %s, device %s: %s\n", r, rank->row.host, rank_device(&rank->row),
              rank->fault);
  }
  if (wrong > WRONG_SHOWN) fprintf(out, "  ... and %d more: see --json\n", wrong - WRONG_SHOWN);
}

static void print_error(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  const struct gemm_check *c = &result->series[0].check;
  if (c->how == GEMM_NOT_VERIFIED) return;
  fprintf(out,
          "\n  error      worst of %" PRId64
          " elements: %.3g of the sum of its terms |a*b| (allowed: %.3g)\n",
          c->compared, c->element_error, c->bounds.element);
  fprintf(out, "             RMS of the error / RMS of C: %.3g%s (allowed: %.3g)\n", c->norm_error,
          c->how == GEMM_VERIFIED_SAMPLED ? ", estimated by random vectors" : "", c->bounds.norm);
  for (int y = 1; y < result->n_series; y++) print_reference_error(rig, &result->series[y], out);
}

/* Prints the verdict. A run that was not verified does not pass. */
static void gemm_print_verdict(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  const struct gemm_check *c = &result->series[0].check;
  if (result->verdict != STATUS_OK)
    print_wrong(rig, result, out);
  else if (result->partial)
    fprintf(out, "  verdict    INCOMPLETE: a signal ended the run early; its %d block%s %s\n",
            result->series[0].n_samples, result->series[0].n_samples == 1 ? "" : "s",
            c->how == GEMM_NOT_VERIFIED ? "ran without verification" : "passed verification");
  else if (c->how == GEMM_NOT_VERIFIED)
    fprintf(out, "  verdict    NOT VERIFIED: the result was not compared\n");
  else
    fprintf(out, "  verdict    PASS: %s agree with %s; timed repetitions are bitwise equal\n",
            c->how == GEMM_VERIFIED_FULL ? "all elements" : "sampled rows, columns and vectors",
            rig->config.type == GEMM_F64 ? "double-double" : "float64");
}

void gemm_report_text(const struct gemm_run *run, FILE *out)
{
  const int timed = run->result.series[0].n_samples > 0, emulated = run->rig.placement.info.emulated;
  fprintf(out, "gemm-gpu %s\n\n", meta_version());
  gemm_print_verdict(&run->rig, &run->result, out);
  if (timed && !emulated) gemm_print_speed(&run->rig, &run->result, out);
  gemm_print_config(run, out);
  ranks_print(run->result.ranks, sizeof *run->result.ranks, run->rig.placement.ranks, "GFLOPS",
              run->rig.config.verbose, out);
  if (timed && emulated) print_counts(run, out);
  if (timed && !emulated) gemm_print_timing(&run->rig, &run->result, out);
  if (run->work.cluster && run->result.series[0].seconds > 0 && !emulated)
    gemm_cluster_phases_text(&run->rig, &run->result, out);
  print_error(&run->rig, &run->result, out);
  if (run->rig.config.accept && !emulated) {
    const struct worth worth = gemm_worth(&run->rig, &run->result);
    worth_text(&worth, out);
  }
  gemm_print_warnings(&run->rig, &run->result, out);
}
