/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Timed exchanges without a solver: only the halos of the fields matter. */
#ifndef HIMENO_TUNE_TRIAL_H
#define HIMENO_TUNE_TRIAL_H

#include "comm/halo/route.h"

struct trial_config {
  MPI_Comm comm; /**< as many ranks as procs multiply to */
  struct gpu_device *device;
  const struct halo_transport *transport;
  int64_t global[3];
  int procs[3];
  int depth, pad;
};

struct trial;

/** \brief Collective; the ranks agree on the outcome. */
status_t trial_open(const struct trial_config *config, struct trial **trial);
void trial_close(struct trial *trial);

/** \brief Whether the transport carries any message of any rank: else all of them are staged by
 * another name. Collective. */
status_t trial_carries(const struct trial *trial, int *any);

/** \brief Whether kernels store into the memory of all neighbours of every rank; false of no
 * trial. */
int trial_links(const struct trial *trial);

/** How many exchanges trial_time makes. */
#define TRIAL_EXCHANGES 160

/** \brief Best of a few rounds of consecutive exchanges, after one that is not counted: seconds per
 * exchange, the slowest rank's. Collective. */
status_t trial_time(struct trial *trial, double *seconds);

#endif
