/* SPDX-License-Identifier: MIT */
/* One pass: the points that neighbours need, the exchange, the rest meanwhile. From the loop over
 * the passes of a block to a kernel there are four functions: the pass, the kernel set's sweep, the
 * one of the kernel's family, and the wrapper of the runtime's launch. */
#include "base/stats.h"
#include "comm/ranks/mpi_check.h"
#include "comm/ranks/watch.h"
#include "himeno/solver/state.h"

static status_t pass_marks_read(struct solver *s, struct pass_marks *marks)
{
  double boundary, inner;
  if (!marks->used) return STATUS_OK;
  RETURN_IF_FAILED(gpu_elapsed(marks->event[PASS_BEGIN], marks->event[PASS_BOUNDARY], &boundary));
  RETURN_IF_FAILED(gpu_elapsed(marks->event[PASS_INNER_BEGIN], marks->event[PASS_END], &inner));
  s->part_sums[PHASE_BOUNDARY] += boundary;
  s->part_sums[PHASE_INTERIOR] += inner;
  marks->used = 0;
  return STATUS_OK;
}

status_t solver_pass_times(struct solver *s)
{
  for (int r = 0; r < PASS_RING; r++) RETURN_IF_FAILED(pass_marks_read(s, &s->ring[r]));
  return STATUS_OK;
}

static status_t request_wait(struct solver *s)
{
  double begin = stats_now();
  RETURN_IF_FAILED(watch_request(s->config.comm, &s->gosa_request, "the sum of gosa"));
  s->part_sums[PHASE_REDUCE] += stats_now() - begin;
  return STATUS_OK;
}

/* Starts the reduction of the slots that were copied out one pass ago. */
static status_t pass_gosa_send(struct solver *s)
{
  if (s->gosa_count == 0) return STATUS_OK;
  RETURN_IF_FAILED(halo_route_await(s->route, s->gosa_event));
  RETURN_IF_FAILED(request_wait(s));
  RETURN_IF_FAILED(
      mpi_check(MPI_Iallreduce(s->host_gosa + s->gosa_first, s->sum_gosa + s->gosa_first, s->gosa_count,
                               MPI_DOUBLE, MPI_SUM, s->config.comm, &s->gosa_request),
                "MPI_Iallreduce of gosa"));
  s->gosa_count = 0;
  return STATUS_OK;
}

/* Sends the slots that have reached the host, and begins to copy out [slot, slot + count). */
static status_t gosa_advance(struct solver *s, int slot, int count)
{
  struct pass_marks *marks = &s->ring[(s->passes - 1) % PASS_RING];
  RETURN_IF_FAILED(pass_gosa_send(s));
  RETURN_IF_FAILED(gpu_wait(s->gosa_queue, marks->event[PASS_END]));
  RETURN_IF_FAILED(gpu_copy_out(s->gosa_queue, s->host_gosa + slot, s->fields.gosa,
                                (size_t)slot * sizeof(double), (size_t)count * sizeof(double)));
  RETURN_IF_FAILED(gpu_record(s->gosa_event, s->gosa_queue));
  s->gosa_first = slot;
  s->gosa_count = count;
  return STATUS_OK;
}

/* A sweep of this pass; its box is still to be set. */
#define PASS_SWEEP(s, sweeps_, slot_)                                                                        \
  {                                                                                                          \
    .sweeps = (sweeps_), .source = (s)->current, .slot = (slot_), .ends_alike = 1, .link = (s)->link         \
  }

/* Without neighbours. */
static status_t local_pass(struct solver *s, struct himeno_exec *exec, int sweeps, int slot)
{
  struct himeno_sweep sweep = PASS_SWEEP(s, sweeps, slot);
  sweep.box = s->layout.owned;
  return s->set->sweep(exec, s->compute, &sweep);
}

/* The host moves the halos, or waits for them. */
static status_t attended_pass(struct solver *s, struct himeno_exec *exec, int sweeps, int slot)
{
  struct himeno_sweep sweep = PASS_SWEEP(s, sweeps, slot);
  struct pass_marks *marks = &s->ring[s->passes++ % PASS_RING];
  struct gpu_event *arrived;

  watch_sweep(slot + 1);
  RETURN_IF_FAILED(pass_marks_read(s, marks));
  RETURN_IF_FAILED(gpu_record(marks->event[PASS_BEGIN], s->compute));
  for (int b = 0; b < s->n_first; b++) {
    sweep.box = s->first[b];
    RETURN_IF_FAILED(s->set->sweep(exec, s->compute, &sweep));
  }
  RETURN_IF_FAILED(gpu_record(marks->event[PASS_BOUNDARY], s->compute));
  RETURN_IF_FAILED(halo_route_start(s->route, s->fields.p[1 - s->current], marks->event[PASS_BOUNDARY]));
  RETURN_IF_FAILED(halo_route_progress(s->route));
  RETURN_IF_FAILED(gpu_record(marks->event[PASS_INNER_BEGIN], s->compute));
  sweep.box = s->rest;
  if (s->n_rest) RETURN_IF_FAILED(s->set->sweep(exec, s->compute, &sweep));
  RETURN_IF_FAILED(gpu_record(marks->event[PASS_END], s->compute));
  marks->used = 1;
  RETURN_IF_FAILED(halo_route_finish(s->route, &arrived));
  RETURN_IF_FAILED(gosa_advance(s, slot, sweeps));
  return arrived ? gpu_wait(s->compute, arrived) : STATUS_OK;
}

/* Nothing here waits for the device. */
static status_t unattended_pass(struct solver *s, struct himeno_exec *exec, int sweeps, int slot)
{
  struct himeno_sweep sweep = PASS_SWEEP(s, sweeps, slot);
  struct gpu_event *computed = s->ring[s->passes++ % PASS_RING].event[PASS_BOUNDARY], *arrived;

  watch_sweep(slot + 1);
  for (int b = 0; b < s->n_first; b++) {
    sweep.box = s->first[b];
    RETURN_IF_FAILED(s->set->sweep(exec, s->compute, &sweep));
  }
  if (s->overlap) RETURN_IF_FAILED(gpu_record(computed, s->compute));
  RETURN_IF_FAILED(halo_route_start(s->route, s->fields.p[1 - s->current], s->overlap ? computed : NULL));
  sweep.box = s->rest;
  if (s->n_rest) RETURN_IF_FAILED(s->set->sweep(exec, s->compute, &sweep));
  RETURN_IF_FAILED(halo_route_finish(s->route, &arrived));
  return arrived ? gpu_wait(s->compute, arrived) : STATUS_OK;
}

/* The kernel exchanges its halos itself. */
static status_t linked_pass(struct solver *s, struct himeno_exec *exec, int sweeps, int slot)
{
  struct himeno_linked linked = {.cut = &s->cut, .source = s->current, .slot = slot};
  (void)sweeps;
  watch_sweep(slot + 1);
  linked.link = halo_route_link(s->route, &linked.step);
  return s->set->linked(exec, s->compute, &linked);
}

void solver_pass_choose(struct solver *s)
{
  s->pass = s->linked ? linked_pass : s->unattended ? unattended_pass : s->route ? attended_pass : local_pass;
  s->first[0] = s->layout.owned;
  s->n_first = box_points(&s->layout.owned) > 0;
  if (!s->overlap) return;
  s->n_first = 0;
  for (int b = 0; b < s->cut.n; b++)
    if (box_points(&s->cut.boundary[b]) > 0) s->first[s->n_first++] = s->cut.boundary[b];
  s->rest = s->cut.inner;
  s->n_rest = box_points(&s->cut.inner) > 0;
}

status_t solver_passes_end(struct solver *s)
{
  if (s->linked) RETURN_IF_FAILED(halo_route_settle(s->route));
  return halo_route_lap(s->route);
}

/* Where no host took part in the sweeps, all slots at once. */
static status_t gosa_all(struct solver *s, int first, int end)
{
  size_t bytes = (size_t)(end - first) * sizeof(double);
  RETURN_IF_FAILED(
      gpu_copy_out(s->compute, s->host_gosa + first, s->fields.gosa, (size_t)first * sizeof(double), bytes));
  RETURN_IF_FAILED(halo_route_wait(s->route, s->compute));
  return watch_allreduce(s->config.comm, s->host_gosa + first, s->sum_gosa + first, end - first, MPI_DOUBLE,
                         MPI_SUM, "the sum of gosa");
}

status_t gosa_drain(struct solver *s, int first, int end)
{
  if (s->unattended) return gosa_all(s, first, end);
  RETURN_IF_FAILED(pass_gosa_send(s));
  return request_wait(s);
}
