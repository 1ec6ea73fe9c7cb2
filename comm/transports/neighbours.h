/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Messages between neighbours while a transport is set up. */
#ifndef COMM_TRANSPORTS_NEIGHBOURS_H
#define COMM_TRANSPORTS_NEIGHBOURS_H

#include "comm/halo/transport.h"

/** \brief Sends out[m] and receives in[m], \a size bytes each, for every message of the plan;
 * \a tag is added to the messages' own. STATUS_WRONG if another number of bytes arrives. */
status_t neighbours_swap(const struct halo_context *context, int tag, const void *out, void *in, size_t size);

/** \brief A message is carried if both its ends can; one end's reason is reported at both. */
status_t neighbours_agree(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX]);

/** \brief Collective. Refuses messages to ranks of other hosts. */
status_t neighbours_on_host(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX]);

/** \brief Clears reach->carried; the first reason stays. */
void neighbours_refuse(struct halo_reach *reach, const char *why);

#endif
