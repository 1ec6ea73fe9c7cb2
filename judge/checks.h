/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a policy can limit, and the checks that come of it: each with its value, its limit
 * and its outcome. */
#ifndef JUDGE_CHECKS_H
#define JUDGE_CHECKS_H

#include <jansson.h>

/** Keys of a policy. */
#define CHECK_KINDS 33

#define CHECKS_MAX    (CHECK_KINDS + 1) /* and the comparison with an earlier document */
#define CHECK_WHY_MAX 200

struct check;
struct judge_run;

/** Which values of a key a policy may have. */
enum check_values { CHECK_SHARE, CHECK_NUMBER, CHECK_COUNT, CHECK_FLAG };

/** The measurement that a value comes from: it decides in which runs there is a value, and which
 * noise may explain it. */
enum check_of {
  OF_STATE,
  OF_RUN,          /**< times of blocks */
  OF_NOISE,        /**< how these vary */
  OF_DEVICE,       /**< devices' own compute times in the blocks */
  OF_RATE,         /**< the rate that follows from them */
  OF_CEILING,      /**< these, and the ceiling */
  OF_THEORY,       /**< the ceiling, and the clocks and widths that a device reports */
  OF_DEVICE_NOISE, /**< how a device's own compute times vary */
  OF_PAIRS,        /**< exchanges between two ranks before the blocks */
  OF_STRAGGLERS,
  OF_SLOWDOWNS,
  OF_COUNTERS
};

/** A key of a policy, and its check. The value of a rank's check is in each rank's row of a
 * document: at `path`, or what `of_rank` makes of the row; the worst rank's counts. Other values
 * are of the run. */
struct check_kind {
  const char *key;
  enum check_values values;
  const char *name;         /**< in documents; NULL: the key changes other checks */
  const char *title, *unit; /**< in reports, with the unit; in documents */
  enum check_of of;
  int at_most;   /**< the limit is the largest value that passes, not the smallest */
  int ranks_min; /**< with fewer there is no value */
  const char *path;
  double (*of_rank)(const json_t *row);
  double (*of_run)(const struct judge_run *run, struct check *check);
};
extern const struct check_kind check_kinds[CHECK_KINDS];

/** \brief The place of a key in check_kinds; CHECK_KINDS if there is none. */
int check_kind_find(const char *key);

enum check_outcome {
  CHECK_PASS,
  CHECK_FAIL,
  CHECK_NOISY,        /**< the blocks vary too much to decide */
  CHECK_UNKNOWN,      /**< the value is not known; it fails only if the policy says so */
  CHECK_INAPPLICABLE, /**< a run of this kind has no such value; never fails */
  CHECK_OUTCOMES
};

/** One check: of the rank that is worst in it, or of the whole run. */
struct check {
  const char *name, *title, *unit; /**< as in check_kind */
  int is_flag;
  double value; /**< NAN if unknown or inapplicable */
  double limit;
  int at_most;
  enum check_outcome outcome;
  int rank;                /**< the worst, −1 for a check of the whole run */
  char why[CHECK_WHY_MAX]; /**< what to add, "" for nothing */
  const char *from;        /**< where the limit comes from, "" if that is not known */
};

struct checks {
  int n;
  struct check check[CHECKS_MAX];
};

/** \brief Distance from the limit in the check's unit; positive is good. */
double check_margin(const struct check *check);

/** \brief Sets the outcome from value and limit, unless the check is inapplicable already. */
void check_judge(struct check *check, int unknown_fails);

/** \brief How many checks have this outcome. */
int checks_count(const struct checks *checks, enum check_outcome outcome);

extern const char *const check_outcome_names[CHECK_OUTCOMES];

#endif
