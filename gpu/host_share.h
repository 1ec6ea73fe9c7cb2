/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Memory that processes of one host share without a name, for backends on the host's own
 * memory. */
#ifndef GPU_HOST_SHARE_H
#define GPU_HOST_SHARE_H

#include "gpu/gpu.h"

/** \brief Zeros; NULL when the system has no room. Pages are placed when touched. */
void *host_share_alloc(size_t bytes);

/** \brief Frees \a memory and returns 1; 0 when it is not of host_share_alloc. */
int host_share_free(void *memory);

/** \brief What another process needs. STATUS_FAULT when \a mem is not of host_share_alloc. */
status_t host_share_offer(struct gpu_mem mem, struct gpu_share *share);

/** \brief Maps what another process offered. Returns 0 and the reason where that cannot be. */
int host_share_attach(const struct gpu_share *share, struct gpu_mem *mem, char reason[GPU_TEXT_MAX]);
void host_share_detach(struct gpu_mem *mem);

#endif
