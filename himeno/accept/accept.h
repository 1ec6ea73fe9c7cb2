/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Acceptance: a run held against a policy, and against an earlier run.
 *
 * Every check is listed with its value, limit and margin. What was not verified is not accepted
 * unless the policy says so by name, and what the blocks' noise hides is not judged. A wrong result
 * is graver than a slow one, so the exit code tells them apart. */
#ifndef HIMENO_ACCEPT_ACCEPT_H
#define HIMENO_ACCEPT_ACCEPT_H

#include <jansson.h>
#include <stdio.h>

#include "himeno/accept/reference.h"
#include "himeno/choice.h"
#include "himeno/result.h"

/** What a run is held against. */
struct accept_limits {
  struct accept_policy policy; /**< on rank 0, with --accept */
  struct reference reference;  /**< on rank 0, with --reference */
  struct accept_plan plan;     /**< on all ranks */
};

/** \brief Collective: reads the policy and the reference on rank 0, before anything runs. */
status_t himeno_accept_prepare(const struct himeno_config *config, const struct placement *placement,
                               struct accept_limits *limits);

/** \brief Collective: once grid and kernel are chosen, plans what has to be measured. STATUS_USAGE
 * if the reference is of another run, or a soak cannot be held against the policy. */
status_t himeno_accept_plan(const struct himeno_config *config, const struct himeno_choice *choice,
                            struct accept_limits *limits);

/** \brief Collective: makes the checks that were asked for, on rank 0. On all ranks, the gravest
 * of: STATUS_ENVIRONMENT where the result could not be verified, STATUS_NOISY where the run was too
 * noisy to be judged, STATUS_USAGE where it was not to be verified or nothing could be checked,
 * STATUS_SLOW where a check fails. A result that is wrong or incomplete keeps its verdict. */
status_t himeno_accept(const struct himeno_config *config, const struct himeno_choice *choice,
                       const struct accept_limits *limits, struct himeno_result *result);

/** \brief Adds the checks that \a policy names, judged. Rank 0, when all ranks were gathered. */
void accept_policy_checks(const struct himeno_config *config, const struct placement *placement,
                          const struct himeno_result *result, const struct accept_policy *policy,
                          struct accept *accept);

/** \brief Adds to \a plan what the checks that \a policy names need. Whether a run of this kind can
 * have any of their values. Rank 0, before it is measured. */
int accept_policy_plan(const struct himeno_config *config, const struct placement *placement,
                       const struct accept_policy *policy, struct accept_plan *plan);

/** \brief The list, and who is slower than the others. Rank 0. */
void accept_text(const struct himeno_result *result, FILE *out);
void accept_episodes_text(const struct himeno_result *result, FILE *out);

/** \brief The field `accept`, where acceptance was asked for. Rank 0. */
void accept_document(struct doc *d, const struct himeno_result *result);

#endif
