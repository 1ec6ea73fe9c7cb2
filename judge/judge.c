/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

status_t judge_limits_read(const char *policy, const char *reference, struct judge_limits *limits)
{
  limits->policy_name = policy;
  limits->reference_name = NULL;
  if (policy) RETURN_IF_FAILED(policy_read(policy, &limits->policy));
  if (reference) RETURN_IF_FAILED(reference_read(reference, &limits->reference));
  limits->reference_name = reference;
  return STATUS_OK;
}

void judge_limits_free(struct judge_limits *limits)
{
  if (limits->reference_name) reference_free(&limits->reference);
  limits->reference_name = NULL;
}

static struct judge_draft draft_of(const json_t *document)
{
  const json_t *config = json_object_get(document, "config");
  struct judge_draft d = {.emulated = view_at(document, "result.counts") != NULL,
                          .soak = view_at(config, "soak") != NULL,
                          .seconds = view_number(config, "seconds"),
                          .ranks = 1};
  for (int a = 0; a < 3; a++)
    d.ranks *= (int)json_integer_value(json_array_get(view_at(config, "procs"), (size_t)a));
  return d;
}

status_t judge_plan(const struct judge_limits *limits, const json_t *draft, struct judge_plan *plan)
{
  const struct judge_draft d = draft_of(draft);
  *plan = (struct judge_plan){.blocks_min = 1, .noise_max = INFINITY, .device_noise_max = INFINITY};
  if (limits->policy_name || limits->reference_name) plan->blocks_min = POLICY_BLOCKS_MIN;
  if (limits->reference_name) {
    RETURN_IF_FAILED(reference_same(draft, &limits->reference));
    plan->noise_max = REFERENCE_NOISY / REFERENCE_SIGMAS / sqrt(2);
  }
  if (!limits->policy_name || checks_plan(&d, &limits->policy, plan) || !d.soak) return STATUS_OK;
  return log_fail(STATUS_USAGE, "policy %s: nothing in it can be checked in such a soak",
                  limits->policy_name);
}

/* Returns the verdict of the run itself. In a document of himeno-gpu, the verdicts usage,
 * environment, noisy and slow come from an earlier judgement and are ignored. */
static status_t own_verdict(const json_t *document)
{
  static const status_t all[] = {STATUS_USAGE, STATUS_ENVIRONMENT, STATUS_NOISY, STATUS_SLOW,
                                 STATUS_WRONG, STATUS_HANG,        STATUS_FAULT, STATUS_INCOMPLETE};
  const char *word = view_text(document, "result.verdict");
  const size_t first = strcmp(view_text(document, "program"), "himeno-gpu") == 0 ? 4 : 0;
  for (size_t s = first; s < sizeof all / sizeof *all; s++)
    if (strcmp(word, status_verdict(all[s])) == 0) return all[s];
  return json_is_true(json_object_get(document, "partial")) ? STATUS_INCOMPLETE : STATUS_OK;
}

/* Returns whether the timed part of the result was compared with a reference. For programs other
 * than himeno-gpu this is 1, because their verdict covers it. */
static int is_compared(const json_t *document)
{
  const char *verified = view_text(document, "result.verified");
  return strcmp(view_text(document, "program"), "himeno-gpu") != 0 ||
         (*verified && strcmp(verified, "no") != 0 && strcmp(verified, "rehearsal") != 0);
}

static status_t unverified(const json_t *document)
{
  const int asked = strcmp(view_text(document, "config.verify"), "off") == 0;
  return log_fail(asked ? STATUS_USAGE : STATUS_ENVIRONMENT,
                  "not accepted: %s, and no policy says \"unverified_passes\": true",
                  asked ? "--verify off left nothing verified" : "the result could not be verified");
}

/* Returns whether a check from \a first to before \a end has a known value. */
static int any_made(const struct checks *checks, int first, int end)
{
  int made = 0;
  for (int c = first; c < end; c++)
    made |= checks->check[c].outcome != CHECK_UNKNOWN && checks->check[c].outcome != CHECK_INAPPLICABLE;
  return made;
}

static status_t accept(const struct judge_limits *limits, const json_t *document, struct judged *judged)
{
  struct checks *checks = &judged->checks;
  if (limits->policy_name) checks_of_policy(&judged->run, &limits->policy, checks);
  const int of_policy = checks->n;
  if (limits->reference_name)
    reference_check(document, &judged->run, &limits->reference, &checks->check[checks->n++]);
  if (limits->reference_name)
    checks->n += drift_check(document, &limits->reference, limits->policy_name ? &limits->policy : NULL,
                             &checks->check[checks->n]);
  if (judged->verdict != STATUS_OK) return judged->verdict;
  if (!judged->verified) return unverified(document);
  if (checks_count(checks, CHECK_NOISY) > 0) return STATUS_NOISY;
  if (limits->policy_name && !any_made(checks, 0, of_policy))
    return log_fail(STATUS_USAGE, "policy %s: nothing in it could be checked", limits->policy_name);
  if (limits->reference_name && !any_made(checks, of_policy, checks->n))
    return log_fail(STATUS_USAGE, "reference %s: nothing could be compared", limits->reference_name);
  return checks_count(checks, CHECK_FAIL) > 0 ? STATUS_SLOW : STATUS_OK;
}

status_t judge_document(const struct judge_limits *limits, json_t *document, const char *where,
                        struct judged *judged)
{
  *judged = (struct judged){.asked = limits->policy_name || limits->reference_name,
                            .compared = is_compared(document),
                            .partial = json_is_true(json_object_get(document, "partial")),
                            .verdict = own_verdict(document)};
  judged->verified =
      judged->compared || (limits->policy_name && policy_limit(&limits->policy, "unverified_passes") > 0);
  if (limits->policy_name) snprintf(judged->policy, sizeof judged->policy, "%s", limits->policy.name);
  RETURN_IF_FAILED(judge_view(document, where, &judged->run));
  if (judged->asked) judged->verdict = accept(limits, document, judged);
  status_t status = judged_json(judged, document);
  if (status != STATUS_OK) judged_free(judged);
  return status;
}

void judged_free(struct judged *judged)
{
  judge_run_free(&judged->run);
}
