/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Messages between neighbours while a transport is set up. */
#ifndef COMM_TRANSPORTS_NEIGHBOURS_H
#define COMM_TRANSPORTS_NEIGHBOURS_H

#include "comm/halo/transport.h"

/** \brief For every message of the plan, sends out[m] and receives in[m], \a size bytes each. \a
 * tag is added to the messages' tags. Returns STATUS_WRONG if another number of bytes arrives. */
status_t neighbours_swap(const struct halo_context *context, int tag, const void *out, void *in, size_t size);

/** \brief Agrees with each neighbour: a message stays carried only if both ranks can carry it;
 * otherwise both get the reason. */
status_t neighbours_agree(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX]);

/** \brief Collective. Calls neighbours_refuse for messages to ranks of other hosts. */
status_t neighbours_on_host(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX]);

/** \brief Clears reach->carried and sets the reason, unless there is one already. */
void neighbours_refuse(struct halo_reach *reach, const char *why);

#endif
