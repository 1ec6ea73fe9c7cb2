/* SPDX-License-Identifier: MIT */
/** \file
 * \brief One transport between ranks of a communicator: batches of exchanges whose content is
 * compared.
 *
 * Exchanges alternate between two fields and wait for one another, as the sweeps of a solver do.
 * Before a batch both fields get new content in the points that a rank sends and zeros elsewhere;
 * after it every point of both is compared: halos, sent points, and those that no message may
 * touch. In a batch of two each transfer is proven by itself; in a longer one the last of each
 * field is, and each damaged field whatever did it. Where a transport needs no host, a batch is one
 * recorded graph. */
#ifndef TOOLS_NETWORK_RIG_H
#define TOOLS_NETWORK_RIG_H

#include "comm/halo/route.h"

struct bench_rig;

struct bench_rig_config {
  MPI_Comm comm;
  struct gpu_device *device;
  const struct halo_transport *transport;
  /** each of two ranks sends so many to the other; 0: the halos of a grid, as follows */
  int64_t pair_bytes;
  int one_way; /**< of a pair: only rank 0 sends */
  int64_t global[3];
  int procs[3];
  int depth;
};

/** \brief Collective; the ranks agree on the outcome. */
status_t bench_rig_open(const struct bench_rig_config *config, struct bench_rig **rig);
void bench_rig_close(struct bench_rig *rig);

/** \brief Collective: a batch of \a n ≥ 2 exchanges; \a seconds an exchange, on this rank.
 * STATUS_WRONG, logged, when content differs. */
status_t bench_rig_batch(struct bench_rig *rig, int n, double *seconds);

/** \brief Seconds by phase and number of exchanges since the last call. */
status_t bench_rig_times(struct bench_rig *rig, struct halo_times *times);

/** \brief How this rank's message \a m travels. */
void bench_rig_path(const struct bench_rig *rig, int m, struct halo_path *path);

/** \brief This rank's messages. */
const struct halo_plan *bench_rig_plan(const struct bench_rig *rig);

#endif
