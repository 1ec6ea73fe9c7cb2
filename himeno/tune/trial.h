/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Timed exchanges of halos without a solver. */
#ifndef HIMENO_TUNE_TRIAL_H
#define HIMENO_TUNE_TRIAL_H

#include "comm/halo/route.h"

struct trial_config {
  MPI_Comm comm; /**< communicator with as many ranks as the product of procs */
  struct gpu_device *device;
  const struct halo_transport *transport;
  int64_t global[3];
  int procs[3];
  int depth, pad;
};

struct trial;

/** \brief Opens a trial. Collective; the ranks agree on the outcome. */
status_t trial_open(const struct trial_config *config, struct trial **trial);
void trial_close(struct trial *trial);

/** \brief Sets \a any to whether the transport carries any message of any rank. If not, the trial
 * would only measure `staged`. Collective. */
status_t trial_carries(const struct trial *trial, int *any);

/** \brief Returns whether kernels store into all neighbours' memory on every rank; 0 for NULL. */
int trial_links(const struct trial *trial);

/** Number of exchanges in trial_time. */
#define TRIAL_EXCHANGES 160

/** \brief Sets the seconds per exchange on the slowest rank: the best of a few rounds of
 * consecutive exchanges. Collective. */
status_t trial_time(struct trial *trial, double *seconds);

#endif
