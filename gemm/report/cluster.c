/* SPDX-License-Identifier: MIT */
/* What a report has only with --distributed: the cut, ways of panels, phases of a product. */
#include <string.h>

#include "base/report.h"
#include "base/stats.h"
#include "gemm/report/report.h"

#define BAR_CELLS 32

static const char *transport_origin(const struct gemm_cluster *c)
{
  return c->transport_tried ? "the fastest of a trial" : "asked for";
}

static struct stats_summary phase_summarise(const struct gemm_run *run, int phase)
{
  int n = run->placement.ranks;
  double values[n];
  for (int r = 0; r < n; r++) values[r] = run->ranks[r].phases[phase];
  return stats_summarise(values, (size_t)n);
}

/* ---- text ---- */

/* Ranks whose slices cannot take the run's transport to the next, and what stages the others. */
static void print_paths(const struct gemm_run *run, FILE *out)
{
  int shared = 0, sent = 0;
  const char *why = "";
  for (int r = 0; r < run->placement.ranks; r++)
    for (int m = 0; m < run->ranks[r].n_paths; m++) {
      const struct gemm_path *p = &run->ranks[r].paths[m];
      if (p->why[0])
        fprintf(out, "  path       ranks %d and %d, face %s: %s, since: %s\n", r, p->peer, p->face, p->used,
                p->why);
      if (!p->handover[0]) continue;
      int by_mpi = strcmp(p->handover, "MPI") == 0;
      if (by_mpi && !sent) why = p->handover_why;
      shared += !by_mpi;
      sent += by_mpi;
    }
  if (shared > 0)
    fprintf(out, "  staging    %d path%s through shared memory\n", shared, shared > 1 ? "s" : "");
  if (sent > 0) fprintf(out, "  staging    %d path%s by MPI, since: %s\n", sent, sent > 1 ? "s" : "", why);
}

void gemm_cluster_text(const struct gemm_run *run, FILE *out)
{
  const struct gemm_cluster *c = run->cluster;
  fprintf(out, "  panels     %d of k %lld, broadcast while the last is multiplied\n", c->grid.panels,
          (long long)c->grid.width);
  if (!c->transport) return;
  fprintf(out, "  transport  %s (%s)\n", c->transport->name, transport_origin(c));
  print_paths(run, out);
}

void gemm_cluster_phases_text(const struct gemm_run *run, FILE *out)
{
  double product = run->series[0].seconds;
  fprintf(out, "\n  time a product  %.3f ms; phases may overlap; median (min ... max) over ranks\n",
          product * 1e3);
  for (int p = 0; p < GEMM_PHASES; p++) {
    char bar[4 * BAR_CELLS + 1];
    struct stats_summary s = phase_summarise(run, p);
    if (s.max == 0) continue;
    report_bar(bar, sizeof bar, s.median / product, BAR_CELLS);
    fprintf(out, "    %-9s %11.3f ms  (%.3f ... %.3f)  %s\n", gemm_phase_names[p], s.median * 1e3,
            s.min * 1e3, s.max * 1e3, bar);
  }
}

/* ---- JSON ---- */

json_t *gemm_cluster_config_json(const struct gemm_cluster *c, int weak)
{
  json_t *o = json_object();
  object_set(o, "procs", json_pack("[i, i]", c->grid.procs[0], c->grid.procs[1]));
  object_flag(o, "weak", weak);
  object_whole(o, "panel", c->grid.width);
  object_whole(o, "panels", c->grid.panels);
  object_set(o, "transport", c->transport ? report_json_text(c->transport->name) : json_null());
  return o;
}

json_t *gemm_cluster_phases_json(const struct gemm_run *run)
{
  json_t *phases = json_object();
  for (int p = 0; p < GEMM_PHASES; p++) {
    struct stats_summary s = phase_summarise(run, p);
    object_set(phases, gemm_phase_names[p],
               json_pack("{s:o, s:o, s:o}", "min", report_json_real(s.min), "median",
                         report_json_real(s.median), "max", report_json_real(s.max)));
  }
  return phases;
}

json_t *gemm_cluster_paths_json(const struct gemm_run *run)
{
  json_t *paths = json_array();
  for (int r = 0; r < run->placement.ranks; r++)
    for (int m = 0; m < run->ranks[r].n_paths; m++) {
      const struct gemm_path *p = &run->ranks[r].paths[m];
      json_t *one = json_object();
      object_whole(one, "rank", r);
      object_whole(one, "peer", p->peer);
      object_text(one, "face", p->face);
      object_whole(one, "bytes", p->bytes);
      object_text(one, "used", p->used);
      object_text(one, "why", p->why[0] ? p->why : transport_origin(run->cluster));
      if (p->handover[0]) object_text(one, "handover", p->handover);
      if (p->handover[0]) object_text(one, "handover_why", p->handover_why);
      json_array_append_new(paths, one);
    }
  return paths;
}
