/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Whether MPI accepts device pointers: queried, then tested by an exchange. */
#ifndef COMM_TRANSPORTS_AWARE_H
#define COMM_TRANSPORTS_AWARE_H

#include "comm/halo/transport.h"

/** \brief Collective, before aware_available: whether UCX supports CUDA on all ranks. */
status_t aware_agree(MPI_Comm comm);

/** \brief Whether MPI accepts memory of this backend; if not, the reason. */
int aware_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX]);

/** \brief The component through which the library accepts device memory; NULL if it does not, or if
 * the memory is the host's. Valid after aware_available. */
const char *aware_mover(void);

/** \brief Collective; ranks agree. Sends device memory to itself and to every neighbour, and
 * compares the data received. Clears reach[m].carried if it is different. STATUS_ENVIRONMENT if MPI
 * crashes on device memory. */
status_t aware_try(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX]);

#endif
