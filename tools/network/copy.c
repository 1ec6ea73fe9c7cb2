/* SPDX-License-Identifier: MIT */
#include "tools/network/bench.h"

#include "comm/transports/linked.h"

static status_t copy_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                           struct halo_exchange **exchange)
{
  struct halo_offer offer = {.target = {context->fields[0], context->fields[1]}};
  for (int m = 0; m < context->plan->n; m++) offer.first[m] = context->plan->messages[m].recv.lo[2];
  return linked_setup(context, &offer, reach, exchange);
}

static status_t copy_start(struct halo_exchange *exchange, struct gpu_mem from, struct gpu_mem field,
                           struct gpu_event *computed)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  struct gpu_queue *queue;
  RETURN_IF_FAILED(linked_begin(x, computed, &queue));
  return linked_copy(x, queue, from, field);
}

static status_t copy_finish(struct halo_exchange *exchange, struct gpu_event **arrived)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  RETURN_IF_FAILED(linked_await(x, x->current));
  return linked_end(x, arrived);
}

const struct halo_transport bench_copy = {
    .name = "copy",
    .memory = "device memory",
    .mover = "a plain copy into the neighbour's memory",
    .available = linked_available,
    .setup = copy_setup,
    .start = copy_start,
    .finish = copy_finish,
    .times = linked_times,
    .hung = linked_hung,
    .describe = linked_describe,
    .teardown = linked_teardown,
    .unattended = 1,
    .lap = linked_lap,
};
