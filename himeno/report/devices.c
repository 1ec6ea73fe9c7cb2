/* SPDX-License-Identifier: MIT */
/* JSON fields of telemetry and of the ranks' blocks. */
#include "himeno/report/report.h"
#include "judge/straggler.h"

static void range_document(struct doc *d, const struct record_telemetry *t, enum telemetry_value value)
{
  doc_reals(d, telemetry_value_names[value], DOC_NULLABLE, "",
            "Least and largest, read after each block; null if unknown.",
            t->samples ? telemetry_value(&t->low, value) : -1, telemetry_value(&t->high, value));
}

static void reasons_document(struct doc *d, const struct record_telemetry *t)
{
  char text[40];
  if (!doc_map(d, "reasons", 0, "Blocks by reason of throttling.")) return;
  for (int b = 0; doc_each(d, b, THROTTLE_BITS); b++)
    if (d->schema || t->by_reason[b])
      doc_whole(d, telemetry_throttle_text(1 << b, text, sizeof text), DOC_POSITIVE, "", t->by_reason[b]);
  doc_end(d);
}

static void ecc_document(struct doc *d, const struct record_telemetry *t)
{
  const struct telemetry_state *a = &t->after;
  doc_object(d, "ecc", 0, "", 1);
  doc_flag(d, "on", DOC_NULLABLE, "", a->ecc);
  doc_whole(d, "corrected", DOC_NULLABLE, "", a->corrected);
  doc_whole(d, "uncorrected", DOC_NULLABLE, "", a->uncorrected);
  doc_whole(d, "retired", DOC_NULLABLE, "Pages or rows of memory out of use.", a->retired);
  doc_end(d);
}

static void link_document(struct doc *d, const struct telemetry_state *s)
{
  doc_object(d, "link", 0, "", 1);
  doc_whole(d, "pcie_gen", DOC_NULLABLE, "", s->pcie_gen);
  doc_whole(d, "pcie_gen_max", DOC_NULLABLE, "", s->pcie_gen_max);
  doc_whole(d, "pcie_width", DOC_NULLABLE, "", s->pcie_width);
  doc_whole(d, "pcie_width_max", DOC_NULLABLE, "", s->pcie_width_max);
  doc_whole(d, "nvlinks", DOC_NULLABLE, "", s->nvlinks);
  doc_whole(d, "nvlinks_active", DOC_NULLABLE, "", s->nvlinks_active);
  doc_end(d);
}

/* Writes one value of each row; null if no row has it. */
static void column_document(struct doc *d, const struct telemetry_sample *rows, int n,
                            enum telemetry_value value)
{
  int known = 0;
  for (int r = 0; r < n; r++) known += telemetry_value(&rows[r], value) >= 0;
  if (!doc_list(d, telemetry_value_names[value], DOC_NULLABLE, "", known)) return;
  for (int r = 0; doc_each(d, r, n); r++)
    if (d->schema || value == TELEMETRY_WATTS)
      doc_real(d, NULL, DOC_NULLABLE, "", "", telemetry_value(&rows[r], value));
    else
      doc_whole(d, NULL, DOC_NULLABLE, "", telemetry_value(&rows[r], value));
  doc_end(d);
}

static void devices_throttled_document(struct doc *d, const struct telemetry_sample *rows, int n)
{
  char text[TELEMETRY_THROTTLE_BYTES];
  int known = 0;
  for (int r = 0; r < n; r++) known += rows[r].throttle >= 0;
  if (!doc_list(d, "throttled", DOC_NULLABLE, "Reasons; empty for none.", known)) return;
  for (int r = 0; doc_each(d, r, n); r++)
    doc_text(d, NULL, DOC_NULLABLE | DOC_ANY, "",
             rows[r].throttle < 0 ? NULL : telemetry_throttle_text(rows[r].throttle, text, sizeof text));
  doc_end(d);
}

static void devices_blocks_document(struct doc *d, const struct record_telemetry *t,
                                    const struct telemetry_sample *rows)
{
  doc_object(d, "blocks", DOC_OPTIONAL,
             "Read after each sample of result.samples, in order. A row stands for each blocks (the last "
             "for the rest): the most watts and degrees, the least clocks, all reasons. A column that is "
             "all unknown is null.",
             1);
  doc_whole(d, "each", DOC_POSITIVE, "", t->each);
  for (enum telemetry_value v = 0; v < TELEMETRY_VALUES; v++) column_document(d, rows, t->rows, v);
  devices_throttled_document(d, rows, t->rows);
  doc_end(d);
}

static void changes_document(struct doc *d, const struct himeno_ranks *ranks, int rank, int n)
{
  doc_list(d, "changes", DOC_OPTIONAL,
           "Values that changed after an earlier sample (counted from 0): at most the first 32 of "
           "changes_seen.",
           1);
  for (int c = 0; doc_each(d, c, n < RECORD_CHANGES_MAX ? n : RECORD_CHANGES_MAX); c++) {
    const struct record_change *change = doc_at(d, ranks->changes[c], rank);
    doc_object(d, NULL, 0, "", 1);
    doc_whole(d, "block", 0, "", change->block);
    doc_enum(d, "of", 0, DOC_WORDS(telemetry_fact_names), "", telemetry_fact_names[change->of]);
    doc_whole(d, "from", DOC_NULLABLE, "", change->from);
    doc_whole(d, "to", DOC_NULLABLE, "", change->to);
    doc_text(d, "detail", DOC_OPTIONAL | DOC_ANY, "The last Xid, or the network card.", change->detail);
    doc_end(d);
  }
  doc_end(d);
}

void himeno_telemetry_document(struct doc *d, const struct himeno_ranks *ranks, int rank)
{
  const struct himeno_rank *of = doc_at(d, ranks->rank, rank);
  const struct record_telemetry *t = &of->telemetry;
  if (!doc_object(d, "telemetry", DOC_OPTIONAL | DOC_NULLABLE,
                  "What the device reports of itself; null if nothing answers. Unknown values are null.",
                  t->source[0]))
    return;
  doc_enum(d, "source", 0, DOC_WORDS(telemetry_sources), "", t->source);
  doc_whole(d, "samples", 0, "", t->samples);
  doc_whole(d, "throttled", 0, "Blocks after which clocks were held down.", t->throttled);
  reasons_document(d, t);
  for (enum telemetry_value v = 0; v < TELEMETRY_VALUES; v++) range_document(d, t, v);
  doc_real(d, "sm_mhz_max", DOC_NULLABLE, "MHz", "", t->after.sm_mhz_max);
  doc_real(d, "memory_mhz_max", DOC_NULLABLE, "MHz", "", t->after.memory_mhz_max);
  ecc_document(d, t);
  link_document(d, &t->after);
  doc_real(d, "nvlink_crc_rate", DOC_OPTIONAL | DOC_NULLABLE, "1/s",
           "CRC errors per second of all its NVLinks: the most over a minute of the run; those of a shorter "
           "run over a minute.",
           t->crc_rate);
  devices_blocks_document(d, t, doc_at(d, ranks->series, (size_t)rank * (size_t)t->rows));
  changes_document(d, ranks, rank, t->n_changes);
  doc_whole(d, "changes_seen", DOC_OPTIONAL, "", t->n_changes);
  doc_end(d);
}

void himeno_counted_document(struct doc *d, const struct record_telemetry *t)
{
  char detail[TELEMETRY_DETAIL_BYTES];
  doc_object(d, "counted", DOC_OPTIONAL,
             "By how much error counters rose since the run began; null if they cannot be read. Network "
             "cards are counted by the first rank of a host.",
             1);
  for (enum telemetry_fact c = 0; c < TELEMETRY_COUNTERS; c++)
    doc_whole(d, telemetry_fact_names[c], DOC_NULLABLE, "", record_rise(t, c));
  doc_end(d);
  doc_object(d, "counted_last", DOC_OPTIONAL, "The last event of counters that rose.", 1);
  for (enum telemetry_fact c = FACT_XIDS; c <= FACT_CARD_ERRORS; c++)
    doc_text(d, telemetry_fact_names[c], DOC_OPTIONAL, c == FACT_XIDS ? "Its number." : "The network card.",
             record_rise(t, c) > 0 && telemetry_fact_detail(&t->after, c, detail)[0] ? detail : NULL);
  doc_end(d);
}

/* ---- each rank's blocks ---- */

static void times_document(struct doc *d, const struct himeno_ranks *r, enum judge_of of)
{
  static const char *const about[] = {
      "Of each rank, of each block: seconds per sweep of interior and boundary, without what it waited for "
      "neighbours within them.",
      "Seconds per sweep of packing, copies and transfer, without waiting for a late neighbour."};
  doc_list(d, judge_of_names[of], 0, about[of], 1);
  for (int rank = 0; doc_each(d, rank, r->n); rank++) {
    const struct record_block *blocks = doc_at(d, r->times, (size_t)rank * (size_t)r->kept_blocks);
    doc_list(d, NULL, 0, "", 1);
    for (int b = 0; doc_each(d, b, r->kept_blocks); b++)
      doc_real(d, NULL, DOC_ANY, "", "", of == JUDGE_COMPUTE ? blocks[b].compute : blocks[b].exchange);
    doc_end(d);
  }
  doc_end(d);
}

void himeno_series_document(struct doc *d, const struct himeno_ranks *r)
{
  if (!doc_object(d, "series", DOC_OPTIONAL | DOC_NULLABLE,
                  "Each rank's timed blocks; null if nothing is timed. At most 256, evenly over the run; "
                  "fewer of more than 256 ranks, but at least 16.",
                  r->kept_blocks > 0))
    return;
  doc_list(d, "blocks", 0, "Which of the samples each is, from 0.", 1);
  for (int b = 0; doc_each(d, b, r->kept_blocks); b++) doc_whole(d, NULL, 0, "", r->when[b].block);
  doc_end(d);
  doc_list(d, "ends", 0, "Of each, seconds since the first timed block began.", 1);
  for (int b = 0; doc_each(d, b, r->kept_blocks); b++) doc_real(d, NULL, DOC_ANY, "s", "", r->when[b].end);
  doc_end(d);
  for (enum judge_of of = 0; of < JUDGE_KINDS; of++) times_document(d, r, of);
  doc_end(d);
}
