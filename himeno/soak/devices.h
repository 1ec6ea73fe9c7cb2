/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the ranks' devices said after a block of a soak: extremes, with the rank that has
 * them, and what changed. */
#ifndef HIMENO_SOAK_DEVICES_H
#define HIMENO_SOAK_DEVICES_H

#include <mpi.h>

#include "base/document.h"
#include "himeno/result/record.h"

/** One rank's. */
struct soak_device {
  char host[META_HOST_BYTES];
  struct telemetry_sample now;
  struct telemetry_state state;
};

struct soak_devices {
  MPI_Comm comm;
  struct soak_device mine;
  int ranks;                          /**< 0 on other ranks than 0 */
  struct soak_device *before, *after; /**< the last block and the one before, on rank 0 */
};

/** \brief Collective: what the devices say before the first block. STATUS_ENVIRONMENT when memory
 * ran out. */
status_t soak_devices_open(MPI_Comm comm, const char *host, const struct record *record,
                           struct soak_devices *devices);
void soak_devices_close(struct soak_devices *devices);

/** \brief Collective: what they said after a block. */
status_t soak_devices_gather(const struct record *record, struct soak_devices *devices);

/** \brief Whether a device was throttled after the block. Rank 0. */
int soak_devices_throttled(const struct soak_devices *devices);

/** \brief The field `telemetry` of a block's line. Rank 0. */
void soak_devices_document(struct doc *d, const struct soak_devices *devices);

#endif
