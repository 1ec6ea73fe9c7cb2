/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/meta.h"
#include "base/report.h"
#include "base/stats.h"
#include "himeno/report/report.h"
#include "himeno/tune/choose.h"

#define BAR_CELLS     32
#define NOISY         0.02
#define DETOURS_SHOWN 8

static const char *data_name(const struct himeno_run *run)
{
  return run->config.data == HIMENO_DENSE ? "dense" : "standard";
}

/* Pairs of ranks whose halos cannot take the run's transport, each once. */
static void print_detours(const struct himeno_run *run, FILE *out)
{
  int n = 0;
  for (int r = 0; r < run->placement.ranks; r++) {
    const struct himeno_rank *rank = &run->result.ranks[r];
    for (int m = 0; m < rank->n_paths; m++) {
      const struct himeno_path *p = &rank->paths[m];
      if (!p->why[0] || p->peer < r) continue;
      if (n++ < DETOURS_SHOWN)
        fprintf(out, "  path       ranks %d and %d, face %s: %s, since: %s\n", r, p->peer, p->face, p->used,
                p->why);
    }
  }
  if (n > DETOURS_SHOWN)
    fprintf(out, "  path       ... and %d more: --json has them all\n", n - DETOURS_SHOWN);
}

static void print_what(const struct himeno_run *run, FILE *out)
{
  static const char *const choices[] = {"the default", "asked for", "fastest in a short trial",
                                        "remembered from an earlier trial"};
  int ranks = run->placement.ranks, hosts = ranks_hosts(run->result.ranks, sizeof *run->result.ranks, ranks);
  fprintf(out, "himeno-gpu %s\n\n", meta_version());
  fprintf(out, "  problem    %s: %" PRId64 " x %" PRId64 " x %" PRId64 ", %s data\n",
          run->config.weak ? "weak" : run->config.size.name, run->global[0], run->global[1], run->global[2],
          data_name(run));
  fprintf(out, "  where      %d rank%s on %d host%s, backend %s, cut %dx%dx%d\n", ranks, ranks > 1 ? "s" : "",
          hosts, hosts > 1 ? "s" : "", run->placement.backend->name, run->procs[0], run->procs[1],
          run->procs[2]);
  fprintf(out, "  kernel     %s (%s), %s\n", run->kernel->name,
          run->kernel->class_ == HIMENO_CLASSIC ? "classic" : "temporal", choices[run->choice]);
  if (ranks > 1) {
    fprintf(out, "  transport  %s (%s), %s\n", run->transport->name, himeno_transport_why(run),
            run->config.no_overlap ? "not overlapped" : "overlapped with the interior");
    print_detours(run, out);
  }
}

/* Median over ranks, the bar against the whole sweep. */
static void print_phases(const struct himeno_run *run, FILE *out)
{
  int n = run->placement.ranks;
  double sweep = run->result.seconds / (double)run->result.sweeps, values[n];
  fprintf(out, "\n  time a sweep  %.3f us; phases may overlap; median (min ... max) over ranks\n",
          sweep * 1e6);
  for (int p = 0; p < HIMENO_PHASES; p++) {
    char bar[4 * BAR_CELLS + 1];
    for (int r = 0; r < n; r++) values[r] = run->result.ranks[r].phases[p];
    struct stats_summary s = stats_summarise(values, (size_t)n);
    if (n == 1 && p != PHASE_INTERIOR && p != PHASE_EXPOSED) continue;
    report_bar(bar, sizeof bar, s.median / sweep, BAR_CELLS);
    fprintf(out, "    %-9s %11.3f us  (%.3f ... %.3f)  %s\n", himeno_phase_names[p], s.median * 1e6,
            s.min * 1e6, s.max * 1e6, bar);
  }
}

static void print_range(const char *what, int low, int high, const char *unit, FILE *out)
{
  if (low < 0) return;
  fprintf(out, ", %s%d", what, low);
  if (high > low) fprintf(out, " to %d", high);
  fprintf(out, "%s", unit);
}

/* Over all ranks' devices. */
static void print_telemetry(const struct himeno_run *run, FILE *out)
{
  struct record_telemetry all = {.samples = 0};
  int reasons = 0, throttled = 0, blocks = run->result.n_samples;
  char text[120];
  for (int r = 0; r < run->placement.ranks; r++) {
    record_merge(&all, &run->result.ranks[r].telemetry);
    reasons |= record_reasons(&run->result.ranks[r].telemetry);
  }
  for (int b = 0; b < blocks; b++) throttled += run->result.throttled[b];
  if (all.samples == 0) return;
  fprintf(out, "  devices    by %s:", all.source);
  if (all.low.watts >= 0) fprintf(out, " %.0f to %.0f W", all.low.watts, all.high.watts);
  print_range("clock ", all.low.sm_mhz, all.high.sm_mhz, " MHz", out);
  print_range("", all.low.celsius, all.high.celsius, " C", out);
  fprintf(out, "\n");
  if (throttled)
    fprintf(out, "  WARNING    devices were throttled at the end of %d of %d blocks: %s\n", throttled, blocks,
            telemetry_throttle_text(reasons, text, sizeof text));
}

static void print_speed(const struct himeno_run *run, FILE *out)
{
  const struct himeno_result *r = &run->result;
  struct stats_summary s = stats_summarise(r->samples, (size_t)r->n_samples);
  double rate = himeno_bytes_per_second(run), noise = stats_noise(&s);
  int temporal = run->kernel->class_ == HIMENO_TEMPORAL;
  fprintf(out, "\n  speed      %.2f GFLOPS (34 flop a point), %.2f GB/s%s (56 bytes a point)\n",
          himeno_gflops(run), rate / 1e9, temporal ? " nominal" : "");
  if (r->ceiling > 0)
    fprintf(
        out,
        "  ceiling    %.2f GB/s reading 13 arrays and writing one, in this run: the sweep reaches %.1f%%\n",
        r->ceiling / 1e9, 100 * rate / r->ceiling);
  fprintf(out, "  timed      %" PRId64 " sweeps in %d block%s, %.3f s, slowest rank's clock", r->sweeps,
          r->n_samples, r->n_samples > 1 ? "s" : "", r->seconds);
  if (r->n_samples > 2) fprintf(out, "; blocks vary by %.1f%%", 100 * noise);
  fprintf(out, "\n");
  if (noise > NOISY)
    fprintf(out, "  WARNING    this run was noisy: differences below %.1f%% mean nothing\n", 100 * noise);
  if (run->config.official)
    fprintf(out, "  official   %.2f MFLOPS, score %.2f against 82.84 MFLOPS (Pentium III 600 MHz)\n",
            himeno_gflops(run) * 1e3, himeno_gflops(run) * 1e3 / HIMENO_OFFICIAL_MFLOPS);
}

/* How fast a right run was is told by the lines of its acceptance. */
static const char *verdict_word(status_t verdict)
{
  if (verdict == STATUS_NOISY) return "NOISY";
  return verdict == STATUS_SLOW ? "SLOW" : verdict == STATUS_OK ? "PASS" : "NOT JUDGED";
}

/* A run that was compared with nothing does not pass: it only ran. */
static void print_verdict(const struct himeno_run *run, FILE *out)
{
  static const char *const compared[] = {
      "the result was compared with nothing", "every block equals the known value",
      "every block equals the reference kernel's value",
      "the rehearsal equals its value; the timed sweeps cannot be compared",
      "every block equals the model that rounds toward zero, bit for bit"};
  const struct himeno_result *r = &run->result;
  if (r->verdict == STATUS_WRONG)
    fprintf(out, "  verdict    WRONG: a block differs from what it must be\n");
  else if (r->partial)
    fprintf(out, "  verdict    PARTIAL: a signal ended the run; what was measured %s\n",
            r->verified == VERIFY_NO ? "was compared with nothing" : "is right");
  else if (r->verified == VERIFY_NO)
    fprintf(out, "  verdict    NOT VERIFIED: %s\n", compared[VERIFY_NO]);
  else
    fprintf(out, "  verdict    %s: %s\n", verdict_word(r->verdict), compared[r->verified]);
}

/* What a verdict is about. */
static void print_checks(const struct himeno_run *run, FILE *out)
{
  const struct himeno_result *r = &run->result;
  int n = 0, every = solver_check_sweeps(run->kernel);
  if (run->solver) solver_baseline_checks(run->solver, &n);
  if (n == 0) return;
  fprintf(out, "  checked    p at the end of every block and each %d sweeps of ", every);
  if (r->pauses)
    fprintf(out, "it");
  else
    fprintf(out, "%d untimed block%s", r->check_blocks, r->check_blocks > 1 ? "s" : "");
  fprintf(out, "; gosa of every sweep on each rank; all 12 constant arrays\n");
}

static void print_result(const struct himeno_run *run, FILE *out)
{
  const struct solver_block *last = &run->result.last;
  fprintf(out, "\n  gosa       %.12e\n  checksum   %016" PRIx64 "\n", last->gosa, last->checksum);
  print_checks(run, out);
  print_verdict(run, out);
}

void himeno_report_text(const struct himeno_run *run, FILE *out)
{
  print_what(run, out);
  ranks_print(run->result.ranks, sizeof *run->result.ranks, run->placement.ranks, out);
  if (run->result.sweeps > 0 && himeno_is_emulated(run)) {
    himeno_counts_text(run, out);
  } else if (run->result.sweeps > 0) {
    print_phases(run, out);
    print_speed(run, out);
  }
  if (run->kernel->toward_zero) himeno_bound_text(&run->result.counts, out);
  print_result(run, out);
  soak_text(run, out);
  for (int r = 0; r < run->placement.ranks; r++) rank_print_sharing(&run->result.ranks[r].row, r, out);
  print_telemetry(run, out);
  accept_text(run, out);
}
