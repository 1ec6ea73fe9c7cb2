/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "comm/transports/linked.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"

int linked_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX])
{
  if (halo_linker_find(backend->name) && backend->alloc_shared) return 1;
  snprintf(reason, GPU_TEXT_MAX, "memory of backend %s cannot be shared between processes", backend->name);
  return 0;
}

/* ---- open and close ---- */

static status_t memory_create(struct linked *l)
{
  struct gpu_device *device = l->context.device;
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_URGENT, &l->queue));
  RETURN_IF_FAILED(gpu_event_create(device, &l->arrived));
  RETURN_IF_FAILED(gpu_alloc_shared(device, sizeof(struct halo_mailbox), &l->mailbox));
  RETURN_IF_FAILED(gpu_alloc(device, sizeof(struct halo_state), &l->state));
  RETURN_IF_FAILED(gpu_alloc_host(device, sizeof *l->plea, GPU_HOST_PINNED, (void **)&l->plea));
  memset((void *)l->plea, 0, sizeof *l->plea);
  RETURN_IF_FAILED(gpu_clear(l->queue, l->mailbox, 0, l->mailbox.bytes));
  RETURN_IF_FAILED(gpu_clear(l->queue, l->state, 0, l->state.bytes));
  return gpu_sync(l->queue);
}

static uint64_t *flag_of(struct gpu_mem mailbox, int tag)
{
  return (uint64_t *)((char *)mailbox.handle + offsetof(struct halo_mailbox, flag)) + tag * HALO_FLAG_WORDS;
}

static void message_link(struct linked *l, const struct halo_message *message, const struct halo_peer *peer)
{
  struct halo_link_message *to = &l->link.message[l->link.n++];
  for (int d = 0; d < 3; d++) {
    to->lo[d] = (int)message->send.lo[d];
    to->hi[d] = (int)message->send.hi[d];
  }
  for (int t = 0; t < 2; t++) to->to[t] = (float *)peer->target[t].handle + peer->first;
  to->plane = peer->plane;
  to->pitch = peer->pitch;
  to->flag = flag_of(peer->mailbox, message->send_tag);
  to->here = flag_of(l->mailbox, message->recv_tag);
  l->link.adds &= !l->linker->adds || l->linker->adds(l->context.device, peer->uuid);
}

/* Keeps the messages that are carried, packed as the others' absence lets them. */
static void messages_link(struct linked *l, const struct halo_plan *whole,
                          const struct halo_reach reach[HALO_MESSAGES_MAX])
{
  struct halo_peer peers[HALO_MESSAGES_MAX];
  memcpy(peers, l->peers, sizeof peers);
  l->plan = (struct halo_plan){.depth = whole->depth};
  l->link = (struct halo_link){.plane = l->context.layout->plane,
                               .pitch = l->context.layout->pitch,
                               .adds = 1,
                               .timeout_ns = (uint64_t)(watch_seconds() * 1e9),
                               .state = l->state.handle,
                               .plea = l->plea};
  for (int m = 0; m < whole->n; m++) {
    if (!reach[m].carried) continue;
    struct halo_message *message = &l->plan.messages[l->plan.n++];
    *message = whole->messages[m];
    l->plan.floats += message->count;
    l->plan.recv_floats += message->recv_count;
    message_link(l, message, &peers[m]);
  }
}

status_t linked_open(struct linked *l, const struct halo_context *context, struct halo_offer *offer,
                     struct halo_reach reach[HALO_MESSAGES_MAX])
{
  l->context = *context;
  l->linker = halo_linker_find(context->device->backend->name);
  RETURN_IF_FAILED(agree_status(context->comm, memory_create(l)));
  offer->mailbox = l->mailbox;
  RETURN_IF_FAILED(halo_peers_open(context, l->queue, offer, reach, l->peers));
  messages_link(l, context->plan, reach);
  l->context.plan = &l->plan;
  return STATUS_OK;
}

void linked_close(struct linked *l)
{
  struct gpu_device *device = l->context.device;
  halo_peers_close(device, l->peers);
  if (l->link.state && !linked_hung(l)) watch_barrier(l->context.comm, "letting go of memory");
  gpu_free_host(device, GPU_HOST_PINNED, l->plea);
  gpu_free(device, &l->state);
  gpu_free(device, &l->mailbox);
  gpu_event_destroy(l->arrived);
  gpu_queue_destroy(l->queue);
}

/* ---- exchanges ---- */

status_t linked_begin(struct linked *l, struct gpu_event *computed, struct gpu_queue **queue)
{
  l->current = computed ? l->queue : l->context.compute;
  if (computed) RETURN_IF_FAILED(gpu_wait(l->current, computed));
  l->step++;
  *queue = l->current;
  return STATUS_OK;
}

static int has_come(const struct linked *l, int m)
{
  uint64_t flag = __atomic_load_n(l->link.message[m].here, __ATOMIC_ACQUIRE);
  return flag >= (l->link.state->base + l->step) * HALO_FLAG_UNIT;
}

static void describe_here(const void *of, struct watch_targets *targets)
{
  const struct linked *l = of;
  for (int m = 0; m < l->link.n; m++) {
    if (has_come(l, m)) continue;
    targets->at[targets->n].rank = l->plan.messages[m].peer;
    halo_dir_name(l->plan.messages[m].dir, targets->at[targets->n++].face);
  }
}

/* Where the device is the host itself. */
static status_t await_here(struct linked *l)
{
  struct watch_wait wait;
  double begin = stats_now();
  watch_begin(&wait, l->context.comm, "halos", describe_here, l);
  for (int m = 0; m < l->link.n; m++)
    while (!has_come(l, m)) {
      RETURN_IF_FAILED(watch_look(&wait));
      sched_yield();
    }
  l->times.seconds[HALO_WAIT] += stats_now() - begin;
  return STATUS_OK;
}

status_t linked_await(struct linked *l, struct gpu_queue *queue)
{
  return l->linker->await ? l->linker->await(queue, &l->link, l->step) : await_here(l);
}

status_t linked_end(struct linked *l, struct gpu_event **arrived)
{
  if (l->current == l->context.compute) {
    *arrived = NULL;
    return STATUS_OK;
  }
  *arrived = l->arrived;
  return gpu_record(l->arrived, l->current);
}

status_t linked_lap(struct linked *l)
{
  RETURN_IF_FAILED(l->linker->advance(l->context.compute, &l->link, l->step));
  l->step = 0;
  return STATUS_OK;
}

/* ---- what the device tells ---- */

status_t linked_times(struct linked *l, struct halo_times *times)
{
  struct halo_state now;
  RETURN_IF_FAILED(gpu_copy_out(l->queue, &now, l->state, 0, sizeof now));
  RETURN_IF_FAILED(gpu_sync(l->queue));
  l->times.seconds[HALO_WAIT] += 1e-9 * (double)(now.wait_ns - l->seen.wait_ns);
  l->times.seconds[HALO_TRANSFER] += 1e-9 * (double)(now.push_ns - l->seen.push_ns);
  l->times.edge_seconds += 1e-9 * (double)(now.edge_ns - l->seen.edge_ns);
  l->seen = now;
  for (int p = 0; p < HALO_PHASES; p++) times->seconds[p] += l->times.seconds[p];
  times->edge_seconds += l->times.edge_seconds;
  times->exchanges += (long)(now.base + l->step - l->counted);
  l->counted = now.base + l->step;
  memset(&l->times, 0, sizeof l->times);
  return STATUS_OK;
}

int linked_hung(const struct linked *l)
{
  return l->plea && l->plea->hung;
}

void linked_describe(const struct linked *l, struct watch_targets *targets)
{
  uint32_t missing = l->plea->missing;
  if (missing) targets->sweep = (long)(l->plea->step - 1) * l->plan.depth + 1;
  for (int m = 0; m < l->link.n; m++) {
    if (!(missing >> m & 1)) continue;
    targets->at[targets->n].rank = l->plan.messages[m].peer;
    halo_dir_name(l->plan.messages[m].dir, targets->at[targets->n++].face);
  }
}
