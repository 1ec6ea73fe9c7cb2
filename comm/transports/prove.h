/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Proof that the devices of a host reach each other's memory, pair by pair. */
#ifndef COMM_TRANSPORTS_PROVE_H
#define COMM_TRANSPORTS_PROVE_H

#include "comm/ranks/placement.h"

/** Steps of a proof. Each uses only what the steps before it have proven. */
enum peer_rung {
  PEER_OPEN,  /**< each opens the other's memory, and a word copied there arrives */
  PEER_STORE, /**< a kernel stores one word */
  PEER_PUT,   /**< copy engines write 256 KiB */
  PEER_GET,   /**< copy engines read 256 KiB */
  PEER_FLAGS, /**< two resident kernels store 256 KiB, set a flag and wait for the other's */
  PEER_RUNGS  /**< all of it is proven */
};
extern const char *const peer_rung_names[PEER_RUNGS + 1];

struct peer_proof {
  int peer;      /**< rank, −1: none */
  int rung;      /**< the first that failed, or PEER_RUNGS */
  char why[320]; /**< why it failed, and what lies between the devices */
};

/** \brief Collective. Proves each pair of ranks of a host; from then on transports that need it
 * refuse pairs whose proof failed. A copy through the host is the control: STATUS_WRONG if its
 * content differs. On all ranks, *proofs has *most entries per rank, and stays. */
status_t peers_prove(const struct placement *placement, struct gpu_device *device,
                     const struct peer_proof **proofs, int *most);

/** \brief Why the memory of rank \a peer of \a comm is not used although it can be opened; NULL if
 * no proof failed. */
const char *peers_refused(MPI_Comm comm, int peer);

/** \brief Partners of \a n ranks, −1 for none, in one of n + n % 2 − 1 rounds, in which each meets
 * each. */
void peers_round(int *partner, int n, int round);

#endif
