/* SPDX-License-Identifier: MIT */
/* Packed faces copied by the copy engine into the neighbours' receive buffers, two by turns. */
#include "config.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/transports/linked.h"

struct halo_exchange {
  struct linked base;
  const struct halo_packer *packer;
  struct halo_packer_state *packer_state;
  struct gpu_mem send, recv[2];
  struct gpu_mem field; /* of the exchange under way */
};

static void ipc_teardown(struct halo_exchange *x)
{
  if (!x) return;
  struct gpu_device *device = x->base.context.device;
  linked_close(&x->base);
  for (int t = 0; t < 2; t++) gpu_free(device, &x->recv[t]);
  gpu_free(device, &x->send);
  if (x->packer_state) x->packer->close(x->packer_state);
  free(x);
}

/* Offsets are those of the whole plan at both ends, whatever of it is carried. */
static status_t buffers_create(struct halo_exchange *x, const struct halo_context *context)
{
  struct gpu_device *device = context->device;
  size_t send = (size_t)context->plan->floats * sizeof(float),
         recv = (size_t)context->plan->recv_floats * sizeof(float);
  RETURN_IF_FAILED(gpu_alloc(device, send, &x->send));
  for (int t = 0; t < 2; t++) RETURN_IF_FAILED(gpu_alloc_shared(device, recv, &x->recv[t]));
  return STATUS_OK;
}

/* So that checkers of memory find contents where a recorded copy reads, at which they look before its graph packs the faces, and
 * where another process writes, which they do not see. No neighbour writes before all ranks agreed. */
static status_t buffers_clear(struct halo_exchange *x)
{
  struct gpu_queue *queue = x->base.queue;
  const struct gpu_mem buffers[] = {x->send, x->recv[0], x->recv[1]};
  for (int n = 0; n < 3; n++)
    if (buffers[n].bytes > 0) RETURN_IF_FAILED(gpu_clear(queue, buffers[n], 0, buffers[n].bytes));
  return gpu_sync(queue);
}

static status_t ipc_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                          struct halo_exchange **exchange)
{
  status_t status;
  struct halo_offer offer = {.plane = 0};
  struct halo_exchange *x = calloc(1, sizeof *x);
  TRY(agree_status(context->comm,
                   x ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange")),
      fail);
  x->base.context = *context;
  x->packer = halo_packer_find(context->device->backend->name);
  TRY(agree_status(context->comm, buffers_create(x, context)), fail);
  for (int t = 0; t < 2; t++) offer.target[t] = x->recv[t];
  for (int m = 0; m < context->plan->n; m++) offer.first[m] = context->plan->messages[m].recv_offset;
  TRY(linked_open(&x->base, context, &offer, reach), fail);
  TRY(agree_status(context->comm, buffers_clear(x)), fail);
  TRY(agree_status(context->comm,
                   x->packer->open(context->device, context->layout, &x->base.plan, &x->packer_state)),
      fail);
  *exchange = x;
  return STATUS_OK;
fail:
  ipc_teardown(x);
  return status;
}

static status_t copies_start(struct halo_exchange *x, struct gpu_queue *queue)
{
  struct linked *l = &x->base;
  int turn = (int)(l->step % 2);
  for (int m = 0; m < l->plan.n; m++) {
    const struct halo_message *message = &l->plan.messages[m];
    size_t bytes = (size_t)message->count * sizeof(float);
    if (bytes == 0) continue;
    struct gpu_mem to = {.handle = l->link.message[m].to[turn], .bytes = bytes};
    RETURN_IF_FAILED(gpu_copy(queue, to, 0, x->send, (size_t)message->send_offset * sizeof(float), bytes));
  }
  return STATUS_OK;
}

static status_t ipc_start(struct halo_exchange *x, struct gpu_mem field, struct gpu_event *computed)
{
  struct linked *l = &x->base;
  struct gpu_queue *queue;
  x->field = field;
  RETURN_IF_FAILED(linked_begin(l, computed, &queue));
  double begin = stats_now();
  if (l->plan.floats > 0) RETURN_IF_FAILED(x->packer->pack(x->packer_state, queue, field, x->send));
  RETURN_IF_FAILED(copies_start(x, queue));
  RETURN_IF_FAILED(l->linker->raise(queue, &l->link, l->step));
  if (!l->linker->await) l->times.seconds[HALO_TRANSFER] += stats_now() - begin;
  return STATUS_OK;
}

static status_t ipc_progress(struct halo_exchange *x)
{
  (void)x;
  return STATUS_OK;
}

static status_t ipc_finish(struct halo_exchange *x, struct gpu_event **arrived)
{
  struct linked *l = &x->base;
  RETURN_IF_FAILED(linked_await(l, l->current));
  if (l->plan.recv_floats > 0)
    RETURN_IF_FAILED(x->packer->unpack(x->packer_state, l->current, x->field, x->recv[l->step % 2]));
  return linked_end(l, arrived);
}

static status_t ipc_times(struct halo_exchange *x, struct halo_times *times)
{
  return linked_times(&x->base, times);
}

static int ipc_hung(struct halo_exchange *x)
{
  return linked_hung(&x->base);
}

static void ipc_describe(const struct halo_exchange *x, struct watch_targets *targets)
{
  linked_describe(&x->base, targets);
}

static status_t ipc_lap(struct halo_exchange *x)
{
  return linked_lap(&x->base);
}

const struct halo_transport halo_transport_ipc = {
    .name = "ipc",
    .about = "packed faces copied by the copy engine into the neighbour's memory; within a host",
    .available = linked_available,
    .setup = ipc_setup,
    .start = ipc_start,
    .progress = ipc_progress,
    .finish = ipc_finish,
    .times = ipc_times,
    .hung = ipc_hung,
    .describe = ipc_describe,
    .teardown = ipc_teardown,
    .trial = 1,
    .unattended = 1,
    .lap = ipc_lap,
};
