/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The common part of transports that use links: mailbox, neighbours, deadline, times. */
#ifndef COMM_TRANSPORTS_LINKED_H
#define COMM_TRANSPORTS_LINKED_H

#include "comm/transports/peers.h"

struct linked_exchange {
  struct halo_context context;
  struct halo_plan plan; /**< carried messages only */
  const struct halo_link_ops *link_ops;
  struct gpu_queue *queue; /**< queue for exchanges that run concurrently with computing */
  struct gpu_event *arrived;
  struct gpu_mem mailbox, state;
  struct halo_plea *plea;
  struct halo_peer peers[HALO_MESSAGES_MAX];
  struct halo_link link;
  uint64_t step;             /**< number of exchanges begun since the last linked_lap */
  struct gpu_queue *current; /**< queue of the current exchange */
  struct gpu_mem field;      /**< field of the current exchange */
  struct halo_times times;
  /** number of exchanges at the last read of times; a captured exchange counts each time it runs */
  uint64_t counted;
  struct halo_state seen; /**< the device's counters at the last read of times */

  /* members that only p2p uses */
  int copies;          /**< 1: all messages are contiguous and large enough for a copy engine */
  struct gpu_mem from; /**< source of an exchange that is launched in finish; otherwise NULL */

  /* members that only ipc uses */
  const struct halo_packer *packer;
  struct halo_packer_state *packer_state;
  struct gpu_mem send, recv[2];
};

/** \brief Returns 1 if a backend supports links; if not, sets the reason. */
int linked_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX]);

/** \brief Collective; ranks agree on the outcome. Creates an exchange with only its context set. */
status_t linked_create(const struct halo_context *context, struct linked_exchange **exchange);

/** \brief Collective; ranks agree on the outcome. Opens the link. \a offer contains the targets;
 * this function adds the mailbox. Clears reach as halo_peers_open does. */
status_t linked_open(struct linked_exchange *exchange, struct halo_offer *offer,
                     struct halo_reach reach[HALO_MESSAGES_MAX]);

/** \brief Calls linked_create and linked_open, for transports that need no step between them. */
status_t linked_setup(const struct halo_context *context, struct halo_offer *offer,
                      struct halo_reach reach[HALO_MESSAGES_MAX], struct halo_exchange **exchange);

/** \brief Begins an exchange. Sets *queue to its queue, which waits for \a computed. */
status_t linked_begin(struct linked_exchange *exchange, struct gpu_event *computed, struct gpu_queue **queue);

/** \brief Returns the offset in floats of the first point of a box in a field. */
static inline int64_t linked_first(const struct layout *layout, const struct box *box)
{
  return box->lo[0] * layout->plane + box->lo[1] * layout->pitch + box->lo[2];
}

static inline int linked_which(const struct linked_exchange *exchange, struct gpu_mem field)
{
  return field.handle == exchange->context.fields[1].handle;
}

/** \brief Copies each message from \a from to the neighbours' \a field, then sets the neighbours'
 * flags. All messages must be contiguous. */
status_t linked_copy(struct linked_exchange *exchange, struct gpu_queue *queue, struct gpu_mem from,
                     struct gpu_mem field);

/** \brief Waits for the flags of the current exchange, in the queue or on the host. */
status_t linked_await(struct linked_exchange *exchange, struct gpu_queue *queue);

/** \brief Returns 1 if message \a m of this exchange has arrived. The host reads the flag. */
int linked_has_come(const struct linked_exchange *exchange, int m);

/** \brief Ends an exchange and sets *arrived as halo_transport.finish does. */
status_t linked_end(struct linked_exchange *exchange, struct gpu_event **arrived);

/* Implementations of functions of struct halo_transport. Teardown first waits until neighbours have
 * released this rank's memory. */
void linked_teardown(struct halo_exchange *exchange);
status_t linked_lap(struct halo_exchange *exchange);
status_t linked_times(struct halo_exchange *exchange, struct halo_times *times);
int linked_hung(const struct halo_exchange *exchange);
void linked_describe(const struct halo_exchange *exchange, struct watch_targets *targets);

#endif
