/* SPDX-License-Identifier: MIT */
/** \file
 * \brief --soak: blocks in both data sets for hours, every bit of field and coefficients checked,
 * one line per block that survives a kill. */
#ifndef HIMENO_SOAK_SOAK_H
#define HIMENO_SOAK_SOAK_H

#include <jansson.h>
#include <stdio.h>

#include "base/document.h"
#include "himeno/measure/measure.h"
#include "himeno/result/result.h"
#include "himeno/verify/verify.h"
#include <mpi.h>
#include "himeno/result/record.h"

/** \brief Collective, in place of himeno_measure: STATUS_WRONG when a bit was wrong. */
status_t himeno_soak(struct himeno_measurement *measurement);

/* The log: a JSON object a line and a block, on the disk before the next block begins. Rank 0. */

/** \brief The schema of a line. */
void himeno_soak_schema(struct doc *d);

/** \brief Opens \a path to append to by file_open_append; a last line that a kill tore is ended
 * first. STATUS_ENVIRONMENT. */
status_t soak_log_open(const char *path, FILE **log);

/** \brief Writes one line and waits until it is on the disk. Takes \a line; NULL:
 * memory ran out. STATUS_ENVIRONMENT (full disk, …). */
status_t soak_log_add(FILE *log, json_t *line, const char *path);

struct soak_known {
  struct verify_reference reference;
  int depth, passes;
  uint64_t *field[SOAK_DATA_SETS]; /**< after each pass; [0] is the initial field */
  uint64_t coefficient[SOAK_DATA_SETS][HIMENO_COEFFICIENTS];
};

/** \brief Collective: runs the reference of \a config's problem through blocks of \a passes passes
 * of its kernel. STATUS_ENVIRONMENT where the hosts' memory is too small. */
status_t soak_known_open(const struct solver_config *config, int passes, struct soak_known *known);
void soak_known_close(struct soak_known *known);

/* A block: see check.c. */

#define SOAK_CORRUPTIONS_MAX (SOLVER_ARRAYS + 1)

struct soak_block {
  double seconds; /**< of its sweeps, the slowest rank's */
  int sweeps;
  double phase_sums[HIMENO_PHASES]; /**< this rank's seconds over its sweeps */
  double gosa;
  uint64_t checksum;
  int wrong; /**< a mismatch somewhere; all ranks agree */
  int sweep; /**< after which it was found: the first wrong one where each pass is checked */
  int first; /**< the first wrong sweep when it was run again; 0 where it was right then */
  int n;     /**< of this rank */
  struct soak_corruption corruption[SOAK_CORRUPTIONS_MAX];
};

/** \brief Collective: fills the solver with \a data and runs a block; fields are checked every \a
 * every passes. */
status_t soak_block_run(struct solver *solver, struct soak_known *known, MPI_Comm comm, enum himeno_data data,
                        int every, struct soak_block *block);

/* Values that the ranks' devices reported after a block: extremes, with their rank, and changes. */

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
