/* SPDX-License-Identifier: MIT */
/* Report of an emulated run: instruction counts instead of speed, and a modelled bound for a
 * Raspberry Pi 1 to 3. */
#include "base/report.h"
#include "himeno/report/report.h"

/* Memory rates as measured by owners of these boards; processors at 250 MHz: 12 QPUs, one
 * instruction for 16 lanes in 4 cycles. */
#define LEAST_BYTES_PER_SECOND  1e9
#define MOST_BYTES_PER_SECOND   2e9
#define INSTRUCTIONS_PER_SECOND (12 * 250e6 / 4)
#define LANES                   16

static double emulated_share(uint64_t part, uint64_t whole)
{
  return whole > 0 ? (double)part / (double)whole : 0;
}

/* Returns the number of instructions issued per 16 points of a sweep. */
static double vector_instructions(const struct himeno_counts *counts)
{
  return LANES * emulated_share(counts->instructions, counts->points);
}

static double memory_gflops(double bytes_per_second)
{
  return bytes_per_second / HIMENO_BYTES_PER_POINT * HIMENO_FLOP_PER_POINT / 1e9;
}

/* Returns the GFLOPS if instructions were the only limit; infinity if there were none. */
static double instruction_gflops(const struct himeno_counts *counts)
{
  return INSTRUCTIONS_PER_SECOND * LANES / vector_instructions(counts) * HIMENO_FLOP_PER_POINT / 1e9;
}

void himeno_counts_text(const struct himeno_counts *c, const struct himeno_timing *t, FILE *out)
{
  fprintf(out, "\n  emulated   no speed: the emulator took %.3f s for %lld sweeps in %d block%s\n",
          t->seconds, (long long)t->sweeps, t->n_samples, t->n_samples == 1 ? "" : "s");
  fprintf(out,
          "  counts     %.1f instructions per 16 points of a sweep, %.1f%% of them with float "
          "arithmetic\n",
          vector_instructions(c), 100 * emulated_share(c->arithmetic, c->instructions));
  if (c->estimate_ns)
    fprintf(out,
            "  estimate   %.3f us for 1000 points of a sweep on a Raspberry Pi at 250 MHz, by a model,\n"
            "             not measured (doc/explanation/qpu-time.md)\n",
            emulated_share(c->estimate_ns, c->estimate_points));
}

void himeno_bound_text(const struct himeno_counts *counts, FILE *out)
{
  fprintf(out,
          "  model      not measured: a Raspberry Pi 1 to 3 is limited by its memory; 56 bytes per point\n"
          "             at 1 to 2 GB/s are %.2f to %.2f GFLOPS",
          memory_gflops(LEAST_BYTES_PER_SECOND), memory_gflops(MOST_BYTES_PER_SECOND));
  if (counts->instructions) fprintf(out, "; without that limit, %.1f", instruction_gflops(counts));
  fprintf(out, "\n");
}

void himeno_counts_document(struct doc *d, const struct himeno_counts *c)
{
  if (!doc_object(d, "counts", DOC_OPTIONAL,
                  "Only on an emulator: what all ranks' emulators counted in all sweeps. Issue counts, and a "
                  "model's estimate from them.",
                  c))
    return;
  doc_whole(d, "points", 0, "", c->points);
  doc_whole(d, "instructions", 0, "", c->instructions);
  doc_whole(d, "arithmetic", 0, "Instructions that contain a sum or product of floats.", c->arithmetic);
  doc_whole(d, "flop", 0, "", c->flop);
  doc_whole(d, "stalls", 0, "Cycles in which a processor waited.", c->stalls);
  doc_real(d, "estimate_point_seconds", DOC_OPTIONAL, "s",
           "Of one point of a sweep on a Raspberry Pi, by a model: no measurement "
           "(doc/explanation/qpu-time.md). All "
           "launches of a sweep count, over all ranks, and no exchange.",
           doc_known(1e-9 * emulated_share(c->estimate_ns, c->estimate_points)));
  doc_end(d);
}

void himeno_bound_document(struct doc *d, const struct himeno_counts *counts)
{
  if (!doc_object(d, "bound", DOC_OPTIONAL,
                  "Backend qpu: a model, not measured, of what bounds a Raspberry Pi 1 to 3; least and most.",
                  counts))
    return;
  doc_reals(d, "memory_gbps", 0, "GB/s", "", LEAST_BYTES_PER_SECOND / 1e9, MOST_BYTES_PER_SECOND / 1e9);
  doc_real(d, "instruction_gflops", DOC_OPTIONAL, "GFLOPS",
           "Were memory no bound: 750 million instructions per second.", instruction_gflops(counts));
  doc_end(d);
}

void himeno_rung_counts_text(const struct himeno_counts *counts, FILE *out)
{
  char estimate[REPORT_NUMBER_BYTES];
  fprintf(out, " %12.1f %11.1f%% %s", vector_instructions(counts),
          100 * emulated_share(counts->arithmetic, counts->instructions),
          report_number(emulated_share(counts->estimate_ns, counts->estimate_points), 13, 3, estimate));
}
