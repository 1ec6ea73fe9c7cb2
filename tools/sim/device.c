/* SPDX-License-Identifier: MIT */
#include "tools/sim/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/engine.h"
#include "tools/sim/transports.h"

volatile int gpu_calls;

/* Memory that somebody looks into is small; all other is an address and nothing else. */
#define REAL_BYTES_MAX 4096
/* No process has its own memory there. */
#define FIRST_ADDRESS ((uintptr_t)1 << 60)
#define LAST_ADDRESS  (2 * FIRST_ADDRESS)

enum sim_op_kind { WORK, COPY, CALL, RECORD, WAIT };

struct op {
  struct op *next;
  enum sim_op_kind kind;
  int begun;
  double put, value; /* seconds, or bytes */
  struct sim_event *event;
  sim_call *call;
  void *of;
  uint64_t n; /* of the event's records, or the call's */
};

struct sim_queue {
  struct gpu_queue base;
  struct sim_queue *next;
  struct op *first, **last;
  double at; /* end of what has passed */
};

struct sim_event {
  struct gpu_event base;
  uint64_t recorded, passed;
  double time;
};

struct sim_device {
  struct gpu_device base;
  struct sim_queue *queues;
  struct gpu_queue *core;
  int stale;   /* something was put into a queue, or others did what a queue waits for */
  double next; /* when more can be done otherwise */
  void *gosa;
  double gosa_value;
};

static struct op *spare; /* of all ranks */

static struct sim_device *device_of(struct gpu_device *device)
{
  return (struct sim_device *)device;
}

static struct sim_queue *sim_queue_cast(struct gpu_queue *queue)
{
  return (struct sim_queue *)queue;
}

/* ---- queues ---- */

void device_touch(struct gpu_device *device)
{
  if (device) device_of(device)->stale = 1;
}

static status_t op_put(struct gpu_queue *queue, struct op op)
{
  struct sim_queue *q = sim_queue_cast(queue);
  struct op *o = spare;
  if (o)
    spare = o->next;
  else
    o = sim_array(1, sizeof *o);
  *o = op;
  o->put = sim_now();
  o->next = NULL;
  *q->last = o;
  q->last = &o->next;
  device_touch(queue->device);
  return STATUS_OK;
}

status_t sim_work(struct gpu_queue *queue, double seconds)
{
  return op_put(queue, (struct op){.kind = WORK, .value = seconds});
}

status_t sim_copy(struct gpu_queue *queue, double bytes)
{
  return bytes > 0 ? op_put(queue, (struct op){.kind = COPY, .value = bytes}) : STATUS_OK;
}

status_t sim_then(struct gpu_queue *queue, sim_call *call, void *of, uint64_t n)
{
  return op_put(queue, (struct op){.kind = CALL, .call = call, .of = of, .n = n});
}

static double sim_later(double a, double b)
{
  return a > b ? a : b;
}

/* When the first operation is over, as far as is known. */
static double op_end(struct sim_queue *q, struct op *o)
{
  const double since = sim_later(q->at, o->put);
  switch (o->kind) {
  case WORK:
    return since + o->value;
  case COPY:
    if (!o->begun++) o->value = memory_begin(sim_self(), o->value);
    return memory_end(sim_self(), o->value);
  case CALL:
    return o->call(o->of, o->n, since);
  case WAIT:
    return o->event->passed >= o->n ? sim_later(since, o->event->time) : INFINITY;
  case RECORD:
    break;
  }
  o->event->time = since;
  o->event->passed = o->n;
  return since;
}

/* Goes on until something takes time; *next is the earliest end of such. */
static int queue_progress(struct sim_queue *q, double *next)
{
  int any = 0;
  for (; q->first; any = 1) {
    struct op *o = q->first;
    const double end = op_end(q, o);
    if (end > sim_now() + SIM_MOMENT) {
      if (end < *next) *next = end;
      break;
    }
    q->at = end;
    q->first = o->next;
    if (!q->first) q->last = &q->first;
    o->next = spare;
    spare = o;
  }
  return any;
}

double device_progress(struct gpu_device *device)
{
  struct sim_device *d = device_of(device);
  if (!d) return INFINITY;
  while (d->stale || d->next <= sim_now() + SIM_MOMENT) {
    d->next = INFINITY;
    d->stale = 0;
    for (struct sim_queue *q = d->queues; q; q = q->next) d->stale |= queue_progress(q, &d->next);
  }
  return d->next;
}

static status_t sim_queue_create(struct gpu_device *device, enum gpu_urgency urgency,
                                 struct gpu_queue **queue)
{
  struct sim_queue *q = sim_array(1, sizeof *q);
  (void)urgency;
  q->base.device = device;
  q->last = &q->first;
  q->next = device_of(device)->queues;
  device_of(device)->queues = q;
  *queue = &q->base;
  return STATUS_OK;
}

static void sim_queue_destroy(struct gpu_queue *queue)
{
  struct sim_queue **at = &device_of(queue->device)->queues;
  while (*at != sim_queue_cast(queue)) at = &(*at)->next;
  *at = sim_queue_cast(queue)->next;
  free(queue);
}

/* ---- memory ---- */

static status_t sim_memory_alloc(struct gpu_device *device, size_t bytes, struct gpu_mem *mem)
{
  static uintptr_t address = FIRST_ADDRESS;
  void *nowhere = (void *)(address += REAL_BYTES_MAX);
  (void)device;
  *mem = (struct gpu_mem){bytes <= REAL_BYTES_MAX ? sim_array(1, bytes) : nowhere, bytes};
  return STATUS_OK;
}

static void sim_memory_free(struct gpu_device *device, struct gpu_mem *mem)
{
  (void)device;
  if (mem->bytes <= REAL_BYTES_MAX) free(mem->handle);
}

/* The sums of gosa are looked into, halos are not. */
static status_t host_alloc(struct gpu_device *device, size_t bytes, enum gpu_host_kind kind, void **host)
{
  struct gpu_mem mem;
  (void)kind;
  if (bytes > REAL_BYTES_MAX && bytes != sim.gosa_bytes) {
    RETURN_IF_FAILED(sim_memory_alloc(device, bytes, &mem));
    *host = mem.handle;
    return STATUS_OK;
  }
  *host = sim_array(1, bytes + 1);
  return STATUS_OK;
}

static void sim_host_free(struct gpu_device *device, enum gpu_host_kind kind, void *host)
{
  (void)device, (void)kind;
  if ((uintptr_t)host < FIRST_ADDRESS || (uintptr_t)host > LAST_ADDRESS) free(host);
}

static status_t sim_clear(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes)
{
  (void)queue;
  if (mem.bytes <= REAL_BYTES_MAX) memset((char *)mem.handle + offset, 0, bytes);
  return STATUS_OK;
}

static status_t sim_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                            size_t bytes)
{
  (void)mem, (void)offset;
  return sim_copy(queue, handover_is_there(host) ? (double)bytes : 0);
}

static status_t sim_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset,
                             size_t bytes)
{
  const struct sim_device *d = device_of(queue->device);
  if (mem.handle == d->gosa) {
    for (size_t n = 0; n < bytes / sizeof(double); n++) ((double *)host)[n] = d->gosa_value;
    return STATUS_OK;
  }
  if (mem.bytes <= REAL_BYTES_MAX && !handover_is_there(host)) {
    memcpy(host, (char *)mem.handle + offset, bytes);
    return STATUS_OK;
  }
  return sim_copy(queue, handover_bytes(host, bytes));
}

/* ---- events ---- */

static status_t sim_event_create(struct gpu_device *device, struct gpu_event **event)
{
  struct sim_event *e = sim_array(1, sizeof *e);
  e->base.device = device;
  *event = &e->base;
  return STATUS_OK;
}

static void sim_event_destroy(struct gpu_event *event)
{
  free(event);
}

static status_t sim_record(struct gpu_event *event, struct gpu_queue *queue)
{
  struct sim_event *e = (struct sim_event *)event;
  return op_put(queue, (struct op){.kind = RECORD, .event = e, .n = ++e->recorded});
}

static status_t sim_queue_wait(struct gpu_queue *queue, struct gpu_event *event)
{
  struct sim_event *e = (struct sim_event *)event;
  return op_put(queue, (struct op){.kind = WAIT, .event = e, .n = e->recorded});
}

static status_t ready(struct gpu_event *event, int *is)
{
  const struct sim_event *e = (struct sim_event *)event;
  if (e->passed < e->recorded) device_progress(event->device);
  *is = e->passed == e->recorded;
  return STATUS_OK;
}

static status_t sim_elapsed(struct gpu_event *begin, struct gpu_event *end, double *seconds)
{
  *seconds = ((struct sim_event *)end)->time - ((struct sim_event *)begin)->time;
  return STATUS_OK;
}

static status_t queue_sync(struct gpu_queue *queue)
{
  for (device_progress(queue->device); sim_queue_cast(queue)->first;) sim_yield();
  return STATUS_OK;
}

static const struct gpu_backend backend = {
    .name = "sim",
    .about = "work that takes the time it is said to take",
    .alloc = sim_memory_alloc,
    .sharing = {.alloc = sim_memory_alloc},
    .free = sim_memory_free,
    .alloc_host = host_alloc,
    .free_host = sim_host_free,
    .queue_create = sim_queue_create,
    .queue_destroy = sim_queue_destroy,
    .event_create = sim_event_create,
    .event_destroy = sim_event_destroy,
    .copy_in = sim_copy_in,
    .copy_out = sim_copy_out,
    .clear = sim_clear,
    .record = sim_record,
    .wait = sim_queue_wait,
    .ready = ready,
    .elapsed = sim_elapsed,
    .sync = queue_sync,
};

/* ---- the device ---- */

status_t sim_device_open(struct gpu_device **device)
{
  struct sim_device *d = sim_array(1, sizeof *d);
  d->base.backend = &backend;
  d->next = INFINITY;
  RETURN_IF_FAILED(sim_queue_create(&d->base, GPU_NORMAL, &d->core));
  *device = &d->base;
  return STATUS_OK;
}

void sim_device_close(struct gpu_device *device)
{
  while (device_of(device)->queues) sim_queue_destroy(&device_of(device)->queues->base);
  free(device);
}

status_t sim_core_copy(double bytes, sim_call *call, void *of)
{
  struct gpu_queue *core = device_of(sim_device())->core;
  RETURN_IF_FAILED(sim_copy(core, bytes));
  return sim_then(core, call, of, 0);
}

void sim_device_gosa(struct gpu_device *device, struct gpu_mem gosa, double value)
{
  device_of(device)->gosa = gosa.handle;
  device_of(device)->gosa_value = value;
}

/* ---- packing: a kernel each way, and what the ends of an exchange take besides the wire ---- */

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

static status_t pack_or_unpack(struct halo_packer_state *handle, struct gpu_queue *queue,
                               struct gpu_mem field, struct gpu_mem buffer)
{
  struct sim_packer *state = (struct sim_packer *)handle;
  (void)field, (void)buffer;
  return sim_work(queue, state->seconds);
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
