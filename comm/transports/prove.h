/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Tests, pair by pair, whether the devices of a host reach each other's memory. */
#ifndef COMM_TRANSPORTS_PROVE_H
#define COMM_TRANSPORTS_PROVE_H

#include "comm/ranks/placement.h"

/** Steps of a test. Each uses only mechanisms that the previous steps have proven. */
enum peer_rung {
  PEER_OPEN,  /**< each rank opens the other's memory, and a word copied there arrives */
  PEER_STORE, /**< a kernel stores one word */
  PEER_PUT,   /**< copy engines write 256 KiB */
  PEER_GET,   /**< copy engines read 256 KiB */
  PEER_FLAGS, /**< kernels on both devices store 256 KiB, set a flag and await the other's flag */
  PEER_RUNGS  /**< all steps passed */
};
extern const char *const peer_rung_names[PEER_RUNGS + 1];

struct peer_proof {
  int peer;      /**< the other rank; −1: unused entry */
  int rung;      /**< the first step that failed, or PEER_RUNGS */
  char why[320]; /**< reason of the failure, and the PCI path between the devices */
};

/** \brief Collective. Tests each pair of ranks of a host. Afterwards, transports that need direct
 * access refuse pairs whose test failed. A copy through the host is the control: returns
 * STATUS_WRONG if its data differs. Sets *proofs, on all ranks, to a list of *most entries per
 * rank, which the caller must not free. */
status_t peers_prove(const struct placement *placement, struct gpu_device *device,
                     const struct peer_proof **proofs, int *most);

/** \brief Returns the reason why memory of rank \a peer of \a comm must not be used although it can
 * be opened, if the test with that rank failed; otherwise NULL. */
const char *peers_refused(MPI_Comm comm, int peer);

/** \brief Sets partner[r] to the partner of rank r in a round, or to −1 if it has none, for \a n
 * ranks. In n + n % 2 − 1 rounds each rank meets every other rank. */
void peers_round(int *partner, int n, int round);

#endif
