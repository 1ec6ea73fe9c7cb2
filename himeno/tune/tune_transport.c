/* SPDX-License-Identifier: MIT */
/* -x auto: a few exchanges of this grid's halos by each transport that the backend can have. */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "himeno/tune/choose.h"

#define TRIAL_EXCHANGES 40
#define TRIAL_ROUNDS    3

/* Fields without a solver: only their halos matter. */
struct trial {
  MPI_Comm comm;
  struct gpu_device *device;
  struct decomp decomp;
  struct layout layout;
  struct halo_plan plan;
  struct gpu_queue *queue;
  struct gpu_mem fields[2];
  struct halo_route *route;
};

static void trial_close(struct trial *t, const struct halo_transport *transport)
{
  halo_route_close(t->route);
  for (int f = 0; f < 2; f++) halo_field_free(transport, t->device, &t->fields[f]);
  gpu_queue_destroy(t->queue);
}

static status_t fields_create(struct trial *t, const struct halo_transport *transport)
{
  size_t bytes = (size_t)layout_floats(&t->layout) * sizeof(float);
  RETURN_IF_FAILED(gpu_queue_create(t->device, GPU_NORMAL, &t->queue));
  for (int f = 0; f < 2; f++) {
    RETURN_IF_FAILED(halo_field_alloc(transport, t->device, bytes, &t->fields[f]));
    RETURN_IF_FAILED(gpu_clear(t->queue, t->fields[f], 0, bytes));
  }
  return gpu_sync(t->queue);
}

static status_t trial_open(const struct himeno_config *config, const struct himeno_choice *choice,
                           const struct halo_transport *transport, struct trial *t)
{
  int rank = choice->placement.rank;
  *t = (struct trial){.comm = choice->placement.comm, .device = choice->device};
  decomp_init(&t->decomp, choice->global, choice->procs, rank);
  RETURN_IF_FAILED(layout_init(&t->layout, &t->decomp, choice->kernel->sweeps, (int)config->pad));
  halo_plan_init(&t->plan, &t->decomp, &t->layout, choice->kernel->sweeps);
  RETURN_IF_FAILED(agree_status(t->comm, fields_create(t, transport)));
  struct halo_context context = {.comm = t->comm,
                                 .device = t->device,
                                 .layout = &t->layout,
                                 .plan = &t->plan,
                                 .fields = {t->fields[0], t->fields[1]},
                                 .compute = t->queue};
  return halo_route_open(transport, &context, &t->route);
}

/* A transport that carries nothing here is staged by another name. */
static status_t carries_any(const struct trial *t, int *any)
{
  int mine = 0;
  for (int m = 0; m < t->plan.n; m++) {
    struct halo_path path;
    halo_route_path(t->route, m, &path);
    mine |= !path.why[0];
  }
  return watch_allreduce(t->comm, &mine, any, 1, MPI_INT, MPI_MAX, "agreement on a transport");
}

static status_t round_time(struct trial *t, double *seconds)
{
  double mine;
  RETURN_IF_FAILED(watch_barrier(t->comm, "a trial of a transport"));
  double begin = stats_now();
  for (int e = 0; e < TRIAL_EXCHANGES; e++) {
    struct gpu_event *arrived;
    RETURN_IF_FAILED(halo_route_start(t->route, t->fields[e % 2], NULL));
    RETURN_IF_FAILED(halo_route_finish(t->route, &arrived));
    if (arrived) RETURN_IF_FAILED(gpu_wait(t->queue, arrived));
  }
  RETURN_IF_FAILED(halo_route_wait(t->route, t->queue));
  mine = (stats_now() - begin) / TRIAL_EXCHANGES;
  return watch_allreduce(t->comm, &mine, seconds, 1, MPI_DOUBLE, MPI_MAX, "a trial of a transport");
}

/* Best of a few rounds, the slowest rank's; infinite where the transport is of no use. */
static status_t trial_run(const struct himeno_config *config, const struct himeno_choice *choice,
                          const struct halo_transport *transport, double *seconds)
{
  struct trial t;
  int any = 0;
  *seconds = INFINITY;
  log_mute(1);
  status_t status = trial_open(config, choice, transport, &t);
  log_mute(0);
  if (status == STATUS_OK) status = carries_any(&t, &any);
  for (int r = 0; r < TRIAL_ROUNDS + 1 && any && status == STATUS_OK; r++) {
    double round;
    status = round_time(&t, &round);
    if (status == STATUS_OK && r > 0) *seconds = fmin(*seconds, round);
  }
  trial_close(&t, transport);
  return status == STATUS_HANG || status == STATUS_FAULT ? status : STATUS_OK;
}

status_t himeno_transport_tune(const struct himeno_config *config, struct himeno_choice *choice)
{
  double best = INFINITY;
  int tried = 0;
  if (config->transport || config->no_tune || choice->placement.ranks == 1) return STATUS_OK;
  for (int t = 0; halo_transports[t]; t++) {
    char reason[GPU_TEXT_MAX];
    double seconds;
    if (!halo_transports[t]->trial || !halo_transports[t]->available(choice->placement.backend, reason))
      continue;
    RETURN_IF_FAILED(trial_run(config, choice, halo_transports[t], &seconds));
    tried++;
    if (seconds >= best) continue;
    best = seconds;
    choice->transport = halo_transports[t];
  }
  choice->transport_origin = tried > 1 ? CHOICE_TRIAL : CHOICE_DEFAULT;
  return STATUS_OK;
}
