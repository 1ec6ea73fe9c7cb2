/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Common to the transports on links: mailbox, neighbours, deadline, times. */
#ifndef COMM_TRANSPORTS_LINKED_H
#define COMM_TRANSPORTS_LINKED_H

#include "comm/transports/peers.h"

struct linked_exchange {
  struct halo_context context;
  struct halo_plan plan; /**< carried messages only */
  const struct halo_link_ops *link_ops;
  struct gpu_queue *queue; /**< for exchanges that go beside computing */
  struct gpu_event *arrived;
  struct gpu_mem mailbox, state;
  struct halo_plea *plea;
  struct halo_peer peers[HALO_MESSAGES_MAX];
  struct halo_link link;
  uint64_t step;             /**< exchanges begun since the last lap */
  struct gpu_queue *current; /**< the queue of the exchange under way */
  struct gpu_mem field;      /**< of the exchange under way */
  struct halo_times times;
  /** exchanges when the times were read last: a recorded one counts as often as it runs */
  uint64_t counted;
  struct halo_state seen; /**< the device's counters when the times were read last */

  /* of p2p alone */
  int copies;          /**< every message is in one piece and large: a copy engine's */
  struct gpu_mem from; /**< where the exchange begins as it is finished, else none */

  /* of ipc alone */
  const struct halo_packer *packer;
  struct halo_packer_state *packer_state;
  struct gpu_mem send, recv[2];
};

/** \brief Whether a backend can link; if not, why. */
int linked_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX]);

/** \brief Collective; ranks agree. An exchange that has its context and nothing else. */
status_t linked_create(const struct halo_context *context, struct linked_exchange **exchange);

/** \brief Collective; ranks agree. \a offer has the targets; the mailbox is made here. Clears reach
 * as halo_peers_open does. */
status_t linked_open(struct linked_exchange *exchange, struct halo_offer *offer,
                     struct halo_reach reach[HALO_MESSAGES_MAX]);

/** \brief Both, for transports that need nothing in between. */
status_t linked_setup(const struct halo_context *context, struct halo_offer *offer,
                      struct halo_reach reach[HALO_MESSAGES_MAX], struct halo_exchange **exchange);

/** \brief Begins an exchange: the queue that its work goes to, after \a computed. */
status_t linked_begin(struct linked_exchange *exchange, struct gpu_event *computed, struct gpu_queue **queue);

/** \brief Where the first point of a box lies in a field, in floats. */
static inline int64_t linked_first(const struct layout *layout, const struct box *box)
{
  return box->lo[0] * layout->plane + box->lo[1] * layout->pitch + box->lo[2];
}

/** \brief Which of context.fields \a field is. */
static inline int linked_which(const struct linked_exchange *exchange, struct gpu_mem field)
{
  return field.handle == exchange->context.fields[1].handle;
}

/** \brief Copies what is sent, a piece each, from where it lies in \a from into the neighbours'
 * \a field, and sets their flags. */
status_t linked_copy(struct linked_exchange *exchange, struct gpu_queue *queue, struct gpu_mem from,
                     struct gpu_mem field);

/** \brief Waits for the flags of \a step, in the queue or here. */
status_t linked_await(struct linked_exchange *exchange, struct gpu_queue *queue);

/** \brief Whether the flag of a message has reached the current exchange, if the host can read
 * it. */
int linked_has_come(const struct linked_exchange *exchange, int m);

/** \brief Ends an exchange: *arrived as halo_transport.finish sets it. */
status_t linked_end(struct linked_exchange *exchange, struct gpu_event **arrived);

/* As in halo_transport. Neighbours have released this rank's memory before it is torn down. */
void linked_teardown(struct halo_exchange *exchange);
status_t linked_lap(struct halo_exchange *exchange);
status_t linked_times(struct halo_exchange *exchange, struct halo_times *times);
int linked_hung(const struct halo_exchange *exchange);
void linked_describe(const struct halo_exchange *exchange, struct watch_targets *targets);

#endif
