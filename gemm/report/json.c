/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "gemm/report/report.h"

/* Documents of earlier versions have "partial" instead of "incomplete". */
static const char *const verdicts[] = {"pass", "incomplete", "partial", "wrong", "environment"};
static const struct doc_words rank_verdicts = {verdicts, 4, sizeof *verdicts};

static void size_document(struct doc *d, const struct gemm_problem *p)
{
  doc_whole(d, "m", DOC_POSITIVE, "", p->m);
  doc_whole(d, "n", DOC_POSITIVE, "", p->n);
  doc_whole(d, "k", DOC_POSITIVE, "", p->k);
}

static void card_document(struct doc *d, const struct gemm_machine *card)
{
  const double value[] = {card->ceilings.flops / 1e9, card->ceilings.bytes_per_second / 1e9,
                          card->ceilings.local_bytes_per_second / 1e9, card->units};
  if (!doc_list(d, "ceilings", DOC_OPTIONAL,
                "Of --ceilings, the device that predictions are for: GFLOPS, GB/s of device memory, GB/s of "
                "local memory, compute units.",
                card->units > 0))
    return;
  for (int n = 0; doc_each(d, n, 4); n++) doc_real(d, NULL, 0, "", "", value[n]);
  doc_end(d);
}

/* A ladder's document has sizes, kernels and devices in other places than a product's document. */
static void gemm_config_document(struct doc *d, const struct gemm_run *run)
{
  const struct gemm_problem *p = run->result.ladder  ? &run->result.ladder->sizes[0].problem
                                 : run->work.cluster ? &run->work.cluster->whole
                                                     : &run->work.problem;
  doc_object(d, "config", 0, "", 1);
  if (run->rig.config.ladder) {
    doc_text(d, "device", 0, "Rank 0's.", run->rig.placement.info.name);
    doc_text(d, "driver", DOC_ANY, "", run->rig.placement.info.driver);
    doc_whole(d, "ranks", DOC_POSITIVE, "", run->rig.placement.ranks);
    card_document(d, &run->rig.config.card);
  } else {
    size_document(d, p);
    doc_whole(d, "lda", DOC_POSITIVE, "", p->ld[GEMM_A]);
    doc_whole(d, "ldb", DOC_POSITIVE, "", p->ld[GEMM_B]);
    doc_whole(d, "ldc", DOC_POSITIVE, "", p->ld[GEMM_C]);
    doc_text(d, "kernel", 0, "", run->result.series[0].kernel->name);
  }
  doc_enum(d, "type", 0, DOC_COLUMN(gemm_types, name), "", gemm_types[p->type].name);
  doc_enum(d, "trans", 0, DOC_WORDS(gemm_trans_names), "", gemm_trans_name(p));
  doc_real(d, "alpha", DOC_ANY, "", "", p->alpha);
  doc_real(d, "beta", DOC_ANY, "", "", p->beta);
  doc_enum(d, "data", 0, DOC_WORDS(gemm_data_names), "", gemm_data_names[run->rig.config.data]);
  doc_enum(d, "backend", 0, DOC_WORDS(gpu_backend_names), "", run->rig.placement.backend->name);
  doc_whole(d, "qpus", DOC_OPTIONAL, "QPUs that a product runs on; only of backend qpu.",
            run->rig.placement.backend->units_max ? run->rig.placement.info.compute_units : -1);
  doc_real(d, "block_seconds", DOC_OPTIONAL | DOC_NULLABLE, "s",
           "Length of a timed block, which has 10000 products at most.", run->rig.config.block);
  doc_flag(d, "accept", DOC_OPTIONAL, "A wrong result of a library counts as the device's (--accept).",
           run->rig.config.accept);
  if (!run->rig.config.ladder) gemm_cluster_config_document(d, run->work.cluster, run->rig.config.weak);
  doc_end(d);
}

static void gemm_ceilings_document(struct doc *d, int rules, const struct gemm_ceilings *c)
{
  doc_object(d, "ceilings", rules, "What rank 0's device reached in this run; null if not measured.", 1);
  doc_real(d, "gflops", DOC_NULLABLE, "GFLOPS", "Multiply-adds in registers.", doc_known(c->flops / 1e9));
  doc_real(d, "gbps", DOC_NULLABLE, "GB/s", "Reads of device memory.", doc_known(c->bytes_per_second / 1e9));
  doc_real(d, "local_gbps", DOC_NULLABLE, "GB/s", "Reads of local memory, over the whole device.",
           doc_known(c->local_bytes_per_second / 1e9));
  doc_end(d);
}

static void counts_document(struct doc *d, const struct gemm_counts *c, int emulated)
{
  if (!doc_object(d, "counts", DOC_OPTIONAL,
                  "Only on an emulator: issue counts of one product, with --distributed of all ranks, and a "
                  "model's estimate.",
                  emulated))
    return;
  doc_whole(d, "instructions", 0, "", c->instructions);
  doc_whole(d, "arithmetic", 0, "", c->arithmetic);
  doc_whole(d, "flop", 0, "", c->flop);
  doc_whole(d, "loop_turns", 0, "", c->loop_iterations);
  doc_real(d, "estimate_seconds", DOC_OPTIONAL | DOC_POSITIVE, "s",
           "Of a product on a Raspberry Pi, by a model: no measurement (doc/explanation/qpu-time.md). With "
           "--distributed "
           "the slowest rank's, exchanges aside.",
           c->estimate_seconds);
  doc_end(d);
}

static void gemm_samples_document(struct doc *d, const struct gemm_series *s)
{
  doc_list(d, "samples", 0, "Rank 0's seconds of each block.", 1);
  for (int n = 0; doc_each(d, n, s->n_samples); n++) doc_real(d, NULL, 0, "s", "", s->samples[n]);
  doc_end(d);
}

static void gemm_blocks_document(struct doc *d, const struct gemm_blocks *b)
{
  doc_object(d, "blocks", 0, "How the kernel divides the work, in elements; all 0 if it does not say.", 1);
  doc_whole(d, "group_m", 0, "", b->group_m);
  doc_whole(d, "group_n", 0, "", b->group_n);
  doc_whole(d, "group_k", 0, "", b->group_k);
  doc_whole(d, "item_m", 0, "", b->item_m);
  doc_whole(d, "item_n", 0, "", b->item_n);
  doc_whole(d, "stages", 0, "", b->stages);
  doc_flag(d, "ahead", 0, "", b->ahead);
  doc_whole(d, "splits", DOC_POSITIVE, "", b->splits > 0 ? b->splits : 1);
  doc_flag(d, "stays", DOC_OPTIONAL,
           "As many groups as run at one time share all tiles and steps of k evenly.", b->stays);
  doc_end(d);
}

static void resources_document(struct doc *d, const struct gemm_resources *r)
{
  doc_object(d, "resources", 0, "null if the backend does not report it.", 1);
  doc_whole(d, "threads", DOC_NULLABLE, "", r->threads ? r->threads : -1);
  doc_whole(d, "registers", DOC_NULLABLE, "", r->registers ? r->registers : -1);
  doc_whole(d, "local_bytes", DOC_NULLABLE, "", r->threads ? r->local_bytes : -1);
  doc_real(d, "occupancy", DOC_NULLABLE, "", "At most 1.", doc_known(r->occupancy));
  doc_end(d);
}

/* Returns the error that a check found, or NaN if nothing was compared. */
static double unless_unverified(const struct gemm_check *c, double error)
{
  return c->how == GEMM_NOT_VERIFIED ? NAN : error;
}

static void gemm_check_document(struct doc *d, const struct gemm_rig *rig, const struct gemm_series *s)
{
  const struct gemm_check *c = &s->check;
  doc_object(d, "check", 0, "Rank 0's comparison with float64, or of f64 with double-double.", 1);
  doc_enum(d, "how", 0, DOC_WORDS(gemm_verified_names), "", gemm_verified_names[c->how]);
  doc_whole(d, "compared", 0, "", c->compared);
  doc_real(d, "element_error", DOC_NULLABLE | DOC_ANY, "", "Worst |out - ref| / (|alpha| |A||B| + |beta C|).",
           unless_unverified(c, c->element_error));
  doc_real(d, "element_bound", DOC_NULLABLE, "", "", unless_unverified(c, c->bounds.element));
  doc_real(d, "norm_error", DOC_NULLABLE | DOC_ANY, "", "|out - ref| / |ref| in the Frobenius norm.",
           unless_unverified(c, c->norm_error));
  doc_real(d, "norm_bound", DOC_NULLABLE, "", "", unless_unverified(c, c->bounds.norm));
  doc_enum(d, "arithmetic", DOC_OPTIONAL, DOC_WORDS(gemm_arithmetic_names),
           "Of f64 and random data: whether bits and error are those of float64 additions.",
           gemm_arithmetic_of(rig, s));
  doc_end(d);
}

static void gemm_predicted_document(struct doc *d, const struct gemm_rig *rig, const struct gemm_series *s)
{
  const struct gemm_prediction *p = &s->predicted;
  const double peak = gemm_run_predicted(rig).ceilings.flops / 1e9,
               gflops = p->seconds > 0 ? s->flop / p->seconds / 1e9 : 0;
  if (!doc_object(d, "predicted", DOC_OPTIONAL | DOC_NULLABLE,
                  "By the roofline model; null if it says nothing.", gflops > 0))
    return;
  doc_real(d, "gflops", DOC_POSITIVE, "GFLOPS", "", gflops * rig->placement.ranks);
  doc_real(d, "peak_share", DOC_POSITIVE, "", "", gflops / peak);
  doc_enum(d, "bound", 0, DOC_WORDS(gemm_bound_names), "", gemm_bound_names[p->bound]);
  doc_real(d, "device_intensity", DOC_POSITIVE, "", "Operations per byte of device memory.",
           p->device_intensity);
  doc_real(d, "filled", DOC_POSITIVE, "", "Share of the machine that has work inside the matrix.", p->filled);
  doc_end(d);
}

static const char *series_why(const struct gemm_result *result, const struct gemm_series *s)
{
  if (strcmp(gemm_series_verdict(result, s), "incomplete") == 0)
    return result->partial ? "a signal ended the run" : "a wrong result ended the run";
  return s->why[0] ? s->why : NULL;
}

static void series_document(struct doc *d, const struct gemm_rig *rig, const struct gemm_series *s,
                            const char *verdict, const char *why)
{
  const int emulated = rig->placement.info.emulated;
  doc_text(d, "kernel", 0, "", s->kernel->name);
  doc_text(d, "step", 0, "What it does that the rung below does not.", s->kernel->step);
  doc_flag(d, "yardstick", DOC_OPTIONAL, "It is a reference library.", s->kernel->is_reference);
  doc_whole(d, "rung", DOC_OPTIONAL, "0: not on the ladder.", s->kernel->rung);
  doc_enum(
      d, "verdict", 0, DOC_WORDS(verdicts),
      "environment: it cannot run here, and why says why. incomplete (partial in earlier builds): the run "
      "ended before its blocks did. A result is wrong too if A or B changed in device memory, and with "
      "--accept if a library's is.",
      verdict);
  doc_real(d, "gflops", DOC_NULLABLE, "GFLOPS", "null on an emulator, which has no speed.",
           emulated ? NAN : gemm_series_gflops(rig, s));
  doc_real(d, "peak_share", DOC_OPTIONAL | DOC_NULLABLE, "",
           "Of the ceiling of multiply-adds; null if one of the two is unknown.",
           doc_known(gemm_series_share(rig, s)));
  gemm_predicted_document(d, rig, s);
  doc_whole(d, "launches", 0, "Products per block.", s->launches);
  gemm_samples_document(d, s);
  gemm_blocks_document(d, &s->blocks);
  resources_document(d, &s->resources);
  gemm_check_document(d, rig, s);
  counts_document(d, &s->counts, emulated);
  doc_text(d, "why", DOC_OPTIONAL, "Why the verdict is not pass.", why);
}

/* The kernel's result may be correct although the verdict is wrong: a library failed with --accept,
 * or A or B changed in device memory. Then `why` is the fault of the first rank that has one. */
static void gemm_result_document(struct doc *d, const struct gemm_rig *rig, const struct gemm_result *result)
{
  const struct gemm_series *s = doc_at(d, result->series, 0);
  char why[sizeof result->ranks->fault + 32];
  int r = 0;
  const int judged = result->verdict == STATUS_WRONG && s->status != STATUS_WRONG;
  while (judged && r + 1 < rig->placement.ranks && !result->ranks[r].fault[0]) r++;
  if (judged) snprintf(why, sizeof why, "rank %d: %s", r, result->ranks[r].fault);
  doc_object(d, "result", 0, "", 1);
  series_document(d, rig, s, judged ? status_verdict(result->verdict) : gemm_series_verdict(result, s),
                  judged ? why : series_why(result, s));
  doc_real(d, "seconds", 0, "s",
           "Median of a product, the slowest rank's; on an emulator the emulator's own.", s->seconds);
  doc_end(d);
}

static void references_document(struct doc *d, const struct gemm_rig *rig, const struct gemm_result *result)
{
  const double ours = d->schema ? 0 : gemm_series_gflops(rig, &result->series[0]);
  doc_list(d, "yardsticks", 0, "Reference libraries, measured in the same run.", 1);
  for (int y = 0; doc_each(d, y, result->n_series - 1); y++) {
    const struct gemm_series *s = doc_at(d, result->series, y + 1);
    const double rate = gemm_series_gflops(rig, s);
    doc_object(d, NULL, 0, "", 1);
    series_document(d, rig, s, gemm_series_verdict(result, s), series_why(result, s));
    doc_real(d, "ours_share", DOC_NULLABLE, "", "Our rate over this one's.", ours / doc_known(rate));
    doc_end(d);
  }
  doc_end(d);
}

/* Writes a rank's own result, which is independent of the other ranks. */
static void gemm_rank_document(struct doc *d, const struct gemm_result *result, int n)
{
  const struct gemm_rank *r = doc_at(d, result->ranks, n);
  doc_object(d, NULL, 0, "", 1);
  rank_row_document(d, &r->row, n, 1);
  doc_enum(d, "verdict", DOC_OPTIONAL, rank_verdicts, "Of the rank's own products.",
           status_verdict(r->fault[0]       ? STATUS_WRONG
                          : result->partial ? STATUS_INCOMPLETE
                                            : STATUS_OK));
  doc_real(d, "element_error", DOC_OPTIONAL | DOC_NULLABLE | DOC_ANY, "",
           "As in check, of this rank; null if nothing was compared.",
           unless_unverified(&r->check, r->check.element_error));
  doc_real(d, "norm_error", DOC_OPTIONAL | DOC_NULLABLE | DOC_ANY, "", "",
           unless_unverified(&r->check, r->check.norm_error));
  doc_real(
      d, "starved", DOC_OPTIONAL | DOC_NULLABLE, "",
      "Share of the timed part in which a busy thread of the rank was ready but had no core; null of a GPU, "
      "and if the kernel does not count it.",
      r->starved);
  doc_text(d, "why", DOC_OPTIONAL, "What was wrong on this rank.", r->fault[0] ? r->fault : NULL);
  doc_text(d, "warning", DOC_OPTIONAL, "What a library got wrong on this rank, without --accept.",
           r->warning[0] ? r->warning : NULL);
  doc_end(d);
}

static void ladder_size_document(struct doc *d, const struct gemm_rig *rig, const struct gemm_result *result,
                                 const struct gemm_ladder_size *size)
{
  doc_object(d, NULL, 0, "", 1);
  size_document(d, &size->problem);
  doc_list(d, "rungs", DOC_POSITIVE, "From the lowest up, then the reference libraries.", 1);
  for (int s = 0; doc_each(d, s, size->n_series); s++) {
    const struct gemm_series *series = doc_at(d, size->series, s);
    doc_object(d, NULL, 0, "", 1);
    series_document(d, rig, series, gemm_series_verdict(result, series), series_why(result, series));
    doc_end(d);
  }
  doc_end(d);
  doc_end(d);
}

static void ladder_document(struct doc *d, const struct gemm_run *run)
{
  doc_frame(
      d, "gemm-ladder/2", "gemm-gpu", "Ladder of gemm-gpu",
      "A backend's kernels over several sizes. Rates count 2·m·n·k operations and, over all ranks, go by the "
      "slowest one's clock.");
  doc_flag(d, "partial", DOC_OPTIONAL, "A signal ended the run: the document has what was measured.",
           run->result.partial);
  gemm_config_document(d, run);
  gemm_ceilings_document(d, 0, &run->rig.ceilings);
  doc_list(d, "sizes", DOC_POSITIVE, "", 1);
  for (int n = 0; doc_each(d, n, run->result.ladder->n); n++)
    ladder_size_document(d, &run->rig, &run->result,
                         d->schema ? doc_nothing(sizeof(struct gemm_ladder_size))
                                   : &run->result.ladder->sizes[n]);
  doc_end(d);
}

static void gemm_product_document(struct doc *d, const struct gemm_run *run)
{
  doc_frame(
      d, "gemm-gpu/1", "gemm-gpu", "Result of gemm-gpu",
      "One product. Rates count 2·m·n·k operations and, over all ranks, go by the slowest one's clock. A "
      "field "
      "that is not required is missing in documents of earlier builds, or its description says when it is "
      "present.");
  doc_flag(d, "partial", DOC_OPTIONAL, "A signal ended the run: the document has what was measured.",
           run->result.partial);
  gemm_config_document(d, run);
  gemm_ceilings_document(d, DOC_OPTIONAL, &run->rig.ceilings);
  gemm_result_document(d, &run->rig, &run->result);
  references_document(d, &run->rig, &run->result);
  gemm_cluster_phases_document(d, run);
  gemm_cluster_paths_document(d, run);
  doc_list(d, "ranks", DOC_POSITIVE, "", 1);
  for (int r = 0; doc_each(d, r, run->rig.placement.ranks); r++) gemm_rank_document(d, &run->result, r);
  doc_end(d);
  const struct worth worth = gemm_worth(&run->rig, &run->result);
  if (doc_object(d, "worth", DOC_OPTIONAL,
                 "With --accept, not on an emulator. Of the products that were compared.",
                 run->rig.config.accept && !run->rig.placement.info.emulated)) {
    worth_document(d, 0, &worth);
    doc_end(d);
  }
}

void gemm_document(struct doc *d, const struct gemm_run *run)
{
  (run->rig.config.ladder ? ladder_document : gemm_product_document)(d, run);
}
