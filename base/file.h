/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Opening and writing files that the user names. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

/** \brief Opens for reading; NULL, with errno, where that fails. The writer of a pipe may start at
 * the same time; a pipe without a writer ends after two seconds and is empty. */
FILE *file_open_input(const char *path);

/** \brief The same for a text; a byte order mark is skipped, as by the functions below. */
FILE *file_open_text(const char *path);

/** \brief Opens a plain file for reading; NULL, with errno, where that fails: EINVAL for a folder,
 * a device, or a pipe, which would be waited for. */
FILE *file_open_regular(const char *path);

/** \brief Reads a plain file of at most \a most bytes whole, as a text that ends in a zero; the
 * caller frees it. NULL, with errno, where that fails: EINVAL as above, EFBIG for a larger one. */
char *file_read(const char *path, size_t most, size_t *bytes);

/** \brief Checks that file_write can write \a path, and leaves nothing behind; if not, logs the
 * cause and returns STATUS_ENVIRONMENT. A pipe stays open until file_write. */
status_t file_check(const char *path);

/** \brief Writes all of \a bytes to \a path, or to standard output for "-". STATUS_ENVIRONMENT,
 * with the cause, when that fails.
 *
 * A file is replaced whole or not at all, through symbolic links too, and keeps its permissions; no
 * signal that can be caught leaves a draft. If the system does not let the file be replaced (a bind
 * mount, a sticky folder, a file system without chmod), it is overwritten in place, with a warning.
 * Devices, pipes and /dev/stdout are written to; a pipe without a reader is an error. STATUS_USAGE
 * for a file of file_is_input. */
status_t file_write(const char *path, const void *bytes, size_t size);

/** \brief Opens to append, and a file also to read; a path that is open already (/dev/stdout) is
 * written from its current position. NULL, with errno, if that fails. */
FILE *file_open_append(const char *path);

/** \brief Whether \a path is a plain file, or nothing yet. */
int file_is_plain(const char *path);

/** \brief Whether both paths name one file, or would create the same one, by any spelling or link.
 * Devices and pipes never do. */
int file_is_same(const char *a, const char *b);

/** \brief Records that \a path was read and must not be written: for files that no option names.
 * Out of memory, it is not recorded. */
void file_is_input(const char *path);

/** \brief Fails if printed text did not reach standard output: a full disk, a closed descriptor. */
status_t file_flush_stdout(void);

#endif
