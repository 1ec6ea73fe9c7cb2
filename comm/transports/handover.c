/* SPDX-License-Identifier: MIT */
#include "comm/transports/handover.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "comm/halo/link.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/watch.h"
#include "comm/transports/neighbours.h"
#include "gpu/host.h"
#include "gpu/host_share.h"

/* Offset of the MPI tag of a set-up message from the tag of its halo message. */
#define HELLO_TAG 64

/* A counter has a cache line of its own, because another process polls it. */
struct counter {
  _Alignas(64) _Atomic uint64_t value;
};

/* The start of the shared memory. The two send buffers follow, on separate pages. */
struct handover_block {
  struct counter begun, taken, sent[HALO_TAGS];
};

/* The first message between neighbours, which describes the shared memory. */
struct handover_hello {
  struct gpu_share share;
  int64_t buffer[2]; /* per send buffer: bytes from the start of the block to the message */
  int64_t count;     /* floats */
};

/* ---- counters: a counter is published after the copy that it announces is complete ---- */

static void counter_publish(struct counter *counter, uint64_t value)
{
  atomic_store_explicit(&counter->value, value, memory_order_release);
}

static uint64_t counter_read(const struct counter *counter)
{
  return atomic_load_explicit(&counter->value, memory_order_acquire);
}

void handover_begin(struct handover *h, uint64_t n)
{
  if (h->block) counter_publish(&h->block->begun, n);
}

void handover_take(struct handover *h, uint64_t n)
{
  if (h->block) counter_publish(&h->block->taken, n);
}

void handover_send(struct handover *h, int tag, uint64_t chunks)
{
  counter_publish(&h->block->sent[tag], chunks);
}

uint64_t handover_begun(const struct handover_peer *peer)
{
  return counter_read(&peer->block->begun);
}

uint64_t handover_taken(const struct handover_peer *peer)
{
  return counter_read(&peer->block->taken);
}

uint64_t handover_sent(const struct handover_peer *peer, int tag)
{
  return counter_read(&peer->block->sent[tag]);
}

static size_t handover_whole_pages(size_t bytes)
{
  size_t page = host_page_bytes();
  return (bytes + page - 1) / page * page;
}

static size_t head_bytes(void)
{
  return handover_whole_pages(sizeof(struct handover_block));
}

static char *buffers_of(struct gpu_mem memory)
{
  return (char *)memory.handle + head_bytes();
}

/* Pins the buffers but not the counters: a driver may write old values back to pinned memory. */
static int memory_pin(struct gpu_device *device, struct gpu_mem memory, char why[GPU_TEXT_MAX])
{
  size_t bytes = memory.bytes - head_bytes();
  return bytes == 0 || gpu_pin(device, buffers_of(memory), bytes, why);
}

static void memory_unpin(struct gpu_device *device, struct gpu_mem memory)
{
  if (memory.bytes > head_bytes()) gpu_unpin(device, buffers_of(memory));
}

/* Creates this rank's block of shared memory. If that fails, sets the reason and returns 0. */
static int handover_block_create(struct handover *h, size_t floats, char why[GPU_TEXT_MAX])
{
  size_t buffer_bytes = handover_whole_pages(floats * sizeof(float));
  struct gpu_mem memory = {.bytes = head_bytes() + 2 * buffer_bytes};
  if (!(memory.handle = host_share_alloc(memory.bytes))) {
    snprintf(why, GPU_TEXT_MAX, "the host has no %s to share", report_bytes(memory.bytes));
    return 0;
  }
  if (!memory_pin(h->device, memory, why)) {
    host_share_free(memory.handle);
    return 0;
  }
  h->memory = memory;
  h->block = memory.handle;
  for (int t = 0; t < 2; t++) h->buffer[t] = (float *)(buffers_of(memory) + (size_t)t * buffer_bytes);
  return 1;
}

static void block_destroy(struct handover *h)
{
  if (!h->memory.handle) return;
  memory_unpin(h->device, h->memory);
  host_share_free(h->memory.handle);
  *h = (struct handover){.device = h->device};
}

static int handover_peer_map(struct gpu_device *device, const struct handover_hello *hello,
                             struct handover_peer *peer, char why[GPU_TEXT_MAX])
{
  struct gpu_mem memory;
  if (!host_share_attach(&hello->share, &memory, why)) return 0;
  if (!memory_pin(device, memory, why)) {
    host_share_detach(&memory);
    return 0;
  }
  *peer = (struct handover_peer){.memory = memory};
  return 1;
}

static void peer_unmap(struct gpu_device *device, struct handover_peer *peer)
{
  if (!peer->memory.handle) return;
  memory_unpin(device, peer->memory);
  host_share_detach(&peer->memory);
  peer->memory.handle = NULL;
}

static void peers_map(struct handover *h, const struct halo_plan *plan, const struct handover_hello *hellos,
                      struct halo_reach reach[HALO_MESSAGES_MAX])
{
  for (int m = 0; m < plan->n; m++) {
    char why[GPU_TEXT_MAX] = "";
    struct handover_peer *peer = &h->peer[m];
    if (!reach[m].carried) continue;
    if (!handover_peer_map(h->device, &hellos[m], peer, why)) {
      neighbours_refuse(&reach[m], why);
      continue;
    }
    peer->block = peer->memory.handle;
    for (int t = 0; t < 2; t++)
      peer->buffer[t] = (const float *)((const char *)peer->memory.handle + hellos[m].buffer[t]);
  }
}

static status_t lengths_check(const struct halo_context *context, const struct handover_hello *hellos)
{
  const struct halo_plan *plan = context->plan;
  char dir[8], name[WATCH_NAME_MAX];
  for (int m = 0; m < plan->n; m++)
    if (hellos[m].count != plan->messages[m].recv_count)
      return log_fail(STATUS_WRONG, "wrong halo from %s, face %s: %lld floats instead of %lld",
                      watch_rank_name(context->comm, plan->messages[m].peer, name),
                      halo_dir_name(plan->messages[m].dir, dir), (long long)hellos[m].count,
                      (long long)plan->messages[m].recv_count);
  return STATUS_OK;
}

static void handover_hellos_fill(const struct handover *h, const struct halo_plan *plan,
                                 struct handover_hello *hellos)
{
  struct handover_hello all = {.count = 0};
  if (h->memory.handle) host_share_offer(h->memory, &all.share);
  for (int m = 0; m < plan->n; m++) {
    hellos[m] = all;
    hellos[m].count = plan->messages[m].count;
    for (int t = 0; t < 2 && h->memory.handle; t++)
      hellos[m].buffer[t] = (char *)(h->buffer[t] + plan->messages[m].send_offset) - (char *)h->memory.handle;
  }
}

/* Opens the neighbours' memory. A rank whose messages all go by MPI frees its own block. */
static status_t peers_open(struct handover *h, const struct halo_context *context,
                           struct halo_reach reach[HALO_MESSAGES_MAX])
{
  static struct handover_hello mine[HALO_MESSAGES_MAX], theirs[HALO_MESSAGES_MAX];
  const struct halo_plan *plan = context->plan;
  handover_hellos_fill(h, plan, mine);
  status_t status = neighbours_swap(context, HELLO_TAG, mine, theirs, sizeof *mine);
  if (status == STATUS_OK) status = lengths_check(context, theirs);
  RETURN_IF_FAILED(agree_status(context->comm, status));
  RETURN_IF_FAILED(agree_status(context->comm, neighbours_agree(context, reach)));
  peers_map(h, plan, theirs, reach);
  RETURN_IF_FAILED(agree_status(context->comm, neighbours_agree(context, reach)));
  int any = 0;
  for (int m = 0; m < plan->n; m++) any |= reach[m].carried;
  if (!any) handover_close(h);
  return STATUS_OK;
}

status_t handover_open(struct handover *h, const struct halo_context *context,
                       struct halo_reach reach[HALO_MESSAGES_MAX])
{
  char why[GPU_TEXT_MAX] = "";
  int near = 0;
  *h = (struct handover){.device = context->device};
  RETURN_IF_FAILED(neighbours_on_host(context, reach));
  for (int m = 0; m < context->plan->n; m++) near |= reach[m].carried;
  if (near && !handover_block_create(h, (size_t)context->plan->floats, why))
    for (int m = 0; m < context->plan->n; m++) neighbours_refuse(&reach[m], why);
  return peers_open(h, context, reach);
}

void handover_close(struct handover *h)
{
  for (int m = 0; m < HALO_MESSAGES_MAX; m++) peer_unmap(h->device, &h->peer[m]);
  block_destroy(h);
}
