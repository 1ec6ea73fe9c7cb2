/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What --list says alike in all programs. */
#ifndef SUITE_LIST_H
#define SUITE_LIST_H

#include <stdio.h>

#include "gpu/gpu.h"

/** \brief A backend and its devices, a line each, or why there is none. */
void list_backend(const struct gpu_backend *backend, FILE *out);

#endif
