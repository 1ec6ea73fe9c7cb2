/* SPDX-License-Identifier: MIT */
#include "tools/sim/engine.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "tools/sim/device.h"

struct sim_machine sim;

/** One rank. */
struct rank {
  int number, blocked;
  sg_host_t host;
  sg_sem_t awake;
  struct gpu_device *device;
  double until;   /* while blocked */
  double *alarms; /* a heap: the earliest first */
  int n, room;
  struct sim_sent sent;
};

static struct rank *ranks;

void *sim_array(size_t n, size_t bytes)
{
  void *array = calloc(n, bytes);
  if (array) return array;
  log_fail(STATUS_ENVIRONMENT, "out of memory for %d simulated ranks", sim.ranks);
  abort();
}

/* ---- hosts of the platform, in the order of the numbers in their names ---- */

static int by_name(const void *a, const void *b)
{
  return strverscmp(sg_host_get_name(*(const sg_host_t *)a), sg_host_get_name(*(const sg_host_t *)b));
}

static status_t hosts_check(const sg_host_t *hosts, int needed)
{
  if (sg_host_count() < (size_t)needed)
    return log_fail(STATUS_USAGE, "the platform has %zu hosts, and %d ranks need %d of %d GPUs",
                    sg_host_count(), sim.ranks, needed, sim.gpus_are_hosts ? 1 : sim.per_host);
  for (int h = 1; h < needed; h++)
    if (!isfinite(sg_host_get_route_bandwidth(hosts[0], hosts[h])))
      return log_fail(STATUS_USAGE, "the platform has no link between hosts %s and %s",
                      sg_host_get_name(hosts[0]), sg_host_get_name(hosts[h]));
  return STATUS_OK;
}

static status_t hosts_take(void)
{
  const int each = sim.gpus_are_hosts ? 1 : sim.per_host;
  sg_host_t *hosts = sg_host_list();
  qsort(hosts, sg_host_count(), sizeof *hosts, by_name);
  status_t status = hosts_check(hosts, (sim.ranks + each - 1) / each);
  for (int r = 0; r < sim.ranks && status == STATUS_OK; r++) ranks[r].host = hosts[r / each];
  free(hosts);
  return status;
}

status_t engine_enter(int rank)
{
  if (!ranks) {
    ranks = sim_array((size_t)sim.ranks, sizeof *ranks);
    RETURN_IF_FAILED(hosts_take());
  }
  ranks[rank].number = rank;
  ranks[rank].awake = sg_sem_init(0);
  sg_actor_self_set_data(&ranks[rank]);
  sg_actor_set_host(sg_actor_self(), ranks[rank].host);
  return STATUS_OK;
}

static struct rank *self(void)
{
  return sg_actor_self_get_data();
}

void engine_device(struct gpu_device *device)
{
  self()->device = device;
}

struct gpu_device *sim_device(void)
{
  return self()->device;
}

int sim_self(void)
{
  return self()->number;
}

sg_host_t sim_host(int rank)
{
  return ranks[rank].host;
}

int sim_is_near(int a, int b)
{
  return a / sim.per_host == b / sim.per_host;
}

double sim_now(void)
{
  return simgrid_get_clock();
}

struct sim_sent *sim_sent(int rank)
{
  return &ranks[rank].sent;
}

/* ---- alarms ---- */

static void alarm_add(struct rank *r, double at)
{
  int i = r->n++;
  if (r->n > r->room) {
    r->room = 2 * r->room + 16;
    r->alarms = realloc(r->alarms, (size_t)r->room * sizeof *r->alarms);
    if (!r->alarms) abort();
  }
  for (; i > 0 && r->alarms[(i - 1) / 2] > at; i = (i - 1) / 2) r->alarms[i] = r->alarms[(i - 1) / 2];
  r->alarms[i] = at;
}

static void alarm_drop(struct rank *r)
{
  const double last = r->alarms[--r->n];
  int i = 0;
  for (int c = 1; c < r->n; c = 2 * i + 1) {
    if (c + 1 < r->n && r->alarms[c + 1] < r->alarms[c]) c++;
    if (r->alarms[c] >= last) break;
    r->alarms[i] = r->alarms[c];
    i = c;
  }
  r->alarms[i] = last;
}

/* Whether any has gone off; then the device looks again too. */
static int alarms_take(struct rank *r)
{
  const double now = sim_now() + SIM_MOMENT;
  int any = 0;
  for (; r->n > 0 && r->alarms[0] <= now; any = 1) alarm_drop(r);
  if (any) device_touch(r->device);
  return any;
}

void sim_wake(int rank, double at)
{
  struct rank *r = &ranks[rank];
  if (!isfinite(at)) return;
  alarm_add(r, at);
  if (!r->blocked || at >= r->until) return;
  r->blocked = 0; /* once is enough */
  sg_sem_release(r->awake);
}

static void engine_block(struct rank *r, double until)
{
  r->until = until;
  r->blocked = 1;
  if (isfinite(until))
    sg_sem_acquire_timeout(r->awake, until - sim_now());
  else
    sg_sem_acquire(r->awake);
  r->blocked = 0;
}

int sim_yield(void)
{
  struct rank *r = self();
  double next = device_progress(r->device);
  if (alarms_take(r)) return 0;
  if (r->n > 0 && r->alarms[0] < next) next = r->alarms[0];
  engine_block(r, next);
  alarms_take(r);
  device_progress(r->device);
  return 0;
}
