/* SPDX-License-Identifier: MIT */
/* Opens and closes a solver: decomposition, memory, data, kernels, transport. */
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
    /* Transports have at most two buffers per direction. On a CPU, gosa and its two copies on the
     * host are in the same memory. */
    uint64_t floats = (uint64_t)layout_floats(&layout) * (uint64_t)arrays +
                      2 * ((uint64_t)plan.floats + (uint64_t)plan.recv_floats);
    uint64_t need = floats * sizeof(float) + himeno_field_bytes(config->kernel, &layout, 0) +
                    himeno_field_bytes(config->kernel, &layout, 1) +
                    (config->device->info.is_cpu ? 3 : 1) * sums +
                    (uint64_t)config->array_pad * HIMENO_COEFFICIENTS * (HIMENO_COEFFICIENTS - 1) / 2;
    if (need > most) most = need;
  }
  *bytes = most;
  return STATUS_OK;
}

static status_t solver_geometry_init(const struct solver_config *config, struct solver_grid *grid,
                                     struct solver_halo *halo)
{
  const int depth = config->kernel->sweeps;
  struct layout *layout = &grid->fields.layout;
  struct decomp decomp;
  grid->kernel = config->kernel;
  RETURN_IF_FAILED(mpi_check(MPI_Comm_rank(config->comm, &grid->rank), "MPI_Comm_rank"));
  decomp_init(&decomp, config->global, config->procs, grid->rank);
  RETURN_IF_FAILED(layout_init(layout, &decomp, depth, config->pad));
  halo_plan_init(&halo->plan, &decomp, layout, depth);
  grid->set = himeno_kernels_find(config->device->backend->name);
  return STATUS_OK;
}

static status_t coefficient_alloc(const struct solver_config *config, struct solver_grid *grid, int a,
                                  size_t bytes)
{
  const size_t pad = (size_t)config->array_pad * (size_t)a;
  struct gpu_mem *array = &grid->fields.coefficient[a];
  if (config->array_pad == 0) return gpu_alloc(config->device, bytes, array);
  if (gpu_has(config->device->backend, parts) && config->array_pad % GPU_PART_BYTES)
    return log_fail(STATUS_USAGE, "--array-pad %d: must be a multiple of %d with backend %s",
                    config->array_pad, GPU_PART_BYTES, config->device->backend->name);
  RETURN_IF_FAILED(gpu_alloc(config->device, pad + bytes, &grid->padded[a]));
  return gpu_part(config->device, grid->padded[a], pad, bytes, array);
}

static status_t solver_fields_alloc(const struct solver_config *config, struct solver_grid *grid)
{
  struct himeno_fields *fields = &grid->fields;
  struct gpu_device *device = config->device;
  size_t bytes = (size_t)layout_floats(&fields->layout) * sizeof(float);
  for (int a = 0; a < 2; a++)
    RETURN_IF_FAILED(halo_field_alloc(config->transport, device,
                                      himeno_field_bytes(config->kernel, &fields->layout, a), &fields->p[a]));
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++) RETURN_IF_FAILED(coefficient_alloc(config, grid, a, bytes));
  return gpu_alloc(device, (size_t)config->max_sweeps * sizeof(double), &fields->gosa);
}

static status_t solver_outcome_create(const struct solver_config *config, struct solver_outcome *outcome,
                                      struct solver_gosa *gosa)
{
  const size_t sweeps = (size_t)config->max_sweeps;
  /* number of check points including the end; planted faults only add segments to time */
  const size_t parts = sweeps / (size_t)config->check_sweeps + 2;
  gosa->comm = config->comm;
  gosa->request = MPI_REQUEST_NULL;
  RETURN_IF_FAILED(gpu_queue_create(config->device, GPU_URGENT, &gosa->queue));
  RETURN_IF_FAILED(
      gpu_alloc_host(config->device, sweeps * sizeof(double), GPU_HOST_PINNED, (void **)&gosa->host));
  gosa->sum = calloc(sweeps, sizeof *gosa->sum);
  outcome->seconds = calloc(2 * (parts + FLIPS_MAX), sizeof *outcome->seconds);
  outcome->checks = calloc(parts, sizeof *outcome->checks);
  outcome->sums = calloc(2 * parts, sizeof *outcome->sums);
  return gosa->sum && outcome->seconds && outcome->checks && outcome->sums
             ? STATUS_OK
             : log_fail(STATUS_ENVIRONMENT, "out of host memory for the sums of %d sweeps",
                        config->max_sweeps);
}

static status_t solver_device_open(struct solver *s)
{
  struct gpu_device *device = s->config.device;
  struct solver_grid *grid = &s->grid;
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_NORMAL, &grid->compute));
  RETURN_IF_FAILED(gpu_event_create(device, &s->outcome.begin));
  RETURN_IF_FAILED(gpu_event_create(device, &s->outcome.end));
  RETURN_IF_FAILED(gpu_event_create(device, &s->passes.gosa.event));
  for (int r = 0; r < PASS_RING; r++)
    for (int m = 0; m < PASS_MARKS; m++)
      RETURN_IF_FAILED(gpu_event_create(device, &s->passes.ring[r].event[m]));
  RETURN_IF_FAILED(solver_fields_alloc(&s->config, grid));
  RETURN_IF_FAILED(solver_outcome_create(&s->config, &s->outcome, &s->passes.gosa));
  RETURN_IF_FAILED(grid->set->open(device, &grid->fields, grid->kernel, &grid->exec));
  if (grid->kernel->sweeps != 1)
    RETURN_IF_FAILED(grid->set->open(device, &grid->fields, himeno_kernel_standard(grid->set), &grid->plain));
  return solver_fill(grid, s->config.data);
}

static status_t route_open(const struct solver_config *config, const struct solver_grid *grid,
                           struct solver_halo *halo)
{
  struct halo_context context = {.comm = config->comm,
                                 .device = config->device,
                                 .layout = &grid->fields.layout,
                                 .plan = &halo->plan,
                                 .fields = {grid->fields.p[0], grid->fields.p[1]},
                                 .compute = grid->compute};
  RETURN_IF_FAILED(halo_route_open(config->transport, &context, &halo->route));
  halo->unattended = halo_route_unattended(halo->route);
  return STATUS_OK;
}

/* A resident kernel can exchange halos between its sweeps only by stores, and needs the whole
 * device while it waits. The first exchange ends when all ranks have opened their kernels. */
static status_t resident_link(const struct solver_config *config, const struct solver_grid *grid,
                              struct solver_halo *halo)
{
  const char *kernel = config->kernel->name;
  struct gpu_event *arrived;
  if (!config->kernel->resident) return STATUS_OK;
  if (!halo_route_linked(halo->route))
    return log_fail(STATUS_USAGE, "kernel %s over many ranks needs p2p from each to all of its neighbours",
                    kernel);
  if (config->sharing_most > 1)
    return log_fail(STATUS_ENVIRONMENT, "kernel %s needs a device of its own for each rank", kernel);
  halo->link = halo_route_link(halo->route, NULL);
  RETURN_IF_FAILED(halo_route_start(halo->route, grid->fields.p[1], NULL));
  RETURN_IF_FAILED(halo_route_finish(halo->route, &arrived));
  RETURN_IF_FAILED(halo_route_lap(halo->route));
  return halo_route_wait(halo->route, grid->compute);
}

status_t solver_open(const struct solver_config *config, struct solver **solver)
{
  status_t status = STATUS_OK;
  struct solver *s = calloc(1, sizeof *s);
  if (!s) status = log_fail(STATUS_ENVIRONMENT, "out of host memory for the solver");
  if (s) {
    s->config = *config;
    if (!s->config.check_sweeps) s->config.check_sweeps = solver_check_sweeps(config->kernel);
    status = solver_geometry_init(config, &s->grid, &s->passes.halo);
  }
  if (status == STATUS_OK) status = solver_device_open(s);
  TRY(agree_status(config->comm, status), fail);
  if (config->procs[0] * config->procs[1] * config->procs[2] > 1) {
    TRY(route_open(config, &s->grid, &s->passes.halo), fail);
    TRY(resident_link(config, &s->grid, &s->passes.halo), fail);
  }
  TRY(agree_status(config->comm, solver_pass_choose(&s->passes, &s->grid, config->overlap)), fail);
  *solver = s;
  return STATUS_OK;
fail:
  solver_close(s);
  return status;
}

void solver_close(struct solver *s)
{
  if (!s) return;
  struct gpu_device *device = s->config.device;
  struct solver_grid *grid = &s->grid;
  struct himeno_fields *fields = &grid->fields;
  struct solver_gosa *gosa = &s->passes.gosa;
  gpu_graph_destroy(s->graph.graph);
  halo_route_close(s->passes.halo.route);
  if (grid->plain) grid->set->close(grid->plain);
  if (grid->exec) grid->set->close(grid->exec);
  solver_baseline_free(grid->baseline);
  free(s->outcome.sums);
  free(s->outcome.checks);
  free(s->outcome.seconds);
  free(gosa->sum);
  gpu_free_host(device, GPU_HOST_PINNED, gosa->host);
  gpu_queue_destroy(gosa->queue);
  gpu_free(device, &fields->gosa);
  for (int a = 0; a < HIMENO_COEFFICIENTS; a++) {
    struct gpu_mem *array = &fields->coefficient[a], *whole = &grid->padded[a];
    if (whole->handle && array->handle) gpu_part_end(device, array);
    gpu_free(device, whole->handle ? whole : array);
  }
  for (int a = 0; a < 2; a++) halo_field_free(s->config.transport, device, &fields->p[a]);
  for (int r = 0; r < PASS_RING; r++)
    for (int m = 0; m < PASS_MARKS; m++) gpu_event_destroy(s->passes.ring[r].event[m]);
  gpu_queue_destroy(s->passes.slabs);
  gpu_event_destroy(s->passes.ready);
  gpu_event_destroy(gosa->event);
  gpu_event_destroy(s->outcome.end);
  gpu_event_destroy(s->outcome.begin);
  gpu_queue_destroy(grid->compute);
  free(s);
}

struct solver_grid *solver_grid(struct solver *solver)
{
  return &solver->grid;
}

const struct solver_halo *solver_halo(const struct solver *solver)
{
  return &solver->passes.halo;
}

const struct halo_message *solver_message(const struct solver_halo *halo, int m, struct halo_path *path)
{
  if (m == halo->plan.n) return NULL;
  halo_route_path(halo->route, m, path);
  return &halo->plan.messages[m];
}
