/* SPDX-License-Identifier: MIT */
#include "himeno/accept/check.h"

#include <math.h>

const char *const check_outcome_names[] = {"pass", "fail", "noisy", "unknown", "inapplicable"};

const char *check_outcome_name(enum check_outcome outcome)
{
  return check_outcome_names[outcome];
}

double check_margin(const struct accept_check *check)
{
  return check->at_most ? check->limit - check->value : check->value - check->limit;
}

void check_judge(struct accept_check *check, int unknown_fails)
{
  if (check->outcome == CHECK_INAPPLICABLE) return;
  if (isnan(check->value))
    check->outcome = unknown_fails ? CHECK_FAIL : CHECK_UNKNOWN;
  else
    check->outcome = check_margin(check) >= 0 ? CHECK_PASS : CHECK_FAIL;
}

int accept_count(const struct accept *accept, enum check_outcome outcome)
{
  int n = 0;
  for (int c = 0; c < accept->n; c++) n += accept->checks[c].outcome == outcome;
  return n;
}
