/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Memory that the ranks of a host share, to pass packed halos to each other.
 *
 * Each rank writes to its own block, which its neighbours map: two alternating send buffers, and
 * counters. A receiver copies from the sender's block to its own device. No function here waits:
 * the caller polls the counters, with a deadline. */
#ifndef COMM_TRANSPORTS_HANDOVER_H
#define COMM_TRANSPORTS_HANDOVER_H

#include <stdint.h>

#include "comm/halo/transport.h"

struct handover_block;

/** The other end of a message. */
struct handover_peer {
  /** mapped block of the peer; its handle is NULL if the message goes by MPI */
  struct gpu_mem memory;
  struct handover_block *block;
  const float *buffer[2]; /**< addresses of the message in the peer's two send buffers */
};

struct handover {
  struct gpu_device *device;
  struct gpu_mem memory; /**< this rank's block; its handle is NULL if all messages go by MPI */
  struct handover_block *block;
  float *buffer[2]; /**< send buffers */
  struct handover_peer peer[HALO_MESSAGES_MAX];
};

/** \brief Collective; ranks agree on the outcome. If a message must go by MPI, clears
 * reach[m].carried and sets the reason, at both ends. Returns STATUS_WRONG if the ends disagree on
 * a message's length. */
status_t handover_open(struct handover *handover, const struct halo_context *context,
                       struct halo_reach reach[HALO_MESSAGES_MAX]);

/** \brief Releases the memory. Neighbours that have mapped it may still read it. */
void handover_close(struct handover *handover);

/** \brief Publishes that exchange \a n, from 1, has begun; does nothing without shared memory. */
void handover_begin(struct handover *handover, uint64_t n);

/** \brief Publishes that this rank has copied the neighbours' data of the first \a n exchanges, so
 * that they may reuse their buffers. */
void handover_take(struct handover *handover, uint64_t n);

/** \brief Publishes that \a chunks chunks of a message were written, in all exchanges together. */
void handover_send(struct handover *handover, int tag, uint64_t chunks);

/** \brief Return the values that the peer last published by handover_begin, _take and _send. */
uint64_t handover_begun(const struct handover_peer *peer);
uint64_t handover_taken(const struct handover_peer *peer);
uint64_t handover_sent(const struct handover_peer *peer, int tag);

#endif
