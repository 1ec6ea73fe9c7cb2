/* SPDX-License-Identifier: MIT */
/* Copy engines copy packed faces into the neighbours' two alternating receive buffers. */
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/transports/linked.h"

/* Creates the buffers. Both ranks use offsets of the whole plan, even if some messages are not
 * carried. */
static status_t ipc_buffers_create(struct linked_exchange *x)
{
  struct gpu_device *device = x->context.device;
  size_t send = (size_t)x->context.plan->floats * sizeof(float),
         recv = (size_t)x->context.plan->recv_floats * sizeof(float);
  RETURN_IF_FAILED(gpu_alloc(device, send, &x->send));
  for (int t = 0; t < 2; t++) RETURN_IF_FAILED(gpu_alloc_shared(device, recv, &x->recv[t]));
  return STATUS_OK;
}

/* Clears the buffers for memory checkers, which inspect the source of a captured copy before the
 * graph has packed the faces, and do not see writes of other processes. No neighbour writes before
 * all ranks have agreed. */
static status_t buffers_clear(struct linked_exchange *x)
{
  struct gpu_queue *queue = x->queue;
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
  struct linked_exchange *x;
  RETURN_IF_FAILED(linked_create(context, &x));
  x->packer = halo_packer_find(context->device->backend->name);
  TRY(agree_status(context->comm, ipc_buffers_create(x)), fail);
  for (int t = 0; t < 2; t++) offer.target[t] = x->recv[t];
  for (int m = 0; m < context->plan->n; m++) offer.first[m] = context->plan->messages[m].recv_offset;
  TRY(linked_open(x, &offer, reach), fail);
  TRY(agree_status(context->comm, buffers_clear(x)), fail);
  TRY(agree_status(context->comm,
                   x->packer->open(context->device, context->layout, &x->plan, &x->packer_state)),
      fail);
  *exchange = (struct halo_exchange *)x;
  return STATUS_OK;
fail:
  linked_teardown((struct halo_exchange *)x);
  return status;
}

static status_t ipc_copies_start(struct linked_exchange *x, struct gpu_queue *queue)
{
  int buffer = (int)(x->step % 2);
  for (int m = 0; m < x->plan.n; m++) {
    const struct halo_message *message = &x->plan.messages[m];
    size_t bytes = (size_t)message->count * sizeof(float);
    if (bytes == 0) continue;
    struct gpu_mem to = {.handle = x->link.message[m].to[buffer], .bytes = bytes};
    RETURN_IF_FAILED(gpu_copy(queue, to, 0, x->send, (size_t)message->send_offset * sizeof(float), bytes));
  }
  return STATUS_OK;
}

static status_t ipc_start(struct halo_exchange *exchange, struct gpu_mem from, struct gpu_mem field,
                          struct gpu_event *computed)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  struct gpu_queue *queue;
  x->field = field;
  RETURN_IF_FAILED(linked_begin(x, computed, &queue));
  double begin = stats_now();
  if (x->plan.floats > 0) RETURN_IF_FAILED(x->packer->move(x->packer_state, queue, from, x->send, 1));
  RETURN_IF_FAILED(ipc_copies_start(x, queue));
  RETURN_IF_FAILED(x->link_ops->raise(queue, &x->link, x->step));
  if (!x->link_ops->await) x->times.seconds[HALO_TRANSFER] += stats_now() - begin;
  return STATUS_OK;
}

static status_t ipc_finish(struct halo_exchange *exchange, struct gpu_event **arrived)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  RETURN_IF_FAILED(linked_await(x, x->current));
  if (x->plan.recv_floats > 0)
    RETURN_IF_FAILED(x->packer->move(x->packer_state, x->current, x->field, x->recv[x->step % 2], 0));
  return linked_end(x, arrived);
}

const struct halo_transport halo_transport_ipc = {
    .name = "ipc",
    .memory = "device memory",
    .mover = "copy engines, only within a host",
    .on_cpus = "packed, copied into the other rank's receive buffer, and unpacked",
    .available = linked_available,
    .setup = ipc_setup,
    .start = ipc_start,
    .finish = ipc_finish,
    .times = linked_times,
    .hung = linked_hung,
    .describe = linked_describe,
    .teardown = linked_teardown,
    .trial = HALO_TRIAL,
    .unattended = 1,
    .lap = linked_lap,
};
