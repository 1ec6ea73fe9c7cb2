/* SPDX-License-Identifier: MIT */
/* Kernels store faces directly into the neighbours' halos, without packing and without the host. */
#include "base/stats.h"
#include "comm/transports/linked.h"

/* Minimum message size for the copy engine if other work runs concurrently. Starting a copy takes
 * about 5 us. A kernel that stores occupies as many multiprocessors as it can get during the
 * transfer. At 300 GB/s or more, 1 MiB takes at most 4 us. */
#define COPY_BYTES (1 << 20)

/* Returns 1 if a box is contiguous in a field with strides \a pitch and \a plane, in floats. */
static int is_one_piece(const struct box *box, int64_t pitch, int64_t plane)
{
  int64_t layers = box_extent(box, 0), rows = box_extent(box, 1), row = box_extent(box, 2);
  return (row == pitch || layers * rows == 1) && (rows * row == plane || layers == 1);
}

static void copies_choose(struct linked_exchange *x)
{
  x->copies = x->plan.floats > 0;
  for (int m = 0; m < x->plan.n; m++) {
    const struct halo_message *message = &x->plan.messages[m];
    const struct halo_link_message *to = &x->link.message[m];
    if (message->count == 0) continue;
    x->copies &= message->count * (int64_t)sizeof(float) >= COPY_BYTES &&
                 is_one_piece(&message->send, x->link.pitch, x->link.plane) &&
                 is_one_piece(&message->send, to->pitch, to->plane);
  }
}

static status_t p2p_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                          struct halo_exchange **exchange)
{
  struct halo_offer offer = {.target = {context->fields[0], context->fields[1]},
                             .plane = context->layout->plane,
                             .pitch = context->layout->pitch};
  for (int m = 0; m < context->plan->n; m++)
    offer.first[m] = linked_first(context->layout, &context->plan->messages[m].recv);
  RETURN_IF_FAILED(linked_setup(context, &offer, reach, exchange));
  copies_choose((struct linked_exchange *)*exchange);
  return STATUS_OK;
}

/* If no work is to run concurrently, finish launches the whole exchange as one kernel. */
static status_t p2p_start(struct halo_exchange *exchange, struct gpu_mem from, struct gpu_mem field,
                          struct gpu_event *computed)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  struct gpu_queue *queue;
  RETURN_IF_FAILED(linked_begin(x, computed, &queue));
  x->field = field;
  x->from = (struct gpu_mem){.bytes = 0};
  if (!computed && x->link_ops->exchange) {
    x->from = from;
    return STATUS_OK;
  }
  double begin = stats_now();
  if (x->copies)
    RETURN_IF_FAILED(linked_copy(x, queue, from, field));
  else
    RETURN_IF_FAILED(x->link_ops->push(queue, &x->link, from, linked_which(x, field), x->step));
  if (!x->link_ops->await) x->times.seconds[HALO_TRANSFER] += stats_now() - begin;
  return STATUS_OK;
}

static status_t p2p_finish(struct halo_exchange *exchange, struct gpu_event **arrived)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  if (x->from.handle)
    RETURN_IF_FAILED(
        x->link_ops->exchange(x->current, &x->link, x->from, linked_which(x, x->field), x->step));
  else
    RETURN_IF_FAILED(linked_await(x, x->current));
  return linked_end(x, arrived);
}

static const struct halo_link *p2p_link(struct halo_exchange *exchange, uint64_t *step)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  if (step) *step = ++x->step;
  return &x->link;
}

static status_t p2p_settle(struct halo_exchange *exchange)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  return linked_await(x, x->context.compute);
}

const struct halo_transport halo_transport_p2p = {
    .name = "p2p",
    .memory = "device memory",
    .mover = "stores of a kernel, or copy engines if large, only within a host",
    .on_cpus = "stored directly into the other rank's halo",
    .available = linked_available,
    .setup = p2p_setup,
    .start = p2p_start,
    .finish = p2p_finish,
    .times = linked_times,
    .hung = linked_hung,
    .describe = linked_describe,
    .teardown = linked_teardown,
    .alloc = gpu_alloc_shared,
    .trial = HALO_TRIAL,
    .unattended = 1,
    .lap = linked_lap,
    .link = p2p_link,
    .settle = p2p_settle,
};
