/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/sim/device.h"

#include <mpi.h>
#include <simgrid/actor.h>
#include <stdlib.h>

#include "base/log.h"
#include "tools/sim/poll.h"
#include "tools/sim/sim.h"

struct sim_queue {
  struct gpu_queue base;
  double end; /* of all that was put into it */
};

struct sim_event {
  struct gpu_event base;
  double time;
};

struct halo_packer_state {
  double latency;
};

/* One memory for all ranks, since nothing is ever read from it: SimGrid does not copy messages that
 * lie in it. */
static void *memory;
static size_t memory_bytes;
static const struct sim_exchange *exchange;

static struct sim_queue *queue_of(struct gpu_queue *queue)
{
  return (struct sim_queue *)queue;
}

static double later(double a, double b)
{
  return a > b ? a : b;
}

void sim_work(struct gpu_queue *queue, double seconds)
{
  struct sim_queue *q = queue_of(queue);
  q->end = later(q->end, MPI_Wtime()) + seconds;
}

/* ---- verbs ---- */

static status_t sim_alloc(struct gpu_device *device, size_t bytes, struct gpu_mem *mem)
{
  (void)device;
  *mem = (struct gpu_mem){memory, bytes};
  return STATUS_OK;
}

static void sim_free(struct gpu_device *device, struct gpu_mem *mem)
{
  (void)device, (void)mem;
}

static status_t sim_alloc_host(struct gpu_device *device, size_t bytes, enum gpu_host_kind kind, void **host)
{
  (void)device, (void)kind;
  if (bytes > memory_bytes)
    return log_fail(STATUS_FAULT, "a simulated buffer of %zu bytes, and %zu were foreseen", bytes,
                    memory_bytes);
  *host = memory;
  return STATUS_OK;
}

static void sim_free_host(struct gpu_device *device, enum gpu_host_kind kind, void *host)
{
  (void)device, (void)kind, (void)host;
}

static status_t sim_queue_create(struct gpu_device *device, enum gpu_urgency urgency,
                                 struct gpu_queue **queue)
{
  struct sim_queue *q = calloc(1, sizeof *q);
  (void)urgency;
  if (!q) return log_fail(STATUS_ENVIRONMENT, "out of memory for a queue");
  q->base.device = device;
  *queue = &q->base;
  return STATUS_OK;
}

static void sim_queue_destroy(struct gpu_queue *queue)
{
  free(queue);
}

static status_t sim_event_create(struct gpu_device *device, struct gpu_event **event)
{
  struct sim_event *e = calloc(1, sizeof *e);
  if (!e) return log_fail(STATUS_ENVIRONMENT, "out of memory for an event");
  e->base.device = device;
  *event = &e->base;
  return STATUS_OK;
}

static void sim_event_destroy(struct gpu_event *event)
{
  free(event);
}

/* Copies are part of a path's latency and bandwidth. */
static status_t sim_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                            size_t bytes)
{
  (void)mem, (void)offset, (void)host, (void)bytes;
  sim_work(queue, 0);
  return STATUS_OK;
}

static status_t sim_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset,
                             size_t bytes)
{
  (void)mem, (void)offset, (void)host, (void)bytes;
  sim_work(queue, 0);
  return STATUS_OK;
}

static status_t sim_record(struct gpu_event *event, struct gpu_queue *queue)
{
  ((struct sim_event *)event)->time = later(queue_of(queue)->end, MPI_Wtime());
  return STATUS_OK;
}

static status_t sim_wait(struct gpu_queue *queue, struct gpu_event *event)
{
  struct sim_queue *q = queue_of(queue);
  q->end = later(q->end, ((struct sim_event *)event)->time);
  return STATUS_OK;
}

static status_t sim_ready(struct gpu_event *event, int *ready)
{
  double time = ((struct sim_event *)event)->time;
  *ready = time <= MPI_Wtime();
  if (!*ready) poll_until(time);
  return STATUS_OK;
}

static status_t sim_elapsed(struct gpu_event *begin, struct gpu_event *end, double *seconds)
{
  *seconds = ((struct sim_event *)end)->time - ((struct sim_event *)begin)->time;
  return STATUS_OK;
}

static status_t sim_sync(struct gpu_queue *queue)
{
  double left = queue_of(queue)->end - MPI_Wtime();
  if (left > 0) sg_actor_sleep_for(left);
  return STATUS_OK;
}

static const struct gpu_backend backend = {
    .name = "sim",
    .about = "time lines",
    .alloc = sim_alloc,
    .free = sim_free,
    .alloc_host = sim_alloc_host,
    .free_host = sim_free_host,
    .queue_create = sim_queue_create,
    .queue_destroy = sim_queue_destroy,
    .event_create = sim_event_create,
    .event_destroy = sim_event_destroy,
    .copy_in = sim_copy_in,
    .copy_out = sim_copy_out,
    .record = sim_record,
    .wait = sim_wait,
    .ready = sim_ready,
    .elapsed = sim_elapsed,
    .sync = sim_sync,
};

status_t sim_device_open(const struct sim_exchange *seconds, size_t bytes, struct gpu_device **device)
{
  struct gpu_device *d = calloc(1, sizeof *d);
  if (!d) return log_fail(STATUS_ENVIRONMENT, "out of memory for a device");
  if (!memory) {
    memory_bytes = bytes;
    memory = SMPI_SHARED_MALLOC(bytes);
    exchange = seconds;
  }
  d->backend = &backend;
  *device = d;
  return STATUS_OK;
}

void sim_device_close(struct gpu_device *device)
{
  free(device);
}

/* ---- packing ---- */

static status_t packer_open(struct gpu_device *device, const struct layout *layout,
                            const struct halo_plan *plan, struct halo_packer_state **state)
{
  struct halo_packer_state *s = calloc(1, sizeof *s);
  (void)device, (void)layout;
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of memory for a packer");
  double longest = 0;
  for (int m = 0; m < plan->n; m++) longest = later(longest, exchange->latency(&plan->messages[m]));
  s->latency = (1 - SIM_WIRE_SHARE) * longest + exchange->ends(plan);
  *state = s;
  return STATUS_OK;
}

static status_t pack_or_unpack(struct halo_packer_state *state, struct gpu_queue *queue, struct gpu_mem field,
                               struct gpu_mem buffer)
{
  (void)field, (void)buffer;
  sim_work(queue, state->latency / 2);
  return STATUS_OK;
}

static void packer_close(struct halo_packer_state *state)
{
  free(state);
}

static const struct halo_packer packer = {
    .backend = "sim",
    .open = packer_open,
    .pack = pack_or_unpack,
    .unpack = pack_or_unpack,
    .close = packer_close,
};

const struct halo_packer *halo_packer_find(const char *name)
{
  (void)name;
  return &packer;
}
