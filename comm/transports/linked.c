/* SPDX-License-Identifier: MIT */
#include "comm/transports/linked.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"

int linked_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX])
{
  if (halo_link_ops_find(backend->name) && gpu_has(backend, sharing)) return 1;
  snprintf(reason, GPU_TEXT_MAX, "memory of backend %s cannot be shared between processes", backend->name);
  return 0;
}

static status_t memory_create(struct linked_exchange *x)
{
  struct gpu_device *device = x->context.device;
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_URGENT, &x->queue));
  RETURN_IF_FAILED(gpu_event_create(device, &x->arrived));
  RETURN_IF_FAILED(gpu_alloc_shared(device, sizeof(struct halo_mailbox), &x->mailbox));
  RETURN_IF_FAILED(gpu_alloc(device, sizeof(struct halo_state), &x->state));
  RETURN_IF_FAILED(gpu_alloc_host(device, sizeof *x->plea, GPU_HOST_PINNED, (void **)&x->plea));
  memset((void *)x->plea, 0, sizeof *x->plea);
  RETURN_IF_FAILED(gpu_clear(x->queue, x->mailbox, 0, x->mailbox.bytes));
  RETURN_IF_FAILED(gpu_clear(x->queue, x->state, 0, x->state.bytes));
  return gpu_sync(x->queue);
}

static uint64_t *flag_of(struct gpu_mem mailbox, int tag)
{
  return (uint64_t *)((char *)mailbox.handle + offsetof(struct halo_mailbox, flag)) + tag * HALO_FLAG_WORDS;
}

static void message_link(struct linked_exchange *x, const struct halo_message *message,
                         const struct halo_peer *peer)
{
  struct halo_link_message *to = &x->link.message[x->link.n++];
  for (int d = 0; d < 3; d++) {
    to->lo[d] = (int)message->send.lo[d];
    to->hi[d] = (int)message->send.hi[d];
    to->dir[d] = message->dir[d];
  }
  for (int t = 0; t < 2; t++) to->to[t] = (float *)peer->target[t].handle + peer->first;
  to->plane = peer->plane;
  to->pitch = peer->pitch;
  to->flag = flag_of(peer->mailbox, message->send_tag);
  to->here = flag_of(x->mailbox, message->recv_tag);
  x->link.adds &= !x->link_ops->adds || x->link_ops->adds(x->context.device, peer->uuid);
}

/* Fills plan and link with the carried messages. Their offsets still refer to the whole plan. */
static void messages_link(struct linked_exchange *x, const struct halo_plan *whole,
                          const struct halo_reach reach[HALO_MESSAGES_MAX])
{
  struct halo_peer peers[HALO_MESSAGES_MAX];
  memcpy(peers, x->peers, sizeof peers);
  x->plan = (struct halo_plan){.depth = whole->depth};
  x->link = (struct halo_link){.plane = x->context.layout->plane,
                               .pitch = x->context.layout->pitch,
                               .adds = 1,
                               .timeout_ns = (uint64_t)(watch_seconds() * 1e9),
                               .state = x->state.handle,
                               .plea = x->plea};
  for (int m = 0; m < whole->n; m++) {
    if (!reach[m].carried) continue;
    struct halo_message *message = &x->plan.messages[x->plan.n++];
    *message = whole->messages[m];
    x->plan.floats += message->count;
    x->plan.recv_floats += message->recv_count;
    message_link(x, message, &peers[m]);
  }
}

status_t linked_create(const struct halo_context *context, struct linked_exchange **exchange)
{
  struct linked_exchange *x = calloc(1, sizeof *x);
  status_t status = x ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a halo exchange");
  TRY(agree_status(context->comm, status), fail);
  x->context = *context;
  *exchange = x;
  return STATUS_OK;
fail:
  free(x);
  return status;
}

status_t linked_open(struct linked_exchange *x, struct halo_offer *offer,
                     struct halo_reach reach[HALO_MESSAGES_MAX])
{
  const struct halo_context *context = &x->context;
  x->link_ops = halo_link_ops_find(context->device->backend->name);
  RETURN_IF_FAILED(agree_status(context->comm, memory_create(x)));
  offer->mailbox = x->mailbox;
  RETURN_IF_FAILED(halo_peers_open(context, x->queue, offer, reach, x->peers));
  messages_link(x, context->plan, reach);
  x->context.plan = &x->plan;
  return STATUS_OK;
}

void linked_teardown(struct halo_exchange *exchange)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  struct gpu_device *device = x->context.device;
  halo_peers_close(device, x->peers);
  if (x->link.state && !linked_hung(exchange)) watch_barrier(x->context.comm, "letting go of memory");
  gpu_free_host(device, GPU_HOST_PINNED, x->plea);
  gpu_free(device, &x->state);
  gpu_free(device, &x->mailbox);
  gpu_event_destroy(x->arrived);
  gpu_queue_destroy(x->queue);
  for (int t = 0; t < 2; t++) gpu_free(device, &x->recv[t]);
  gpu_free(device, &x->send);
  if (x->packer_state) x->packer->close(x->packer_state);
  free(x);
}

status_t linked_setup(const struct halo_context *context, struct halo_offer *offer,
                      struct halo_reach reach[HALO_MESSAGES_MAX], struct halo_exchange **exchange)
{
  struct linked_exchange *x;
  RETURN_IF_FAILED(linked_create(context, &x));
  status_t status = linked_open(x, offer, reach);
  if (status != STATUS_OK)
    linked_teardown((struct halo_exchange *)x);
  else
    *exchange = (struct halo_exchange *)x;
  return status;
}

status_t linked_begin(struct linked_exchange *x, struct gpu_event *computed, struct gpu_queue **queue)
{
  x->current = computed ? x->queue : x->context.compute;
  if (computed) RETURN_IF_FAILED(gpu_wait(x->current, computed));
  x->step++;
  *queue = x->current;
  return STATUS_OK;
}

status_t linked_copy(struct linked_exchange *x, struct gpu_queue *queue, struct gpu_mem from,
                     struct gpu_mem field)
{
  for (int m = 0; m < x->plan.n; m++) {
    const struct halo_message *message = &x->plan.messages[m];
    size_t bytes = (size_t)message->count * sizeof(float),
           at = (size_t)linked_first(x->context.layout, &message->send) * sizeof(float);
    struct gpu_mem to = {.handle = x->link.message[m].to[linked_which(x, field)], .bytes = bytes};
    if (bytes > 0) RETURN_IF_FAILED(gpu_copy(queue, to, 0, from, at, bytes));
  }
  return x->link_ops->raise(queue, &x->link, x->step);
}

int linked_has_come(const struct linked_exchange *x, int m)
{
  uint64_t flag = __atomic_load_n(x->link.message[m].here, __ATOMIC_ACQUIRE);
  return flag >= (x->link.state->base + x->step) * HALO_FLAG_UNIT;
}

static void describe_here(const void *of, struct watch_targets *targets)
{
  const struct linked_exchange *x = of;
  for (int m = 0; m < x->link.n; m++)
    if (!linked_has_come(x, m)) halo_target_add(targets, &x->plan.messages[m]);
}

/* Waits on the host, for backends whose device is the host itself. */
static status_t await_here(struct linked_exchange *x)
{
  struct watch_wait wait;
  double begin = stats_now();
  watch_begin(&wait, x->context.comm, "halos", describe_here, x);
  for (int m = 0; m < x->link.n; m++)
    while (!linked_has_come(x, m)) {
      RETURN_IF_FAILED(watch_poll(&wait));
      sched_yield();
    }
  x->times.seconds[HALO_WAIT] += stats_now() - begin;
  return STATUS_OK;
}

status_t linked_await(struct linked_exchange *x, struct gpu_queue *queue)
{
  return x->link_ops->await ? x->link_ops->await(queue, &x->link, x->step) : await_here(x);
}

status_t linked_end(struct linked_exchange *x, struct gpu_event **arrived)
{
  if (x->current == x->context.compute) {
    *arrived = NULL;
    return STATUS_OK;
  }
  *arrived = x->arrived;
  return gpu_record(x->arrived, x->current);
}

status_t linked_lap(struct halo_exchange *exchange)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  RETURN_IF_FAILED(x->link_ops->advance(x->context.compute, &x->link, x->step));
  x->step = 0;
  return STATUS_OK;
}

status_t linked_times(struct halo_exchange *exchange, struct halo_times *times)
{
  struct linked_exchange *x = (struct linked_exchange *)exchange;
  struct halo_state now;
  RETURN_IF_FAILED(gpu_read(x->queue, &now, x->state, 0, sizeof now));
  x->times.seconds[HALO_WAIT] += 1e-9 * (double)(now.wait_ns - x->seen.wait_ns);
  x->times.seconds[HALO_TRANSFER] += 1e-9 * (double)(now.push_ns - x->seen.push_ns);
  x->times.edge_seconds += 1e-9 * (double)(now.edge_ns - x->seen.edge_ns);
  x->seen = now;
  for (int p = 0; p < HALO_PHASES; p++) times->seconds[p] += x->times.seconds[p];
  times->edge_seconds += x->times.edge_seconds;
  times->exchanges += (long)(now.base + x->step - x->counted);
  x->counted = now.base + x->step;
  memset(&x->times, 0, sizeof x->times);
  return STATUS_OK;
}

int linked_hung(const struct halo_exchange *exchange)
{
  const struct linked_exchange *x = (const struct linked_exchange *)exchange;
  return x->plea && x->plea->hung;
}

void linked_describe(const struct halo_exchange *exchange, struct watch_targets *targets)
{
  const struct linked_exchange *x = (const struct linked_exchange *)exchange;
  uint32_t missing = x->plea->missing;
  if (missing) targets->sweep = (long)(x->plea->step - 1) * x->plan.depth + 1;
  for (int m = 0; m < x->link.n; m++)
    if (missing >> m & 1) halo_target_add(targets, &x->plan.messages[m]);
}
