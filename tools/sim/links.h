/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What a kernel that exchanges halos itself puts into a queue. */
#ifndef TOOLS_SIM_LINKS_H
#define TOOLS_SIM_LINKS_H

#include "comm/halo/link.h"

/** \brief The slabs' computing and their stores; then the flags of \a step. */
status_t link_store(struct gpu_queue *queue, const struct halo_link *link);
status_t link_raise(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);

/** \brief Waits for the neighbours' flags of \a step. */
status_t link_await(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);

#endif
