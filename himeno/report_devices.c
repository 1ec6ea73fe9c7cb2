/* SPDX-License-Identifier: MIT */
/* The devices' own words, and who is slower than the others, in JSON. */
#include "config.h"

#include "himeno/report.h"
#include "himeno/suspect.h"

#define WORDS_MAX 800

static json_t *unless_unknown(double value)
{
  return value < 0 ? json_null() : json_real(value);
}

static json_t *integer_unless_unknown(int64_t value)
{
  return value < 0 ? json_null() : json_integer((json_int_t)value);
}

static json_t *range(double low, double high)
{
  return low < 0 ? json_null() : json_pack("[f, f]", low, high);
}

static json_t *reasons_json(const struct record_telemetry *t)
{
  json_t *reasons = json_object();
  char text[40];
  for (int b = 0; b < THROTTLE_BITS; b++)
    if (t->by_reason[b])
      json_object_set_new(reasons, telemetry_throttle_text(1 << b, text, sizeof text),
                          json_integer(t->by_reason[b]));
  return reasons;
}

static json_t *ecc_json(const struct record_telemetry *t)
{
  const struct telemetry_state *b = &t->before, *a = &t->after;
  int64_t meanwhile = a->corrected < 0 || b->corrected < 0 ? -1 : a->corrected - b->corrected;
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "on", a->ecc < 0 ? json_null() : json_boolean(a->ecc),
                   "corrected", integer_unless_unknown(a->corrected), "corrected_meanwhile",
                   integer_unless_unknown(meanwhile), "uncorrected", integer_unless_unknown(a->uncorrected),
                   "retired", integer_unless_unknown(a->retired));
}

static json_t *link_json(const struct telemetry_state *s)
{
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "pcie_gen", integer_unless_unknown(s->pcie_gen),
                   "pcie_gen_max", integer_unless_unknown(s->pcie_gen_max), "pcie_width",
                   integer_unless_unknown(s->pcie_width), "pcie_width_max",
                   integer_unless_unknown(s->pcie_width_max), "nvlinks", integer_unless_unknown(s->nvlinks),
                   "nvlinks_active", integer_unless_unknown(s->nvlinks_active));
}

json_t *himeno_telemetry_json(const struct himeno_rank *rank)
{
  const struct record_telemetry *t = &rank->telemetry;
  if (!t->source[0]) return json_null();
  return json_pack("{s:s, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source", t->source,
                   "samples", t->samples, "throttled", t->throttled, "reasons", reasons_json(t), "watts",
                   range(t->samples ? t->low.watts : -1, t->high.watts), "sm_mhz",
                   range(t->samples ? t->low.sm_mhz : -1, t->high.sm_mhz), "memory_mhz",
                   range(t->samples ? t->low.memory_mhz : -1, t->high.memory_mhz), "celsius",
                   range(t->samples ? t->low.celsius : -1, t->high.celsius), "sm_mhz_max",
                   unless_unknown(t->after.sm_mhz_max), "memory_mhz_max",
                   unless_unknown(t->after.memory_mhz_max), "ecc", ecc_json(t), "link", link_json(&t->after));
}

json_t *himeno_stragglers_json(const struct himeno_run *run)
{
  const struct himeno_result *r = &run->result;
  json_t *list = json_array();
  char words[WORDS_MAX];
  for (int s = 0; s < r->n_stragglers && s < HIMENO_STRAGGLERS_MAX; s++) {
    const struct straggler *one = &r->stragglers[s];
    const struct himeno_rank *rank = &r->ranks[one->rank];
    json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:s, s:f, s:f, s:i, s:i, s:s}", "rank", one->rank,
                                          "host", rank->host, "uuid", rank->info.uuid, "of",
                                          straggler_of_name(one->of), "slowness", one->slowness, "limit",
                                          one->limit, "beyond", one->beyond, "blocks", run->record->n,
                                          "words", suspect_straggler(run, one, words, sizeof words)));
  }
  return list;
}
