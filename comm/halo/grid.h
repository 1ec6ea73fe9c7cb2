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

/** \brief Reads XS … XL (any case) or IxJxK, each at least 3, into a struct grid_size. If invalid,
 * logs and returns STATUS_USAGE. */
status_t grid_size_parse(const char *option, const char *text, void *size);

/** \brief Number of named sizes, and the n-th of them, smallest first. */
int grid_size_count(void);
const struct grid_size *grid_size_named(int n);

/** \brief Reads PxQxR into an int[3]; "auto" sets its first to 0. STATUS_USAGE, logged, if
 * invalid. */
status_t grid_procs_parse(const char *option, const char *text, void *procs);

/** \brief The entry for the decomposition in a program's option table. */
#define GRID_OPTION_PROCS(readers, auto_does)                                                                \
  "procs", 'p', readers, OPTION_CUSTOM(procs, grid_procs_parse, "auto|PxQxR"),                               \
      "Set the numbers of ranks along the grid's dimensions i, j and k. auto " auto_does " (default: auto)."

#endif
