/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Whether MPI takes device pointers: asked, and then tried. */
#ifndef COMM_TRANSPORTS_AWARE_H
#define COMM_TRANSPORTS_AWARE_H

#include "comm/halo/transport.h"

/** \brief Whether MPI may be handed memory of this backend; if not, why. */
int aware_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX]);

/** \brief Collective; ranks agree. Sends device memory to itself and to every neighbour, and looks
 * at what came. Clears reach[m].carried where it is not what was sent. STATUS_ENVIRONMENT where MPI
 * crashes on device memory. */
status_t aware_try(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX]);

#endif
