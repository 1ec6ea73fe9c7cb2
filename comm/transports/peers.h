/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Opens the memory of neighbours on the same host, and tries it. */
#ifndef COMM_TRANSPORTS_PEERS_H
#define COMM_TRANSPORTS_PEERS_H

#include "comm/halo/link.h"
#include "comm/halo/transport.h"

/** Memory of a rank that its neighbours write: two alternating targets, and the flags. From
 * gpu_alloc_shared. */
struct halo_offer {
  struct gpu_mem target[2], mailbox;
  int64_t plane, pitch; /**< of the targets, floats */
  /** by message of the plan: where its first float goes in a target */
  int64_t first[HALO_MESSAGES_MAX];
};

/** A neighbour's side of a message. */
struct halo_peer {
  struct gpu_mem target[2], mailbox; /**< attached; handles are NULL where that could not be */
  int64_t plane, pitch, first;
  char uuid[48]; /**< of its device */
  /** this entry's attachments are its own, and not another message's to the same rank */
  int owner;
};

/** \brief Collective. Attaches the neighbours of all messages of the plan, stores a mark in their
 * mailboxes and looks for theirs. Clears reach[m].carried, with the reason, where one side cannot
 * reach the other, alike at both. */
status_t halo_peers_open(const struct halo_context *context, struct gpu_queue *queue,
                         const struct halo_offer *offer, struct halo_reach reach[HALO_MESSAGES_MAX],
                         struct halo_peer peers[HALO_MESSAGES_MAX]);

void halo_peers_close(struct gpu_device *device, struct halo_peer peers[HALO_MESSAGES_MAX]);

#endif
