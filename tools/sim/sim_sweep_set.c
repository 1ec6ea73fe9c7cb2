/* SPDX-License-Identifier: MIT */
/* Sweeps that take the times of the fitted model: the simulator's himeno_kernel_set. gosa of a
 * sweep is the number of a rank's points, so that its sum over ranks can be checked. */
#include "himeno/kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm/halo/pack.h"
#include "tools/sim/device.h"
#include "tools/sim/engine.h"

struct sim_exec {
  struct gpu_device *device;
  struct box inner, owned;
  int slabs, slot;                  /* of the pass under way */
  double interior, boundary, after; /* seconds of a pass; after: of waiting for more ranks */
  struct gpu_queue *edge;
  struct gpu_event *begin, *end;
};

static status_t times_set(struct sim_exec *x, struct gpu_mem gosa)
{
  const struct model_terms *m = &sim.model;
  struct geometry g;
  struct model_parts parts;
  RETURN_IF_FAILED(geometry_of_rank(sim.point.global, sim.point.procs, m->depth, m->overlap, sim.per_host,
                                    sim_self()->number, &g));
  model_parts_make(m, &g, g.neighbours > 0 ? sim.via : -1, &parts);
  RETURN_IF_FAILED(model_parts_check(&parts));
  x->interior = m->depth * parts.interior;
  x->boundary = m->depth * parts.boundary;
  x->after = m->depth * (parts.synchronisation + parts.reduction);
  sim_self()->chain = m->depth * parts.chain;
  sim_device_gosa(x->device, gosa, g.points);
  return STATUS_OK;
}

static void cut_set(struct sim_exec *x, const struct layout *layout)
{
  struct decomp decomp;
  struct halo_plan plan;
  struct halo_cut cut;
  decomp_init(&decomp, sim.point.global, sim.point.procs, sim_self()->number);
  halo_plan_init(&plan, &decomp, layout, sim.model.depth);
  halo_cut_init(&cut, &plan, layout);
  x->inner = cut.inner;
  x->owned = layout->owned;
  x->slabs = cut.n;
}

static status_t kernel_open(struct gpu_device *device, const struct himeno_fields *fields,
                            const struct himeno_kernel *kernel, struct himeno_exec **exec)
{
  struct sim_exec *x = sim_array(1, sizeof *x);
  (void)kernel;
  x->device = device;
  x->slot = -1;
  RETURN_IF_FAILED(times_set(x, fields->gosa));
  cut_set(x, &fields->layout);
  RETURN_IF_FAILED(gpu_queue_create(device, GPU_NORMAL, &x->edge));
  RETURN_IF_FAILED(gpu_event_create(device, &x->begin));
  RETURN_IF_FAILED(gpu_event_create(device, &x->end));
  *exec = (struct himeno_exec *)x;
  return STATUS_OK;
}

static void kernel_close(struct himeno_exec *exec)
{
  struct sim_exec *x = (struct sim_exec *)exec;
  gpu_event_destroy(x->begin);
  gpu_event_destroy(x->end);
  free(x);
}

static status_t sim_fill(struct himeno_exec *exec, struct gpu_queue *queue, enum himeno_array array,
                         enum himeno_data data)
{
  struct sim_exec *x = (struct sim_exec *)exec;
  (void)queue, (void)array, (void)data;
  x->slot = -1;
  return STATUS_OK;
}

static int sim_is_slab(const struct sim_exec *x, const struct box *box)
{
  return memcmp(box, &x->inner, sizeof *box) != 0 && memcmp(box, &x->owned, sizeof *box) != 0;
}

/* Slabs come first. Without any the whole is one box. */
static status_t sim_sweep(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_sweep *s)
{
  struct sim_exec *x = (struct sim_exec *)exec;
  double seconds = x->slot == s->slot ? 0 : x->after;
  x->slot = s->slot;
  if (sim_is_slab(x, &s->box))
    seconds += x->boundary / x->slabs;
  else
    seconds += x->interior + (memcmp(&s->box, &x->owned, sizeof s->box) ? 0 : x->boundary);
  return sim_work(queue, seconds);
}

static int sim_links(const struct himeno_exec *x)
{
  (void)x;
  return sim.model.depth == 1 && model_at_once(sim.model.paths.transports[sim.via].name);
}

/* One launch: some of its blocks wait for the flags of the sweep before and send the slabs, the
 * others sweep the rest; it ends with the last of them. */
static status_t sim_linked(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_linked *l)
{
  struct sim_exec *x = (struct sim_exec *)exec;
  RETURN_IF_FAILED(gpu_record(x->begin, queue));
  RETURN_IF_FAILED(gpu_wait(x->edge, x->begin));
  RETURN_IF_FAILED(link_await(x->edge, l->link, l->step - 1));
  RETURN_IF_FAILED(sim_work(x->edge, x->after));
  RETURN_IF_FAILED(link_store(x->edge, l->link));
  RETURN_IF_FAILED(link_raise(x->edge, l->link, l->step));
  RETURN_IF_FAILED(gpu_record(x->end, x->edge));
  RETURN_IF_FAILED(sim_work(queue, x->after + x->interior + x->boundary));
  return gpu_wait(queue, x->end);
}

static status_t sim_checksum(struct himeno_exec *x, struct gpu_queue *queue, const struct gpu_mem *arrays,
                             int n, const struct box *box, uint64_t *sum)
{
  (void)x, (void)queue, (void)arrays, (void)n, (void)box;
  *sum = 0;
  return STATUS_OK;
}

static const struct himeno_kernel_set set = {.backend = "sim",
                                             .open = kernel_open,
                                             .close = kernel_close,
                                             .fill = sim_fill,
                                             .sweep = sim_sweep,
                                             .links = sim_links,
                                             .linked = sim_linked,
                                             .checksum = sim_checksum};

const struct himeno_kernel_set *himeno_kernels_find(const char *backend)
{
  (void)backend;
  return &set;
}

const struct himeno_kernel *himeno_kernel_standard(const struct himeno_kernel_set *of)
{
  return of->kernels;
}

/* ---- packing: a kernel each way, and what the ends of an exchange take besides the wire ---- */

/* The longest latency of any message, less what passes on the wire, and ν for each message: of
 * those alone that leave the host where others need none. */
static double staged_ends(const struct halo_plan *plan)
{
  const int by = sim.by.via[STUDY_OTHER_HOST], me = sim_self()->number;
  double longest = 0, messages = 0;
  for (int m = 0; m < plan->n; m++) {
    const int near = sim_is_near(plan->messages[m].peer, me);
    const double latency = sim_latency_of(&sim.model, sim.via, near ? STUDY_SAME_HOST : STUDY_OTHER_HOST);
    longest = fmax(longest, latency - (near ? sim.near : SIM_WIRE_SHARE * latency));
    messages += by == sim.via || !near;
  }
  return longest + messages * sim.model.fitted.value[model_transport_column(by, TRANSPORT_NEIGHBOUR)];
}

struct sim_packer {
  double seconds;
};

static status_t packer_open(struct gpu_device *device, const struct layout *layout,
                            const struct halo_plan *plan, struct halo_packer_state **state)
{
  struct sim_packer *s = sim_array(1, sizeof *s);
  (void)device, (void)layout;
  s->seconds = staged_ends(plan) / 2;
  *state = (struct halo_packer_state *)s;
  return STATUS_OK;
}

static status_t packer_move(struct halo_packer_state *handle, struct gpu_queue *queue, struct gpu_mem field,
                            struct gpu_mem buffer, int gather)
{
  struct sim_packer *state = (struct sim_packer *)handle;
  (void)field, (void)buffer, (void)gather;
  return sim_work(queue, state->seconds);
}

static void packer_close(struct halo_packer_state *state)
{
  free(state);
}

static const struct halo_packer packer = {
    .backend = "sim",
    .open = packer_open,
    .move = packer_move,
    .close = packer_close,
};

const struct halo_packer *halo_packer_find(const char *name)
{
  (void)name;
  return &packer;
}
