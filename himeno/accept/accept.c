/* SPDX-License-Identifier: MIT */
#include "himeno/accept/accept.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"

static status_t files_read(const struct himeno_config *config, struct accept_limits *limits)
{
  if (config->accept) RETURN_IF_FAILED(policy_read(config->accept, &limits->policy));
  return config->reference ? reference_read(config->reference, &limits->reference) : STATUS_OK;
}

status_t himeno_accept_prepare(const struct himeno_config *config, const struct placement *placement,
                               struct accept_limits *limits)
{
  return agree_status(placement->comm, placement->rank == 0 ? files_read(config, limits) : STATUS_OK);
}

/* The checks of the policy and the comparison, before hours are spent on what cannot be checked. */
static status_t plan(const struct himeno_config *c, const struct himeno_choice *choice,
                     struct accept_limits *limits)
{
  struct accept_plan *p = &limits->plan;
  if (c->accept || c->reference) p->blocks_min = ACCEPT_BLOCKS_MIN;
  if (c->reference) {
    RETURN_IF_FAILED(reference_same(c, choice, &limits->reference));
    p->noise_max = REFERENCE_NOISY / REFERENCE_SIGMAS / sqrt(2);
  }
  if (!c->accept || accept_policy_plan(c, &choice->placement, &limits->policy, p) || !c->soak_given)
    return STATUS_OK;
  return log_fail(STATUS_USAGE, "--accept %s: nothing in it can be checked in such a soak", c->accept);
}

status_t himeno_accept_plan(const struct himeno_config *config, const struct himeno_choice *choice,
                            struct accept_limits *limits)
{
  const struct placement *p = &choice->placement;
  limits->plan = (struct accept_plan){.blocks_min = 1, .noise_max = INFINITY, .device_noise_max = INFINITY};
  RETURN_IF_FAILED(agree_status(p->comm, p->rank == 0 ? plan(config, choice, limits) : STATUS_OK));
  return watch_bcast(p->comm, &limits->plan, sizeof limits->plan, MPI_BYTE, 0, "what has to be measured");
}

/* ---- the verdict ---- */

static status_t unverified(const struct himeno_config *config)
{
  const int asked = config->verify == HIMENO_VERIFY_OFF;
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

/* Makes the checks; how many of them are of the policy. */
static int checks_make(const struct himeno_config *config, const struct himeno_choice *choice,
                       const struct accept_limits *limits, struct himeno_result *result)
{
  struct accept *a = &result->accept;
  a->asked = 1;
  a->verified = result->verified != VERIFY_NO || (config->accept && limits->policy.unverified_passes > 0);
  if (config->accept) {
    snprintf(a->policy, sizeof a->policy, "%s", limits->policy.name);
    accept_policy_checks(config, &choice->placement, result, &limits->policy, a);
  }
  const int of_policy = a->n;
  if (config->reference) accept_reference_check(result, &limits->reference, a);
  return of_policy;
}

/* On rank 0. The policy and the reference were read at the start, so nothing here fails for a bad
 * file. */
static status_t judge(const struct himeno_config *config, const struct himeno_choice *choice,
                      const struct accept_limits *limits, struct himeno_result *result)
{
  const struct accept *a = &result->accept;
  const int of_policy = checks_make(config, choice, limits, result);
  if (result->verdict != STATUS_OK) return result->verdict;
  if (!a->verified) return unverified(config);
  if (accept_count(a, CHECK_NOISY) > 0) return STATUS_NOISY;
  if (config->accept && !any_made(a, 0, of_policy))
    return log_fail(STATUS_USAGE, "--accept %s: nothing in it could be checked", config->accept);
  if (config->reference && !any_made(a, of_policy, a->n))
    return log_fail(STATUS_USAGE, "--reference %s: nothing could be compared", config->reference);
  return accept_count(a, CHECK_FAIL) > 0 ? STATUS_SLOW : STATUS_OK;
}

status_t himeno_accept(const struct himeno_config *config, const struct himeno_choice *choice,
                       const struct accept_limits *limits, struct himeno_result *result)
{
  const struct placement *p = &choice->placement;
  if (!config->accept && !config->reference) return STATUS_OK;
  return agree_status(p->comm, p->rank == 0 ? judge(config, choice, limits, result) : STATUS_OK);
}
