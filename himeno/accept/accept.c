/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/accept/accept.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "himeno/accept/checks.h"
#include "himeno/accept/reference.h"
#include "himeno/run.h"

const char *check_outcome_name(enum check_outcome outcome)
{
  static const char *const names[] = {"pass", "fail", "noisy", "unknown", "inapplicable"};
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

int accept_count(const struct accept *accept, enum check_outcome outcome)
{
  int n = 0;
  for (int c = 0; c < accept->n; c++) n += accept->checks[c].outcome == outcome;
  return n;
}

static status_t files_read(struct himeno_run *run)
{
  const struct himeno_config *c = &run->config;
  if (c->accept) RETURN_IF_FAILED(policy_read(c->accept, &run->policy));
  return c->reference ? reference_read(c->reference, &run->reference) : STATUS_OK;
}

/* A run that is judged has to tell its noise, and its stragglers where they are asked for, whatever that takes. */
static int blocks_needed(const struct himeno_run *run)
{
  const int ranks = run->placement.ranks;
  if (!run->config.accept && !run->config.reference) return 1;
  if (!run->config.accept || run->policy.stragglers_max < 0 || ranks < STRAGGLER_RANKS_MIN)
    return ACCEPT_BLOCKS_MIN;
  return straggler_blocks_min(ranks);
}

status_t himeno_accept_prepare(struct himeno_run *run)
{
  MPI_Comm comm = run->placement.comm;
  int first = run->placement.rank == 0;
  if (run->config.accept || run->config.soak_given) run->config.no_tune = 1;
  RETURN_IF_FAILED(agree_status(comm, first ? files_read(run) : STATUS_OK));
  if (first) run->blocks_min = blocks_needed(run);
  return watch_bcast(comm, &run->blocks_min, 1, MPI_INT, 0, "how many blocks are needed");
}

/* Nobody waits hours to hear that nothing was checked. */
static status_t checkable(const struct himeno_run *run)
{
  const struct himeno_config *c = &run->config;
  if (c->reference) RETURN_IF_FAILED(reference_same(run, &run->reference));
  if (!c->accept || !c->soak_given || accept_policy_applies(run, &run->policy)) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--accept %s: nothing in it can be checked in such a soak", c->accept);
}

status_t himeno_accept_comparable(struct himeno_run *run)
{
  return agree_status(run->placement.comm, run->placement.rank == 0 ? checkable(run) : STATUS_OK);
}

/* ---- the verdict ---- */

int accept_verified(const struct himeno_run *run)
{
  return run->result.verified != VERIFY_NO || (run->config.accept && run->policy.unverified_passes > 0);
}

static status_t unverified(const struct himeno_run *run)
{
  const int asked = run->config.verify == HIMENO_VERIFY_OFF;
  return log_fail(asked ? STATUS_USAGE : STATUS_ENVIRONMENT,
                  "not accepted: %s, and no policy says \"unverified_passes\": true",
                  asked ? "--verify off left nothing verified" : "the result could not be verified");
}

/* Of the checks from \a first on: whether one of them could be made. */
static int any_made(const struct accept *a, int first, int end)
{
  int made = 0;
  for (int c = first; c < end; c++)
    made |= a->checks[c].outcome != CHECK_UNKNOWN && a->checks[c].outcome != CHECK_INAPPLICABLE;
  return made;
}

/* On rank 0. The policy and the reference were read at the start, so nothing here fails for a bad file. */
static status_t judge(struct himeno_run *run)
{
  const struct himeno_config *config = &run->config;
  struct accept *a = &run->result.accept;
  a->asked = 1;
  if (config->accept) {
    snprintf(a->policy, sizeof a->policy, "%s", run->policy.name);
    accept_policy_checks(run, &run->policy, a);
  }
  const int of_policy = a->n;
  if (config->reference) accept_reference_check(run, &run->reference, a);
  if (run->result.partial || run->result.verdict != STATUS_OK) return STATUS_SLOW;
  if (!accept_verified(run)) return unverified(run);
  if (accept_count(a, CHECK_NOISY) > 0) return STATUS_NOISY;
  if (config->accept && !any_made(a, 0, of_policy))
    return log_fail(STATUS_USAGE, "--accept %s: nothing in it could be checked", config->accept);
  if (config->reference && !any_made(a, of_policy, a->n))
    return log_fail(STATUS_USAGE, "--reference %s: nothing could be compared", config->reference);
  return accept_count(a, CHECK_FAIL) > 0 ? STATUS_SLOW : STATUS_OK;
}

status_t himeno_accept(struct himeno_run *run)
{
  const struct himeno_config *c = &run->config;
  if (!c->accept && !c->reference) return STATUS_OK;
  return agree_status(run->placement.comm, run->placement.rank == 0 ? judge(run) : STATUS_OK);
}
