/* SPDX-License-Identifier: MIT */
/* Faces stored straight into the neighbours' halos: nothing is packed, and no host takes part. */
#include "config.h"

#include "base/stats.h"
#include "comm/transports/linked.h"

/* Where the first point of a receive box lies in a field. */
static int64_t first_point(const struct layout *layout, const struct box *box)
{
  return box->lo[0] * layout->plane + box->lo[1] * layout->pitch + box->lo[2];
}

static status_t p2p_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                          struct halo_exchange **exchange)
{
  struct halo_offer offer = {.target = {context->fields[0], context->fields[1]},
                             .plane = context->layout->plane,
                             .pitch = context->layout->pitch};
  for (int m = 0; m < context->plan->n; m++)
    offer.first[m] = first_point(context->layout, &context->plan->messages[m].recv);
  return linked_setup(context, &offer, reach, exchange);
}

static int which_field(const struct halo_exchange *x, struct gpu_mem field)
{
  return field.handle == x->context.fields[1].handle;
}

/* Where nothing is to run beside the exchange, one launch does all of it. */
static status_t p2p_start(struct halo_exchange *x, struct gpu_mem field, struct gpu_event *computed)
{
  struct gpu_queue *queue;
  RETURN_IF_FAILED(linked_begin(x, computed, &queue));
  x->field = (struct gpu_mem){.bytes = 0};
  if (!computed && x->link_ops->exchange) {
    x->field = field;
    return STATUS_OK;
  }
  double begin = stats_now();
  RETURN_IF_FAILED(x->link_ops->push(queue, &x->link, field, which_field(x, field), x->step));
  if (!x->link_ops->await) x->times.seconds[HALO_TRANSFER] += stats_now() - begin;
  return STATUS_OK;
}

static status_t p2p_finish(struct halo_exchange *x, struct gpu_event **arrived)
{
  if (x->field.handle)
    RETURN_IF_FAILED(
        x->link_ops->exchange(x->current, &x->link, x->field, which_field(x, x->field), x->step));
  else
    RETURN_IF_FAILED(linked_await(x, x->current));
  return linked_end(x, arrived);
}

static const struct halo_link *p2p_link(struct halo_exchange *x, uint64_t *step)
{
  if (step) *step = ++x->step;
  return &x->link;
}

static status_t p2p_settle(struct halo_exchange *x)
{
  return linked_await(x, x->context.compute);
}

const struct halo_transport halo_transport_p2p = {
    .name = "p2p",
    .about = "kernels store faces straight into the neighbour's halo and raise a flag; within a host",
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
