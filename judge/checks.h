/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a policy can limit, and the checks that come of it: each with its value, its limit
 * and its outcome. */
#ifndef JUDGE_CHECKS_H
#define JUDGE_CHECKS_H

#include <jansson.h>

/** Keys of a policy. */
#define CHECK_KINDS 45

#define CHECKS_MAX    (CHECK_KINDS + 2) /* and two of the comparison with an earlier document */
#define CHECK_WHY_MAX 200

struct check;
struct judge_run;

/** Which values of a key a policy may have. */
enum check_values { CHECK_SHARE, CHECK_NUMBER, CHECK_COUNT, CHECK_FLAG };

/** The needs of a value, and the noise that may explain it. */
enum check_needs {
  NEEDS_SPEED = 1 << 0,   /**< no emulator */
  NEEDS_CEILING = 1 << 1, /**< no soak */
  NEEDS_DEVICES = 1 << 2, /**< a device for each rank */
  NEEDS_CORES = 1 << 3,   /**< cores of its own for each rank on a CPU */
  NEEDS_SIZE = 1 << 4,    /**< for a built-in limit: GPUs, and a grid that exceeds their caches */
  NEEDS_BLOCKS = 1 << 5,  /**< timed blocks */
  NEEDS_SERIES = 1 << 6,  /**< as many in the series */
  NEEDS_MANY = 1 << 7,    /**< so many that no straggler is found by chance */
  NEEDS_SPAN = 1 << 8,    /**< that the series takes some time */
  NOISE_OF_RUN = 1 << 9,  /**< that of the blocks */
  NOISE_OF_DEVICE = 1 << 10,
  MAY_BE_UNKNOWN = 1 << 11, /**< devices need not report it: it never fails for being unknown */
  NEEDS_PRODUCTS = 1 << 12, /**< a run of gemm-gpu with one product per rank */
  NEEDS_WIRES = 1 << 13,    /**< cards measured against their wires */
  NAMES_HOST = 1 << 14      /**< the value is that of a host, so no rank is named */
};

/** The measurement that a value comes from, by its needs. */
enum check_of {
  OF_STATE = 0,
  OF_HOST = NAMES_HOST,
  /** times of blocks; how these vary */
  OF_RUN = NEEDS_SPEED | NEEDS_DEVICES | NEEDS_BLOCKS | NOISE_OF_RUN,
  OF_NOISE = NEEDS_SPEED | NEEDS_BLOCKS | NOISE_OF_RUN,
  /** devices' own compute times in the blocks; the rate that follows; how they vary */
  OF_DEVICE = NEEDS_SPEED | NEEDS_DEVICES | NEEDS_BLOCKS | NOISE_OF_DEVICE,
  OF_RATE = OF_DEVICE | NEEDS_SIZE,
  OF_DEVICE_NOISE = NEEDS_SPEED | NEEDS_BLOCKS | NOISE_OF_DEVICE,
  /** the rate and the ceiling; the ceiling, and the clocks and widths that a device reports */
  OF_CEILING = OF_RATE | NEEDS_CEILING,
  OF_THEORY = NEEDS_SPEED | NEEDS_CEILING | MAY_BE_UNKNOWN,
  /** exchanges between two ranks before the blocks */
  OF_PAIRS = NEEDS_SPEED | NEEDS_CORES,
  OF_STRAGGLERS = NEEDS_SPEED | NEEDS_SERIES | NEEDS_MANY,
  OF_SLOWDOWNS = NEEDS_SPEED | NEEDS_DEVICES | NEEDS_CORES | NEEDS_SERIES | NEEDS_SPAN,
  OF_COUNTERS = MAY_BE_UNKNOWN,
  OF_PRODUCTS = OF_RUN | NEEDS_SIZE | NEEDS_PRODUCTS,
  OF_WIRES = NEEDS_WIRES | MAY_BE_UNKNOWN
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

/** \brief Makes a check inapplicable, for a reason. Returns 0. */
int check_inapplicable(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief Sets the outcome from value and limit, unless the check is inapplicable already. */
void check_judge(struct check *check, int unknown_fails);

/** \brief How many checks have this outcome. */
int checks_count(const struct checks *checks, enum check_outcome outcome);

extern const char *const check_outcome_names[CHECK_OUTCOMES];

#endif
