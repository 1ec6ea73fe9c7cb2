/* SPDX-License-Identifier: MIT */
/* Faces stored straight into the neighbours' halos: nothing is packed, and no host takes part. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/transports/linked.h"

struct halo_exchange {
  struct linked base;
  struct gpu_mem field; /* of an exchange that begins when it is finished; else no memory */
};

static void p2p_teardown(struct halo_exchange *x)
{
  if (!x) return;
  linked_close(&x->base);
  free(x);
}

/* Where the first point of a receive box lies in a field. */
static int64_t first_point(const struct layout *layout, const struct box *box)
{
  return box->lo[0] * layout->plane + box->lo[1] * layout->pitch + box->lo[2];
}

static status_t p2p_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                          struct halo_exchange **exchange)
{
  status_t status;
  struct halo_offer offer = {.target = {context->fields[0], context->fields[1]},
                             .plane = context->layout->plane,
                             .pitch = context->layout->pitch};
  struct halo_exchange *x = calloc(1, sizeof *x);
  TRY(agree_status(context->comm,
                   x ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange")),
      fail);
  for (int m = 0; m < context->plan->n; m++)
    offer.first[m] = first_point(context->layout, &context->plan->messages[m].recv);
  TRY(linked_open(&x->base, context, &offer, reach), fail);
  *exchange = x;
  return STATUS_OK;
fail:
  p2p_teardown(x);
  return status;
}

static int which_field(const struct halo_exchange *x, struct gpu_mem field)
{
  return field.handle == x->base.context.fields[1].handle;
}

/* Where nothing is to run beside the exchange, one launch does all of it. */
static status_t p2p_start(struct halo_exchange *x, struct gpu_mem field, struct gpu_event *computed)
{
  struct linked *l = &x->base;
  struct gpu_queue *queue;
  RETURN_IF_FAILED(linked_begin(l, computed, &queue));
  x->field = (struct gpu_mem){.bytes = 0};
  if (!computed && l->linker->exchange) {
    x->field = field;
    return STATUS_OK;
  }
  double begin = stats_now();
  RETURN_IF_FAILED(l->linker->push(queue, &l->link, field, which_field(x, field), l->step));
  if (!l->linker->await) l->times.seconds[HALO_TRANSFER] += stats_now() - begin;
  return STATUS_OK;
}

static status_t p2p_progress(struct halo_exchange *x)
{
  (void)x;
  return STATUS_OK;
}

static status_t p2p_finish(struct halo_exchange *x, struct gpu_event **arrived)
{
  struct linked *l = &x->base;
  if (x->field.handle)
    RETURN_IF_FAILED(l->linker->exchange(l->current, &l->link, x->field, which_field(x, x->field), l->step));
  else
    RETURN_IF_FAILED(linked_await(l, l->current));
  return linked_end(&x->base, arrived);
}

static status_t p2p_times(struct halo_exchange *x, struct halo_times *times)
{
  return linked_times(&x->base, times);
}

static int p2p_hung(struct halo_exchange *x)
{
  return linked_hung(&x->base);
}

static void p2p_describe(const struct halo_exchange *x, struct watch_targets *targets)
{
  linked_describe(&x->base, targets);
}

static status_t p2p_lap(struct halo_exchange *x)
{
  return linked_lap(&x->base);
}

static const struct halo_link *p2p_link(struct halo_exchange *x, uint64_t *step)
{
  *step = ++x->base.step;
  return &x->base.link;
}

static status_t p2p_settle(struct halo_exchange *x)
{
  return linked_await(&x->base, x->base.context.compute);
}

const struct halo_transport halo_transport_p2p = {
    .name = "p2p",
    .about = "kernels store faces straight into the neighbour's halo and raise a flag; within a host",
    .available = linked_available,
    .setup = p2p_setup,
    .start = p2p_start,
    .progress = p2p_progress,
    .finish = p2p_finish,
    .times = p2p_times,
    .hung = p2p_hung,
    .describe = p2p_describe,
    .teardown = p2p_teardown,
    .alloc = gpu_alloc_shared,
    .trial = 1,
    .unattended = 1,
    .lap = p2p_lap,
    .link = p2p_link,
    .settle = p2p_settle,
};
