/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Unnamed host memory that processes of one host share, for backends that use it. */
#ifndef GPU_HOST_SHARE_H
#define GPU_HOST_SHARE_H

#include "gpu/gpu.h"

/** \brief Returns zeroed memory, or NULL. Pages get their NUMA node when they are touched. */
void *host_share_alloc(size_t bytes);

/** \brief Frees \a memory and returns 1; returns 0 if host_share_alloc did not allocate it. */
int host_share_free(void *memory);

/** \brief Fills \a share with the data that another process needs for host_share_attach. Returns
 * STATUS_FAULT if \a mem is not from host_share_alloc. */
status_t host_share_offer(struct gpu_mem mem, struct gpu_share *share);

/** \brief Maps memory that another process offered and returns 1. If that is impossible, sets \a
 * reason and returns 0. */
int host_share_attach(const struct gpu_share *share, struct gpu_mem *mem, char reason[GPU_TEXT_MAX]);
void host_share_detach(struct gpu_mem *mem);

#endif
