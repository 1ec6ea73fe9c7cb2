/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Whether MPI takes device pointers: queried, and then tested by an exchange. */
#ifndef COMM_TRANSPORTS_AWARE_H
#define COMM_TRANSPORTS_AWARE_H

#include "comm/halo/transport.h"

/** \brief Collective, before aware_available is asked: whether UCX has CUDA on all ranks. */
status_t aware_agree(MPI_Comm comm);

/** \brief Whether MPI may be handed memory of this backend; if not, why. */
int aware_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX]);

/** \brief What carries device memory: how the library was found to take it; NULL if it does not, or
 * if memory is the host's. Valid after aware_available. */
const char *aware_mover(void);

/** \brief Collective; ranks agree. Sends device memory to itself and to every neighbour, and looks
 * at what came. Clears reach[m].carried where it is not what was sent. STATUS_ENVIRONMENT where MPI
 * crashes on device memory. */
status_t aware_try(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX]);

#endif
