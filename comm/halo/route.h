/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The exchange as callers see it: a transport for the messages that it can carry, and the
 * transport `staged` for the other messages.
 *
 * decomp.h divides the grid over ranks, halo.h plans each rank's messages, transport.h moves them,
 * pack.h packs halos on the device, and link.h stores them directly in the neighbours' memory:
 *
 *     halo_route_open(transport, &context, &route);
 *     … halo_route_start(route, field, computed);
 *     … halo_route_finish(route, &arrived); gpu_wait(queue, arrived); …
 *     halo_route_wait(route, queue);    the host waits, with the deadline of comm/ranks/watch.h
 *     halo_route_close(route);
 *
 * Successive exchanges must alternate between fields[0] and fields[1], because a neighbour may run
 * one exchange ahead. */
#ifndef COMM_HALO_ROUTE_H
#define COMM_HALO_ROUTE_H

#include "comm/halo/transport.h"

struct halo_route;

/** How one message of the plan travels. */
struct halo_path {
  const struct halo_transport *used;
  /** the reason why the requested transport cannot carry the message; "" if it can */
  char why[GPU_TEXT_MAX];
  /** the handover that the transport reports; "" if the transport has only one */
  const char *handover;
  char handover_why[GPU_TEXT_MAX];
};

/** \brief Opens the exchange. Collective: ranks agree on the outcome. */
status_t halo_route_open(const struct halo_transport *transport, const struct halo_context *context,
                         struct halo_route **route);

/** \brief Closes the exchange. Collective unless an exchange failed. */
void halo_route_close(struct halo_route *route);

/** \brief Begins an exchange, as `start` of struct halo_transport does. */
status_t halo_route_start(struct halo_route *route, struct gpu_mem field, struct gpu_event *computed);

/** \brief Like halo_route_start, but sends the data in \a from instead of the data in \a field. */
status_t halo_route_pass(struct halo_route *route, struct gpu_mem from, struct gpu_mem field,
                         struct gpu_event *computed);
status_t halo_route_progress(struct halo_route *route);

/** \brief Returns when the host has nothing left to do for the exchange. The halos are valid after
 * the event *arrived or, if *arrived is NULL, for work enqueued in context.compute from now on. */
status_t halo_route_finish(struct halo_route *route, struct gpu_event **arrived);
status_t halo_route_times(struct halo_route *route, struct halo_times *times);

/** \brief Blocks the host until \a event has passed, and serves the watchdog meanwhile. Returns
 * STATUS_HANG if a wait on the device has passed its deadline. */
status_t halo_route_await(struct halo_route *route, struct gpu_event *event);

/** \brief Blocks the host until \a queue is empty; otherwise like halo_route_await. */
status_t halo_route_wait(struct halo_route *route, struct gpu_queue *queue);

/** \brief Returns 1 if halo_route_start and halo_route_finish only enqueue work, on all ranks, so
 * that the host need not act before halo_route_wait. */
int halo_route_unattended(const struct halo_route *route);

/** \brief Ends a block of exchanges, like `lap` in struct halo_transport. Only for unattended
 * routes. */
status_t halo_route_lap(struct halo_route *route);

/** \brief Returns 1 if kernels can send and wait themselves: the transport has a link, and it
 * carries all messages of every rank. */
int halo_route_linked(const struct halo_route *route);

/** \brief Returns the link, for kernels that send and wait themselves. Sets \a step, unless NULL,
 * to the number of the next exchange. */
const struct halo_link *halo_route_link(const struct halo_route *route, uint64_t *step);

/** \brief Makes halos that kernels received through the link valid for work in context.compute. */
status_t halo_route_settle(struct halo_route *route);

void halo_route_path(const struct halo_route *route, int m, struct halo_path *path);

#endif
