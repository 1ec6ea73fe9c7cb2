/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Outcome of every function that can fail, and exit code of every program. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

/** The low byte of a value is the exit code. */
typedef enum {
  STATUS_OK = 0,
  STATUS_USAGE = 2,                         /**< a request that cannot be fulfilled */
  STATUS_ENVIRONMENT = 3,                   /**< no such device, library or file, or no memory */
  STATUS_WRONG = 4,                         /**< a result or message is incorrect */
  STATUS_SLOW = 5,                          /**< slower than a threshold that the user set */
  STATUS_HANG = 6,                          /**< a neighbour did not answer within the deadline */
  STATUS_FAULT = 7,                         /**< a device or library failed during the run */
  STATUS_INCOMPLETE = 8,                    /**< ended by a signal before its planned end */
  STATUS_NOISY = 0x100 | STATUS_ENVIRONMENT /**< too noisy to be judged: run again */
} status_t;

/** \brief Returns the exit code: 0, or one of 2 to 8. */
static inline int status_exit_code(status_t status)
{
  return (int)status & 0xff;
}

/** \brief Returns whether the status means that this machine or build cannot do something, in
 * contrast to an attempt that failed. */
static inline int status_is_unfit(status_t status)
{
  return status == STATUS_USAGE || status == STATUS_ENVIRONMENT;
}

/** All statuses, the gravest first. */
#define STATUS_WORDS 9
extern const struct status_word {
  status_t status;
  const char *verdict;
} status_words[STATUS_WORDS];

/** \brief Returns one word for reports: "pass", "usage", "environment", "noisy", "wrong", "slow",
 * "hang", "fault", "incomplete". */
const char *status_verdict(status_t status);

/** \brief Returns the graver of two statuses, in the order fault, hang, wrong, environment, noisy,
 * usage, incomplete, slow, ok. */
status_t status_worst(status_t a, status_t b);

/** \brief Evaluates \a call; if it fails, stores its status in `status` and jumps to \a label. */
#define TRY(call, label)                                                                                     \
  do {                                                                                                       \
    if ((status = (call)) != STATUS_OK) goto label;                                                          \
  } while (0)

/** \brief Evaluates \a call and returns its status if it fails. For functions without clean-up. */
#define RETURN_IF_FAILED(call)                                                                               \
  do {                                                                                                       \
    status_t failed_status_ = (call);                                                                        \
    if (failed_status_ != STATUS_OK) return failed_status_;                                                  \
  } while (0)

#endif
