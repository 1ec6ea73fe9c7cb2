/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The log of a soak: a JSON object a line and a block, on the disk before the next block
 * begins. Rank 0. */
#ifndef HIMENO_SOAK_LOG_H
#define HIMENO_SOAK_LOG_H

#include <jansson.h>
#include <stdio.h>

#include "base/status.h"

/** \brief Opens \a path to append to by file_open_append; a last line that a kill tore is ended
 * first. STATUS_ENVIRONMENT. */
status_t soak_log_open(const char *path, FILE **log);

/** \brief Writes one line and waits until it is on the disk. Takes \a line. STATUS_ENVIRONMENT
 * (full disk, …). */
status_t soak_log_add(FILE *log, json_t *line, const char *path);

#endif
