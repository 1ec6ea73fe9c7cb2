/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The parts of --list that all programs share. */
#ifndef SUITE_LIST_H
#define SUITE_LIST_H

#include <stdio.h>

#include "gpu/gpu.h"

/** Prints a program's lines about a backend with \a devices devices. */
typedef void list_more(const struct gpu_backend *backend, int devices, FILE *out);

/** \brief Prints the backend \a asked, or if that is NULL all backends except those for tests: one
 * line per device, or the reason why there is none. Then calls \a more for the backend. \a heading
 * is appended to the list's heading. */
void list_backends(const struct gpu_backend *asked, const char *heading, list_more *more, FILE *out);

/** \brief Prints the transports that a backend supports in this build and with these libraries, and
 * why the others are unavailable. */
void list_backend_transports(const struct gpu_backend *backend, FILE *out);

/** \brief Prints one line per transport. */
void list_transports(FILE *out);

#endif
