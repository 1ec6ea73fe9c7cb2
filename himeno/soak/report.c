/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/soak/report.h"

#include <math.h>

#include "base/report.h"
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
    snprintf(text, size, "%s summed up wrong, but every point was right when it was read back",
             name_of(c, name));
  else
    snprintf(text, size, "%s %s %lld wrong point%s, first (%lld, %lld, %lld): %08x must be %08x, %d bit%s",
             name_of(c, name), c->array < SOLVER_ARRAYS ? "has" : "computes", (long long)c->points,
             c->points > 1 ? "s" : "", (long long)c->first[0], (long long)c->first[1], (long long)c->first[2],
             c->is, c->must_be, bits, bits > 1 ? "s" : "");
  return text;
}

json_t *soak_found_json(const struct soak_found *f)
{
  const struct soak_corruption *c = &f->corruption;
  char is[12], must_be[12], name[32];
  snprintf(is, sizeof is, "%08x", c->is);
  snprintf(must_be, sizeof must_be, "%08x", c->must_be);
  json_t *o = json_object();
  object_whole(o, "block", f->block);
  object_text(o, "data", himeno_data_names[f->data]);
  object_whole(o, "sweep", f->sweep);
  object_flag(o, "repeats", f->first > 0);
  object_set(o, "first_when_repeated", f->first ? json_integer(f->first) : json_null());
  object_whole(o, "rank", c->rank);
  object_text(o, "array", name_of(c, name));
  object_whole(o, "points", c->points);
  object_set(o, "first",
             json_pack("[I,I,I]", (json_int_t)c->first[0], (json_int_t)c->first[1], (json_int_t)c->first[2]));
  object_text(o, "is", is);
  object_text(o, "must_be", must_be);
  return o;
}

/* Ranks that share a device take turns. */
static double device_days(const struct himeno_result *result)
{
  double devices = 0;
  for (int r = 0; r < result->n_ranks; r++) devices += 1.0 / (1 + result->ranks[r].row.shared);
  return devices * result->seconds / DAY;
}

static double share_of(const struct himeno_result *result, int rank)
{
  const struct record_telemetry *t = &result->ranks[rank].telemetry;
  double watts[SERIES_ROWS_MAX];
  int n = 0;
  for (int row = 0; row < t->rows; row++) {
    const double one = result->series[(size_t)rank * (size_t)t->rows + (size_t)row].watts;
    if (one >= 0) watts[n++] = one;
  }
  return worth_share(watts, n, t->after.watts_limit);
}

struct worth soak_worth(const struct himeno_result *result)
{
  struct worth w = {device_days(result), INFINITY, result->soak.wrong_blocks};
  for (int r = 0; r < result->n_ranks; r++) worth_add(&w, share_of(result, r));
  return w;
}

json_t *soak_json(const struct himeno_result *result, int64_t every)
{
  const struct soak_result *r = &result->soak;
  const struct worth worth = soak_worth(result);
  json_t *found = json_array();
  for (int f = 0; f < r->n; f++) json_array_append_new(found, soak_found_json(&r->found[f]));
  json_t *o = json_object();
  object_real(o, "seconds", r->seconds);
  object_whole(o, "blocks", r->blocks);
  object_whole(o, "wrong_blocks", r->wrong_blocks);
  object_whole(o, "corruptions", r->corruptions);
  object_whole(o, "every", every);
  worth_json(&worth, o);
  object_set(o, "found", found);
  return o;
}

void soak_text(const struct himeno_result *result, FILE *out)
{
  const struct soak_result *r = &result->soak;
  const struct worth worth = soak_worth(result);
  char text[256];
  if (r->blocks == 0) return;
  fprintf(out, "  soak       %.0f s, %d block%s, %d of them wrong\n", r->seconds, r->blocks,
          r->blocks < SOAK_DATA_SETS ? " in dense data alone" : "s in both data sets", r->wrong_blocks);
  for (int f = 0; f < r->n; f++) {
    const struct soak_found *found = &r->found[f];
    const struct himeno_rank *rank = &result->ranks[found->corruption.rank];
    fprintf(out, "  CORRUPTED  block %d, %s data, after sweep %d, rank %d on %s, %s: %s; %s\n", found->block,
            himeno_data_names[found->data], found->sweep, found->corruption.rank, rank->row.host,
            rank_device(&rank->row), soak_corruption_text(&found->corruption, text, sizeof text),
            found->first ? "REPEATS when the block is run again" : "does not repeat");
  }
  if (r->corruptions > r->n)
    fprintf(out, "  ... and %lld more: --soak-log has them all\n", (long long)(r->corruptions - r->n));
  worth_text(&worth, "swept", out);
}
