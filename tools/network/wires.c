/* SPDX-License-Identifier: MIT */
/* Compares network cards with the rates of their wires, and tests the fabric under load: streams of
 * messages between hosts, from host memory. */
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "base/switches.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/guard.h"
#include "comm/ranks/watch.h"
#include "gpu/host.h"
#include "suite/progress.h"
#include "tools/network/bench.h"
#include "tools/network/pattern.h"

#define MESSAGES         8    /* messages per stream, all concurrent */
#define STREAM_SECONDS   0.25 /* seconds per stream; less if there is no time for STREAMS of them */
#define STREAMS          16
#define UNCERTAIN        0.005 /* accepted uncertainty of a stream's median */
#define FABRIC_BYTES     (4 << 20)
#define FABRIC_UNCERTAIN 0.03
/* An uncertain rate under load counts if it is this many standard errors below the isolated
 * rate. */
#define FABRIC_CERTAIN 10

/* MPI libraries read from the environment which cards to use; each transport has its own variable
 * and its own name for a card, such as mlx5_0:1, mlx5_0, or the network interface ib0. */
enum card_word { PORT, DEVICE, INTERFACE };
static const struct {
  const char *variable;
  enum card_word word;
} bindings[] = {{"UCX_NET_DEVICES", PORT},
                {"OMPI_MCA_btl_tcp_if_include", INTERFACE},
                {"MV2_IBA_HCA", DEVICE},
                {"FI_VERBS_DEVICE_NAME", DEVICE},
                {"FI_TCP_IFACE", INTERFACE}};
static const char *const local_ranks[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                          "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID"};

static struct bench_wire bound = {.carried = NAN, .gbps_in = {NAN, NAN}, .peer = -1};

static void card_bind(const char *variable, enum card_word word, const char *card)
{
  char text[256];
  glob_t found;
  const int device = (int)strcspn(card, "/"), is_rdma = card[device] == '/';
  if (word == DEVICE && !is_rdma) return;
  snprintf(text, sizeof text, word == PORT && is_rdma ? "%.*s:%s" : "%.*s", device, card, card + device + 1);
  if (word == INTERFACE && is_rdma) {
    snprintf(text, sizeof text, "%s/class/infiniband/%.*s/device/net/*", host_sysfs(), device, card);
    if (glob(text, 0, NULL, &found) != 0) return;
    snprintf(text, sizeof text, "%s", strrchr(found.gl_pathv[0], '/') + 1);
    globfree(&found);
  }
  setenv(variable, text, 1);
}

void bench_wires_bind(void)
{
  static struct cards cards;
  double fastest = 0;
  long long local = -1;
  for (size_t l = 0; l < sizeof local_ranks / sizeof *local_ranks && local < 0; l++)
    local = environment_number(local_ranks[l], -1);
  cards_read("", &cards);
  for (int c = 0; c < cards.n; c++)
    if (strcmp(cards.card[c].state, "active") == 0) fastest = fmax(fastest, cards.card[c].gbps);
  for (int c = 0; c < cards.n; c++) {
    const struct card *card = &cards.card[c];
    if (strcmp(card->state, "active") != 0 || card->gbps <= 0 || 2 * card->gbps < fastest) continue;
    if (bound.cards++ != local) continue;
    snprintf(bound.card, sizeof bound.card, "%s", card->name);
    bound.gbps = card->gbps;
    for (size_t b = 0; b < sizeof bindings / sizeof *bindings; b++)
      card_bind(bindings[b].variable, bindings[b].word, card->name);
  }
}

struct stream {
  struct bench *bench;
  MPI_Comm comm;       /* the ranks that send or receive */
  int to, from;        /* ranks to which and from which this rank's messages go; −1: none */
  size_t bytes, n_own; /* size of a message; number of samples */
  uint64_t version;    /* version of the content */
  double uncertain;    /* relative standard error above which a rate is uncertain */
  double usual;        /* Gbit/s of the isolated stream; 0: this stream is the isolated one */
  unsigned char *out, *in;
  double own[BENCH_SAMPLES_MAX];
};

/* Moves the messages of one sample. *seconds is the time until all have arrived or, on a rank that
 * receives none, until all were sent. Returns MPI's error code. */
static int stream_move(const struct stream *s, double *seconds)
{
  MPI_Comm world = s->bench->placement.comm;
  MPI_Request in[MESSAGES], out[MESSAGES];
  const int bytes = (int)s->bytes, from = s->from < 0 ? MPI_PROC_NULL : s->from,
            to = s->to < 0 ? MPI_PROC_NULL : s->to;
  const double begin = stats_now();
  for (int m = 0; m < MESSAGES; m++) MPI_Irecv(s->in + m * s->bytes, bytes, MPI_BYTE, from, 0, world, &in[m]);
  for (int m = 0; m < MESSAGES; m++) MPI_Isend(s->out, bytes, MPI_BYTE, to, 0, world, &out[m]);
  int error = MPI_Waitall(MESSAGES, in, MPI_STATUSES_IGNORE);
  if (s->from >= 0) *seconds = stats_now() - begin;
  if (error == MPI_SUCCESS) error = MPI_Waitall(MESSAGES, out, MPI_STATUSES_IGNORE);
  if (s->from < 0) *seconds = stats_now() - begin;
  return error;
}

static status_t stream_batch(void *of, double *seconds)
{
  struct stream *s = of;
  struct bench *bench = s->bench;
  size_t at = s->bytes;
  s->version += (uint64_t)bench->placement.ranks;
  if (s->to >= 0) pattern_fill(s->out, at, s->version + (uint64_t)bench->placement.rank);
  RETURN_IF_FAILED(watch_barrier(s->comm, "a barrier"));
  RETURN_IF_FAILED(guard_begin(s->comm, "a stream of messages"));
  RETURN_IF_FAILED(guard_end(stream_move(s, seconds), "a stream of messages"));
  progress_tick();
  if (s->n_own < BENCH_SAMPLES_MAX) s->own[s->n_own++] = *seconds;
  if (s->to >= 0) bench->between_hosts += MESSAGES * s->bytes;
  if (s->from < 0) return STATUS_OK;
  bench->transfers += MESSAGES;
  if (pattern_fault && pattern_fault(MESSAGES)) s->in[0] ^= 1;
  for (int m = 0; m < MESSAGES && at == s->bytes; m++)
    at = pattern_check(s->in + m * s->bytes, at, s->version + (uint64_t)s->from);
  return at == s->bytes ? STATUS_OK
                        : log_fail(STATUS_WRONG, "stream from rank %d: the word at byte %zu arrived changed",
                                   s->from, at);
}

/* Returns the bytes per message, equal for all streams so that their start-up costs are equal. */
static size_t message_bytes(const struct bench *bench)
{
  double seconds = STREAM_SECONDS, gbps = INFINITY;
  if (isfinite(bench->plan.end)) seconds = fmin(seconds, bench->config.seconds / bench->plan.total / STREAMS);
  for (int r = 0; r < bench->placement.ranks; r++) gbps = fmin(gbps, bench->wire[r].gbps);
  return (size_t)fmin((double)bench->config.max_bytes, ceil(seconds * gbps * 1e9 / 8 / MESSAGES / 8) * 8);
}

int bench_rate_counts(const struct stats_summary *samples, double gbps, double uncertain, double usual)
{
  const double error = stats_noise(samples) / sqrt((double)samples->n);
  return error <= uncertain || gbps * (1 + FABRIC_CERTAIN * error) < usual;
}

/* Measures the streams of all ranks. The rate of a stream comes from its receiver's own times,
 * because other streams may take longer. */
static status_t streams_measure(struct stream *s, double *gbps_in, double *carried)
{
  static struct cards before, after;
  struct bench_point point;
  const uint64_t sent = s->bench->between_hosts;
  double mean;
  cards_read("", &before);
  RETURN_IF_FAILED(agree_status(s->comm, stream_batch(s, &mean)));
  s->n_own = 0;
  s->bench->plan.point_end = s->bench->plan.curve_end;
  RETURN_IF_FAILED(bench_point_make(s->bench, s->comm, (int64_t)s->bytes, stream_batch, s, &point, &mean));
  cards_read("", &after);
  const struct stats_summary own = stats_summarise(s->own, s->n_own);
  const struct card *was = cards_find(&before, bound.card), *is = cards_find(&after, bound.card);
  const double gbps = 8e-9 * MESSAGES * (double)s->bytes / own.median;
  if (s->from >= 0 && bench_rate_counts(&own, gbps, s->uncertain, s->usual)) *gbps_in = gbps;
  if (s->to >= 0 && carried && was && is)
    *carried = (double)(is->sent - was->sent) / (double)(s->bench->between_hosts - sent);
  return STATUS_OK;
}

/* Sends to \a to and receives from \a from (−1: none). Leaves *gbps_in as it is if the rate is
 * uncertain, unless the rate is far below \a usual. */
static status_t streams_run(struct bench *bench, enum bench_part part, int shares, int to, int from,
                            size_t bytes, double usual, double *gbps_in, double *carried)
{
  MPI_Comm world = bench->placement.comm;
  const int takes_part = to >= 0 || from >= 0;
  struct stream s = {.bench = bench,
                     .comm = MPI_COMM_NULL,
                     .to = to,
                     .from = from,
                     .bytes = bytes,
                     .usual = usual,
                     .uncertain = part == BENCH_WIRES ? BENCH_UNCERTAIN : FABRIC_UNCERTAIN};
  int measure;
  RETURN_IF_FAILED(bench_curve_begin(bench, part, shares, &measure));
  if (!measure) return STATUS_OK;
  progress_begin("streams between hosts");
  RETURN_IF_FAILED(
      guard_mpi(world, MPI_Comm_split(world, takes_part ? 0 : MPI_UNDEFINED, bench->placement.rank, &s.comm),
                "MPI_Comm_split"));
  s.out = malloc(s.bytes * (MESSAGES + 1));
  s.in = s.out + s.bytes;
  status_t status = s.out ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a stream");
  RETURN_IF_FAILED(agree_status(world, status));
  if (takes_part) status = streams_measure(&s, gbps_in, carried);
  free(s.out);
  if (s.comm != MPI_COMM_NULL) MPI_Comm_free(&s.comm);
  RETURN_IF_FAILED(bench_rest(bench, takes_part));
  return agree_status(world, status);
}

static status_t bound_gather(struct bench *bench)
{
  return watch_allgather(bench->placement.comm, &bound, bench->wire, sizeof bound, "network cards");
}

/* Allocates memory for all ranks' cards, and finds the peer: the rank with the same number on the
 * other host. Requires two hosts. */
static status_t wires_prepare(struct bench *bench)
{
  const struct placement *p = &bench->placement;
  const int hosts = ranks_hosts(bench->ranks, sizeof *bench->ranks, p->ranks);
  if (!bench->wire) bench->wire = calloc((size_t)p->ranks, sizeof *bench->wire);
  if (!bench->wire) return log_fail(STATUS_ENVIRONMENT, "out of host memory for network cards");
  for (int r = 0, place = 0; r < p->ranks; r++)
    if (bench->ranks[r].host_first != p->host_first && place++ == p->host_rank) bound.peer = r;
  if (p->ranks != 2 * p->host_ranks || bound.peer < 0)
    return log_fail(
        STATUS_USAGE,
        "--parts wires: needs two hosts with the same number of ranks, found %d rank%s on %d host%s",
        p->ranks, p->ranks > 1 ? "s" : "", hosts, hosts > 1 ? "s" : "");
  if (bound.card[0]) return STATUS_OK;
  return log_fail(
      STATUS_ENVIRONMENT,
      "--parts wires: %d network cards with a known rate are up, none for rank %d: start one rank per card",
      bound.cards, p->rank);
}

status_t bench_wires_run(struct bench *bench)
{
  RETURN_IF_FAILED(agree_status(bench->placement.comm, wires_prepare(bench)));
  RETURN_IF_FAILED(bound_gather(bench));
  bench->plan.uncertain = UNCERTAIN;
  const int rank = bench->placement.rank, peer = bound.peer;
  for (int r = 0; r < bench->placement.ranks; r++)
    RETURN_IF_FAILED(streams_run(bench, BENCH_WIRES, 2, r == rank ? peer : -1, r == peer ? peer : -1,
                                 message_bytes(bench), 0, &bound.gbps_in[0], &bound.carried));
  RETURN_IF_FAILED(
      streams_run(bench, BENCH_WIRES, 12, peer, peer, message_bytes(bench), 0, &bound.gbps_in[1], NULL));
  return bound_gather(bench);
}

/* ---- fabric: streams from host h to host h + shift ---- */

static int rank_at(const struct bench *bench, int host, int place)
{
  int first = 0, r = 0;
  for (; bench->ranks[first].host_first != first || host-- > 0; first++) continue;
  while (bench->ranks[r].host_first != first || place-- > 0) r++;
  return r;
}

status_t bench_fabric_run(struct bench *bench)
{
  const struct placement *p = &bench->placement;
  const int hosts = ranks_hosts(bench->ranks, sizeof *bench->ranks, p->ranks);
  const int step = (hosts + BENCH_SHIFTS - 2) / BENCH_SHIFTS;
  const size_t bytes = (size_t)fmin(FABRIC_BYTES, (double)bench->config.max_bytes);
  int host = 0;
  status_t status = STATUS_OK;
  if (!bench->flows) bench->flows = calloc((size_t)p->ranks * BENCH_SHIFTS, sizeof *bench->flows);
  if (hosts < 2 || p->ranks != hosts * p->host_ranks)
    status = log_fail(STATUS_USAGE, "--parts fabric: needs hosts with the same number of ranks");
  else if (!bench->flows)
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for the fabric");
  RETURN_IF_FAILED(agree_status(p->comm, status));
  for (int r = 0; r < p->host_first; r++) host += bench->ranks[r].host_first == r;
  bench->plan.uncertain = 4 * UNCERTAIN;
  bench->n_flows = 0;
  for (int shift = 1; shift < hosts; shift += step) {
    const int to = rank_at(bench, (host + shift) % hosts, p->host_rank);
    struct bench_flow flow = {shift, rank_at(bench, (host + hosts - shift) % hosts, p->host_rank), p->rank,
                              NAN, NAN};
    for (int h = 0; h < hosts; h++)
      RETURN_IF_FAILED(streams_run(bench, BENCH_FABRIC, 2, h == host ? to : -1,
                                   (h + shift) % hosts == host ? flow.from : -1, bytes, 0, &flow.alone,
                                   NULL));
    RETURN_IF_FAILED(streams_run(bench, BENCH_FABRIC, 4, to, flow.from, bytes, flow.alone, &flow.all, NULL));
    RETURN_IF_FAILED(
        watch_allgather(p->comm, &flow, bench->flows + bench->n_flows, sizeof flow, "flows between hosts"));
    bench->n_flows += p->ranks;
  }
  return STATUS_OK;
}

double bench_wire_share(const struct bench *bench, int rank, int share)
{
  const struct bench_wire *own = &bench->wire[rank], *to = share % 2 ? own : &bench->wire[own->peer];
  return own->carried >= BENCH_BOUND ? to->gbps_in[share / 2] / own->gbps : NAN;
}
