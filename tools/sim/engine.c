/* SPDX-License-Identifier: MIT */
#include "tools/sim/engine.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

struct sim_machine sim;

static struct sim_rank *ranks;

void *sim_array(size_t n, size_t bytes)
{
  void *array = calloc(n, bytes);
  if (array) return array;
  log_fail(STATUS_ENVIRONMENT, "out of host memory for %d simulated ranks", sim.point.ranks);
  _Exit(STATUS_ENVIRONMENT);
}

/* ---- hosts of the platform ---- */

static int by_name(const void *a, const void *b)
{
  return strverscmp(sg_host_get_name(*(const sg_host_t *)a), sg_host_get_name(*(const sg_host_t *)b));
}

/* Plain bandwidth and latency: no factors fitted to some other network, no TCP windows. */
static void simgrid_start(void)
{
  char *words[] = {"himeno-sim",
                   "--cfg=network/model:CM02",
                   "--cfg=network/TCP-gamma:0",
                   "--cfg=network/latency-factor:1",
                   "--cfg=network/bandwidth-factor:1",
                   "--cfg=network/weight-S:0",
                   "--cfg=network/crosstraffic:0",
                   "--cfg=contexts/stack-size:256",
                   "--log=root.thres:warning",
                   NULL};
  int n = sizeof words / sizeof *words - 1;
  simgrid_init(&n, words);
}

status_t engine_run(const char *platform, void (*run)(int argc, char **argv))
{
  const int each = sim.gpus_are_hosts ? 1 : sim.per_host, needed = (sim.point.ranks + each - 1) / each;
  simgrid_start();
  simgrid_load_platform(platform);
  sg_host_t *hosts = sg_host_list();
  qsort(hosts, sg_host_count(), sizeof *hosts, by_name);
  if (sg_host_count() < (size_t)needed)
    return log_fail(STATUS_USAGE, "the platform has %zu hosts, but %d ranks need %d of %d GPUs",
                    sg_host_count(), sim.point.ranks, needed, each);
  ranks = sim_array((size_t)sim.point.ranks, sizeof *ranks);
  for (int r = 0; r < sim.point.ranks; r++) {
    ranks[r] = (struct sim_rank){.number = r, .host = hosts[r / each], .awake = sg_sem_init(0)};
    sg_actor_t actor = sg_actor_init("rank", ranks[r].host);
    sg_actor_set_data(actor, &ranks[r]);
    sg_actor_start_(actor, run, 0, NULL);
  }
  simgrid_run();
  return STATUS_OK;
}

struct sim_rank *sim_self(void)
{
  return sg_actor_self_get_data();
}

struct sim_rank *sim_rank(int rank)
{
  return &ranks[rank];
}

int sim_is_near(int a, int b)
{
  return a / sim.per_host == b / sim.per_host;
}

double sim_now(void)
{
  return simgrid_get_clock();
}

double sim_wire(int from, int to)
{
  return sim_is_near(from, to) ? sim.near : sg_host_get_route_latency(ranks[from].host, ranks[to].host);
}

double sim_byte(int from, int to)
{
  return sim_is_near(from, to) ? 0 : 1 / sg_host_get_route_bandwidth(ranks[from].host, ranks[to].host);
}

/* ---- alarms ---- */

void sim_wake(int rank, double at)
{
  struct sim_rank *r = &ranks[rank];
  if (!isfinite(at)) return;
  if (r->n_alarms == r->room) {
    r->room = 2 * r->room + 16;
    r->alarms = realloc(r->alarms, (size_t)r->room * sizeof *r->alarms);
    if (!r->alarms) abort();
  }
  r->alarms[r->n_alarms++] = at;
  if (!r->blocked || at >= r->until) return;
  r->blocked = 0; /* once is enough */
  sg_sem_release(r->awake);
}

int sim_alarms_take(struct sim_rank *r)
{
  const double now = sim_now() + SIM_MOMENT;
  const int before = r->n_alarms;
  for (int a = r->n_alarms - 1; a >= 0; a--)
    if (r->alarms[a] <= now) r->alarms[a] = r->alarms[--r->n_alarms];
  return r->n_alarms < before;
}

void sim_sleep(struct sim_rank *r, double until)
{
  for (int a = 0; a < r->n_alarms; a++) until = fmin(until, r->alarms[a]);
  r->until = until;
  r->blocked = 1;
  if (isfinite(until))
    sg_sem_acquire_timeout(r->awake, until - sim_now());
  else
    sg_sem_acquire(r->awake);
  r->blocked = 0;
}

/* ---- flags ---- */

int flag_store(struct flag *f, uint64_t value, double seen)
{
  if (f->stores && f->value[(f->stores - 1) % FLAG_STORES] == value) return 0;
  f->value[f->stores % FLAG_STORES] = value;
  f->seen[f->stores++ % FLAG_STORES] = seen;
  return 1;
}

uint64_t flag_load(const struct flag *f)
{
  uint64_t value = 0;
  for (int s = 0; s < FLAG_STORES; s++)
    if (f->seen[s] <= sim_now() + SIM_MOMENT && f->value[s] > value) value = f->value[s];
  return value;
}

double flag_when(const struct flag *f, uint64_t value)
{
  double when = INFINITY;
  for (int s = 0; s < FLAG_STORES; s++)
    if (f->value[s] >= value && f->seen[s] < when) when = f->seen[s];
  return value == 0 ? 0 : when;
}
