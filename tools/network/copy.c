/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/network/copy.h"

#include <stdlib.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/transports/linked.h"

struct halo_exchange {
  struct linked base;
};

static void copy_teardown(struct halo_exchange *x)
{
  if (!x) return;
  linked_close(&x->base);
  free(x);
}

static status_t copy_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                           struct halo_exchange **exchange)
{
  status_t status;
  struct halo_offer offer = {.target = {context->fields[0], context->fields[1]}};
  struct halo_exchange *x = calloc(1, sizeof *x);
  TRY(agree_status(context->comm,
                   x ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a copy")),
      fail);
  for (int m = 0; m < context->plan->n; m++) offer.first[m] = context->plan->messages[m].recv.lo[2];
  TRY(linked_open(&x->base, context, &offer, reach), fail);
  *exchange = x;
  return STATUS_OK;
fail:
  copy_teardown(x);
  return status;
}

static status_t copy_start(struct halo_exchange *x, struct gpu_mem field, struct gpu_event *computed)
{
  struct linked *l = &x->base;
  struct gpu_queue *queue;
  int which = field.handle == l->context.fields[1].handle;
  RETURN_IF_FAILED(linked_begin(l, computed, &queue));
  for (int m = 0; m < l->plan.n; m++) {
    const struct halo_message *message = &l->plan.messages[m];
    size_t bytes = (size_t)message->count * sizeof(float);
    struct gpu_mem to = {.handle = l->link.message[m].to[which], .bytes = bytes};
    if (bytes == 0) continue;
    RETURN_IF_FAILED(gpu_copy(queue, to, 0, field, (size_t)message->send.lo[2] * sizeof(float), bytes));
  }
  return l->linker->raise(queue, &l->link, l->step);
}

static status_t copy_progress(struct halo_exchange *x)
{
  (void)x;
  return STATUS_OK;
}

static status_t copy_finish(struct halo_exchange *x, struct gpu_event **arrived)
{
  RETURN_IF_FAILED(linked_await(&x->base, x->base.current));
  return linked_end(&x->base, arrived);
}

static status_t copy_times(struct halo_exchange *x, struct halo_times *times)
{
  return linked_times(&x->base, times);
}

static int copy_hung(struct halo_exchange *x)
{
  return linked_hung(&x->base);
}

static void copy_describe(const struct halo_exchange *x, struct watch_targets *targets)
{
  linked_describe(&x->base, targets);
}

static status_t copy_lap(struct halo_exchange *x)
{
  return linked_lap(&x->base);
}

const struct halo_transport bench_copy = {
    .name = "copy",
    .about = "a plain copy into the neighbour's memory",
    .available = linked_available,
    .setup = copy_setup,
    .start = copy_start,
    .progress = copy_progress,
    .finish = copy_finish,
    .times = copy_times,
    .hung = copy_hung,
    .describe = copy_describe,
    .teardown = copy_teardown,
    .unattended = 1,
    .lap = copy_lap,
};
