/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What --list says alike in all programs. */
#ifndef SUITE_LIST_H
#define SUITE_LIST_H

#include <stdio.h>

#include "gpu/gpu.h"

/** Prints a program's lines about a backend with \a devices devices. */
typedef void list_more(const struct gpu_backend *backend, int devices, FILE *out);

/** \brief The backend that was \a asked for, or all but those for tests, and \a more of each;
 * devices a line each, or why there is none. \a heading ends the list's own. */
void list_backends(const struct gpu_backend *asked, const char *heading, list_more *more, FILE *out);

/** \brief The transports that a backend has in this build and with these libraries, and why it has
 * no others. */
void list_backend_transports(const struct gpu_backend *backend, FILE *out);

/** \brief All transports, a line each. */
void list_transports(FILE *out);

#endif
