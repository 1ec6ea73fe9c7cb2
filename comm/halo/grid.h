/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Options for the size of a grid and its decomposition. */
#ifndef COMM_HALO_GRID_H
#define COMM_HALO_GRID_H

#include <stdint.h>

#include "base/options.h"
#include "base/status.h"

struct grid_size {
  char name[64];     /**< "XS" … "XL", or "IxJxK" */
  int64_t extent[3]; /**< imax, jmax, kmax */
};

/** \brief Reads XS … XL (any case) or IxJxK, each extent at least 3, into a struct grid_size. If
 * the text is invalid, logs an error and returns STATUS_USAGE. */
status_t grid_size_parse(const char *option, const char *text, void *size);

/** \brief Returns the number of named sizes. grid_size_named(0) returns the smallest of them. */
int grid_size_count(void);
const struct grid_size *grid_size_named(int n);

/** \brief Reads PxQxR into \a procs, an int[3]; for "auto", only sets procs[0] to 0. If the text is
 * invalid, logs an error and returns STATUS_USAGE. */
status_t grid_procs_parse(const char *option, const char *text, void *procs);

/** \brief Entry of a program's option table for --procs. \a auto_does says what "auto" chooses. */
#define GRID_OPTION_PROCS(readers, auto_does)                                                                \
  "procs", 'p', readers, OPTION_CUSTOM(procs, grid_procs_parse, "auto|PxQxR"),                               \
      "Set the numbers of ranks along the grid's dimensions i, j and k. auto " auto_does " (default: auto)."

#endif
