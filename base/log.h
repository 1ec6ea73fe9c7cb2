/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Messages to the user on standard error. The first function to detect an error logs it,
 * once. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/status.h"

/** \brief Names the program at the start of every line. */
void log_set_program(const char *program);

/** \brief Who speaks: rank (−1 for a single process), host and device (NULL until known). Copies
 * the strings. */
void log_set_rank(int rank, const char *host);
void log_set_device(const char *device);

/** \brief Logs an error with its exact cause and returns \a status: callers write `return
 * log_fail(…)`.
 *
 * While errors are held (log_hold), the text is kept for the ranks to compare instead of being
 * printed; else it is printed at once with rank, host and device. */
status_t log_fail(status_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief Like log_fail, for what concerns this rank's own device or host: rank, host and device
 * are always printed, even if all ranks log the same. */
status_t log_fail_local(status_t status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** \brief Whether held text is of log_fail_local. */
int log_held_local(void);

/** \brief A warning, printed at once by rank 0 only: for what all ranks see alike. */
void log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** \brief Sets a function to call before each printed message. */
void log_before(void (*before)(void));

/** \brief Holds errors (1), or prints what was held and no longer holds (0). */
void log_hold(int hold);

/** \brief The held text ("" when none); it stays held. */
const char *log_held(void);

/** \brief While muted (1), errors are neither printed nor held: for trying what may fail. With
 * LOG_UNFIT only those of status_is_unfit() are: for trying what may not fit. Returns the value
 * before. */
int log_mute(int mute);
#define LOG_UNFIT 2

/** \brief Forgets the held text: the ranks have printed it together. */
void log_drop(void);

/** \brief Prints held text of \a who ("" for all ranks), one message per line: for a rank that
 * reports for several. */
void log_print(const char *who, const char *text);

/** \brief "rank 3, host n01, device GPU-…" as far as known, for messages that others print. */
const char *log_identity(void);

#endif
