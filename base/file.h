/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Opening what a user names. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdio.h>

/** \brief Opens a plain file for reading; NULL, with errno, where that fails: EINVAL for a folder, a device, or a pipe, which would be
 * waited for. */
FILE *file_open_regular(const char *path);

#endif
