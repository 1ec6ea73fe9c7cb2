/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The exchange as callers see it: a transport for the messages that it can carry, `staged`
 * for the others.
 *
 *     halo_route_open(transport, &context, &route);
 *     … halo_route_start(route, field, computed);
 *     … halo_route_finish(route, &arrived); gpu_wait(queue, arrived); …
 *     halo_route_wait(route, queue);    the host waits, with the deadline of comm/ranks/watch.h
 *     halo_route_close(route);
 *
 * All fields of an exchange must alternate: fields[0], fields[1], fields[0], … — a neighbour may
 * run one exchange ahead. */
#ifndef COMM_HALO_ROUTE_H
#define COMM_HALO_ROUTE_H

#include "comm/halo/transport.h"

struct halo_route;

/** How a message travels. */
struct halo_path {
  const struct halo_transport *used;
  char why[GPU_TEXT_MAX]; /**< "" where the transport itself carries it, else why it could not */
  const char *handover;   /**< as the transport tells; "" where it has one way */
  char handover_why[GPU_TEXT_MAX];
};

/** \brief Collective: ranks agree on the outcome. */
status_t halo_route_open(const struct halo_transport *transport, const struct halo_context *context,
                         struct halo_route **route);

/** \brief Collective unless something failed. */
void halo_route_close(struct halo_route *route);

/** \brief Like the transport's verbs of the same names. */
status_t halo_route_start(struct halo_route *route, struct gpu_mem field, struct gpu_event *computed);

/** \brief Start, where what is sent does not lie in the field that receives. */
status_t halo_route_pass(struct halo_route *route, struct gpu_mem from, struct gpu_mem field,
                         struct gpu_event *computed);
status_t halo_route_progress(struct halo_route *route);

/** \brief Returns when all that needs the host is done; *arrived is NULL or an event after which
 * the halos are valid; with NULL they are valid for later work in context.compute. */
status_t halo_route_finish(struct halo_route *route, struct gpu_event **arrived);
status_t halo_route_times(struct halo_route *route, struct halo_times *times);

/** \brief Holds the host until \a event has passed, serving the watchdog. STATUS_HANG when the
 * device found a neighbour silent. */
status_t halo_route_await(struct halo_route *route, struct gpu_event *event);

/** \brief Holds the host until \a queue is empty; otherwise as halo_route_await. */
status_t halo_route_wait(struct halo_route *route, struct gpu_queue *queue);

/** \brief Start and finish only put work into queues, on all ranks: nothing needs a host before
 * halo_route_wait. */
int halo_route_unattended(const struct halo_route *route);

/** \brief Only where unattended: ends a block of exchanges, see the transport's `lap`. */
status_t halo_route_lap(struct halo_route *route);

/** \brief Whether kernels can send and wait themselves: the transport has a link, and every rank's
 * messages go by it. */
int halo_route_linked(const struct halo_route *route);

/** \brief For such kernels: the link, and the next exchange's number unless \a step is NULL. */
const struct halo_link *halo_route_link(const struct halo_route *route, uint64_t *step);

/** \brief After kernels have used the link: later work in context.compute finds the halos valid. */
status_t halo_route_settle(struct halo_route *route);

/** \brief How message \a m of the plan travels. */
void halo_route_path(const struct halo_route *route, int m, struct halo_path *path);

#endif
