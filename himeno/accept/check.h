/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The checks of an acceptance: each with its value, its limit and what came of it. */
#ifndef HIMENO_ACCEPT_CHECK_H
#define HIMENO_ACCEPT_CHECK_H

#include "himeno/accept/policy.h"

#define ACCEPT_CHECKS_MAX 40
#define ACCEPT_WHY_MAX    200

enum check_outcome {
  CHECK_PASS,
  CHECK_FAIL,
  CHECK_NOISY,        /**< the blocks vary too much to tell */
  CHECK_UNKNOWN,      /**< nobody can tell the value; fails only where the policy says so */
  CHECK_INAPPLICABLE, /**< a run of this kind has no such value; never fails */
  CHECK_OUTCOMES
};

/** One check: of the rank that is worst in it, or of the whole run. */
struct accept_check {
  const char *name, *unit;
  double value; /**< NAN where unknown or inapplicable */
  double limit;
  int at_most; /**< the limit is the largest that passes, not the smallest */
  enum check_outcome outcome;
  int rank;                 /**< the worst, −1 for a check of the whole run */
  char why[ACCEPT_WHY_MAX]; /**< what to add, "" for nothing */
  const char *from;         /**< where the limit comes from, "" where nobody says */
};

struct accept {
  int asked;
  int verified;                 /**< or its policy does without */
  char policy[POLICY_NAME_MAX]; /**< "" with --reference alone */
  int n;
  struct accept_check checks[ACCEPT_CHECKS_MAX];
};

/** \brief Distance from the limit in the check's unit; positive is good. */
double check_margin(const struct accept_check *check);

/** \brief Sets the outcome from value and limit, unless it is inapplicable already. */
void check_judge(struct accept_check *check, int unknown_fails);

/** \brief How many checks have this outcome. */
int accept_count(const struct accept *accept, enum check_outcome outcome);

extern const char *const check_outcome_names[CHECK_OUTCOMES];
const char *check_outcome_name(enum check_outcome outcome);

#endif
