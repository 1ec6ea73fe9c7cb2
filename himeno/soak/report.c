/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/report.h"
#include "himeno/soak/report.h"

const char *soak_corruption_text(const struct soak_corruption *c, char *text, size_t size)
{
  int bits = __builtin_popcount(c->is ^ c->must_be);
  if (c->points == 0)
    snprintf(text, size, "%s summed up wrong, but every point was right when it was read back",
             solver_array_name(c->array));
  else
    snprintf(text, size, "%s has %lld wrong point%s, first (%lld, %lld, %lld): %08x must be %08x, %d bit%s",
             solver_array_name(c->array), (long long)c->points, c->points > 1 ? "s" : "",
             (long long)c->first[0], (long long)c->first[1], (long long)c->first[2], c->is, c->must_be, bits,
             bits > 1 ? "s" : "");
  return text;
}

json_t *soak_found_json(const struct soak_found *f)
{
  const struct soak_corruption *c = &f->corruption;
  char is[12], must_be[12];
  snprintf(is, sizeof is, "%08x", c->is);
  snprintf(must_be, sizeof must_be, "%08x", c->must_be);
  json_t *o = json_object();
  object_whole(o, "block", f->block);
  object_text(o, "data", himeno_data_names[f->data]);
  object_whole(o, "sweep", f->sweep);
  object_flag(o, "repeats", f->first > 0);
  object_set(o, "first_when_repeated", f->first ? json_integer(f->first) : json_null());
  object_whole(o, "rank", c->rank);
  object_text(o, "array", solver_array_name(c->array));
  object_whole(o, "points", c->points);
  object_set(o, "first",
             json_pack("[I,I,I]", (json_int_t)c->first[0], (json_int_t)c->first[1], (json_int_t)c->first[2]));
  object_text(o, "is", is);
  object_text(o, "must_be", must_be);
  return o;
}

json_t *soak_json(const struct soak_result *r, int64_t every)
{
  json_t *found = json_array();
  for (int f = 0; f < r->n; f++) json_array_append_new(found, soak_found_json(&r->found[f]));
  json_t *o = json_object();
  object_real(o, "seconds", r->seconds);
  object_whole(o, "blocks", r->blocks);
  object_whole(o, "wrong_blocks", r->wrong_blocks);
  object_whole(o, "corruptions", r->corruptions);
  object_whole(o, "every", every);
  object_set(o, "found", found);
  return o;
}

void soak_text(const struct himeno_result *result, FILE *out)
{
  const struct soak_result *r = &result->soak;
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
}
