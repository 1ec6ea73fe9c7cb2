/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Memory that the ranks of a host share, through which they hand packed halos over.
 *
 * Each rank writes a block of its own, which its neighbours map: two alternating send buffers, and
 * counters. A receiver copies from the sender's block to its own device. No function here waits:
 * the caller that polls the counters has a deadline. */
#ifndef COMM_TRANSPORTS_HANDOVER_H
#define COMM_TRANSPORTS_HANDOVER_H

#include <stdint.h>

#include "comm/halo/transport.h"

struct handover_block;

/** A neighbour's side of a message. */
struct handover_peer {
  struct gpu_mem memory; /**< mapped; its handle is NULL where the message goes by MPI */
  int owner;             /**< the mapping is this entry's own */
  struct handover_block *block;
  const float *buffer[2]; /**< where the message lies */
};

struct handover {
  struct gpu_device *device;
  struct gpu_mem memory; /**< own; its handle is NULL where no message goes through it */
  struct handover_block *block;
  float *buffer[2]; /**< send buffers */
  struct handover_peer peer[HALO_MESSAGES_MAX];
};

/** \brief Collective; ranks agree. Clears reach[m].carried, with the reason, for messages that must
 * go by MPI, alike at both ends. STATUS_WRONG where the ends disagree on a message's length. */
status_t handover_open(struct handover *handover, const struct halo_context *context,
                       struct halo_reach reach[HALO_MESSAGES_MAX]);

/** \brief Neighbours may go on reading what was written. */
void handover_close(struct handover *handover);

/** \brief Exchange \a n, from 1, has begun here. Nothing where no message goes through memory. */
void handover_begin(struct handover *handover, uint64_t n);

/** \brief What neighbours wrote for the first \a n exchanges was copied: they may write again. */
void handover_take(struct handover *handover, uint64_t n);

/** \brief So many chunks of a message, counted over all exchanges, are in the buffers. */
void handover_send(struct handover *handover, int tag, uint64_t chunks);

/** \brief What the neighbour published. */
uint64_t handover_begun(const struct handover_peer *peer);
uint64_t handover_taken(const struct handover_peer *peer);
uint64_t handover_sent(const struct handover_peer *peer, int tag);

#endif
