/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Acceptance: a run held against a policy, and against an earlier run.
 *
 * Every check is listed with its value, limit and margin. What was not verified is not accepted unless the policy says so by name, and
 * what the blocks' noise hides is not judged. A wrong result is graver than a slow one, so the exit code tells them apart. */
#ifndef HIMENO_ACCEPT_ACCEPT_H
#define HIMENO_ACCEPT_ACCEPT_H

#include <jansson.h>
#include <stdio.h>

#include "himeno/accept/policy.h"

#define ACCEPT_CHECKS_MAX 40
#define ACCEPT_WHY_MAX    200

enum check_outcome {
  CHECK_PASS,
  CHECK_FAIL,
  CHECK_NOISY,        /**< the blocks vary too much to tell */
  CHECK_UNKNOWN,      /**< nobody can tell the value; fails only where the policy says so */
  CHECK_INAPPLICABLE, /**< a run of this kind has no such value; never fails */
};

/** One check: of the rank that is worst in it, or of the whole run. */
struct check {
  const char *name, *unit;
  double value; /**< NAN where unknown or inapplicable */
  double limit;
  int at_most; /**< the limit is the largest that passes, not the smallest */
  enum check_outcome outcome;
  int rank;                 /**< the worst, −1 for a check of the whole run */
  char why[ACCEPT_WHY_MAX]; /**< what to add, "" for nothing */
};

struct accept {
  int asked;
  char policy[POLICY_NAME_MAX]; /**< "" with --reference alone */
  int n;
  struct check checks[ACCEPT_CHECKS_MAX];
};

struct himeno_run;

/** \brief Collective: reads the policy and the reference on rank 0, before anything runs, and tells how many blocks they need. */
status_t himeno_accept_prepare(struct himeno_run *run);

/** \brief Collective: once grid and kernel are chosen, whether the reference is of the same, and a soak can be held against the policy.
 * STATUS_USAGE where not. */
status_t himeno_accept_comparable(struct himeno_run *run);

/** \brief Collective: makes the checks that were asked for, on rank 0. On all ranks, the gravest of: STATUS_ENVIRONMENT where the result could
 * not be verified, STATUS_NOISY where the run was too noisy to be judged, STATUS_USAGE where it was not to be verified or nothing
 * could be checked, STATUS_SLOW where a check fails or a signal ended the run. */
status_t himeno_accept(struct himeno_run *run);

/** \brief Whether the run was verified, or its policy does without. */
int accept_verified(const struct himeno_run *run);

/** \brief Distance from the limit in the check's unit; positive is good. */
double check_margin(const struct check *check);

/** \brief Sets the outcome from value and limit, unless it is inapplicable already. */
void check_judge(struct check *check, int unknown_fails);

/** \brief How many checks have this outcome. */
int accept_count(const struct accept *accept, enum check_outcome outcome);

/** \brief The list, and who is slower than the others. Rank 0. */
void accept_text(const struct himeno_run *run, FILE *out);
json_t *accept_json(const struct himeno_run *run);

/** \brief "pass", "fail", "noisy", "unknown", "inapplicable". */
const char *check_outcome_name(enum check_outcome outcome);

#endif
