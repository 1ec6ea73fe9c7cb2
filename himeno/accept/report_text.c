/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>
#include <stdio.h>

#include "himeno/accept/accept.h"
#include "himeno/run.h"
#include "himeno/suspect.h"

#define LINE_MAX_BYTES 800

static const char *number(double value, char text[24])
{
  snprintf(text, 24, fabs(value) >= 100 || value == floor(value) ? "%.0f" : "%.4f", value);
  return isnan(value) ? "unknown" : text;
}

static void check_text(const struct check *c, FILE *out)
{
  char value[24], limit[24], margin[24];
  const int inapplicable = c->outcome == CHECK_INAPPLICABLE;
  const char *outcome = c->outcome == CHECK_FAIL ? "FAIL"
                        : inapplicable           ? "n/a"
                                                 : check_outcome_name(c->outcome);
  fprintf(out, "    %-26s %10s  %s %8s  %9s %-7s %-8s%s\n", c->name,
          inapplicable ? "" : number(c->value, value), c->at_most ? "<=" : ">=", number(c->limit, limit),
          isnan(c->value) ? "" : number(check_margin(c), margin), c->unit, outcome, c->why);
}

static void stragglers_text(const struct himeno_run *run, FILE *out)
{
  const struct himeno_result *r = &run->result;
  char line[LINE_MAX_BYTES];
  for (int s = 0; s < r->n_stragglers && s < HIMENO_STRAGGLERS_MAX; s++)
    fprintf(out, "  STRAGGLER  %s\n", suspect_straggler(run, &r->stragglers[s], line, sizeof line));
  if (r->n_stragglers > HIMENO_STRAGGLERS_MAX)
    fprintf(out, "  ... and %d more stragglers\n", r->n_stragglers - HIMENO_STRAGGLERS_MAX);
}

void accept_text(const struct himeno_run *run, FILE *out)
{
  const struct accept *a = &run->result.accept;
  int failures = accept_failures(a), passed = 0;
  for (int c = 0; c < a->n; c++) passed += a->checks[c].outcome == CHECK_PASS;
  stragglers_text(run, out);
  if (!a->asked) return;
  fprintf(out, "\n  acceptance %s%s\n", a->policy[0] ? "by policy " : "by reference alone", a->policy);
  fprintf(out, "    %-26s %10s  %11s  %9s %-7s\n", "check", "value", "limit", "margin", "");
  for (int c = 0; c < a->n; c++) check_text(&a->checks[c], out);
  if (run->result.verdict != STATUS_OK)
    fprintf(out, "  NOT ACCEPTED: the result is wrong\n");
  else if (run->result.partial && !failures)
    fprintf(out, "  NOT ACCEPTED: a signal ended the run\n");
  else if (failures)
    fprintf(out, "  NOT ACCEPTED: %d of %d checks fail\n", failures, a->n);
  else
    fprintf(out, "  accepted: %d of %d checks pass, none fails\n", passed, a->n);
}
