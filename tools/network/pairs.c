/* SPDX-License-Identifier: MIT */
/* Transfers between devices by each transport: pairs alone, pairs all at once, halos of a grid. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/guard.h"
#include "comm/transports/prove.h"
#include "suite/progress.h"
#include "tools/network/bench.h"
#include "tools/network/exchange.h"

/* A batch takes about this long, and has at most BATCH_MAX exchanges. */
#define BATCH_SECONDS 2e-3
#define BATCH_MAX     512
/* Maximum number of warm-ups. The first is so short that the host's calls determine its time; the
 * second is not. */
#define WARM_UPS 3
/* With up to this many ranks, all pairs are measured one after the other; with more ranks, they are
 * measured in rounds of disjoint pairs. */
#define SERIAL_RANKS 8

int bench_transport_wanted(const struct bench *bench, const struct halo_transport *transport)
{
  char reason[GPU_TEXT_MAX];
  const struct halo_transport *asked = bench->config.transport;
  return (!asked || asked == transport) && transport->available(bench->placement.backend, reason);
}

/* Returns the exchanges per batch: 2 on CPUs, because a longer batch would only amortise the
 * barrier, and a batch of two checks every transfer. */
static int batch_size(const struct bench *bench, double seconds)
{
  if (bench->device->info.is_cpu) return 2;
  int n = (int)(BATCH_SECONDS / (seconds > 0 ? seconds : BATCH_SECONDS));
  n = n / 2 * 2;
  return n < 2 ? 2 : n > BATCH_MAX ? BATCH_MAX : n;
}

/* Returns the stages of an exchange. They are unknown if none was timed, so that the sum is not a
 * number, and if only one rank sends, because that rank finishes long before the exchange ends. */
static struct bench_stages stages_of(const struct bench_exchange *x, const struct halo_times *times,
                                     double mean)
{
  struct bench_stages stages = {.known = 0};
  double sum = 0;
  for (int s = 0; s < HALO_STAGES; s++) sum += stages.at[s] = times->stages[s] / (double)times->exchanges;
  stages.known = sum > 0 && !x->config.one_way;
  stages.at[HALO_STAGES] = mean > sum ? mean - sum : 0;
  return stages;
}

struct pair_batch {
  struct bench_exchange *x;
  int n;
};

static status_t exchange_batch(void *of, double *seconds)
{
  const struct pair_batch *b = of;
  return bench_exchange_batch(b->x, b->n, seconds);
}

/* Warms up until the length of the batches is stable, and measures the point. Sets *exchanges to
 * the number of exchanges, including those for warm-up. */
static status_t samples_take(struct bench *bench, struct bench_exchange *x, MPI_Comm comm, int64_t bytes,
                             struct bench_point *point, struct halo_times *times, int64_t *exchanges)
{
  struct pair_batch b = {x, 2};
  struct halo_times dropped = {.exchanges = 0};
  double warm_up, slowest, mean;
  int untimed = 0;
  for (int w = 0, before = 0; w < WARM_UPS && b.n != before; w++) {
    RETURN_IF_FAILED(agree_status(comm, exchange_batch(&b, &warm_up)));
    RETURN_IF_FAILED(watch_allreduce(comm, &warm_up, &slowest, 1, MPI_DOUBLE, MPI_MAX, "times"));
    untimed += before = b.n;
    b.n = batch_size(bench, slowest);
  }
  RETURN_IF_FAILED(halo_route_times(x->route, &dropped));
  RETURN_IF_FAILED(bench_point_make(bench, comm, bytes, exchange_batch, &b, point, &mean));
  *times = (struct halo_times){.exchanges = 0};
  status_t status = halo_route_times(x->route, times);
  RETURN_IF_FAILED(agree_status(comm, status == STATUS_OK ? bench_exchange_check(x) : status));
  point->transfers *= b.n;
  *exchanges = point->transfers + untimed;
  bench->transfers += *exchanges * x->plan.n;
  point->stages = stages_of(x, times, mean);
  return STATUS_OK;
}

static void traffic_count(struct bench *bench, const struct halo_plan *plan, const int *world,
                          int64_t exchanges)
{
  const struct rank_row *mine = &bench->ranks[bench->placement.rank];
  for (int m = 0; m < plan->n; m++)
    if (!rank_same_host(&bench->ranks[world[plan->messages[m].peer]], mine))
      bench->between_hosts += (uint64_t)(plan->messages[m].count * (int64_t)sizeof(float) * exchanges);
}

struct pair_curve {
  struct bench *bench;
  const struct halo_transport *transport;
  MPI_Comm comm;
  struct bench_path *path;
};

static status_t pair_point(void *of, int64_t bytes, struct bench_point *point)
{
  const struct pair_curve *pair = of;
  struct bench_path *path = pair->path;
  struct bench_exchange_config config = {.comm = pair->comm,
                                         .device = pair->bench->device,
                                         .transport = pair->transport,
                                         .pair_bytes = bytes,
                                         .one_way = strcmp(path->direction, "one") == 0,
                                         .depth = 1};
  const int world[2] = {path->rank, path->peer};
  struct bench_exchange *x;
  struct halo_path used;
  struct halo_times times;
  int64_t exchanges = 0;
  RETURN_IF_FAILED(bench_exchange_open(&config, &x));
  halo_route_path(x->route, 0, &used);
  snprintf(path->used, sizeof path->used, "%s", used.used->name);
  if (used.why[0]) snprintf(path->why, sizeof path->why, "%s", used.why);
  snprintf(path->handover, sizeof path->handover, "%s", used.handover);
  status_t status = samples_take(pair->bench, x, pair->comm, bytes, point, &times, &exchanges);
  if (status == STATUS_OK) traffic_count(pair->bench, &x->plan, world, exchanges);
  bench_exchange_close(x);
  return status;
}

/* ---- rounds: disjoint pairs that measure at the same time ---- */

struct round {
  int *partner; /* partner per rank; −1: the rank is idle */
  const char *load, *direction;
  int all_sizes;
};

static status_t pairs_round_run(struct bench *bench, const struct halo_transport *transport,
                                const struct round *round)
{
  const struct placement *p = &bench->placement;
  int peer = round->partner[p->rank], low = peer < p->rank ? peer : p->rank;
  struct bench_path path =
      bench_path_of(low, peer < p->rank ? p->rank : peer, transport->name,
                    bench->config.transport ? "asked for" : "one of all", round->direction, round->load);
  struct pair_curve pair = {bench, transport, MPI_COMM_NULL, &path};
  int measure;
  RETURN_IF_FAILED(bench_curve_begin(bench, BENCH_PAIRS,
                                     round->all_sizes ? BENCH_SHARES_ALL : BENCH_SHARES_FEW, &measure));
  if (!measure) return STATUS_OK;
  progress_begin("%s, %s, %s", transport->name, strcmp(round->load, "all") == 0 ? "all pairs" : "one pair",
                 strcmp(round->direction, "both") == 0 ? "both directions" : "one direction");
  RETURN_IF_FAILED(guard_mpi(p->comm,
                             MPI_Comm_split(p->comm, peer >= 0 ? low : MPI_UNDEFINED, p->rank, &pair.comm),
                             "MPI_Comm_split"));
  status_t status = STATUS_OK;
  if (peer >= 0)
    status = bench_curve_measure(bench, pair.comm, bench->config.min_bytes, bench->config.max_bytes,
                                 round->all_sizes, pair_point, &pair, &path.curve);
  if (pair.comm != MPI_COMM_NULL) MPI_Comm_free(&pair.comm);
  RETURN_IF_FAILED(bench_rest(bench, peer >= 0));
  RETURN_IF_FAILED(agree_status(p->comm, status));
  for (int r = 0; r < p->ranks; r++)
    if (round->partner[r] > r)
      RETURN_IF_FAILED(bench_path_collect(bench, r, &path, &bench->pairs, &bench->n_pairs));
  return STATUS_OK;
}

/* Returns whether a pair is measured at all sizes. These are the pair of ranks 0 and 1, and the
 * pair of rank 0 and the first rank of another host. */
static int draws_curve(const struct bench *bench, int a, int b)
{
  int between = 0;
  if (a == 0 && b == 1) return 1;
  while (between < bench->placement.ranks && rank_same_host(&bench->ranks[between], &bench->ranks[0]))
    between++;
  return a == 0 && b == between;
}

static status_t serial_pairs(struct bench *bench, const struct halo_transport *transport, struct round *round)
{
  int n = bench->placement.ranks;
  for (int a = 0; a < n; a++)
    for (int b = a + 1; b < n; b++) {
      for (int r = 0; r < n; r++) round->partner[r] = r == a ? b : r == b ? a : -1;
      round->all_sizes = draws_curve(bench, a, b);
      round->load = "alone";
      RETURN_IF_FAILED(pairs_round_run(bench, transport, round));
      if (!round->all_sizes) continue;
      round->direction = "one";
      RETURN_IF_FAILED(pairs_round_run(bench, transport, round));
      round->direction = "both";
    }
  return STATUS_OK;
}

static status_t many_pairs(struct bench *bench, const struct halo_transport *transport, struct round *round)
{
  int n = bench->placement.ranks;
  round->all_sizes = 0;
  round->load = "all";
  for (int round_number = 0; round_number < n + n % 2 - 1; round_number++) {
    peers_round(round->partner, n, round_number);
    RETURN_IF_FAILED(pairs_round_run(bench, transport, round));
  }
  return STATUS_OK;
}

/* Pairs rank r < N/2 with rank r + N/2, so that every message goes from one half of the ranks to
 * the other. */
static status_t all_pairs(struct bench *bench, const struct halo_transport *transport, struct round *round)
{
  int n = bench->placement.ranks, half = n / 2;
  for (int r = 0; r < n; r++) round->partner[r] = r < half ? r + half : r < 2 * half ? r - half : -1;
  round->all_sizes = 1;
  round->load = "all";
  return pairs_round_run(bench, transport, round);
}

static status_t transport_pairs(struct bench *bench, const struct halo_transport *transport)
{
  struct round round = {.direction = "both", .partner = malloc((size_t)bench->placement.ranks * sizeof(int))};
  status_t status = round.partner ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for pairs");
  status = agree_status(bench->placement.comm, status);
  if (status == STATUS_OK)
    status = bench->placement.ranks <= SERIAL_RANKS ? serial_pairs(bench, transport, &round)
                                                    : many_pairs(bench, transport, &round);
  if (status == STATUS_OK && bench->placement.ranks > 3) status = all_pairs(bench, transport, &round);
  free(round.partner);
  return status;
}

status_t bench_peers_run(struct bench *bench)
{
  if (bench->plan.counting) return STATUS_OK;
  progress_begin("proving that devices reach each other's memory");
  return peers_prove(&bench->placement, bench->device, &bench->proofs, &bench->proofs_most);
}

status_t bench_pairs_run(struct bench *bench)
{
  for (int t = 0; halo_transports[t] && bench->placement.ranks > 1; t++)
    if (bench_transport_wanted(bench, halo_transports[t]))
      RETURN_IF_FAILED(transport_pairs(bench, halo_transports[t]));
  return STATUS_OK;
}

static status_t halo_describe(struct bench *bench, struct bench_exchange *x, struct bench_halo *halo)
{
  const struct halo_plan *plan = &x->plan;
  int64_t mine[2] = {plan->floats * (int64_t)sizeof(float), plan->n}, most[2];
  RETURN_IF_FAILED(
      watch_allreduce(bench->placement.comm, mine, most, 2, MPI_INT64_T, MPI_MAX, "halos' sizes"));
  halo->bytes = most[0];
  halo->messages = (int)most[1];
  return STATUS_OK;
}

/* Sets halo->used to the transport of all ranks' messages: the requested one, its substitute
 * `staged`, or both. */
static status_t halo_used(struct bench *bench, const struct bench_exchange *x,
                          const struct halo_transport *transport, struct bench_halo *halo)
{
  int mine[2] = {0, 0}, any[2];
  for (int m = 0; m < x->plan.n; m++) {
    struct halo_path path;
    halo_route_path(x->route, m, &path);
    mine[path.why[0] != 0] = 1;
  }
  RETURN_IF_FAILED(watch_allreduce(bench->placement.comm, mine, any, 2, MPI_INT, MPI_MAX, "paths"));
  snprintf(halo->used, sizeof halo->used, "%s%s%s", any[0] ? transport->name : "",
           any[0] && any[1] ? "+" : "", any[1] ? halo_transport_staged.name : "");
  return STATUS_OK;
}

static status_t halo_measure(struct bench *bench, const struct halo_transport *transport,
                             struct bench_halo *halo)
{
  MPI_Comm comm = bench->placement.comm;
  struct bench_exchange_config config = {
      .comm = comm, .device = bench->device, .transport = transport, .depth = (int)bench->config.depth};
  struct bench_exchange *x;
  struct halo_times times;
  int64_t exchanges = 0;
  int world[bench->placement.ranks];
  for (int r = 0; r < bench->placement.ranks; r++) world[r] = r;
  memcpy(config.global, bench->global, sizeof config.global);
  memcpy(config.procs, bench->procs, sizeof config.procs);
  *halo = (struct bench_halo){.messages = 0};
  snprintf(halo->method, sizeof halo->method, "%s", transport->name);
  RETURN_IF_FAILED(bench_exchange_open(&config, &x));
  status_t status = halo_describe(bench, x, halo);
  if (status == STATUS_OK) status = halo_used(bench, x, transport, halo);
  if (status == STATUS_OK)
    status = samples_take(bench, x, comm, halo->bytes, &halo->point, &times, &exchanges);
  for (int p = 0; p < HALO_PHASES && status == STATUS_OK && times.exchanges > 0; p++)
    halo->phases[p] = times.seconds[p] / (double)times.exchanges;
  if (status == STATUS_OK) traffic_count(bench, &x->plan, world, exchanges);
  bench_exchange_close(x);
  return status;
}

status_t bench_halo_run(struct bench *bench)
{
  for (int t = 0; halo_transports[t] && bench->placement.ranks > 1 && bench->n_halo < BENCH_HALOS_MAX; t++) {
    int measure;
    if (!bench_transport_wanted(bench, halo_transports[t])) continue;
    RETURN_IF_FAILED(bench_curve_begin(bench, BENCH_HALO, BENCH_SHARES_FEW, &measure));
    if (!measure) continue;
    progress_begin("halo exchange by %s", halo_transports[t]->name);
    RETURN_IF_FAILED(halo_measure(bench, halo_transports[t], &bench->halo[bench->n_halo]));
    bench->n_halo++;
  }
  return STATUS_OK;
}
