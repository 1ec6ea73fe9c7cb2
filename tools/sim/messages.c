/* SPDX-License-Identifier: MIT */
/* Messages of MPI. Bytes go to another host as a flow of SimGrid's over the platform, and to a rank
 * of the same host as a copy by the sender's core through the host's memory; a token takes the
 * transport's latency. Messages of one sender and tag arrive in their order. */
#include <math.h>
#include <mpi.h>
#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/mailbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/device.h"
#include "tools/sim/engine.h"
#include "tools/sim/transports.h"

/* What is no longer takes the transport's latency and bandwidth, and slows nothing else down. */
#define SMALL_BYTES 4096
/* Shorter messages are sent before their receiver asks for them: the sender is done at once. */
#define EAGER_BYTES 16384
#define NAME_MAX_   48

/** Messages from one rank to another with one tag. */
struct stream {
  struct stream *next; /* of the receiver's */
  int from, to, tag;
  sg_mailbox_t box;
  int is_token;
  double wire, byte; /* seconds of a token, and of a byte alone on its way */
  long sent, posted, arrived, taken;
  double *at; /* when those arrived that were not taken yet */
  long room;
  long gets, wanted; /* flows that the receiver's card takes at once */
  int awaited;       /* by the sender, which wants to know of arrivals */
  sg_comm_t *flows;  /* the sender's, not yet forgotten */
  long flown, landed, forgotten, flow_room;
};

/** A request of this file's. */
struct request {
  struct request *next; /* spare */
  struct stream *stream;
  long number;
  int bytes, receives;
};

/** The network card of a rank: an actor that takes flows in. */
struct sim_card {
  sg_mailbox_t control;
  struct stream **of;
  sg_comm_t *flows; /* the first waits for streams that want more */
  int n, room;
};

/** Messages that a rank has asked for and that are not on their last way; when the last arrives. */
struct missing {
  int data, tokens;
  double data_last, tokens_last;
};

static struct stream **streams; /* by receiver */
static struct missing *missing;
static struct sim_card **cards;
static struct request *spare, done_at_once;

static void sim_messages_open(void)
{
  streams = sim_array((size_t)sim.ranks, sizeof(struct stream *));
  cards = sim_array((size_t)sim.ranks, sizeof(struct sim_card *));
  missing = sim_array((size_t)sim.ranks, sizeof *missing);
}

/* What lies in a ring, from \a first to before \a last, keeps its number in a larger one. */
static void *ring_grow(void *ring, size_t bytes, long first, long last, long *room)
{
  const long more = 2 * *room + 4;
  char *larger = sim_array((size_t)more, bytes);
  for (long n = first; n < last; n++)
    memcpy(larger + (size_t)(n % more) * bytes, (char *)ring + (size_t)(n % *room) * bytes, bytes);
  free(ring);
  *room = more;
  return larger;
}

double message_wire(int from, int to)
{
  return sim_is_near(from, to) ? sim.near : sg_host_get_route_latency(sim_host(from), sim_host(to));
}

static struct stream *sim_stream(int from, int to, int tag)
{
  char name[NAME_MAX_];
  if (!streams) sim_messages_open();
  struct stream *s = streams[to];
  while (s && (s->from != from || s->tag != tag)) s = s->next;
  if (s) return s;
  s = sim_array(1, sizeof *s);
  snprintf(name, sizeof name, "%d-%d-%d", from, to, tag);
  *s = (struct stream){.next = streams[to], .from = from, .to = to, .tag = tag};
  s->wire = message_wire(from, to);
  streams[to] = s;
  if (sim_is_near(from, to)) return s;
  s->box = sg_mailbox_by_name(name);
  s->byte = 1 / sg_host_get_route_bandwidth(sim_host(from), sim_host(to));
  return s;
}

/* ---- arrivals ---- */

/* Whoever waits for several messages need not look before the last of them: what arrives costs it
 * nothing more. Tokens are counted apart. */
static void arrive(struct stream *s, double at)
{
  struct missing *m = &missing[s->to];
  double *last = s->is_token ? &m->tokens_last : &m->data_last;
  int *n = s->is_token ? &m->tokens : &m->data;
  if (s->arrived - s->taken >= s->room)
    s->at = ring_grow(s->at, sizeof *s->at, s->taken, s->arrived, &s->room);
  s->at[s->arrived++ % s->room] = at;
  if (at > *last) *last = at;
  if (s->arrived <= s->posted && --*n == 0) sim_wake(s->to, *last);
  if (s->awaited > 0) sim_wake(s->from, at);
}

static double delivered(void *of, uint64_t n, double since)
{
  struct stream *s = of;
  (void)n;
  arrive(s, since + s->wire);
  return since;
}

/* ---- cards ---- */

static void flow_repost(struct sim_card *c, ssize_t which)
{
  static void *received;
  struct stream *s = c->of[which];
  c->flows[which] = sg_mailbox_get_async(s ? s->box : c->control, &received);
}

static void flow_post(struct sim_card *c, struct stream *s)
{
  if (c->n == c->room) {
    c->room = 2 * c->room + 16;
    c->of = realloc(c->of, (size_t)c->room * sizeof(struct stream *));
    c->flows = realloc(c->flows, (size_t)c->room * sizeof(sg_comm_t));
    if (!c->of || !c->flows) abort();
  }
  c->of[c->n] = s;
  flow_repost(c, c->n++);
}

static void wanted_post(struct sim_card *c, int rank)
{
  for (struct stream *s = streams[rank]; s; s = s->next)
    for (; s->gets < s->wanted; s->gets++) flow_post(c, s);
}

static void card_run(int argc, char **argv)
{
  const int rank = argc > 1 ? atoi(argv[1]) : 0;
  struct sim_card *c = cards[rank];
  flow_post(c, NULL);
  wanted_post(c, rank);
  for (;;) {
    const ssize_t which = sg_comm_wait_any(c->flows, (size_t)c->n);
    struct stream *s = c->of[which];
    flow_repost(c, which);
    if (!s) {
      wanted_post(c, rank);
      continue;
    }
    s->landed++;
    arrive(s, sim_now());
  }
}

static void card_start(int rank)
{
  char name[NAME_MAX_], number[16];
  const char *const words[] = {"card", number, NULL};
  struct sim_card *c = sim_array(1, sizeof *c);
  cards[rank] = c;
  snprintf(number, sizeof number, "%d", rank);
  snprintf(name, sizeof name, "card-%d", rank);
  c->control = sg_mailbox_by_name(name);
  sg_actor_t actor = sg_actor_init(name, sim_host(rank));
  sg_actor_daemonize(actor);
  sg_actor_start_(actor, card_run, 2, words);
}

/* SimGrid keeps a record of each flow until its sender has waited for it, and searches through
 * all. */
static sg_comm_t sim_put(sg_mailbox_t box, int bytes)
{
  static void *word[1]; /* what is copied */
  return sg_mailbox_put_async(box, word, bytes);
}

static void flows_forget(struct stream *s)
{
  for (; s->forgotten < s->landed; s->forgotten++) sg_comm_wait(s->flows[s->forgotten % s->flow_room]);
}

static void flow_keep(struct stream *s, sg_comm_t flow)
{
  if (s->flown - s->forgotten >= s->flow_room)
    s->flows = ring_grow(s->flows, sizeof *s->flows, s->forgotten, s->flown, &s->flow_room);
  s->flows[s->flown++ % s->flow_room] = flow;
}

static void flow_send(struct stream *s, int bytes)
{
  const long under_way = s->flown - s->landed + 1;
  if (under_way > s->wanted) {
    s->wanted = under_way;
    if (!cards[s->to])
      card_start(s->to);
    else
      sim_put(cards[s->to]->control, 0);
  }
  flows_forget(s);
  flow_keep(s, sim_put(s->box, bytes));
}

/* ---- MPI's verbs ---- */

static MPI_Request request_make(struct stream *s, long number, int bytes, int receives)
{
  struct request *r = spare;
  if (r)
    spare = r->next;
  else
    r = sim_array(1, sizeof *r);
  *r = (struct request){.stream = s, .number = number, .bytes = bytes, .receives = receives};
  return (MPI_Request)(void *)r;
}

static int sim_bytes(int count, MPI_Datatype type)
{
  int size;
  MPI_Type_size(type, &size);
  return count * size;
}

int sim_irecv(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  struct stream *s = sim_stream(peer, sim_self(), tag);
  struct missing *m = &missing[s->to];
  (void)buffer, (void)comm;
  s->is_token = count == 0;
  if (s->posted >= s->arrived)
    (*(s->is_token ? &m->tokens : &m->data))++;
  else
    sim_wake(s->to, s->at[s->posted % s->room]);
  *request = request_make(s, s->posted++, sim_bytes(count, type), 1);
  return MPI_SUCCESS;
}

int sim_isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  struct stream *s = sim_stream(sim_self(), peer, tag);
  struct sim_sent *sent = sim_sent(sim_self());
  const int bytes = sim_bytes(count, type), near = sim_is_near(s->from, s->to);
  const long number = s->sent++;
  (void)buffer, (void)comm;
  s->is_token = bytes == 0;
  *(bytes > 0 ? &sent->messages : &sent->tokens) += 1;
  sent->bytes += bytes;
  *request = (MPI_Request)(void *)&done_at_once;
  if (bytes == 0 || (!near && bytes <= SMALL_BYTES)) {
    arrive(s, sim_now() + s->wire + bytes * s->byte);
    return MPI_SUCCESS;
  }
  if (near || bytes > EAGER_BYTES) {
    *request = request_make(s, number, bytes, 0);
    s->awaited++;
  }
  if (!near) {
    flow_send(s, bytes);
    return MPI_SUCCESS;
  }
  return sim_core_copy(bytes, delivered, s) == STATUS_OK ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int is_complete(const struct request *r)
{
  const struct stream *s = r->stream;
  if (!s) return 1;
  if (s->arrived <= r->number) return 0;
  return !r->receives || s->at[r->number % s->room] <= sim_now() + SIM_MOMENT;
}

static void complete(struct request *r, MPI_Status *status)
{
  *status = (MPI_Status){.MPI_ERROR = MPI_SUCCESS, .count = r->bytes};
  if (!r->stream) return;
  *status = (MPI_Status){.MPI_SOURCE = r->stream->from, .MPI_TAG = r->stream->tag, .count = r->bytes};
  if (r->receives)
    r->stream->taken++;
  else
    r->stream->awaited--;
  r->next = spare;
  spare = r;
}

int sim_testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
  *done = 0;
  for (int i = 0; i < n; i++) {
    struct request *r = (struct request *)(void *)requests[i];
    if (!r || !is_complete(r)) continue;
    complete(r, &statuses[*done]);
    indices[(*done)++] = i;
    requests[i] = MPI_REQUEST_NULL;
  }
  return MPI_SUCCESS;
}
