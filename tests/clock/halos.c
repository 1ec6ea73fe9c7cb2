/* SPDX-License-Identifier: MIT */
/* Packing and links with the virtual clock. The sender raises a flag in other words than usual, and
 * adds the time at which the neighbour may see it. At that time the neighbour's poll sets the usual
 * flag itself. */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#include "clock.h"
#include "comm/halo/pack.h"
#include "comm/transports/handover.h"
#include "comm/transports/linked.h"
#include "comm/transports/prove.h"

/* Minimum number of floats in a message with which a pair of ranks tries a transport. Only its time
 * counts; its contents are never read. */
#define TRIED 1048576

/* ---- packing ---- */

extern const struct halo_packer __real_halo_packer_null;
struct halo_packer __wrap_halo_packer_null;

static status_t move(struct halo_packer_state *state, struct gpu_queue *queue, struct gpu_mem field,
                     struct gpu_mem buffer, int gather)
{
  clock_work(gather ? "pack" : "unpack", (double)buffer.bytes);
  if (buffer.bytes >= TRIED * sizeof(float)) return STATUS_OK;
  return __real_halo_packer_null.move(state, queue, field, buffer, gather);
}

/* ---- links ---- */

/* Offsets from a flag's first word. RAISED: the word that is raised instead of the first one. SEEN:
 * times from which the first word may have its value, one for even and one for odd exchanges. */
enum { RAISED = 8, SEEN = 10 };

static const struct halo_link_ops *link_ops;
static const struct halo_link *last; /* the link whose flags have not been seen yet, or NULL */
static uint64_t number;              /* number of its exchange */
static int proves;                   /* 1 while peer access is proved, without the clock */

/* Adds the time to `post` each message, and the extra time of a slow path. On a queue other than
 * the compute queue, the next sweep hides that time. */
static void paths_spend(const struct halo_link *link)
{
  const struct linked_exchange *x =
      (const struct linked_exchange *)((const char *)link - offsetof(struct linked_exchange, link));
  const int64_t begin = clock_now();
  for (int m = 0; m < link->n; m++) {
    const struct halo_message *message = &x->plan.messages[m];
    const double path = clock_path(x->context.comm, message->peer);
    clock_work("post", path);
    clock_work("peer", (path - 1) * (double)message->count * sizeof(float));
  }
  clock_hidden = x->current == x->queue ? (double)(clock_now() - begin) : 0;
}

static struct halo_link opposite(const struct halo_link *link, uint64_t step)
{
  paths_spend(link);
  struct halo_link other = *link;
  const uint64_t seen = (uint64_t)(clock_now() + (int64_t)clock_word("latency", 0));
  last = link;
  number = link->state->base + step;
  for (int m = 0; m < link->n; m++) {
    link->message[m].flag[SEEN + number % 2] = seen;
    other.message[m].flag += RAISED;
  }
  return other;
}

static status_t raise_flags(struct gpu_queue *queue, const struct halo_link *link, uint64_t step)
{
  if (proves) return link_ops->raise(queue, link, step);
  const struct halo_link other = opposite(link, step);
  return link_ops->raise(queue, &other, step);
}

static status_t push(struct gpu_queue *queue, const struct halo_link *link, struct gpu_mem field, int which,
                     uint64_t step)
{
  double points = 0;
  if (proves) return link_ops->push(queue, link, field, which, step);
  for (int m = 0; m < link->n; m++) {
    const struct halo_link_message *message = &link->message[m];
    points += (double)(message->hi[0] - message->lo[0]) * (message->hi[1] - message->lo[1]) *
              (message->hi[2] - message->lo[2]);
  }
  clock_work("peer", points * sizeof(float));
  const struct halo_link other = opposite(link, step);
  return points >= TRIED ? link_ops->raise(queue, &other, step)
                         : link_ops->push(queue, &other, field, which, step);
}

/* Waits in real time for the flags, at most CLOCK_PATIENCE, and lets MPI make progress. */
void clock_flags(void)
{
  const double begin = PMPI_Wtime();
  int unseen = 0;
  for (int m = 0; last && m < last->n; m++) {
    uint64_t *flag = (uint64_t *)last->message[m].here;
    for (int any; __atomic_load_n(flag + RAISED, __ATOMIC_ACQUIRE) < number * HALO_FLAG_UNIT;) {
      if (PMPI_Wtime() - begin > CLOCK_PATIENCE) return;
      PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
    }
    const int64_t seen = (int64_t)flag[SEEN + number % 2];
    if (seen <= clock_now()) {
      __atomic_store_n(flag, number * HALO_FLAG_UNIT, __ATOMIC_RELEASE);
    } else {
      clock_expect(seen);
      unseen = 1;
    }
  }
  if (!unseen) last = NULL;
}

/* The proof of peer access polls memory in real time, so its flags are raised at once. */
status_t __real_peers_prove(const struct placement *placement, struct gpu_device *device,
                            const struct peer_proof **proofs, int *most);
status_t __wrap_peers_prove(const struct placement *placement, struct gpu_device *device,
                            const struct peer_proof **proofs, int *most);
status_t __wrap_peers_prove(const struct placement *placement, struct gpu_device *device,
                            const struct peer_proof **proofs, int *most)
{
  proves = 1;
  const status_t status = __real_peers_prove(placement, device, proofs, most);
  proves = 0;
  return status;
}

const struct halo_link_ops *__real_halo_link_ops_find(const char *backend);
const struct halo_link_ops *__wrap_halo_link_ops_find(const char *backend);
const struct halo_link_ops *__wrap_halo_link_ops_find(const char *backend)
{
  static struct halo_link_ops timed;
  link_ops = __real_halo_link_ops_find(backend);
  if (!link_ops || strcmp(backend, "null") != 0) return link_ops;
  timed = *link_ops;
  timed.push = push;
  timed.raise = raise_flags;
  return &timed;
}

__attribute__((constructor)) static void packer_wrap(void)
{
  __wrap_halo_packer_null = __real_halo_packer_null;
  __wrap_halo_packer_null.move = move;
}

/* Only messages have a cost on this clock. Memory is therefore shared only with the word
 * `shared`. */
status_t __real_handover_open(struct handover *handover, const struct halo_context *context,
                              struct halo_reach reach[HALO_MESSAGES_MAX]);
status_t __wrap_handover_open(struct handover *handover, const struct halo_context *context,
                              struct halo_reach reach[HALO_MESSAGES_MAX]);
status_t __wrap_handover_open(struct handover *handover, const struct halo_context *context,
                              struct halo_reach reach[HALO_MESSAGES_MAX])
{
  if (clock_word("shared", 0) > 0) return __real_handover_open(handover, context, reach);
  *handover = (struct handover){.device = context->device};
  for (int m = 0; m < context->plan->n; m++) reach[m] = (struct halo_reach){0, "by the clock"};
  return STATUS_OK;
}
