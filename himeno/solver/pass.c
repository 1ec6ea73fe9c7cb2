/* SPDX-License-Identifier: MIT */
/* One pass: it sweeps the points that neighbours need, starts the exchange, and meanwhile sweeps
 * the other points. From the loop over the passes of a block to a kernel there are four functions:
 * the pass, the kernel set's sweep, that of the kernel's family, and the wrapper of the runtime's
 * launch. */
#include "base/stats.h"
#include "base/switches.h"
#include "comm/ranks/mpi_check.h"
#include "comm/ranks/watch.h"
#include "himeno/solver/state.h"

SWITCH("HIMENO_SLAB_QUEUE", TUNING, AGREED, CHOICE("0|1"),
       "1: sweep the slabs for neighbours concurrently with the rest, if the transport needs the host; "
       "0: sweep them first; "
       "unset: 1 on CUDA");

static status_t pass_marks_read(struct pass_marks *marks, double phases[HIMENO_PHASES])
{
  double boundary, inner, after;
  if (!marks->used) return STATUS_OK;
  RETURN_IF_FAILED(gpu_elapsed(marks->event[PASS_BEGIN], marks->event[PASS_BOUNDARY], &boundary));
  RETURN_IF_FAILED(gpu_elapsed(marks->event[PASS_INNER_BEGIN], marks->event[PASS_END], &inner));
  RETURN_IF_FAILED(gpu_elapsed(marks->event[PASS_BOUNDARY], marks->event[PASS_END], &after));
  /* time in which slabs and the other points run concurrently counts as boundary */
  phases[PHASE_BOUNDARY] += boundary;
  phases[PHASE_INTERIOR] += inner < after ? inner : after;
  marks->used = 0;
  return STATUS_OK;
}

status_t solver_pass_times(struct solver_passes *p)
{
  for (int r = 0; r < PASS_RING; r++) RETURN_IF_FAILED(pass_marks_read(&p->ring[r], p->phases));
  return STATUS_OK;
}

static status_t gosa_wait(struct solver_gosa *gosa, double *seconds)
{
  double begin = stats_now();
  RETURN_IF_FAILED(watch_request(gosa->comm, &gosa->request, "the sum of gosa"));
  *seconds += stats_now() - begin;
  return STATUS_OK;
}

/* Starts the reduction of the elements that were copied out one pass ago. */
static status_t gosa_send(struct solver_gosa *gosa, struct halo_route *route, double *seconds)
{
  if (gosa->count == 0) return STATUS_OK;
  RETURN_IF_FAILED(halo_route_await(route, gosa->event));
  RETURN_IF_FAILED(gosa_wait(gosa, seconds));
  RETURN_IF_FAILED(mpi_check(MPI_Iallreduce(gosa->host + gosa->first, gosa->sum + gosa->first, gosa->count,
                                            MPI_DOUBLE, MPI_SUM, gosa->comm, &gosa->request),
                             "MPI_Iallreduce of gosa"));
  gosa->count = 0;
  return STATUS_OK;
}

/* Reduces the elements that have reached the host, and begins to copy out those of \a sweep, which
 * ends at the event \a computed. */
static status_t gosa_advance(struct solver_passes *p, const struct solver_grid *grid,
                             const struct himeno_sweep *sweep, struct gpu_event *computed)
{
  struct solver_gosa *gosa = &p->gosa;
  RETURN_IF_FAILED(gosa_send(gosa, p->halo.route, &p->phases[PHASE_REDUCE]));
  RETURN_IF_FAILED(gpu_wait(gosa->queue, computed));
  RETURN_IF_FAILED(gpu_copy_out(gosa->queue, gosa->host + sweep->slot, grid->fields.gosa,
                                (size_t)sweep->slot * sizeof(double),
                                (size_t)sweep->sweeps * sizeof(double)));
  RETURN_IF_FAILED(gpu_record(gosa->event, gosa->queue));
  gosa->first = sweep->slot;
  gosa->count = sweep->sweeps;
  return STATUS_OK;
}

/* Runs a pass without neighbours. */
static status_t local_pass(struct solver_passes *p, const struct solver_grid *grid, struct himeno_exec *exec,
                           struct himeno_sweep *sweep)
{
  (void)p;
  sweep->box = grid->fields.layout.owned;
  return grid->set->sweep(exec, grid->compute, sweep);
}

/* Runs a pass in which the host moves the halos, or waits until they have arrived. */
static status_t attended_pass(struct solver_passes *p, const struct solver_grid *grid,
                              struct himeno_exec *exec, struct himeno_sweep *sweep)
{
  struct pass_marks *marks = &p->ring[p->count++ % PASS_RING];
  struct gpu_queue *compute = grid->compute, *slabs = p->concurrent ? p->slabs : compute;
  struct gpu_event *arrived;

  watch_sweep(sweep->slot + 1);
  RETURN_IF_FAILED(pass_marks_read(marks, p->phases));
  if (p->concurrent) RETURN_IF_FAILED(gpu_record(p->ready, compute));
  if (p->concurrent) RETURN_IF_FAILED(gpu_wait(slabs, p->ready));
  RETURN_IF_FAILED(gpu_record(marks->event[PASS_BEGIN], slabs));
  for (int b = 0; b < p->n_first; b++) {
    sweep->box = p->first[b];
    RETURN_IF_FAILED(grid->set->sweep(exec, slabs, sweep));
  }
  RETURN_IF_FAILED(gpu_record(marks->event[PASS_BOUNDARY], slabs));
  RETURN_IF_FAILED(
      halo_route_start(p->halo.route, grid->fields.p[1 - sweep->source], marks->event[PASS_BOUNDARY]));
  RETURN_IF_FAILED(halo_route_progress(p->halo.route));
  RETURN_IF_FAILED(gpu_record(marks->event[PASS_INNER_BEGIN], compute));
  sweep->box = p->rest;
  if (p->n_rest) RETURN_IF_FAILED(grid->set->sweep(exec, compute, sweep));
  if (p->concurrent) RETURN_IF_FAILED(gpu_wait(compute, marks->event[PASS_BOUNDARY]));
  RETURN_IF_FAILED(gpu_record(marks->event[PASS_END], compute));
  marks->used = 1;
  RETURN_IF_FAILED(halo_route_finish(p->halo.route, &arrived));
  RETURN_IF_FAILED(gosa_advance(p, grid, sweep, marks->event[PASS_END]));
  return arrived ? gpu_wait(compute, arrived) : STATUS_OK;
}

/* Runs a pass that only enqueues work. */
static status_t unattended_pass(struct solver_passes *p, const struct solver_grid *grid,
                                struct himeno_exec *exec, struct himeno_sweep *sweep)
{
  struct gpu_event *computed = p->ring[p->count++ % PASS_RING].event[PASS_BOUNDARY], *arrived;
  struct gpu_queue *compute = grid->compute;

  watch_sweep(sweep->slot + 1);
  for (int b = 0; b < p->n_first; b++) {
    sweep->box = p->first[b];
    RETURN_IF_FAILED(grid->set->sweep(exec, compute, sweep));
  }
  if (p->overlap) RETURN_IF_FAILED(gpu_record(computed, compute));
  RETURN_IF_FAILED(
      halo_route_start(p->halo.route, grid->fields.p[1 - sweep->source], p->overlap ? computed : NULL));
  sweep->box = p->rest;
  if (p->n_rest) RETURN_IF_FAILED(grid->set->sweep(exec, compute, sweep));
  RETURN_IF_FAILED(halo_route_finish(p->halo.route, &arrived));
  return arrived ? gpu_wait(compute, arrived) : STATUS_OK;
}

/* Runs a pass in which the kernel exchanges its halos itself. */
static status_t linked_pass(struct solver_passes *p, const struct solver_grid *grid, struct himeno_exec *exec,
                            struct himeno_sweep *sweep)
{
  struct himeno_linked linked = {.cut = &p->halo.cut, .source = sweep->source, .slot = sweep->slot};
  watch_sweep(sweep->slot + 1);
  linked.link = halo_route_link(p->halo.route, &linked.step);
  return grid->set->linked(exec, grid->compute, &linked);
}

/* Returns whether slabs run concurrently with other points: alone they leave most of a GPU idle. */
static int slabs_concurrent(const struct solver_passes *p, const struct solver_grid *grid)
{
  const int gains = grid->compute->device->backend->memory == GPU_MEMORY_CUDA;
  return p->pass == attended_pass && grid->set->concurrent && grid->set->concurrent(grid->exec) &&
         switch_number("HIMENO_SLAB_QUEUE", gains);
}

status_t solver_pass_choose(struct solver_passes *p, const struct solver_grid *grid, int overlap)
{
  struct solver_halo *halo = &p->halo;
  const struct box *owned = &grid->fields.layout.owned;
  halo_cut_init(&halo->cut, &halo->plan, &grid->fields.layout,
                grid->set->slab_rows ? grid->set->slab_rows(grid->exec) : 0);
  /* A temporal kernel needs T + 2 steps per plane even for thin slabs, which takes longer than the
   * exchange of halos by an unattended route. */
  p->overlap = overlap && !(halo->unattended && grid->kernel->class_ == HIMENO_TEMPORAL);
  const int linked = halo->route && p->overlap && halo_route_linked(halo->route) && grid->set->links &&
                     grid->set->links(grid->exec);
  p->pass = linked             ? linked_pass
            : halo->unattended ? unattended_pass
            : halo->route      ? attended_pass
                               : local_pass;
  p->first[0] = *owned;
  p->n_first = box_points(owned) > 0;
  if (!p->overlap) return STATUS_OK;
  p->n_first = 0;
  for (int b = 0; b < halo->cut.n; b++)
    if (box_points(&halo->cut.boundary[b]) > 0) p->first[p->n_first++] = halo->cut.boundary[b];
  p->rest = halo->cut.inner;
  p->n_rest = box_points(&halo->cut.inner) > 0;
  p->concurrent = slabs_concurrent(p, grid);
  if (!p->concurrent) return STATUS_OK;
  RETURN_IF_FAILED(gpu_event_create_untimed(grid->compute->device, &p->ready));
  return gpu_queue_create(grid->compute->device, GPU_URGENT, &p->slabs);
}

status_t solver_passes_end(struct solver_passes *p)
{
  if (p->pass == linked_pass) RETURN_IF_FAILED(halo_route_settle(p->halo.route));
  return halo_route_lap(p->halo.route);
}

status_t gosa_drain(struct solver_passes *p, const struct solver_grid *grid, int first, int end)
{
  struct solver_gosa *gosa = &p->gosa;
  double *seconds = &p->phases[PHASE_REDUCE];
  if (!p->halo.unattended) {
    RETURN_IF_FAILED(gosa_send(gosa, p->halo.route, seconds));
    return gosa_wait(gosa, seconds);
  }
  /* No host took part in the sweeps: copy out all elements at once. */
  RETURN_IF_FAILED(gpu_copy_out(grid->compute, gosa->host + first, grid->fields.gosa,
                                (size_t)first * sizeof(double), (size_t)(end - first) * sizeof(double)));
  RETURN_IF_FAILED(halo_route_wait(p->halo.route, grid->compute));
  return watch_allreduce(gosa->comm, gosa->host + first, gosa->sum + first, end - first, MPI_DOUBLE, MPI_SUM,
                         "the sum of gosa");
}
