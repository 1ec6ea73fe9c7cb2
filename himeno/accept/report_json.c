/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>

#include "base/report.h"
#include "himeno/accept/accept.h"

static json_t *check_json(const struct accept_check *c)
{
  return json_pack("{s:s, s:s, s:o, s:o, s:b, s:o, s:s, s:o, s:s}", "check", c->name, "unit", c->unit,
                   "value", report_json_real(c->value), "limit", report_json_real(c->limit), "at_most",
                   c->at_most, "margin", report_json_real(check_margin(c)), "outcome",
                   check_outcome_name(c->outcome), "rank", c->rank < 0 ? json_null() : json_integer(c->rank),
                   "why", c->why);
}

json_t *accept_json(const struct himeno_result *result)
{
  const struct accept *a = &result->accept;
  json_t *checks = json_array();
  for (int c = 0; c < a->n; c++) json_array_append_new(checks, check_json(&a->checks[c]));
  return json_pack("{s:o, s:b, s:o}", "policy", a->policy[0] ? json_string(a->policy) : json_null(),
                   "accepted", result->verdict == STATUS_OK && !result->partial, "checks", checks);
}
