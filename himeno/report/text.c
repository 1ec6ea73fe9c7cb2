/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/meta.h"
#include "base/report.h"
#include "base/stats.h"
#include "comm/halo/grid.h"
#include "himeno/report/report.h"
#include "judge/parts.h"
#include "suite/list.h"
#include "suite/progress.h"

#define BAR_CELLS   32
#define PATHS_SHOWN 8
/* Phases with less than WALL_SHARE of the wall time are summed as "other". */
#define WALL_SHARE   0.02
#define COMPRESSES   0.02
#define NOISE_SIGMAS 3

/* Names of the phases in the report; documents use himeno_phase_names. */
static const char *const phase_texts[HIMENO_PHASES] = {
    "interior", "boundary",       "pack halos",   "copy to host", "wait for halos",
    "transfer", "copy to device", "unpack halos", "sum of gosa",  "exposed time"};

/* Lists each pair of ranks that uses another transport than the run's, once. */
static void print_detours(const struct himeno_ranks *ranks, FILE *out)
{
  int n = 0;
  for (int r = 0; r < ranks->n; r++) {
    const struct himeno_rank *rank = &ranks->rank[r];
    for (int m = 0; m < rank->n_paths; m++) {
      const struct himeno_path *p = &rank->paths[m];
      if (!p->texts->why[0] || p->peer < r) continue;
      if (n++ < PATHS_SHOWN)
        fprintf(out, "  path       ranks %d and %d, face %s: %s, because: %s\n", r, p->peer, p->face,
                p->texts->used, p->texts->why);
    }
  }
  if (n > PATHS_SHOWN) fprintf(out, "  path       ... and %d more: see --json\n", n - PATHS_SHOWN);
}

/* Counts the pairs of ranks with staged halos, per handover. */
static void print_handovers(const struct himeno_ranks *ranks, FILE *out)
{
  int n[2] = {0, 0}, others = 0;
  const char *why = NULL;
  for (int r = 0; r < ranks->n; r++)
    for (int m = 0; m < ranks->rank[r].n_paths; m++) {
      const struct himeno_path *p = &ranks->rank[r].paths[m];
      if (!p->texts->handover[0] || p->peer < r) continue;
      int by_mpi = strcmp(p->texts->handover, "MPI") == 0;
      n[by_mpi]++;
      others |= why && by_mpi && strcmp(why, p->texts->handover_why) != 0;
      if (by_mpi && !why) why = p->texts->handover_why;
    }
  if (n[0] > 0) fprintf(out, "  staging    %d pair%s through shared memory\n", n[0], n[0] > 1 ? "s" : "");
  if (n[1] > 0)
    fprintf(out, "  staging    %d pair%s by MPI, because: %s%s\n", n[1], n[1] > 1 ? "s" : "", why,
            others ? ", and others" : "");
}

static void himeno_print_config(const struct himeno_choice *choice, const struct himeno_ranks *ranks,
                                FILE *out)
{
  const struct himeno_config *config = choice->config;
  int n = ranks->n, hosts = ranks_hosts(ranks->rank, sizeof *ranks->rank, n);
  fprintf(out, "\n  problem    %s: %" PRId64 " x %" PRId64 " x %" PRId64 " points, %s data\n",
          config->weak ? "weak" : choice->size.name, choice->global[0], choice->global[1], choice->global[2],
          himeno_data_names[config->data]);
  fprintf(out, "  where      %d rank%s on %d host%s, backend %s", n, n > 1 ? "s" : "", hosts,
          hosts > 1 ? "s" : "", choice->placement.backend->name);
  if (n > 1) fprintf(out, ", grid divided %dx%dx%d", choice->procs[0], choice->procs[1], choice->procs[2]);
  fprintf(out, "\n");
  ranks_print_backend(ranks->rank, sizeof *ranks->rank, n, out);
  fprintf(out, "  kernel     %s (%s: %d sweep%s per pass over memory), %s\n", choice->kernel->name,
          himeno_class_names[choice->kernel->class_], choice->kernel->sweeps,
          choice->kernel->sweeps > 1 ? "s" : "", choice_words[choice->kernel_origin].of_kernel);
  if (config->fill_given && !choice->placement.info.emulated)
    fprintf(out, "  memory     %s of %s on each device, %.1f%%, the sweeps read all of it\n",
            report_bytes(choice->bytes), report_bytes(choice->placement.info.memory_bytes),
            100.0 * (double)choice->bytes / (double)choice->placement.info.memory_bytes);
  if (n > 1) {
    fprintf(out, "  transport  %s (%s), %s\n", choice->transport->name,
            choice_words[choice->transport_origin].of_transport,
            config->no_overlap ? "halo exchange not overlapped with computation"
                               : "halo exchange overlapped with computation");
    print_detours(ranks, out);
    print_handovers(ranks, out);
  }
}

/* Prints the phases. The bar shows the median rank's share of the sweep. If no rank has a phase, \a
 * verbose shows it as a dash; otherwise it is left out. */
static void print_phases(double sweep, const struct himeno_ranks *ranks, int verbose, FILE *out)
{
  int n = ranks->n, waits = 0;
  double values[n];
  for (int r = 0; r < n; r++) waits |= ranks->rank[r].waited > 0;
  fprintf(out,
          "\n  time per sweep %.3f us; phases may overlap%s;\n"
          "  exposed time: the part of a sweep in which a rank computes neither interior nor boundary\n%s",
          sweep * 1e6, n > 1 ? "; median (min ... max) over ranks" : "",
          waits ? "  the time of interior can include waiting for halos; GFLOPS while computing exclude it\n"
                : "");
  for (int p = 0; p < HIMENO_PHASES; p++) {
    char bar[4 * BAR_CELLS + 1];
    for (int r = 0; r < n; r++) values[r] = ranks->rank[r].phases[p];
    struct stats_summary s = stats_summarise(values, (size_t)n);
    if (p != PHASE_INTERIOR && !(s.max > 0)) {
      if (verbose) fprintf(out, "    %-14s %s\n", phase_texts[p], report_number(0, 10, 0, bar));
      continue;
    }
    report_bar(bar, sizeof bar, s.median / sweep, BAR_CELLS);
    fprintf(out, "    %-14s %10.3f us", phase_texts[p], s.median * 1e6);
    if (n > 1) fprintf(out, "  (%.3f ... %.3f)", s.min * 1e6, s.max * 1e6);
    fprintf(out, "%s%s\n", bar[0] ? "  " : "", bar);
  }
}

static void print_range(const char *what, int low, int high, const char *unit, FILE *out)
{
  if (low < 0) return;
  fprintf(out, ", %s%d", what, low);
  if (high > low) fprintf(out, " to %d", high);
  fprintf(out, "%s", unit);
}

static void print_telemetry(const struct himeno_ranks *ranks, int blocks, FILE *out)
{
  struct record_telemetry all = {.samples = 0};
  int reasons = 0, throttled = 0;
  char text[120];
  for (int r = 0; r < ranks->n; r++) {
    record_merge(&all, &ranks->rank[r].telemetry);
    reasons |= record_reasons(&ranks->rank[r].telemetry);
  }
  for (int b = 0; b < blocks; b++) throttled += ranks->throttled[b] > 0;
  if (all.samples == 0) return;
  fprintf(out, "  devices    reported by %s", all.source);
  if (all.low.watts >= 0) fprintf(out, ": %.0f to %.0f W", all.low.watts, all.high.watts);
  print_range("clock ", all.low.sm_mhz, all.high.sm_mhz, " MHz", out);
  print_range("", all.low.celsius, all.high.celsius, " C", out);
  fprintf(out, "\n");
  if (throttled)
    fprintf(out, "  WARNING    devices were throttled at the end of %d of %d blocks: %s\n", throttled, blocks,
            telemetry_throttle_text(reasons, text, sizeof text));
}

/* Reports whether rates depend on the data, because the device's memory compresses data. The memory
 * of hosts does not. */
static void print_data(int data, const struct himeno_ceiling *c, FILE *out)
{
  const double difference = c->all > 0 ? fabs(c->other_data / c->all - 1) : 0;
  if (!(c->other_data > 0) || difference <= fmax(COMPRESSES, NOISE_SIGMAS * c->noise)) return;
  fprintf(out, "  WARNING    the memory compresses data: ceiling %.2f GB/s with %s data, %.2f with %s data\n",
          c->all / 1e9, himeno_data_names[data], c->other_data / 1e9, himeno_data_names[!data]);
}

/* Prints the device whose ceiling is the smallest share of its peak. */
static void print_theory(const struct himeno_ranks *r, FILE *out)
{
  const struct himeno_rank *least = NULL;
  double share = INFINITY;
  for (int n = 0; n < r->n; n++) {
    const double peak = telemetry_peak_bytes(&r->rank[n].telemetry.after);
    if (!(peak > 0 && r->rank[n].ceiling / peak < share)) continue;
    share = r->rank[n].ceiling / peak;
    least = &r->rank[n];
  }
  if (!least || !(share > 0)) return;
  const struct telemetry_state *s = &least->telemetry.after;
  fprintf(out, "  theory     %.2f GB/s per device (%d MHz x %d bits x 2): the ceiling is %.1f%% of it%s",
          telemetry_peak_bytes(s) / 1e9, s->memory_mhz_max, s->memory_bits, 100 * share,
          r->n > 1 ? " or more" : "");
  if (telemetry_peak_flops(s) > 0)
    fprintf(out, ";\n             %.2f TFLOPS by %d lanes", telemetry_peak_flops(s) / 1e12, s->cores);
  fprintf(out, "\n");
}

static void print_wall(FILE *out)
{
  const struct progress_phase *phases;
  const int n = progress_phases(&phases);
  double all = 0, other = 0;
  for (int f = 0; f < n; f++) all += phases[f].seconds;
  int column = fprintf(out, "  wall       %.2f s:", all);
  for (int f = 0; f < n; f++) {
    if (phases[f].seconds < WALL_SHARE * all)
      other += phases[f].seconds;
    else
      column += fprintf(out, " %s %.2f,", phases[f].name, phases[f].seconds);
    if (column > 50) column = fprintf(out, "\n            ");
  }
  fprintf(out, " other %.2f\n", other);
}

static void print_starved(const struct himeno_ranks *r, FILE *out)
{
  int rank = 0;
  for (int n = 1; n < r->n; n++)
    if (r->rank[n].telemetry.starved > r->rank[rank].telemetry.starved) rank = n;
  const double share = r->rank[rank].telemetry.starved;
  if (share > STATS_NOISY)
    fprintf(out, "  WARNING    the host was busy: rank %d on %s waited for a core for %.1f%% of its time\n",
            rank, r->rank[rank].row.host, 100 * share);
}

static void himeno_print_speed(const struct himeno_kernel *kernel, const struct himeno_result *r, FILE *out)
{
  const double gflops = himeno_timing_gflops(&r->timing), rate = himeno_bytes_per_second(gflops);
  fprintf(out,
          kernel->class_ == HIMENO_TEMPORAL
              ? "  speed      %.2f GFLOPS; one pass over memory per sweep would need %.2f GB/s"
              : "  speed      %.2f GFLOPS, %.2f GB/s",
          gflops, rate / 1e9);
  if (r->ceiling.all > 0) fprintf(out, ", %.1f%% of the ceiling", 100 * rate / r->ceiling.all);
  fprintf(out, "\n");
  report_noise(r->timing.samples, r->timing.n_samples, 1, out);
  print_starved(&r->ranks, out);
}

static void himeno_print_timing(const struct himeno_config *config, const struct himeno_result *r, FILE *out)
{
  const struct himeno_timing *t = &r->timing;
  const double gflops = himeno_timing_gflops(t);
  fprintf(out, "\n");
  if (r->ceiling.all > 0)
    fprintf(out, "  ceiling    %.2f GB/s over all ranks, by a kernel that reads 13 arrays and writes one\n",
            r->ceiling.all / 1e9);
  if (!r->ranks.rank[0].row.info.is_cpu) print_data(config->data, &r->ceiling, out);
  if (config->verbose) print_theory(&r->ranks, out);
  fprintf(out, "  timed      %" PRId64 " sweeps in %d block%s: %.3f s; checks between blocks are not timed\n",
          t->sweeps, t->n_samples, t->n_samples > 1 ? "s" : "", t->seconds);
  report_noise(t->samples, t->n_samples, 0, out);
  if (config->verbose) print_wall(out);
  if (config->official)
    fprintf(out, "  official   %.2f MFLOPS, score %.2f (1 is a Pentium III at 600 MHz, 82.84 MFLOPS)\n",
            gflops * 1e3, gflops * 1e3 / HIMENO_OFFICIAL_MFLOPS);
  himeno_energy_text(&r->ranks, out);
}

static const char *verdict_word(status_t verdict)
{
  return verdict == STATUS_NOISY ? "NOISY (too noisy to judge the speed)"
         : verdict == STATUS_OK  ? "PASS"
                                 : "NOT JUDGED";
}

/* A run that was not verified does not pass. */
static void himeno_print_verdict(const struct himeno_timing *t, const struct himeno_verification *v,
                                 status_t verdict, FILE *out)
{
  static const char *const compared[] = {
      [VERIFY_KNOWN] = "all results match the stored checksum",
      [VERIFY_REFERENCE] = "all results match the checksum that the CPUs computed",
      [VERIFY_MODEL] = "all results equal a CPU model that rounds toward zero, bit for bit",
      [VERIFY_REHEARSAL] = "the rehearsal has the stored checksum; the timed sweeps have no reference"};
  if (verdict == STATUS_WRONG)
    fprintf(out, "  verdict    WRONG: a block differs from the reference result\n");
  else if (t->partial)
    fprintf(out, "  verdict    INCOMPLETE: a signal ended the run early; its %d block%s %s\n", t->n_samples,
            t->n_samples == 1 ? "" : "s",
            v->source == VERIFY_NO ? "were not compared" : "passed verification");
  else if (verdict == STATUS_SLOW)
    fprintf(out, "  verdict    FAIL: results correct, but a limit was not met\n");
  else if (v->source == VERIFY_NO)
    fprintf(out, "  verdict    NOT VERIFIED: the result was not compared\n");
  else if (v->reference_sweeps > 0)
    fprintf(out, "  verdict    %s: the first %d of %d sweeps equal those of the CPUs; all blocks are alike\n",
            verdict_word(verdict), v->reference_sweeps, t->last.sweeps);
  else
    fprintf(out, "  verdict    %s: %s\n", verdict_word(verdict), compared[v->source]);
}

static void print_checks(const struct himeno_kernel *kernel, const struct himeno_verification *v, FILE *out)
{
  if (v->n_points == 0) return;
  fprintf(out, "  compared   field p with the reference every %d sweeps", solver_check_sweeps(kernel));
  if (!v->pauses) fprintf(out, " in %d untimed block%s", v->check_blocks, v->check_blocks > 1 ? "s" : "");
  fprintf(out, " and after each block;\n"
               "             gosa of every sweep on each rank; all 12 arrays of coefficients\n");
}

static void print_disguise(const struct judge_run *run, int rank, const struct himeno_path *p, FILE *out)
{
  char who[200];
  fprintf(out, "  WARNING    %s, to rank %d by %s: %s, %.0f MB of %.0f by PCIe and %.0f by NVLink\n",
          suspect_name(run, rank, who, sizeof who), p->peer, p->texts->used,
          path_medium_names[MEDIUM_DISGUISED], (double)p->probe.counted.pcie / 1e6, p->probe.sent / 1e6,
          fmax(0, (double)p->probe.counted.nvlink) / 1e6);
}

/* Prints the media that carried the bytes between neighbours, by the devices' counters. */
static void print_media(const struct himeno_ranks *r, const struct judge_run *run, FILE *out)
{
  int n[PATH_MEDIA] = {0}, printed = 0;
  for (int rank = 0; rank < r->n; rank++)
    for (int m = 0; m < r->rank[rank].n_paths; m++) {
      const struct himeno_path *path = &r->rank[rank].paths[m];
      if (n[path->medium]++ < PATHS_SHOWN && path->medium == MEDIUM_DISGUISED)
        print_disguise(run, rank, path, out);
    }
  for (int w = MEDIUM_UNKNOWN + 1; w < PATH_MEDIA; w++)
    if (n[w] > 0)
      fprintf(out, "%s%d %s", printed++ ? ", " : "  paths      of halos, by the devices' counters: ", n[w],
              path_medium_names[w]);
  if (printed) fprintf(out, "\n");
}

void himeno_report_text(const struct himeno_choice *choice, const struct himeno_result *result,
                        const struct judged *judged, FILE *out)
{
  const struct himeno_kernel *kernel = choice->kernel;
  const struct himeno_ranks *ranks = &result->ranks;
  const struct himeno_timing *timing = &result->timing;
  const struct worth worth = soak_worth(&result->soak, ranks, timing->seconds);
  const int timed = timing->sweeps > 0 && !choice->placement.info.emulated;
  fprintf(out, "himeno-gpu %s\n\n", meta_version());
  himeno_print_verdict(timing, &result->verification, result->verdict, out);
  judged_headline(judged, out);
  if (timed) himeno_print_speed(kernel, result, out);
  himeno_print_config(choice, ranks, out);
  ranks_print(ranks->rank, sizeof *ranks->rank, ranks->n, "GFLOPS while computing", choice->config->verbose,
              out);
  if (timed) {
    print_phases(timing->seconds / (double)timing->sweeps, ranks, choice->config->verbose, out);
    himeno_print_timing(choice->config, result, out);
  } else if (timing->sweeps > 0) {
    himeno_counts_text(&result->counts, timing, out);
  }
  if (kernel->toward_zero) himeno_bound_text(&result->counts, out);
  if (timing->sweeps > 0)
    fprintf(out,
            "\n  gosa       %.12e (sum of squared residuals, last sweep)\n  checksum   %016" PRIx64
            " of the field p\n",
            timing->last.gosa, timing->last.checksum);
  else
    fprintf(out, "\n  gosa       unknown\n  checksum   unknown\n");
  print_checks(kernel, &result->verification, out);
  soak_text(&result->soak, &worth, ranks, out);
  ranks_print_sharing(ranks->rank, sizeof *ranks->rank, ranks->n, out);
  print_telemetry(ranks, timing->n_samples, out);
  print_media(ranks, &judged->run, out);
  judged_text(judged, out);
}

static void himeno_list_backend(const struct gpu_backend *backend, int devices, FILE *out)
{
  const struct himeno_kernel_set *set = himeno_kernels_find(backend->name);
  for (int k = 0; set && k < set->n; k++)
    fprintf(out, "    kernel     %-12s %s\n", set->kernels[k].name, set->kernels[k].step);
  if (devices > 0) list_backend_transports(backend, out);
}

void himeno_report_list(const struct gpu_backend *asked, FILE *out)
{
  list_backends(asked, " and kernels (--kernel)", himeno_list_backend, out);
  list_transports(out);
  fprintf(out, "Sizes (--size):\n");
  for (int n = 0; n < grid_size_count(); n++) {
    const struct grid_size *size = grid_size_named(n);
    int64_t points = size->extent[0] * size->extent[1] * size->extent[2];
    fprintf(out, "  %-3s %4lldx%lldx%lld, %s on the devices\n", size->name, (long long)size->extent[0],
            (long long)size->extent[1], (long long)size->extent[2],
            report_bytes((uint64_t)points * HIMENO_BYTES_PER_POINT));
  }
}
