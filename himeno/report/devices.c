/* SPDX-License-Identifier: MIT */
/* The devices' own words, and who is slower than the others, in JSON. */
#include "config.h"

#include "base/report.h"
#include "himeno/accept/suspect.h"
#include "himeno/report/report.h"
#include "suite/series.h"

#define WORDS_MAX 800

static json_t *unless_unknown(double value)
{
  return value < 0 ? json_null() : json_real(value);
}

static json_t *range(const struct record_telemetry *t, enum telemetry_value value)
{
  double low = t->samples ? telemetry_value(&t->low, value) : -1;
  return low < 0 ? json_null() : json_pack("[f, f]", low, telemetry_value(&t->high, value));
}

static json_t *reasons_json(const struct record_telemetry *t)
{
  json_t *reasons = json_object();
  char text[40];
  for (int b = 0; b < THROTTLE_BITS; b++)
    if (t->by_reason[b])
      object_whole(reasons, telemetry_throttle_text(1 << b, text, sizeof text), t->by_reason[b]);
  return reasons;
}

static json_t *ecc_json(const struct record_telemetry *t)
{
  const struct telemetry_state *a = &t->after;
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "on", a->ecc < 0 ? json_null() : json_boolean(a->ecc),
                   "corrected", report_json_known(a->corrected), "corrected_meanwhile",
                   report_json_known(record_rise(t, FACT_CORRECTED)), "uncorrected",
                   report_json_known(a->uncorrected), "retired", report_json_known(a->retired));
}

static json_t *link_json(const struct telemetry_state *s)
{
  json_t *o = json_object();
  object_set(o, "pcie_gen", report_json_known(s->pcie_gen));
  object_set(o, "pcie_gen_max", report_json_known(s->pcie_gen_max));
  object_set(o, "pcie_width", report_json_known(s->pcie_width));
  object_set(o, "pcie_width_max", report_json_known(s->pcie_width_max));
  object_set(o, "nvlinks", report_json_known(s->nvlinks));
  object_set(o, "nvlinks_active", report_json_known(s->nvlinks_active));
  return o;
}

/* ---- blocks ---- */

/* Beside the numbers of a sample. */
#define THROTTLED TELEMETRY_VALUES

static json_t *cell(const struct telemetry_sample *s, int which)
{
  char text[TELEMETRY_THROTTLE_BYTES];
  if (which == THROTTLED)
    return s->throttle < 0 ? json_null()
                           : report_json_text(telemetry_throttle_text(s->throttle, text, sizeof text));
  double value = telemetry_value(s, (enum telemetry_value)which);
  return which == TELEMETRY_WATTS ? unless_unknown(value) : report_json_known((int64_t)value);
}

/* A value of each row; null where none is known. */
static json_t *column(const struct telemetry_sample *rows, int n, int which)
{
  json_t *values = json_array();
  int known = 0;
  for (int r = 0; r < n; r++) {
    json_t *value = cell(&rows[r], which);
    known += !json_is_null(value);
    json_array_append_new(values, value);
  }
  if (known) return values;
  json_decref(values);
  return json_null();
}

static json_t *blocks_json(const struct record_telemetry *t, const struct telemetry_sample *rows)
{
  json_t *o = json_object();
  object_whole(o, "each", t->each);
  for (int v = 0; v < TELEMETRY_VALUES; v++)
    object_set(o, telemetry_value_names[v], column(rows, t->rows, v));
  object_set(o, "throttled", column(rows, t->rows, THROTTLED));
  return o;
}

static json_t *changes_json(const struct record_telemetry *t)
{
  json_t *list = json_array();
  for (int c = 0; c < t->n_changes && c < RECORD_CHANGES_MAX; c++) {
    const struct record_change *change = &t->changes[c];
    json_array_append_new(list,
                          json_pack("{s:i, s:s, s:o, s:o, s:s}", "block", change->block, "of",
                                    telemetry_fact_names[change->of], "from", report_json_known(change->from),
                                    "to", report_json_known(change->to), "detail", change->detail));
  }
  return list;
}

/* ---- all of it ---- */

static json_t *telemetry_json(const struct record_telemetry *t)
{
  json_t *o = json_object();
  object_text(o, "source", t->source);
  object_whole(o, "samples", t->samples);
  object_whole(o, "throttled", t->throttled);
  object_set(o, "reasons", reasons_json(t));
  for (int v = 0; v < TELEMETRY_VALUES; v++)
    object_set(o, telemetry_value_names[v], range(t, (enum telemetry_value)v));
  object_set(o, "sm_mhz_max", unless_unknown(t->after.sm_mhz_max));
  object_set(o, "memory_mhz_max", unless_unknown(t->after.memory_mhz_max));
  object_set(o, "ecc", ecc_json(t));
  object_set(o, "link", link_json(&t->after));
  object_set(o, "nvlink_crc_rate", unless_unknown(t->crc_rate));
  return o;
}

json_t *himeno_telemetry_json(const struct himeno_result *result, int rank)
{
  const struct record_telemetry *t = &result->ranks[rank].telemetry;
  if (!t->source[0]) return json_null();
  json_t *all = telemetry_json(t);
  object_set(all, "blocks", blocks_json(t, result->series + (size_t)rank * (size_t)t->rows));
  object_set(all, "changes", changes_json(t));
  object_whole(all, "changes_seen", t->n_changes);
  return all;
}

json_t *himeno_counted_json(const struct record_telemetry *t)
{
  json_t *o = json_object();
  for (enum telemetry_fact c = 0; c < TELEMETRY_COUNTERS; c++)
    object_set(o, telemetry_fact_names[c], report_json_known(record_rise(t, c)));
  return o;
}

/* Who it was, and what. */
static json_t *suspect_json(const struct himeno_result *r, int rank, enum straggler_of of, double slowness)
{
  const struct rank_row *row = &r->ranks[rank].row;
  json_t *o = json_object();
  object_whole(o, "rank", rank);
  object_text(o, "host", row->host);
  object_text(o, "uuid", row->info.uuid);
  object_text(o, "of", straggler_of_name(of));
  object_real(o, "slowness", slowness);
  return o;
}

json_t *himeno_stragglers_json(const struct himeno_result *r)
{
  json_t *list = json_array();
  char words[WORDS_MAX];
  for (int s = 0; s < r->n_stragglers && s < HIMENO_STRAGGLERS_MAX; s++) {
    const struct straggler *one = &r->stragglers[s];
    json_t *o = suspect_json(r, one->rank, one->of, one->slowness);
    object_real(o, "limit", one->limit);
    object_whole(o, "beyond", one->beyond);
    object_whole(o, "blocks", r->kept_blocks);
    object_text(o, "words", suspect_straggler(r, one, words, sizeof words));
    json_array_append_new(list, o);
  }
  return list;
}

static json_t *meanwhile_json(const struct suspect_meanwhile *m)
{
  json_t *o = json_object(), *changed = json_array();
  char text[TELEMETRY_THROTTLE_BYTES];
  for (enum telemetry_value v = 0; v < TELEMETRY_VALUES; v++)
    object_set(o, telemetry_value_names[v],
               m->then[v] < 0 || m->usual[v] < 0 ? json_null()
                                                 : json_pack("[f, f]", m->then[v], m->usual[v]));
  object_text(o, "throttled", telemetry_throttle_text(m->throttle, text, sizeof text));
  for (enum telemetry_fact f = 0; f < TELEMETRY_FACTS; f++)
    if (m->changed >> f & 1) json_array_append_new(changed, report_json_text(telemetry_fact_names[f]));
  object_set(o, "changed", changed);
  return o;
}

json_t *himeno_episodes_json(const struct himeno_result *r)
{
  json_t *list = json_array();
  char words[WORDS_MAX];
  for (int e = 0; e < r->n_episodes && e < HIMENO_EPISODES_MAX; e++) {
    const struct episode *one = &r->episodes[e];
    json_t *o = suspect_json(r, one->rank, one->of, one->slowness);
    object_real(o, "begin", one->begin);
    object_real(o, "end", one->end);
    object_whole(o, "first_block", one->first);
    object_whole(o, "last_block", one->last);
    const struct suspect_meanwhile m = suspect_meanwhile(r, one);
    object_set(o, "meanwhile", meanwhile_json(&m));
    object_text(o, "words", suspect_episode(r, one, words, sizeof words));
    json_array_append_new(list, o);
  }
  return list;
}

/* ---- each rank's blocks ---- */

/* Of the kept blocks every so manieth is stored: as many of all ranks as rows of telemetry are. */
static int series_step(int blocks, int ranks)
{
  const int all = SERIES_ROWS_ALL / ranks, most = all > SERIES_ROWS_MIN ? all : SERIES_ROWS_MIN;
  int step = 1;
  while (blocks / step > most) step *= 2;
  return step;
}

static json_t *times_json(const struct himeno_result *r, int step, enum straggler_of of)
{
  json_t *ranks = json_array();
  for (int rank = 0; rank < r->n_ranks; rank++) {
    const struct record_block *blocks = r->times + (size_t)rank * (size_t)r->kept_blocks;
    json_t *times = json_array();
    for (int b = step - 1; b < r->kept_blocks; b += step)
      json_array_append_new(
          times, report_json_real(of == STRAGGLER_COMPUTE ? blocks[b].compute : blocks[b].exchange));
    json_array_append_new(ranks, times);
  }
  return ranks;
}

json_t *himeno_series_json(const struct himeno_result *r)
{
  if (r->kept_blocks == 0) return json_null();
  const int step = series_step(r->kept_blocks, r->n_ranks);
  json_t *o = json_object(), *blocks = json_array(), *ends = json_array();
  for (int b = step - 1; b < r->kept_blocks; b += step) {
    json_array_append_new(blocks, json_integer(r->when[b].block));
    json_array_append_new(ends, report_json_real(r->when[b].end));
  }
  object_flag(o, "capped", r->kept_blocks / step < r->n_samples);
  object_set(o, "blocks", blocks);
  object_set(o, "ends", ends);
  for (enum straggler_of of = 0; of < STRAGGLER_KINDS; of++)
    object_set(o, straggler_of_name(of), times_json(r, step, of));
  return o;
}
