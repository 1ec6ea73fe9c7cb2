/* SPDX-License-Identifier: MIT */
/** \file
 * \brief --soak: blocks in both data sets for hours, every bit of field and coefficients checked, a
 * line a block that survives a kill. */
#ifndef HIMENO_SOAK_SOAK_H
#define HIMENO_SOAK_SOAK_H

#include <jansson.h>
#include <stdio.h>

#include "base/document.h"
#include "himeno/measure/measure.h"

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

#endif
