/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The source of a user's own kernel. */
#ifndef HIMENO_KERNELS_KERNEL_FILE_H
#define HIMENO_KERNELS_KERNEL_FILE_H

#include "base/status.h"

/** \brief Reads a file whole, as a text that the caller frees: STATUS_ENVIRONMENT if it cannot be
 * read. */
status_t kernel_file_read(const char *path, char **source);

#endif
