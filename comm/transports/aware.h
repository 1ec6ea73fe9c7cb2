/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Finds out whether MPI accepts device pointers: queries MPI, then tests an exchange. */
#ifndef COMM_TRANSPORTS_AWARE_H
#define COMM_TRANSPORTS_AWARE_H

#include "comm/halo/transport.h"

/** \brief Collective, before aware_available: finds out whether UCX supports CUDA on all ranks. */
status_t aware_agree(MPI_Comm comm);

/** \brief Returns 1 if MPI accepts memory of this backend; if not, sets the reason. */
int aware_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX]);

/** \brief Returns the name of the component through which MPI accepts device memory, or NULL if MPI
 * does not accept it or if the backend uses host memory. Valid after aware_available. */
const char *aware_mover(void);

/** \brief Collective; ranks agree on the outcome. Each rank sends device memory to itself and to
 * every neighbour, and checks the data that it receives. If any differs, clears reach[m].carried of
 * all messages. Returns STATUS_ENVIRONMENT if MPI crashes on device memory. */
status_t aware_try(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX]);

#endif
