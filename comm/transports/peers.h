/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Opens the memory of neighbours on the same host, and tests it. */
#ifndef COMM_TRANSPORTS_PEERS_H
#define COMM_TRANSPORTS_PEERS_H

#include "comm/halo/link.h"
#include "comm/halo/transport.h"

/** Memory of a rank to which its neighbours write, from gpu_alloc_shared: two alternating targets,
 * and the mailbox with the flags. */
struct halo_offer {
  struct gpu_mem target[2], mailbox;
  int64_t plane, pitch; /**< strides of the targets, floats */
  /** per message of the plan: offset of the message's first float in a target */
  int64_t first[HALO_MESSAGES_MAX];
};

/** The other end of a message. */
struct halo_peer {
  /** attached memory of the neighbour; handles are NULL if it was not attached */
  struct gpu_mem target[2], mailbox;
  int64_t plane, pitch, first;
  char uuid[48]; /**< UUID of the neighbour's device */
};

/** \brief Collective. Attaches the memory of the neighbours of all messages, stores a mark in their
 * mailboxes and checks the marks that arrived. If one rank cannot reach the other, clears
 * reach[m].carried and sets the reason at both ends. */
status_t halo_peers_open(const struct halo_context *context, struct gpu_queue *queue,
                         const struct halo_offer *offer, struct halo_reach reach[HALO_MESSAGES_MAX],
                         struct halo_peer peers[HALO_MESSAGES_MAX]);

void halo_peers_close(struct gpu_device *device, struct halo_peer peers[HALO_MESSAGES_MAX]);

#endif
