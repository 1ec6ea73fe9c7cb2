/* SPDX-License-Identifier: MIT */
/* Makes and unmakes a solver: the cut, memory, data, kernels, transport. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "comm/ranks/mpi_check.h"
#include "himeno/solver/flip.h"
#include "himeno/solver/state.h"

const char *const himeno_phase_names[HIMENO_PHASES] = {"interior", "boundary", HALO_PHASE_NAMES, "reduce",
                                                       "exposed"};

status_t solver_bytes(const struct solver_config *config, uint64_t *bytes)
{
  struct decomp decomp;
  struct layout layout;
  struct halo_plan plan;
  int ranks = config->procs[0] * config->procs[1] * config->procs[2];
  const uint64_t sums = (uint64_t)config->max_sweeps * sizeof(double);
  uint64_t most = 0;
  for (int r = 0; r < ranks; r++) {
    decomp_init(&decomp, config->global, config->procs, r);
    RETURN_IF_FAILED(layout_init(&layout, &decomp, config->kernel->sweeps, config->pad));
    halo_plan_init(&plan, &decomp, &layout, config->kernel->sweeps);
    int arrays = HIMENO_COEFFICIENTS + (config->kernel->resident ? 0 : config->kernel->extra_arrays);
    /* Transports have at most two buffers for each direction; a CPU's host memory holds the sums of
     * gosa thrice. */
    uint64_t floats = (uint64_t)layout_floats(&layout) * (uint64_t)arrays +
                      2 * ((uint64_t)plan.floats + (uint64_t)plan.recv_floats);
    uint64_t need = floats * sizeof(float) + himeno_field_bytes(config->kernel, &layout, 0) +
                    himeno_field_bytes(config->kernel, &layout, 1) +
                    (config->device->info.is_cpu ? 3 : 1) * sums;
    if (need > most) most = need;
  }
  *bytes = most;
  return STATUS_OK;
}

static status_t solver_fields_alloc(struct solver *s)
{
  struct gpu_device *device = s->config.device;
  size_t bytes = (size_t)layout_floats(&s->layout) * sizeof(float);
  s->fields.layout = s->layout;
  for (int a = 0; a < 2; a++)
    RETURN_IF_FAILED(halo_field_alloc(s->config.transport, device,
                                      himeno_field_bytes(s->config.kernel, &s->layout, a), &s->fields.p[a]));
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++)
    RETURN_IF_FAILED(gpu_alloc(device, bytes, &s->fields.coefficient[a]));
  return gpu_alloc(device, (size_t)s->config.max_sweeps * sizeof(double), &s->fields.gosa);
}

static status_t kernels_open(struct solver *s)
{
  RETURN_IF_FAILED(s->set->open(s->config.device, &s->fields, s->config.kernel, &s->exec));
  if (s->config.kernel->sweeps == 1) return STATUS_OK;
  return s->set->open(s->config.device, &s->fields, himeno_kernel_standard(s->set), &s->plain);
}

static status_t solver_events_create(struct solver *s)
{
  struct gpu_device *device = s->config.device;
  RETURN_IF_FAILED(gpu_event_create(device, &s->block_begin));
  RETURN_IF_FAILED(gpu_event_create(device, &s->block_end));
  RETURN_IF_FAILED(gpu_event_create(device, &s->gosa_event));
  for (int r = 0; r < PASS_RING; r++)
    for (int m = 0; m < PASS_MARKS; m++) RETURN_IF_FAILED(gpu_event_create(device, &s->ring[r].event[m]));
  return STATUS_OK;
}

static status_t gosa_create(struct solver *s)
{
  s->gosa_request = MPI_REQUEST_NULL;
  RETURN_IF_FAILED(gpu_queue_create(s->config.device, GPU_URGENT, &s->gosa_queue));
  RETURN_IF_FAILED(gpu_alloc_host(s->config.device, (size_t)s->config.max_sweeps * sizeof(double),
                                  GPU_HOST_PINNED, (void **)&s->host_gosa));
  /* A check point more than whole ones, and the end; planted faults part only the times. */
  size_t parts = (size_t)(s->config.max_sweeps / s->config.check_sweeps) + 2;
  s->sum_gosa = calloc((size_t)s->config.max_sweeps, sizeof *s->sum_gosa);
  s->seconds = calloc(2 * (parts + FLIPS_MAX), sizeof *s->seconds);
  s->checks = calloc(parts, sizeof *s->checks);
  s->sums = calloc(2 * parts, sizeof *s->sums);
  return s->sum_gosa && s->seconds && s->checks && s->sums
             ? STATUS_OK
             : log_fail(STATUS_ENVIRONMENT, "out of host memory for what %d sweeps leave",
                        s->config.max_sweeps);
}

static status_t solver_device_open(struct solver *s)
{
  RETURN_IF_FAILED(gpu_queue_create(s->config.device, GPU_NORMAL, &s->compute));
  RETURN_IF_FAILED(solver_events_create(s));
  RETURN_IF_FAILED(solver_fields_alloc(s));
  RETURN_IF_FAILED(gosa_create(s));
  RETURN_IF_FAILED(kernels_open(s));
  return solver_fill(s, s->config.data);
}

static status_t solver_geometry_init(struct solver *s)
{
  int rank, depth = s->config.kernel->sweeps;
  RETURN_IF_FAILED(mpi_check(MPI_Comm_rank(s->config.comm, &rank), "MPI_Comm_rank"));
  decomp_init(&s->decomp, s->config.global, s->config.procs, rank);
  RETURN_IF_FAILED(layout_init(&s->layout, &s->decomp, depth, s->config.pad));
  halo_plan_init(&s->plan, &s->decomp, &s->layout, depth);
  halo_cut_init(&s->cut, &s->plan, &s->layout);
  s->set = himeno_kernels_find(s->config.device->backend->name);
  if (!s->set)
    return log_fail(STATUS_ENVIRONMENT, "backend %s has no Himeno kernels", s->config.device->backend->name);
  return STATUS_OK;
}

static status_t route_open(struct solver *s)
{
  struct halo_context context = {.comm = s->config.comm,
                                 .device = s->config.device,
                                 .layout = &s->layout,
                                 .plan = &s->plan,
                                 .fields = {s->fields.p[0], s->fields.p[1]},
                                 .compute = s->compute};
  RETURN_IF_FAILED(halo_route_open(s->config.transport, &context, &s->route));
  s->unattended = halo_route_unattended(s->route);
  return STATUS_OK;
}

/* Between sweeps of one launch halos can only go by stores, and what waits for them holds the whole
 * device. The first exchange ends when all have opened their kernels. */
static status_t resident_link(struct solver *s)
{
  struct gpu_event *arrived;
  if (!s->config.kernel->resident || !s->route) return STATUS_OK;
  if (!halo_route_linked(s->route))
    return log_fail(STATUS_USAGE, "kernel %s over many ranks needs p2p from each to all of its neighbours",
                    s->config.kernel->name);
  if (s->config.turns > 1)
    return log_fail(STATUS_ENVIRONMENT, "kernel %s needs a device of its own for each rank",
                    s->config.kernel->name);
  s->link = halo_route_link(s->route, NULL);
  RETURN_IF_FAILED(halo_route_start(s->route, s->fields.p[1], NULL));
  RETURN_IF_FAILED(halo_route_finish(s->route, &arrived));
  RETURN_IF_FAILED(halo_route_lap(s->route));
  return halo_route_wait(s->route, s->compute);
}

/* Thin slabs cost a temporal kernel T + 2 steps for a plane: more than halos take that need no
 * host. */
static int overlap_pays(const struct solver *s)
{
  return s->config.overlap && !(s->unattended && s->config.kernel->class_ == HIMENO_TEMPORAL);
}

status_t solver_open(const struct solver_config *config, struct solver **solver)
{
  status_t status = STATUS_OK;
  struct solver *s = calloc(1, sizeof *s);
  if (!s) status = log_fail(STATUS_ENVIRONMENT, "out of host memory for the solver");
  if (s) {
    s->config = *config;
    if (!s->config.check_sweeps) s->config.check_sweeps = solver_check_sweeps(config->kernel);
    status = solver_geometry_init(s);
  }
  if (status == STATUS_OK) status = solver_device_open(s);
  TRY(agree_status(config->comm, status), fail);
  int ranks = config->procs[0] * config->procs[1] * config->procs[2];
  if (ranks > 1) TRY(route_open(s), fail);
  TRY(resident_link(s), fail);
  s->overlap = overlap_pays(s);
  s->linked =
      s->route && s->overlap && halo_route_linked(s->route) && s->set->links && s->set->links(s->exec);
  solver_pass_choose(s);
  *solver = s;
  return STATUS_OK;
fail:
  solver_close(s);
  return status;
}

static void solver_events_destroy(struct solver *s)
{
  for (int r = 0; r < PASS_RING; r++)
    for (int m = 0; m < PASS_MARKS; m++) gpu_event_destroy(s->ring[r].event[m]);
  gpu_event_destroy(s->gosa_event);
  gpu_event_destroy(s->block_end);
  gpu_event_destroy(s->block_begin);
}

void solver_close(struct solver *s)
{
  if (!s) return;
  struct gpu_device *device = s->config.device;
  gpu_graph_destroy(s->graph.graph);
  halo_route_close(s->route);
  if (s->plain) s->set->close(s->plain);
  if (s->exec) s->set->close(s->exec);
  solver_baseline_free(s->baseline);
  free(s->sums);
  free(s->checks);
  free(s->seconds);
  free(s->sum_gosa);
  gpu_free_host(device, GPU_HOST_PINNED, s->host_gosa);
  gpu_queue_destroy(s->gosa_queue);
  gpu_free(device, &s->fields.gosa);
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++) gpu_free(device, &s->fields.coefficient[a]);
  for (int a = 0; a < 2; a++) halo_field_free(s->config.transport, device, &s->fields.p[a]);
  solver_events_destroy(s);
  gpu_queue_destroy(s->compute);
  free(s);
}

status_t solver_resources(struct solver *s, struct himeno_resources *resources)
{
  *resources = (struct himeno_resources){0};
  return s->set->resources ? s->set->resources(s->exec, resources) : STATUS_OK;
}

int solver_messages(const struct solver *solver)
{
  return solver->plan.n;
}

const struct halo_message *solver_message(const struct solver *solver, int m, struct halo_path *path)
{
  halo_route_path(solver->route, m, path);
  return &solver->plan.messages[m];
}

struct himeno_counts solver_counts(const struct solver *s)
{
  struct himeno_counts counts = {0};
  if (s->set->counts) s->set->counts(s->exec, &counts);
  return counts;
}

const struct decomp *solver_decomp(const struct solver *solver)
{
  return &solver->decomp;
}
