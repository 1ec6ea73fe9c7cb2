/* SPDX-License-Identifier: MIT */
/* Memory of neighbours' devices, in place of comm/transports/peers.c, and what kernels do with it:
 * stores through the device's own link, one after the other, and flags that are seen a while
 * later. */
#include <math.h>
#include <stdio.h>

#include "comm/halo/link.h"
#include "comm/ranks/watch.h"
#include "comm/transports/peers.h"
#include "tools/sim/device.h"
#include "tools/sim/engine.h"

/** A flag of a mailbox, and whose it is. */
struct mail {
  struct flag flag;
  uint64_t reader;
};
_Static_assert(sizeof(struct mail) <= HALO_FLAG_WORDS * sizeof(uint64_t), "a flag has more than its place");

static struct gpu_mem *mailboxes; /* by rank */

status_t halo_peers_open(const struct halo_context *context, struct gpu_queue *queue,
                         const struct halo_offer *offer, struct halo_reach reach[HALO_MESSAGES_MAX],
                         struct halo_peer peers[HALO_MESSAGES_MAX])
{
  struct halo_mailbox *mine = offer->mailbox.handle;
  (void)queue;
  if (!mailboxes) mailboxes = sim_array((size_t)sim.point.ranks, sizeof *mailboxes);
  mailboxes[sim_self()->number] = offer->mailbox;
  for (int t = 0; t < HALO_TAGS; t++) ((struct mail *)mine->flag[t])->reader = (uint64_t)sim_self()->number;
  RETURN_IF_FAILED(watch_barrier(context->comm, "a barrier"));
  for (int m = 0; m < context->plan->n; m++) {
    const int peer = context->plan->messages[m].peer;
    reach[m].carried = sim_is_near(peer, sim_self()->number);
    if (reach[m].carried)
      peers[m] = (struct halo_peer){.target = {offer->target[0], offer->target[1]},
                                    .mailbox = mailboxes[peer],
                                    .plane = offer->plane,
                                    .pitch = offer->pitch};
    else
      snprintf(reach[m].why, sizeof reach[m].why, "on another host");
  }
  return STATUS_OK;
}

void halo_peers_close(struct gpu_device *device, struct halo_peer peers[HALO_MESSAGES_MAX])
{
  (void)device, (void)peers;
}

/* ---- what the device does ---- */

static double link_bytes(const struct halo_link *link)
{
  double bytes = 0;
  for (int m = 0; m < link->n; m++) {
    double points = 1;
    for (int d = 0; d < 3; d++) points *= link->message[m].hi[d] - link->message[m].lo[d];
    bytes += points * (double)sizeof(float);
  }
  return bytes;
}

static double flags_raise(void *of, uint64_t step, double since)
{
  const struct halo_link *link = of;
  const double seen = since + sim_latency_of(&sim.model, sim.via, STUDY_SAME_HOST);
  struct sim_rank *sent = sim_self();
  for (int m = 0; m < link->n; m++) {
    struct mail *mail = (struct mail *)link->message[m].flag;
    flag_store(&mail->flag, link->state->base + step, seen);
    sim_wake((int)mail->reader, seen);
  }
  sent->messages += link->n;
  sent->bytes += link_bytes(link);
  return since;
}

/* Once all flags are seen. */
static double flags_await(void *of, uint64_t step, double since)
{
  const struct halo_link *link = of;
  double end = since;
  for (int m = 0; m < link->n; m++)
    end = fmax(end, flag_when(&((const struct mail *)link->message[m].here)->flag, link->state->base + step));
  if (end <= sim_now() + SIM_MOMENT) link->state->wait_ns += (uint64_t)(1e9 * (end - since));
  return end;
}

static double base_advance(void *of, uint64_t steps, double since)
{
  ((const struct halo_link *)of)->state->base += steps;
  return since;
}

/* Queues look at a link later. */
static void *sim_link_later(const struct halo_link *link)
{
  return (void *)(uintptr_t)link;
}

status_t link_raise(struct gpu_queue *queue, const struct halo_link *link, uint64_t step)
{
  return sim_then(queue, flags_raise, sim_link_later(link), step);
}

status_t link_await(struct gpu_queue *queue, const struct halo_link *link, uint64_t step)
{
  return sim_then(queue, flags_await, sim_link_later(link), step);
}

status_t link_store(struct gpu_queue *queue, const struct halo_link *link)
{
  const double wire = link_bytes(link) / sim_bandwidth(&sim.model, sim.via, STUDY_SAME_HOST);
  const double seconds = sim_self()->chain + wire;
  link->state->push_ns += (uint64_t)(1e9 * wire);
  link->state->edge_ns += (uint64_t)(1e9 * (seconds - wire));
  return sim_work(queue, seconds);
}

static status_t sim_link_push(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field,
                              int which, uint64_t step)
{
  (void)field, (void)which;
  RETURN_IF_FAILED(link_store(queue, link));
  return link_raise(queue, link, step);
}

static status_t sim_link_exchange(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field,
                                  int which, uint64_t step)
{
  RETURN_IF_FAILED(sim_link_push(queue, link, field, which, step));
  return link_await(queue, link, step);
}

static status_t sim_link_advance(struct gpu_queue *queue, const struct halo_link *link, uint64_t steps)
{
  return sim_then(queue, base_advance, sim_link_later(link), steps);
}

static const struct halo_link_ops link_ops = {.push = sim_link_push,
                                              .raise = link_raise,
                                              .await = link_await,
                                              .exchange = sim_link_exchange,
                                              .advance = sim_link_advance};

const struct halo_link_ops *halo_link_ops_find(const char *backend)
{
  (void)backend;
  return &link_ops;
}
