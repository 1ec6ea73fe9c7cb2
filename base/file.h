/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Opening and writing files that the user names. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

/** \brief Opens a file for reading. Returns NULL and sets errno if that fails. Waits up to two
 * seconds for the writer of a pipe, which may start at the same time; a pipe without a writer reads
 * as empty. */
FILE *file_open_input(const char *path);

/** \brief Opens a text file for reading as file_open_input does, and skips a byte order mark. */
FILE *file_open_text(const char *path);

/** \brief Opens a plain file for reading. Returns NULL and sets errno if that fails; EINVAL for a
 * folder, a device or a pipe, because reading them could block. */
FILE *file_open_regular(const char *path);

/** \brief Reads a whole plain file of at most \a most bytes as a text with a terminating zero; the
 * caller frees it. If that fails, returns NULL and sets errno: EINVAL for a folder, device or pipe,
 * EFBIG for a larger file. */
char *file_read(const char *path, size_t most, size_t *bytes);

/** \brief Checks that file_write can write \a path, and leaves no file there. If it cannot, logs
 * the cause and returns STATUS_ENVIRONMENT. A pipe stays open until file_write. */
status_t file_check(const char *path);

/** \brief Writes all of \a bytes to \a path, or to standard output for "-". Returns
 * STATUS_ENVIRONMENT and logs the cause if that fails.
 *
 * A file is replaced whole or not at all, also through symbolic links, and keeps its permissions.
 * The data is first written to a temporary file, which is removed if a signal that can be caught
 * ends the program. If the system does not allow replacing the file (a bind mount, a sticky folder,
 * a file system without chmod), it is overwritten in place, with a warning. Devices, pipes and
 * /dev/stdout are written to; a pipe without a reader is an error. Returns STATUS_USAGE for a file
 * registered by file_is_input. */
status_t file_write(const char *path, const void *bytes, size_t size);

/** \brief Opens a file to append; a plain file can also be read. An open descriptor of this process
 * (/dev/stdout) is written at its current position. Returns NULL and sets errno on failure. */
FILE *file_open_append(const char *path);

/** \brief Returns whether \a path is a plain file or does not exist yet. */
int file_is_plain(const char *path);

/** \brief Returns whether both paths name the same file, or would create the same one, in any
 * spelling and through any link. Always 0 for devices and pipes. */
int file_is_same(const char *a, const char *b);

/** \brief Records that \a path was read and must not be overwritten. Use it for files that are not
 * named by an option. If memory runs out, the file is not recorded. */
void file_is_input(const char *path);

/** \brief Returns STATUS_ENVIRONMENT if printed text did not reach standard output, e.g. because of
 * a full disk or a closed descriptor. */
status_t file_flush_stdout(void);

#endif
