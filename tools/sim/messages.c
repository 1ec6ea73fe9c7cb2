/* SPDX-License-Identifier: MIT */
/* Messages and sums of MPI. Bytes go to another host as a flow of SimGrid's over the platform, and
 * to a rank of the same host as a copy by the sender's core through the host's memory; a token
 * takes the transport's latency. Messages of one sender and tag arrive in their order.
 *
 * SimGrid's own MPI (SMPI) is not used: a rank waits for its device and for messages at once, which
 * no call of MPI does, and each poll by MPI_Testsome would take simulated time. Copies within a
 * host share its memory by the number of copies under way; SimGrid's links share a fixed
 * bandwidth. */
#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/mailbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/device.h"
#include "tools/sim/engine.h"

/* Messages up to this size take the transport's latency and bandwidth, and slow down no other. */
#define SMALL_BYTES 4096
/* Messages up to this size are sent before their receiver asks for them: the sender is done at
 * once. */
#define EAGER_BYTES 16384
/* Sums under way at once: a rank that begins one has the last but one. */
#define SUMS 4

/** Messages from one rank to another with one tag. */
struct stream {
  struct stream *next; /* of the receiver's */
  int from, to, tag;
  double wire, byte; /* seconds of a token, and of a byte alone on its path */
  long sent, posted, arrived, taken;
  double *at; /* when those arrived that were not taken yet */
  long room;
  int awaited; /* by the sender, which polls for arrivals */
  struct carrier *idle;
};

struct sum {
  long number;
  int begun;
  void *values;
  double end; /* once all ranks have begun it */
};

/** A receive, a send or a part in a sum. */
struct request {
  struct stream *stream;
  long number;
  int bytes, receives;
  struct sum *sum;
  void *result;
};

/** An actor at the receiver that takes flows of a stream in, one after the other. */
struct carrier {
  struct carrier *next; /* idle */
  struct stream *stream;
  sg_mailbox_t box;
  sg_comm_t flow; /* the sender's end of the last one */
};

static struct stream **streams; /* by receiver */
static struct sum sums[SUMS];

static struct stream *sim_stream(int from, int to, int tag)
{
  if (!streams) streams = sim_array((size_t)sim.point.ranks, sizeof *streams);
  struct stream *s = streams[to];
  while (s && (s->from != from || s->tag != tag)) s = s->next;
  if (s) return s;
  s = sim_array(1, sizeof *s);
  *s = (struct stream){.next = streams[to],
                       .from = from,
                       .to = to,
                       .tag = tag,
                       .wire = sim_wire(from, to),
                       .byte = sim_byte(from, to)};
  streams[to] = s;
  return s;
}

/* ---- arrivals ---- */

static void sim_arrive(struct stream *s, double at)
{
  const long n = s->arrived++ - s->taken;
  if (n == s->room) {
    s->room = 2 * s->room + 4;
    s->at = realloc(s->at, (size_t)s->room * sizeof *s->at);
    if (!s->at) abort();
  }
  s->at[n] = n > 0 ? fmax(at, s->at[n - 1]) : at;
  sim_wake(s->to, s->at[n]);
  if (s->awaited > 0) sim_wake(s->from, at);
}

static double delivered(void *of, uint64_t n, double since)
{
  struct stream *s = of;
  (void)n;
  sim_arrive(s, since + s->wire);
  return since;
}

static void carrier_run(int argc, char **argv)
{
  struct carrier *c = sg_actor_self_get_data();
  (void)argc, (void)argv;
  sg_actor_daemonize(sg_actor_self());
  for (;;) {
    sg_mailbox_get(c->box);
    sim_arrive(c->stream, sim_now());
    c->next = c->stream->idle;
    c->stream->idle = c;
  }
}

static struct carrier *carrier_start(struct stream *s)
{
  static long number;
  char name[32];
  struct carrier *c = sim_array(1, sizeof *c);
  snprintf(name, sizeof name, "carrier-%ld", number++);
  *c = (struct carrier){.stream = s, .box = sg_mailbox_by_name(name)};
  sg_actor_t actor = sg_actor_init(name, sim_rank(s->to)->host);
  sg_actor_set_data(actor, c);
  sg_actor_start_(actor, carrier_run, 0, NULL);
  return c;
}

/* SimGrid keeps a record of each flow until its sender has waited for it. */
static void flow_send(struct stream *s, int bytes)
{
  static void *word[1]; /* what is copied */
  struct carrier *c = s->idle ? s->idle : carrier_start(s);
  if (c == s->idle) {
    s->idle = c->next;
    sg_comm_wait(c->flow);
  }
  c->flow = sg_mailbox_put_async(c->box, word, bytes);
}

/* ---- sums ---- */

#define REDUCE(type)                                                                                         \
  for (int n = 0; n < count; n++) {                                                                          \
    type *into = (type *)sum + n;                                                                            \
    const type more = ((const type *)send)[n];                                                               \
    if (op == MPI_SUM)                                                                                       \
      *into += more;                                                                                         \
    else if ((op == MPI_MAX) == (more > *into))                                                              \
      *into = more;                                                                                          \
  }

static void sim_reduce(void *sum, const void *send, int count, MPI_Datatype type, MPI_Op op)
{
  if (type == MPI_DOUBLE)
    REDUCE(double)
  else if (type == MPI_INT)
    REDUCE(int)
  else
    REDUCE(uint64_t)
}

static double doubling_seconds(void)
{
  double seconds = 0;
  for (int step = 1; step < sim.point.ranks; step *= 2) seconds += sim_wire(0, step);
  return seconds;
}

static void sim_sum_add(struct sum *s, long number, const void *send, int count, MPI_Datatype type, MPI_Op op)
{
  const size_t bytes = (size_t)count * (type == MPI_INT ? sizeof(int) : sizeof(double));
  if (s->number != number || !s->values) {
    free(s->values);
    *s = (struct sum){.number = number, .values = sim_array((size_t)count, sizeof(double)), .end = INFINITY};
    memcpy(s->values, send, bytes);
  } else {
    sim_reduce(s->values, send, count, type, op);
  }
  if (++s->begun < sim.point.ranks) return;
  s->end = sim_now() + (type == MPI_DOUBLE && op == MPI_SUM ? doubling_seconds() : 0);
  for (int r = 0; r < sim.point.ranks; r++) sim_wake(r, s->end);
}

/* ---- MPI's verbs ---- */

static MPI_Request request_make(struct request request)
{
  struct request *r = sim_array(1, sizeof *r);
  *r = request;
  return (MPI_Request)(void *)r;
}

static int sim_bytes(int count, MPI_Datatype type)
{
  return count * (type == MPI_BYTE ? 1 : type == MPI_INT || type == MPI_FLOAT ? 4 : 8);
}

int sim_iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
  const long number = sim_self()->sums++;
  struct sum *s = &sums[number % SUMS];
  (void)comm;
  sim_sum_add(s, number, send, count, type, op);
  *request = request_make((struct request){.sum = s, .result = receive, .bytes = sim_bytes(count, type)});
  return MPI_SUCCESS;
}

int sim_irecv(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  struct stream *s = sim_stream(peer, sim_self()->number, tag);
  (void)buffer, (void)comm;
  *request = request_make(
      (struct request){.stream = s, .number = s->posted++, .bytes = sim_bytes(count, type), .receives = 1});
  return MPI_SUCCESS;
}

int sim_isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  struct sim_rank *me = sim_self();
  struct stream *s = sim_stream(me->number, peer, tag);
  const int bytes = sim_bytes(count, type), near = sim_is_near(me->number, peer);
  const int awaited = bytes > 0 && (near || bytes > EAGER_BYTES);
  (void)buffer, (void)comm;
  *(bytes > 0 ? &me->messages : &me->tokens) += 1;
  me->bytes += bytes;
  s->awaited += awaited;
  *request =
      request_make((struct request){.stream = awaited ? s : NULL, .number = s->sent++, .bytes = bytes});
  if (bytes == 0 || (!near && bytes <= SMALL_BYTES))
    sim_arrive(s, sim_now() + s->wire + bytes * s->byte);
  else if (!near)
    flow_send(s, bytes);
  else
    return sim_core_copy(bytes, delivered, s) == STATUS_OK ? MPI_SUCCESS : MPI_ERR_OTHER;
  return MPI_SUCCESS;
}

static int sim_is_complete(const struct request *r)
{
  const struct stream *s = r->stream;
  const double now = sim_now() + SIM_MOMENT;
  if (r->sum) return r->sum->end <= now;
  return !s || (s->arrived > r->number && (!r->receives || s->at[r->number - s->taken] <= now));
}

static void sim_complete(struct request *r, MPI_Status *status)
{
  struct stream *s = r->stream;
  *status = (MPI_Status){.MPI_ERROR = MPI_SUCCESS, .count = r->bytes};
  if (r->sum) memcpy(r->result, r->sum->values, (size_t)r->bytes);
  if (s && r->receives)
    memmove(s->at, s->at + 1, (size_t)(s->arrived - ++s->taken) * sizeof *s->at);
  else if (s)
    s->awaited--;
  free(r);
}

int sim_testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
  *done = 0;
  for (int i = 0; i < n; i++) {
    struct request *r = (struct request *)(void *)requests[i];
    if (!r || !sim_is_complete(r)) continue;
    sim_complete(r, &statuses[*done]);
    indices[(*done)++] = i;
    requests[i] = MPI_REQUEST_NULL;
  }
  return MPI_SUCCESS;
}
