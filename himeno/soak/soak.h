/* SPDX-License-Identifier: MIT */
/** \file \brief --soak: blocks in both data sets for hours, every bit of field and coefficients
 * checked. The log has one line per block, which is on disk before the next block begins. */
#ifndef HIMENO_SOAK_SOAK_H
#define HIMENO_SOAK_SOAK_H

#include <jansson.h>
#include <stdio.h>

#include "base/document.h"
#include "himeno/measure/measure.h"
#include "himeno/result/result.h"
#include "himeno/verify/verify.h"
#include <mpi.h>

/** \brief Collective, instead of himeno_measure. Returns STATUS_WRONG if a bit was wrong. */
status_t himeno_soak(struct himeno_measurement *measurement);

/* The soak log, written by rank 0: one JSON object per block, one per line. Each line is on disk
 * before the next block begins. */

/** \brief Writes the schema of a line of the soak log. */
void himeno_soak_schema(struct doc *d);

/** \brief Opens \a path to append, by file_open_append. First completes a last line that a killed
 * run cut short. Returns STATUS_ENVIRONMENT on failure. */
status_t soak_log_open(const char *path, FILE **log);

/** \brief Writes one line and waits until it is on disk. Frees \a line; NULL means that memory ran
 * out. Returns STATUS_ENVIRONMENT on failure, e.g. a full disk. */
status_t soak_log_add(FILE *log, json_t *line, const char *path);

struct soak_known {
  struct verify_reference reference;
  int depth, passes;
  uint64_t *field[SOAK_DATA_SETS]; /**< checksums of the field per pass; [0] is the initial field */
  uint64_t coefficient[SOAK_DATA_SETS][HIMENO_COEFFICIENTS];
};

/** \brief Collective: computes the known checksums, by the reference, for blocks of \a passes
 * passes of the kernel. Returns STATUS_ENVIRONMENT if the hosts have too little memory. */
status_t soak_known_open(const struct solver_config *config, int passes, struct soak_known *known);
void soak_known_close(struct soak_known *known);

/* A block; see check.c. */

#define SOAK_CORRUPTIONS_MAX (SOLVER_ARRAYS + 1)

struct soak_block {
  double seconds; /**< seconds of the block's sweeps on the slowest rank */
  int sweeps;
  double phase_sums[HIMENO_PHASES]; /**< this rank's seconds, summed over the block's sweeps */
  double gosa;
  uint64_t checksum;
  int wrong; /**< 1: a mismatch on any rank; all ranks agree */
  int sweep; /**< sweep after which it was found; with a check per pass the first wrong sweep */
  int first; /**< the first wrong sweep when the block was repeated; 0: none was wrong */
  int n;     /**< number of this rank's corruptions */
  struct soak_corruption corruption[SOAK_CORRUPTIONS_MAX];
};

/** \brief Collective: fills the solver with \a data and runs a block; checks fields every \a every
 * passes. */
status_t soak_block_run(struct solver *solver, struct soak_known *known, MPI_Comm comm, enum himeno_data data,
                        int every, struct soak_block *block);

#endif
