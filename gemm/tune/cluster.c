/* SPDX-License-Identifier: MIT */

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"
#include "comm/ranks/agree.h"
#include "gemm/tune/tune.h"
#include "suite/progress.h"

/* Maximum number of panels. More would gain nothing, and each panel has its own events. */
#define PANELS_MAX 65536
/* Products per trial of a transport; only the last is timed. */
#define TRIAL_PRODUCTS 2

/* Changes the problem from one rank's C to the C of all ranks. */
static status_t whole_grow(struct gemm_problem *p, const int procs[2])
{
  if (p->m > GEMM_EXTENT_MAX / procs[0] || p->n > GEMM_EXTENT_MAX / procs[1])
    return log_fail(STATUS_USAGE, "--weak: C of all %dx%d ranks is too large for 64-bit sizes", procs[0],
                    procs[1]);
  p->m *= procs[0];
  p->n *= procs[1];
  memset(p->ld, 0, sizeof p->ld);
  return gemm_problem_complete(p);
}

static status_t local_init(struct gemm_cluster *c)
{
  struct gemm_problem p = c->whole;
  p.m = c->grid.m.extent;
  p.n = c->grid.n.extent;
  p.ld[GEMM_A] = p.ld[GEMM_B] = 0;
  p.ld[GEMM_C] = (p.n + GEMM_C_STEP - 1) / GEMM_C_STEP * GEMM_C_STEP;
  c->local = p;
  return gemm_problem_complete(&c->local);
}

/* Checks that memory suffices. On a CPU, the host's matrices and the fetched results are in the
 * device's memory too. */
static status_t cluster_size_check(const struct gemm_rig *rig, const struct gemm_work *work)
{
  const struct gemm_cluster *c = work->cluster;
  uint64_t result = gemm_bytes(&c->local, GEMM_C), need = gemm_panels_bytes(&c->local, &c->grid, GEMM_A) +
                                                          gemm_panels_bytes(&c->local, &c->grid, GEMM_B) +
                                                          result;
  char what[128];
  if (rig->placement.info.is_cpu) need += gemm_matrices_bytes(&c->local) + result;
  snprintf(what, sizeof what, "size %" PRId64 "x%" PRId64 "x%" PRId64 " over %dx%d ranks", c->whole.m,
           c->whole.n, c->whole.k, c->grid.procs[0], c->grid.procs[1]);
  return memory_check(&rig->memory, need, what, "; use a smaller --size or more ranks");
}

status_t gemm_cluster_cut(const struct gemm_rig *rig, struct gemm_work *work)
{
  const struct placement *p = &rig->placement;
  int procs[2];
  struct gemm_cluster *c = work->cluster = calloc(1, sizeof *c);
  if (!c) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a product of many ranks");
  c->comm = p->comm;
  c->device = rig->device;
  c->compute = rig->queue;
  c->whole = work->problem;
  int64_t width = gemm_grid_width(&c->whole, rig->config.panel, p->info.is_cpu);
  if ((c->whole.k - 1) / width >= PANELS_MAX)
    return log_fail(STATUS_USAGE, "--panel %" PRId64 ": cuts k %" PRId64 " into more than %d panels", width,
                    c->whole.k, PANELS_MAX);
  RETURN_IF_FAILED(gemm_grid_choose(&c->whole, rig->config.weak, p->ranks, rig->config.procs, width, procs));
  if (rig->config.weak) RETURN_IF_FAILED(whole_grow(&c->whole, procs));
  gemm_grid_init(&c->grid, &c->whole, procs, p->rank, width);
  RETURN_IF_FAILED(local_init(c));
  work->problem = c->local;
  return cluster_size_check(rig, work);
}

void gemm_cluster_free(struct gemm_work *work)
{
  if (!work->cluster) return;
  gemm_cluster_close(work->cluster);
  free(work->cluster);
  work->cluster = NULL;
}

void gemm_cluster_places(const struct gemm_cluster *c, struct gemm_place places[GEMM_MATRICES])
{
  int64_t m = c->grid.m.begin, n = c->grid.n.begin;
  for (int matrix = 0; matrix < GEMM_MATRICES; matrix++)
    places[matrix] = (struct gemm_place){.columns = gemm_columns(&c->whole, (enum gemm_matrix)matrix)};
  *(c->whole.trans_a ? &places[GEMM_A].column : &places[GEMM_A].row) = m;
  *(c->whole.trans_b ? &places[GEMM_B].row : &places[GEMM_B].column) = n;
  places[GEMM_C].row = m;
  places[GEMM_C].column = n;
}

/* Allocates a panel for trials of tiles, with elements of this rank's matrix, padded with zeros. */
static status_t trial_panel(const struct gemm_rig *rig, struct gemm_work *work, enum gemm_matrix matrix,
                            struct gpu_mem *memory)
{
  const struct gemm_problem part = gemm_cluster_part(work->cluster, 0, (const int[2]){0});
  size_t bytes = gemm_bytes(&part, matrix), have = gemm_bytes(&work->problem, matrix);
  RETURN_IF_FAILED(gpu_alloc(rig->device, bytes, memory));
  RETURN_IF_FAILED(gpu_clear(rig->queue, *memory, 0, bytes));
  return gpu_copy_in(rig->queue, *memory, 0, work->matrices.host[matrix], have < bytes ? have : bytes);
}

static status_t tiles_choose(const struct gemm_rig *rig, struct gemm_work *work, struct gemm_series *s)
{
  struct gemm_operands *on = &work->matrices.on;
  status_t status = trial_panel(rig, work, GEMM_A, &on->a);
  if (status == STATUS_OK) status = trial_panel(rig, work, GEMM_B, &on->b);
  status = agree_status(rig->placement.comm, status);
  if (status == STATUS_OK) status = gemm_tune(rig, work, s);
  gpu_free(rig->device, &on->a);
  gpu_free(rig->device, &on->b);
  return status;
}

static status_t transport_try(const struct gemm_rig *rig, struct gemm_work *work,
                              const struct halo_transport *transport, double *slowest)
{
  struct gemm_cluster *c = work->cluster;
  double mine = 0;
  progress_begin("trying transport %s", transport->name);
  RETURN_IF_FAILED(gemm_cluster_link(c, transport));
  for (int n = 0; n < TRIAL_PRODUCTS; n++) {
    RETURN_IF_FAILED(watch_barrier(c->comm, "a trial of a transport"));
    double begin = stats_now();
    RETURN_IF_FAILED(gemm_launch(&c->exec, rig->queue, &work->matrices.on));
    mine = stats_now() - begin;
  }
  gemm_cluster_unlink(c);
  return watch_allreduce(c->comm, &mine, slowest, 1, MPI_DOUBLE, MPI_MAX, "a trial of a transport");
}

static status_t cluster_transport_choose(const struct gemm_rig *rig, struct gemm_work *work,
                                         const struct halo_transport **best)
{
  const struct gpu_backend *backend = rig->placement.backend;
  char reason[GPU_TEXT_MAX] = "";
  double least = DBL_MAX;
  for (int t = 0; halo_transports[t]; t++) {
    double seconds = DBL_MAX;
    if (!halo_transports[t]->trial || !halo_transports[t]->available(backend, reason)) continue;
    RETURN_IF_FAILED(transport_try(rig, work, halo_transports[t], &seconds));
    if (seconds >= least) continue;
    least = seconds;
    *best = halo_transports[t];
  }
  work->cluster->transport_tried = 1;
  if (*best) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "--distributed: backend %s has no transport: %s", backend->name,
                  reason);
}

status_t gemm_cluster_prepare(struct gemm_run *run)
{
  struct gemm_cluster *c = run->work.cluster;
  struct gemm_series *s = &run->result.series[0];
  const char *asked = run->rig.config.transport;
  const struct halo_transport *transport = asked ? halo_transport_find(asked) : NULL;
  char reason[GPU_TEXT_MAX] = "";
  status_t status = STATUS_OK;
  RETURN_IF_FAILED(tiles_choose(&run->rig, &run->work, s));
  RETURN_IF_FAILED(gemm_cluster_open(c, s->kernel, s->kernel->n_blocks ? &s->blocks : NULL,
                                     run->work.matrices.host[GEMM_A], run->work.matrices.host[GEMM_B]));
  s->kernel = &c->kernel;
  s->flop = gemm_flop(&c->whole) / run->rig.placement.ranks;
  if (run->rig.placement.ranks == 1) return STATUS_OK;
  if (!transport)
    status = cluster_transport_choose(&run->rig, &run->work, &transport);
  else if (!transport->available(run->rig.placement.backend, reason))
    status = log_fail(STATUS_ENVIRONMENT, "--transport %s: %s", asked, reason);
  RETURN_IF_FAILED(agree_status(c->comm, status));
  return gemm_cluster_link(c, transport);
}

static void path_fill(const struct gemm_panels *p, struct gemm_path *path)
{
  static const char *const faces[] = {"j+", "i+"};
  int m = p->ring > 2 && p->place != 0; /* index of the message to the next rank */
  struct halo_path used;
  halo_route_path(gemm_panels_route(p, 0, 0), m, &used);
  *path = (struct gemm_path){.peer = p->peers[0], .bytes = (int64_t)gemm_panels_slice_bytes(p)};
  snprintf(path->face, sizeof path->face, "%s", faces[p->matrix]);
  snprintf(path->used, sizeof path->used, "%s", used.used->name);
  snprintf(path->why, sizeof path->why, "%s", used.why);
  snprintf(path->handover, sizeof path->handover, "%s", used.handover);
  snprintf(path->handover_why, sizeof path->handover_why, "%s", used.handover_why);
}

status_t gemm_cluster_collect(struct gemm_work *work, struct gemm_rank *rank)
{
  struct gemm_cluster *c = work->cluster;
  for (int s = 0; s < 2; s++)
    if (gemm_panels_steps(&c->side[s])) path_fill(&c->side[s], &rank->paths[rank->n_paths++]);
  return gemm_cluster_phases(c, rank->phases);
}
