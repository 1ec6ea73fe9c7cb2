/* SPDX-License-Identifier: MIT */
/** \file
 * \brief All ranks must run the same program with the same options and variables.
 *
 * Each rank describes its start as a list of names and values. One reduction compares hashes of the
 * lists; the texts are sent only if hashes differ. The format is the same in all programs and
 * builds, so that different programs can be compared. */
#ifndef COMM_RANKS_SAME_H
#define COMM_RANKS_SAME_H

#include "base/options.h"
#include "base/status.h"

/** How this rank was started. */
struct same_start {
  const struct option_program *program;
  enum option_request request;
  /** status of parsing the command line: if parsing failed on any rank, only programs and builds
   * are compared, and the caller reports the error */
  status_t parsed;
};

/** \brief Collective over MPI_COMM_WORLD, before any other exchange between ranks. Returns
 * STATUS_USAGE on all ranks if programs, versions, builds, options (except those with OPTION_OWN)
 * or variables of the switch table with SWITCH_AGREED differ; rank 0 logs what differs, both values
 * and both hosts. */
status_t same_check(const struct same_start *start);

#endif
