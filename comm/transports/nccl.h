/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Collectives on CUDA memory by NCCL, if its library is found. */
#ifndef COMM_TRANSPORTS_NCCL_H
#define COMM_TRANSPORTS_NCCL_H

#include <mpi.h>

#include "gpu/gpu.h"

/** \brief Enqueues a collective of \a n doubles; for all-to-all, of \a n per rank. The queue may
 * then wait for other ranks without a deadline. */
typedef status_t nccl_collective(void *group, int ranks, const double *in, double *out, size_t n,
                                 struct gpu_queue *queue);

/** Functions for collectives. Usable if halo_transport_nccl is available. */
struct nccl_collectives {
  /** \brief Opens a group of all ranks of \a comm. Collective; ranks agree on the outcome. */
  status_t (*open)(MPI_Comm comm, struct gpu_device *device, void **group);
  nccl_collective *call[2]; /**< functions for all-reduce and for all-to-all */
  void (*close)(void *group);
};
extern const struct nccl_collectives nccl_collectives;

#endif
