/* SPDX-License-Identifier: MIT */
#include "himeno/report/report.h"

#include <math.h>

#include "base/stats.h"

#define DAY 86400.0

static const char *name_of(const struct soak_corruption *c, char text[32])
{
  if (c->array < SOLVER_ARRAYS) return solver_array_name(c->array);
  snprintf(text, 32, "multiprocessor %d", c->processor);
  return text;
}

const char *soak_corruption_text(const struct soak_corruption *c, char *text, size_t size)
{
  int bits = __builtin_popcount(c->is ^ c->must_be);
  char name[32];
  if (c->points == 0)
    snprintf(text, size, "%s has a wrong checksum, but every point was right when it was read back",
             name_of(c, name));
  else
    snprintf(text, size, "%s %s %lld wrong point%s, first (%lld, %lld, %lld): %08x must be %08x, %d bit%s",
             name_of(c, name), c->array < SOLVER_ARRAYS ? "has" : "computes", (long long)c->points,
             c->points > 1 ? "s" : "", (long long)c->first[0], (long long)c->first[1], (long long)c->first[2],
             c->is, c->must_be, bits, bits > 1 ? "s" : "");
  return text;
}

void soak_found_document(struct doc *d, const char *name, const struct soak_found *found, int n)
{
  char text[32];
  doc_list(d, name, 0, "Incorrect arrays of ranks.", 1);
  for (int f = 0; doc_each(d, f, n); f++) {
    const struct soak_found *one = doc_at(d, found, f);
    const struct soak_corruption *c = &one->corruption;
    doc_object(d, NULL, 0, "", 1);
    doc_whole(d, "block", DOC_POSITIVE, "", one->block);
    doc_enum(d, "data", 0, DOC_WORDS(himeno_data_names), "", himeno_data_names[one->data]);
    doc_whole(d, "sweep", DOC_POSITIVE, "After which it was found.", one->sweep);
    doc_flag(d, "repeats", 0, "The block was wrong again when it was run again.", one->first > 0);
    doc_whole(d, "first_when_repeated", DOC_NULLABLE | DOC_POSITIVE, "", one->first);
    doc_whole(d, "rank", 0, "", c->rank);
    doc_text(d, "array", 0,
             "Or a multiprocessor that computes points differently than most, \"multiprocessor 17\".",
             name_of(c, text));
    doc_whole(d, "points", 0, "", c->points);
    doc_wholes(d, "first", DOC_ANY, "Global indices of the first.", c->first[0], c->first[1], c->first[2]);
    doc_hex(d, "is", 0, 8, "", 1, c->is);
    doc_hex(d, "must_be", 0, 8, "", 1, c->must_be);
    doc_end(d);
  }
  doc_end(d);
}

static double share_of(const struct himeno_ranks *ranks, int rank)
{
  const struct record_telemetry *t = &ranks->rank[rank].telemetry;
  double watts[SERIES_ROWS_MAX];
  int n = 0;
  for (int row = 0; row < t->rows; row++) {
    const double one = ranks->series[(size_t)rank * (size_t)t->rows + (size_t)row].watts;
    if (one >= 0) watts[n++] = one;
  }
  return worth_share(watts, n, t->after.watts_limit);
}

struct worth soak_worth(const struct soak_result *r, const struct himeno_ranks *ranks, double seconds)
{
  double devices = 0; /* ranks that share a device take turns on it */
  for (int n = 0; n < ranks->n; n++) devices += 1.0 / (1 + ranks->rank[n].row.shared);
  struct worth w = {devices * seconds / DAY, INFINITY, r->wrong_blocks};
  for (int n = 0; n < ranks->n; n++) worth_add(&w, share_of(ranks, n));
  return w;
}

void soak_document(struct doc *d, const struct soak_result *r, const struct worth *worth, int64_t every)
{
  if (!doc_object(d, "soak", DOC_OPTIONAL, "Only with --soak.", r->blocks > 0)) return;
  doc_real(d, "seconds", 0, "s", "Wall clock.", r->seconds);
  doc_whole(d, "blocks", DOC_POSITIVE, "", r->blocks);
  doc_whole(d, "wrong_blocks", 0, "", r->wrong_blocks);
  doc_whole(d, "corruptions", 0, "Incorrect arrays of ranks, over all blocks.", r->corruptions);
  doc_whole(d, "every", DOC_POSITIVE, "Passes from check to check of the field.", every);
  worth_document(d, DOC_OPTIONAL, worth);
  soak_found_document(d, "found", r->found, r->n);
  doc_end(d);
}

void soak_text(const struct soak_result *r, const struct worth *worth, const struct himeno_ranks *ranks,
               FILE *out)
{
  char text[256];
  if (r->blocks == 0) return;
  fprintf(out, "  soak       %.0f s, %d block%s, %d of them wrong\n", r->seconds, r->blocks,
          r->blocks < SOAK_DATA_SETS ? " in dense data alone" : "s in both data sets", r->wrong_blocks);
  for (int f = 0; f < r->n; f++) {
    const struct soak_found *found = &r->found[f];
    const struct himeno_rank *rank = &ranks->rank[found->corruption.rank];
    fprintf(out, "  CORRUPTED  block %d, %s data, after sweep %d, rank %d on %s, %s: %s; %s\n", found->block,
            himeno_data_names[found->data], found->sweep, found->corruption.rank, rank->row.host,
            rank_device(&rank->row), soak_corruption_text(&found->corruption, text, sizeof text),
            found->first ? "REPEATS when the block is run again" : "does not repeat");
  }
  if (r->corruptions > r->n)
    fprintf(out, "  ... and %lld more: --soak-log has them all\n", (long long)(r->corruptions - r->n));
  worth_text(worth, out);
}
