/* SPDX-License-Identifier: MIT */
/* The memory through which ranks of a host hand packed halos over, in place of
 * comm/transports/handover.c: counters are seen a while after they were told, and buffers are
 * addresses. */
#include "comm/transports/handover.h"

#include <stdio.h>

#include "comm/halo/link.h"
#include "comm/ranks/watch.h"
#include "tools/sim/device.h"
#include "tools/sim/engine.h"

/* Beyond those of device.c. */
#define FIRST_ADDRESS ((uintptr_t)1 << 61)

struct sim_handover {
  struct flag begun, taken, sent[HALO_TAGS];
  struct halo_plan plan; /* messages that are handed over */
  uintptr_t buffer[2];
};

static struct sim_handover **blocks; /* by rank; NULL where none is handed over */

static struct sim_handover *sim_handover(struct handover_block *block)
{
  return (struct sim_handover *)block;
}

int handover_is_there(const void *host)
{
  return (uintptr_t)host >= FIRST_ADDRESS && (uintptr_t)host < 2 * FIRST_ADDRESS;
}

static double sim_overlap(int64_t begin, int64_t end, const struct halo_message *m)
{
  if (begin < m->send_offset) begin = m->send_offset;
  if (end > m->send_offset + m->count) end = m->send_offset + m->count;
  return end > begin ? (double)(end - begin) : 0;
}

double handover_bytes(const void *host, size_t bytes)
{
  const struct sim_handover *b = blocks ? blocks[sim_self()->number] : NULL;
  double floats = 0;
  if (!b || !handover_is_there(host)) return 0;
  const uintptr_t base = b->buffer[(uintptr_t)host >= b->buffer[1]];
  const int64_t begin = (int64_t)(((uintptr_t)host - base) / sizeof(float));
  for (int m = 0; m < b->plan.n; m++)
    floats += sim_overlap(begin, begin + (int64_t)(bytes / sizeof(float)), &b->plan.messages[m]);
  return floats * sizeof(float);
}

static struct sim_handover *sim_block_create(const struct halo_plan *plan)
{
  static uintptr_t address = FIRST_ADDRESS;
  struct sim_handover *b = sim_array(1, sizeof *b);
  for (int t = 0; t < 2; t++) {
    b->buffer[t] = address;
    address += ((uintptr_t)plan->floats + 1) * sizeof(float);
  }
  for (int m = 0; m < plan->n; m++)
    if (sim_is_near(plan->messages[m].peer, sim_self()->number))
      b->plan.messages[b->plan.n++] = plan->messages[m];
  return b;
}

status_t handover_open(struct handover *h, const struct halo_context *context,
                       struct halo_reach reach[HALO_MESSAGES_MAX])
{
  const struct halo_plan *plan = context->plan;
  const int me = sim_self()->number;
  int near = 0;
  *h = (struct handover){.device = context->device};
  if (!blocks) blocks = sim_array((size_t)sim.point.ranks, sizeof(struct sim_handover *));
  for (int m = 0; m < plan->n; m++) {
    const int here = sim_is_near(plan->messages[m].peer, me);
    reach[m].carried = here && sim.shared;
    near += reach[m].carried;
    if (!reach[m].carried)
      snprintf(reach[m].why, sizeof reach[m].why, here ? "as in the runs of the model" : "on another host");
  }
  if (near > 0) blocks[me] = sim_block_create(plan);
  RETURN_IF_FAILED(watch_barrier(context->comm, "a barrier"));
  h->block = (struct handover_block *)blocks[me];
  for (int t = 0; t < 2 && h->block; t++) h->buffer[t] = (float *)blocks[me]->buffer[t];
  for (int m = 0; m < plan->n; m++) {
    if (!reach[m].carried) continue;
    struct sim_handover *block = blocks[plan->messages[m].peer];
    h->peer[m].block = (struct handover_block *)block;
    for (int t = 0; t < 2; t++) h->peer[m].buffer[t] = (const float *)block->buffer[t];
  }
  return STATUS_OK;
}

/* Neighbours may still look at it: it goes with the process. */
void handover_close(struct handover *h)
{
  (void)h;
}

/* ---- counters ---- */

/* Those who read the counter, of all tags or of one, look again when they can see it. */
static void sim_publish(const struct sim_handover *b, struct flag *flag, uint64_t value, int tag)
{
  const double seen = sim_now() + sim.near;
  if (!flag_store(flag, value, seen)) return;
  for (int m = 0; m < b->plan.n; m++)
    if (tag < 0 || b->plan.messages[m].send_tag == tag) sim_wake(b->plan.messages[m].peer, seen);
}

void handover_begin(struct handover *h, uint64_t n)
{
  struct sim_handover *block = sim_handover(h->block);
  struct sim_rank *sent = sim_self();
  if (!block) return;
  sent->tokens += block->plan.n;
  for (int m = 0; m < block->plan.n; m++)
    sent->bytes += (double)block->plan.messages[m].count * (double)sizeof(float);
  sim_publish(block, &block->begun, n, -1);
}

void handover_take(struct handover *h, uint64_t n)
{
  struct sim_handover *block = sim_handover(h->block);
  if (block) sim_publish(block, &block->taken, n, -1);
}

void handover_send(struct handover *h, int tag, uint64_t chunks)
{
  struct sim_handover *block = sim_handover(h->block);
  sim_self()->messages++;
  sim_publish(block, &block->sent[tag], chunks, tag);
}

uint64_t handover_begun(const struct handover_peer *peer)
{
  return flag_load(&sim_handover(peer->block)->begun);
}

uint64_t handover_taken(const struct handover_peer *peer)
{
  return flag_load(&sim_handover(peer->block)->taken);
}

uint64_t handover_sent(const struct handover_peer *peer, int tag)
{
  return flag_load(&sim_handover(peer->block)->sent[tag]);
}
