/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Placement of this rank: host, device, cores. Chosen once, by all ranks together. */
#ifndef COMM_RANKS_PLACEMENT_H
#define COMM_RANKS_PLACEMENT_H

#include <mpi.h>

#include "base/meta.h"
#include "gpu/binding.h"
#include "gpu/select.h"

struct placement_request {
  /** backend to use; if NULL, the first one with a GPU, or the CPU if there is no GPU */
  const struct gpu_backend *backend;
  const char *device; /**< index, UUID or part of a name; NULL for any */
  enum binding_policy binding;
  int expect; /**< number of devices that every host must have, 0: not checked */
};

struct placement {
  MPI_Comm comm; /**< duplicate of the program's communicator; its calls return errors */
  int rank, ranks;
  int host_rank, host_ranks;
  /** lowest rank of this host, which identifies the host because names need not be unique */
  int host_first;
  int host_unused; /**< number of devices that ranks of this host see but do not use */
  char host[META_HOST_BYTES];
  const struct gpu_backend *backend; /**< the same on all ranks */
  /** why the backend uses no GPU; "" if it uses one, or if the user chose the backend */
  char reason[GPU_CLAIM_TEXT];
  int device; /**< index in the list of devices that the backend's probe returns */
  struct gpu_device_info info;
  int numa;       /**< NUMA node of the device, −1 if unknown */
  int shared;     /**< number of other ranks of the host on the same device; 0 on CPUs */
  int overlap;    /**< 1: this rank shares a core with another rank */
  char cpus[128]; /**< list of processing units, "0-7,16-23" */
};

/** \brief Sets up the communicators and the rank's identity in the log. */
status_t placement_open(MPI_Comm world, struct placement *placement);

/** The data that ranks exchange before they open devices. */
struct rank_claim {
  struct gpu_claim claim;
  char host[META_HOST_BYTES];
  int host_first; /**< as in struct placement */
};

/** \brief Checks that all ranks would use the same backend. Otherwise logs each backend with hosts
 * and reasons, in the same words on all ranks, and returns STATUS_ENVIRONMENT. */
status_t rank_claims_check(const struct rank_claim *all, int n);

/** \brief Collective: chooses backend, device and cores, and binds this process to them. Ranks
 * agree on the outcome. */
status_t placement_choose(struct placement *placement, const struct placement_request *request);

void placement_close(struct placement *placement);

#endif
