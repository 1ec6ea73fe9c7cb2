/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The table of ranks that every program prints: host, device, cores, speed. */
#ifndef SUITE_RANKS_H
#define SUITE_RANKS_H

#include <stdio.h>

#include "base/document.h"
#include "comm/ranks/placement.h"

/** A rank's row. It is the first member of each program's struct for a rank. */
struct rank_row {
  char host[META_HOST_BYTES];
  char reason[GPU_TEXT_MAX];
  struct gpu_device_info info;
  int host_first, host_unused, numa, shared, overlap; /**< as in struct placement */
  char cpus[128];
  double gflops; /**< GFLOPS by the rank's own timing */
};

/** \brief Collective: chooses backend, device and cores as the options of these names do, and opens
 * the device. NULL as backend or device means any; 0 as \a expect means no check of the number of
 * devices. Ranks agree on the outcome. */
status_t rank_place(struct placement *placement, const struct gpu_backend *backend, const char *device,
                    int binding, int64_t expect, struct gpu_device **opened);

/** \brief Returns this rank's row, with gflops 0. */
struct rank_row rank_row_of(const struct placement *placement);

/** \brief Returns the device's UUID, or its name if it has none. */
const char *rank_device(const struct rank_row *row);

/** \brief Returns whether two ranks share a host. */
static inline int rank_same_host(const struct rank_row *a, const struct rank_row *b)
{
  return a->host_first == b->host_first;
}

/** \brief Returns the number of distinct hosts in \a n rows of \a size bytes each. */
int ranks_hosts(const void *rows, size_t size, int n);

/** \brief Prints why the backend uses no GPU, and which hosts have devices that no rank uses. */
void ranks_print_backend(const void *rows, size_t size, int n, FILE *out);

/** \brief Prints one line per row; with \a verbose also the UUIDs. */
void ranks_print(const void *rows, size_t size, int n, const char *gflops_title, int verbose, FILE *out);

/** \brief Warns about devices or cores that ranks share, in no more lines than the table has. */
void ranks_print_sharing(const void *rows, size_t size, int n, FILE *out);

/** \brief Writes a row's fields; \a timed adds shared cores and gflops (null if emulated). */
void rank_row_document(struct doc *d, const struct rank_row *row, int rank, int timed);

#endif
