/* SPDX-License-Identifier: MIT */
/** \file \brief Messages to the user on standard error. The function that detects an error logs
 * it. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/status.h"

/** \brief Sets the program's name, which begins every line. */
void log_set_program(const char *program);

/** \brief Set the sender of messages: rank (−1 for a single process), host and device (NULL until
 * known). The strings are copied. */
void log_set_rank(int rank, const char *host);
void log_set_device(const char *device);

/** \brief Logs an error with its exact cause and returns \a status: callers write `return
 * log_fail(…)`.
 *
 * While errors are held (log_hold), the text is kept instead, so that the ranks can compare their
 * errors. Otherwise it is printed at once with rank, host and device. */
status_t log_fail(status_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief Like log_fail, for errors of this rank's own device or host: rank, host and device are
 * always printed, even if all ranks log the same text. */
status_t log_fail_local(status_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief Returns whether the held text was logged by log_fail_local. */
int log_held_local(void);

/** \brief Prints a warning at once, on rank 0 only. For conditions that all ranks share. */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief Sets a function to call before each printed message. */
void log_before(void (*before)(void));

/** \brief Starts holding errors (1), or prints the held text and stops holding (0). */
void log_hold(int hold);

/** \brief Returns the held text, or "" if there is none. The text remains held. */
const char *log_held(void);

/** \brief Mutes errors if \a mute is 1, and unmutes them if it is 0. Muted errors are neither
 * printed nor held. Use it for attempts that may fail. LOG_UNFIT mutes only errors of
 * status_is_unfit(). Returns the previous value. */
int log_mute(int mute);
#define LOG_UNFIT 2

/** \brief Discards the held text. The ranks call this after they have printed it together. */
void log_drop(void);

/** \brief Prints held text of \a who ("" for all ranks), one message per line. For a rank that
 * reports on behalf of others. */
void log_print(const char *who, const char *text);

/** \brief Returns rank, host and device as far as known, as "rank 3, host n01, device GPU-…", for
 * messages that another rank prints. */
const char *log_identity(void);

#endif
