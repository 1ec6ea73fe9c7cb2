/* SPDX-License-Identifier: MIT */
#include "himeno/tune/trial.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"

#define ROUNDS    4
#define EXCHANGES (TRIAL_EXCHANGES / ROUNDS)

struct trial {
  struct trial_config config;
  struct layout layout;
  struct halo_plan plan;
  struct gpu_queue *queue;
  struct gpu_mem fields[2];
  struct halo_route *route;
};

void trial_close(struct trial *t)
{
  if (!t) return;
  halo_route_close(t->route);
  for (int f = 0; f < 2; f++) halo_field_free(t->config.transport, t->config.device, &t->fields[f]);
  gpu_queue_destroy(t->queue);
  free(t);
}

static status_t trial_make(struct trial *t)
{
  const struct trial_config *c = &t->config;
  struct decomp decomp;
  int rank;
  MPI_Comm_rank(c->comm, &rank);
  decomp_init(&decomp, c->global, c->procs, rank);
  RETURN_IF_FAILED(layout_init(&t->layout, &decomp, c->depth, c->pad));
  halo_plan_init(&t->plan, &decomp, &t->layout, c->depth);
  const size_t bytes = (size_t)layout_floats(&t->layout) * sizeof(float);
  RETURN_IF_FAILED(gpu_queue_create(c->device, GPU_NORMAL, &t->queue));
  for (int f = 0; f < 2; f++) {
    RETURN_IF_FAILED(halo_field_alloc(c->transport, c->device, bytes, &t->fields[f]));
    RETURN_IF_FAILED(gpu_clear(t->queue, t->fields[f], 0, bytes));
  }
  return gpu_sync(t->queue);
}

status_t trial_open(const struct trial_config *config, struct trial **trial)
{
  struct trial *t = calloc(1, sizeof *t);
  status_t status = t ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "out of host memory for a trial");
  if (t) {
    t->config = *config;
    status = trial_make(t);
  }
  TRY(agree_status(config->comm, status), fail);
  const struct halo_context context = {.comm = config->comm,
                                       .device = config->device,
                                       .layout = &t->layout,
                                       .plan = &t->plan,
                                       .fields = {t->fields[0], t->fields[1]},
                                       .compute = t->queue};
  TRY(halo_route_open(config->transport, &context, &t->route), fail);
  *trial = t;
  return STATUS_OK;
fail:
  trial_close(t);
  return status;
}

status_t trial_carries(const struct trial *t, int *any)
{
  int mine = 0;
  for (int m = 0; m < t->plan.n; m++) {
    struct halo_path path;
    halo_route_path(t->route, m, &path);
    mine |= !path.why[0];
  }
  return watch_allreduce(t->config.comm, &mine, any, 1, MPI_INT, MPI_MAX, "agreement on a transport");
}

int trial_links(const struct trial *t)
{
  return t && halo_route_linked(t->route);
}

static status_t round_time(struct trial *t, double *seconds)
{
  double mine;
  RETURN_IF_FAILED(watch_barrier(t->config.comm, "a trial of a transport"));
  double begin = stats_now();
  for (int e = 0; e < EXCHANGES; e++) {
    struct gpu_event *arrived;
    RETURN_IF_FAILED(halo_route_start(t->route, t->fields[e % 2], NULL));
    RETURN_IF_FAILED(halo_route_finish(t->route, &arrived));
    if (arrived) RETURN_IF_FAILED(gpu_wait(t->queue, arrived));
  }
  RETURN_IF_FAILED(halo_route_wait(t->route, t->queue));
  mine = (stats_now() - begin) / EXCHANGES;
  return watch_allreduce(t->config.comm, &mine, seconds, 1, MPI_DOUBLE, MPI_MAX, "a trial of a transport");
}

status_t trial_time(struct trial *trial, double *seconds)
{
  double best = INFINITY;
  for (int r = 0; r < ROUNDS; r++) {
    double round;
    RETURN_IF_FAILED(round_time(trial, &round));
    best = fmin(best, round);
  }
  *seconds = best;
  return STATUS_OK;
}
