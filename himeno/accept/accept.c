/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/accept/accept.h"

#include <math.h>
#include <string.h>

#include "comm/agree.h"
#include "himeno/accept/checks.h"
#include "himeno/accept/reference.h"
#include "himeno/run.h"

const char *check_outcome_name(enum check_outcome outcome)
{
  static const char *const names[] = {"pass", "fail", "unknown", "inapplicable"};
  return names[outcome];
}

double check_margin(const struct check *check)
{
  return check->at_most ? check->limit - check->value : check->value - check->limit;
}

void check_judge(struct check *check, int unknown_fails)
{
  if (check->outcome == CHECK_INAPPLICABLE) return;
  if (isnan(check->value))
    check->outcome = unknown_fails ? CHECK_FAIL : CHECK_UNKNOWN;
  else
    check->outcome = check_margin(check) >= 0 ? CHECK_PASS : CHECK_FAIL;
}

int accept_failures(const struct accept *accept)
{
  int failures = 0;
  for (int c = 0; c < accept->n; c++) failures += accept->checks[c].outcome == CHECK_FAIL;
  return failures;
}

static status_t files_read(struct himeno_run *run)
{
  const struct himeno_config *c = &run->config;
  if (c->accept) RETURN_IF_FAILED(policy_read(c->accept, &run->policy));
  return c->reference ? reference_read(c->reference, &run->reference) : STATUS_OK;
}

status_t himeno_accept_prepare(struct himeno_run *run)
{
  if (run->config.accept || run->config.soak_given) run->config.no_tune = 1;
  return agree_status(run->placement.comm, run->placement.rank == 0 ? files_read(run) : STATUS_OK);
}

status_t himeno_accept_comparable(struct himeno_run *run)
{
  if (!run->config.reference) return STATUS_OK;
  return agree_status(run->placement.comm,
                      run->placement.rank == 0 ? reference_same(run, &run->reference) : STATUS_OK);
}

/* On rank 0. The policy and the reference were read at the start, so nothing here fails for a bad file. */
static status_t judge(struct himeno_run *run)
{
  struct accept *a = &run->result.accept;
  a->asked = 1;
  if (run->config.accept) {
    snprintf(a->policy, sizeof a->policy, "%s", run->policy.name);
    accept_policy_checks(run, &run->policy, a);
  }
  if (run->config.reference) accept_reference_check(run, &run->reference, a);
  return accept_failures(a) || run->result.partial ? STATUS_SLOW : STATUS_OK;
}

status_t himeno_accept(struct himeno_run *run)
{
  const struct himeno_config *c = &run->config;
  if (!c->accept && !c->reference) return STATUS_OK;
  return agree_status(run->placement.comm, run->placement.rank == 0 ? judge(run) : STATUS_OK);
}
