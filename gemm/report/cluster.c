/* SPDX-License-Identifier: MIT */
/* Parts of the report with --distributed: the division, paths of panels, phases of a product. */
#include <string.h>

#include "base/report.h"
#include "base/stats.h"
#include "gemm/report/report.h"

#define BAR_CELLS 32

static const char *transport_origin(const struct gemm_cluster *c)
{
  return c->transport_tried ? "fastest in a short trial" : "as requested";
}

static struct stats_summary phase_summarise(const struct gemm_rig *rig, const struct gemm_result *result,
                                            int phase)
{
  int n = rig->placement.ranks;
  double values[n];
  for (int r = 0; r < n; r++) values[r] = result->ranks[r].phases[phase];
  return stats_summarise(values, (size_t)n);
}

/* Prints which paths lack the run's transport, and how many paths are staged, and by what means. */
static void print_paths(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  int shared = 0, sent = 0;
  const char *why = "";
  for (int r = 0; r < rig->placement.ranks; r++)
    for (int m = 0; m < result->ranks[r].n_paths; m++) {
      const struct gemm_path *p = &result->ranks[r].paths[m];
      if (p->why[0])
        fprintf(out, "  path       ranks %d and %d, face %s: %s, because: %s\n", r, p->peer, p->face, p->used,
                p->why);
      if (!p->handover[0]) continue;
      int by_mpi = strcmp(p->handover, "MPI") == 0;
      if (by_mpi && !sent) why = p->handover_why;
      shared += !by_mpi;
      sent += by_mpi;
    }
  if (shared > 0)
    fprintf(out, "  staging    %d path%s through shared memory\n", shared, shared > 1 ? "s" : "");
  if (sent > 0) fprintf(out, "  staging    %d path%s by MPI, because: %s\n", sent, sent > 1 ? "s" : "", why);
}

void gemm_cluster_text(const struct gemm_run *run, FILE *out)
{
  const struct gemm_cluster *c = run->work.cluster;
  fprintf(out, "  panels     %d, each %lld wide along k, broadcast while the previous one is multiplied\n",
          c->grid.panels, (long long)c->grid.width);
  if (!c->transport) return;
  fprintf(out, "  transport  %s (%s)\n", c->transport->name, transport_origin(c));
  print_paths(&run->rig, &run->result, out);
}

void gemm_cluster_phases_text(const struct gemm_rig *rig, const struct gemm_result *result, FILE *out)
{
  double product = result->series[0].seconds;
  fprintf(out,
          "\n  time per product %.3f ms; phases may overlap; median (min ... max) over ranks;\n"
          "  exposed time: the part of a product in which a rank does not compute\n",
          product * 1e3);
  for (int p = 0; p < GEMM_PHASES; p++) {
    char bar[4 * BAR_CELLS + 1];
    struct stats_summary s = phase_summarise(rig, result, p);
    if (s.max == 0) continue;
    report_bar(bar, sizeof bar, s.median / product, BAR_CELLS);
    fprintf(out, "    %-13s %11.3f ms  (%.3f ... %.3f)  %s\n",
            p == GEMM_PHASES - 1 ? "exposed time" : gemm_phase_names[p], s.median * 1e3, s.min * 1e3,
            s.max * 1e3, bar);
  }
}

void gemm_cluster_config_document(struct doc *d, const struct gemm_cluster *c, int weak)
{
  if (!doc_object(d, "distributed", DOC_OPTIONAL,
                  "With --distributed: m, n and k are those of one product over all ranks.", c))
    return;
  doc_wholes(d, "procs", DOC_POSITIVE, "Ranks along m and n: rank p*Q + q of PxQ has block (p, q) of C.",
             c->grid.procs[0], c->grid.procs[1]);
  doc_flag(d, "weak", 0, "C was given as each rank's (--weak).", weak);
  doc_whole(d, "panel", DOC_POSITIVE, "k that is broadcast at a time; the last panel may have less.",
            c->grid.width);
  doc_whole(d, "panels", DOC_POSITIVE, "", c->grid.panels);
  doc_text(d, "transport", DOC_NULLABLE, "null: one rank.", c->transport ? c->transport->name : NULL);
  doc_end(d);
}

void gemm_cluster_phases_document(struct doc *d, const struct gemm_run *run)
{
  if (!doc_object(
          d, "phases", DOC_OPTIONAL,
          "With --distributed, not on an emulator: mean seconds per product of each rank, over ranks. Phases "
          "are busy times and may overlap; exposed is the product's time less compute.",
          run->work.cluster && !run->rig.placement.info.emulated))
    return;
  for (int p = 0; p < GEMM_PHASES; p++)
    doc_spread(d, gemm_phase_names[p],
               d->schema ? (struct stats_summary){.n = 0} : phase_summarise(&run->rig, &run->result, p));
  doc_end(d);
}

void gemm_cluster_paths_document(struct doc *d, const struct gemm_run *run)
{
  static const char *const faces[] = {"j+", "i+"};
  if (!doc_list(
          d, "paths", DOC_OPTIONAL,
          "With --distributed: how slices go from each rank to the next of its process row (j+) and column "
          "(i+).",
          run->work.cluster))
    return;
  for (int r = 0; doc_each(d, r, run->rig.placement.ranks); r++) {
    const struct gemm_rank *rank = doc_at(d, run->result.ranks, r);
    for (int m = 0; doc_each(d, m, rank->n_paths); m++) {
      const struct gemm_path *p = &rank->paths[m];
      doc_object(d, NULL, 0, "", 1);
      doc_whole(d, "rank", 0, "", r);
      doc_whole(d, "peer", 0, "", p->peer);
      doc_enum(d, "face", 0, DOC_WORDS(faces), "", p->face);
      doc_whole(d, "bytes", DOC_POSITIVE, "Of a slice.", p->bytes);
      doc_text(d, "used", 0, "", p->used);
      halo_transport_document(d, p->used);
      doc_text(d, "why", 0, "", p->why[0] ? p->why : transport_origin(run->work.cluster));
      doc_enum(d, "handover", DOC_OPTIONAL, DOC_WORDS(halo_handovers), "",
               p->handover[0] ? p->handover : NULL);
      doc_text(d, "handover_why", DOC_OPTIONAL, "", p->handover[0] ? p->handover_why : NULL);
      doc_end(d);
    }
  }
  doc_end(d);
}
