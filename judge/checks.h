/* SPDX-License-Identifier: MIT */
/** \file \brief The keys of a policy, and the checks made from them: each has a value, a limit and
 * an outcome. */
#ifndef JUDGE_CHECKS_H
#define JUDGE_CHECKS_H

#include <jansson.h>

/** Number of keys that a policy may have. */
#define CHECK_KINDS 47

#define CHECKS_MAX    (CHECK_KINDS + 2) /* two more compare with an earlier document */
#define CHECK_WHY_MAX 200

struct check;
struct judge_run;

/** The type of a key's value in a policy. */
enum check_values { CHECK_SHARE, CHECK_NUMBER, CHECK_COUNT, CHECK_FLAG };

/** Bits: conditions under which a check has a value, kinds of noise that may explain a bad value,
 * and properties of the value. */
enum check_needs {
  NEEDS_SPEED = 1 << 0,   /**< a device that is not emulated */
  NEEDS_CEILING = 1 << 1, /**< a run that is not a soak */
  NEEDS_DEVICES = 1 << 2, /**< each rank has a device of its own */
  NEEDS_CORES = 1 << 3,   /**< on a CPU, each rank has cores of its own */
  NEEDS_SIZE = 1 << 4,    /**< if the limit is built in: GPUs, and a grid beyond their caches */
  NEEDS_BLOCKS = 1 << 5,  /**< at least POLICY_BLOCKS_MIN timed blocks */
  NEEDS_SERIES = 1 << 6,  /**< at least POLICY_BLOCKS_MIN blocks in the series */
  NEEDS_MANY = 1 << 7,    /**< straggler_blocks_min() blocks, so that chance accuses no rank */
  NEEDS_SPAN = 1 << 8,    /**< a series of at least SLOWDOWN_SPAN seconds */
  NOISE_OF_RUN = 1 << 9,  /**< the noise of the blocks may explain a bad value */
  NOISE_OF_DEVICE = 1 << 10,
  MAY_BE_UNKNOWN = 1 << 11, /**< devices need not report the value; unknown never fails */
  NEEDS_PRODUCTS = 1 << 12, /**< a run of gemm-gpu with one product per rank */
  NEEDS_WIRES = 1 << 13,    /**< network cards measured together with their wires */
  NAMES_HOST = 1 << 14      /**< the check names the host instead of a rank */
};

/** The measurement that the value of a check comes from, as a set of enum check_needs. */
enum check_of {
  OF_STATE = 0,
  OF_HOST = NAMES_HOST,
  /** times of the blocks */
  OF_RUN = NEEDS_SPEED | NEEDS_DEVICES | NEEDS_BLOCKS | NOISE_OF_RUN,
  OF_NOISE = NEEDS_SPEED | NEEDS_BLOCKS | NOISE_OF_RUN, /**< noise of the blocks' times */
  /** each device's own compute times in the blocks */
  OF_DEVICE = NEEDS_SPEED | NEEDS_DEVICES | NEEDS_BLOCKS | NOISE_OF_DEVICE,
  OF_RATE = OF_DEVICE | NEEDS_SIZE, /**< rate of a device, from its own compute times */
  /** noise of a device's own compute times */
  OF_DEVICE_NOISE = NEEDS_SPEED | NEEDS_BLOCKS | NOISE_OF_DEVICE,
  OF_CEILING = OF_RATE | NEEDS_CEILING, /**< rate of a device over the ceiling measured on it */
  /** measured ceiling over that computed from the device's clock and bus width */
  OF_THEORY = NEEDS_SPEED | NEEDS_CEILING | MAY_BE_UNKNOWN,
  /** exchanges between two ranks before the blocks */
  OF_PAIRS = NEEDS_SPEED | NEEDS_CORES,
  OF_STRAGGLERS = NEEDS_SPEED | NEEDS_SERIES | NEEDS_MANY,
  OF_SLOWDOWNS = NEEDS_SPEED | NEEDS_DEVICES | NEEDS_CORES | NEEDS_SERIES | NEEDS_SPAN,
  OF_COUNTERS = MAY_BE_UNKNOWN,
  OF_PRODUCTS = OF_RUN | NEEDS_SIZE | NEEDS_PRODUCTS,
  OF_WIRES = NEEDS_WIRES | MAY_BE_UNKNOWN
};

/** A key of a policy, and its check. A check with `of_run` has one value for the whole run. Other
 * checks have one value per rank: read at `path` in the rank's row of the document, or computed
 * from the row by `of_rank`. Their result is that of the worst rank. */
struct check_kind {
  const char *key;
  enum check_values values;
  const char *name;         /**< name in documents; NULL if the key only changes other checks */
  const char *title, *unit; /**< title: for reports, with the unit; unit: for documents */
  enum check_of of;
  int at_most;   /**< 1: the limit is the largest value that passes; 0: the smallest */
  int ranks_min; /**< minimum number of ranks for a value */
  const char *path;
  double (*of_rank)(const json_t *row);
  double (*of_run)(const struct judge_run *run, struct check *check);
};
extern const struct check_kind check_kinds[CHECK_KINDS];

/** \brief Returns the index of a key in check_kinds; CHECK_KINDS if there is none. */
int check_kind_find(const char *key);

enum check_outcome {
  CHECK_PASS,
  CHECK_FAIL,
  CHECK_NOISY,        /**< the blocks vary too much to decide */
  CHECK_UNKNOWN,      /**< the value is unknown, and the policy does not make that fail */
  CHECK_INAPPLICABLE, /**< a run of this kind has no such value; never fails */
  CHECK_OUTCOMES
};

/** One check, of the worst rank or of the whole run. */
struct check {
  const char *name, *title, *unit; /**< as in struct check_kind */
  int is_flag;
  double value; /**< NAN if unknown or inapplicable */
  double limit;
  int at_most;
  enum check_outcome outcome;
  int rank;                /**< the worst rank, −1 for a check of the whole run */
  char why[CHECK_WHY_MAX]; /**< an explanation, "" for none */
  const char *from;        /**< the source of the limit, "" if unknown */
};

struct checks {
  int n;
  struct check check[CHECKS_MAX];
};

/** \brief Returns the distance from the limit in the check's unit; negative if the check fails. */
double check_margin(const struct check *check);

/** \brief Makes a check inapplicable, with the reason. Returns 0. */
int check_inapplicable(struct check *check, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief Sets the outcome from value and limit, unless the check is inapplicable already. */
void check_judge(struct check *check, int unknown_fails);

/** \brief Returns the number of checks with this outcome. */
int checks_count(const struct checks *checks, enum check_outcome outcome);

extern const char *const check_outcome_names[CHECK_OUTCOMES];

#endif
