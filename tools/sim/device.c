/* SPDX-License-Identifier: MIT */
#include "tools/sim/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/engine.h"

volatile int gpu_calls;

/* Memory that is read is small; all other is an address and nothing else. */
#define REAL_BYTES_MAX 4096
/* No process has its own memory there. */
#define FIRST_ADDRESS ((uintptr_t)1 << 60)

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
  void *gosa;
  double gosa_value;
};

static struct sim_device *device_of(struct gpu_device *device)
{
  return (struct sim_device *)device;
}

static struct sim_queue *sim_queue_cast(struct gpu_queue *queue)
{
  return (struct sim_queue *)queue;
}

/* ---- copies of a host's ranks share its memory ---- */

/** All copies under way proceed at the same rate, so one number says how far each is. */
struct sim_memory {
  double served, at; /* bytes of a copy that began with the first, up to that time */
  int copies;
};

static struct sim_memory *memories; /* by host */

static double byte_seconds(const struct sim_memory *m)
{
  return sim.own + sim.host * m->copies;
}

static struct sim_memory *memory_now(int rank)
{
  if (!memories) memories = sim_array((size_t)(sim.point.ranks / sim.per_host + 1), sizeof *memories);
  struct sim_memory *m = &memories[rank / sim.per_host];
  const double now = sim_now();
  if (m->copies > 0) m->served += (now - m->at) / byte_seconds(m);
  m->at = now;
  return m;
}

/* What must be served until a copy that begins now ends. */
static double copy_begin(int rank, double bytes)
{
  struct sim_memory *m = memory_now(rank);
  if (m->copies++ == 0) m->served = 0;
  return m->served + bytes;
}

/* When the copy ends if none begins or ends before: if that is now, it has ended, and the others
 * proceed faster. */
static double copy_end(int rank, double target)
{
  struct sim_memory *m = memory_now(rank);
  const double left = (target - m->served) * byte_seconds(m);
  if (left > SIM_MOMENT) return sim_now() + left;
  m->copies--;
  const int first = rank / sim.per_host * sim.per_host;
  for (int r = first; m->copies > 0 && r < first + sim.per_host && r < sim.point.ranks; r++)
    if (r != rank) sim_wake(r, sim_now());
  return sim_now();
}

/* ---- queues ---- */

static status_t op_put(struct gpu_queue *queue, struct op op)
{
  struct sim_queue *q = sim_queue_cast(queue);
  struct op *o = sim_array(1, sizeof *o);
  *o = op;
  o->put = sim_now();
  *q->last = o;
  q->last = &o->next;
  return STATUS_OK;
}

status_t sim_work(struct gpu_queue *queue, double seconds)
{
  return op_put(queue, (struct op){.kind = WORK, .value = seconds});
}

static status_t copy_put(struct gpu_queue *queue, double bytes)
{
  return bytes > 0 ? op_put(queue, (struct op){.kind = COPY, .value = bytes}) : STATUS_OK;
}

status_t sim_then(struct gpu_queue *queue, sim_call *call, void *of, uint64_t n)
{
  return op_put(queue, (struct op){.kind = CALL, .call = call, .of = of, .n = n});
}

/* When the first operation is over, as far as is known. */
static double op_end(struct sim_queue *q, struct op *o)
{
  const double since = fmax(q->at, o->put);
  switch (o->kind) {
  case WORK:
    return since + o->value;
  case COPY:
    if (!o->begun++) o->value = copy_begin(sim_self()->number, o->value);
    return copy_end(sim_self()->number, o->value);
  case CALL:
    return o->call(o->of, o->n, since);
  case WAIT:
    return o->event->passed >= o->n ? fmax(since, o->event->time) : INFINITY;
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
    free(o);
  }
  return any;
}

/* Does what can be done by now; the time when more can be, infinity if that depends on others. */
static double sim_progress(struct sim_device *d)
{
  double next = INFINITY;
  for (int any = d != NULL; any;) {
    any = 0;
    next = INFINITY;
    for (struct sim_queue *q = d->queues; q; q = q->next) any |= queue_progress(q, &next);
  }
  return next;
}

int sim_yield(void)
{
  struct sim_rank *r = sim_self();
  struct sim_device *d = r->device ? device_of(r->device) : NULL;
  const double next = sim_progress(d);
  if (sim_alarms_take(r)) return 0;
  sim_sleep(r, next);
  sim_alarms_take(r);
  sim_progress(d);
  return 0;
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

static int is_real(const void *place)
{
  return (uintptr_t)place < FIRST_ADDRESS;
}

/* The sums of gosa are read too; halos are not. */
static void *place_make(size_t bytes)
{
  static uintptr_t address = FIRST_ADDRESS;
  if (bytes <= REAL_BYTES_MAX || bytes == sim.gosa_bytes) return sim_array(1, bytes + 1);
  return (void *)(address += REAL_BYTES_MAX);
}

static status_t sim_memory_alloc(struct gpu_device *device, size_t bytes, struct gpu_mem *mem)
{
  (void)device;
  *mem = (struct gpu_mem){place_make(bytes), bytes};
  return STATUS_OK;
}

static void sim_memory_free(struct gpu_device *device, struct gpu_mem *mem)
{
  (void)device;
  if (is_real(mem->handle)) free(mem->handle);
}

static status_t sim_host_alloc(struct gpu_device *device, size_t bytes, enum gpu_host_kind kind, void **host)
{
  (void)device, (void)kind;
  *host = place_make(bytes);
  return STATUS_OK;
}

static void sim_host_free(struct gpu_device *device, enum gpu_host_kind kind, void *host)
{
  (void)device, (void)kind;
  if (is_real(host)) free(host);
}

static status_t sim_clear(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes)
{
  (void)queue;
  if (is_real(mem.handle)) memset((char *)mem.handle + offset, 0, bytes);
  return STATUS_OK;
}

static status_t sim_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                            size_t bytes)
{
  (void)mem, (void)offset;
  return copy_put(queue, handover_is_there(host) ? (double)bytes : 0);
}

static status_t sim_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset,
                             size_t bytes)
{
  const struct sim_device *d = device_of(queue->device);
  if (mem.handle == d->gosa) {
    for (size_t n = 0; n < bytes / sizeof(double); n++) ((double *)host)[n] = d->gosa_value;
    return STATUS_OK;
  }
  if (is_real(mem.handle) && is_real(host)) {
    memcpy(host, (char *)mem.handle + offset, bytes);
    return STATUS_OK;
  }
  return copy_put(queue, handover_bytes(host, bytes));
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

static status_t sim_ready(struct gpu_event *event, int *is)
{
  const struct sim_event *e = (struct sim_event *)event;
  if (e->passed < e->recorded) sim_progress(device_of(event->device));
  *is = e->passed == e->recorded;
  return STATUS_OK;
}

static status_t sim_elapsed(struct gpu_event *begin, struct gpu_event *end, double *seconds)
{
  *seconds = ((struct sim_event *)end)->time - ((struct sim_event *)begin)->time;
  return STATUS_OK;
}

static status_t sim_queue_sync(struct gpu_queue *queue)
{
  for (sim_progress(device_of(queue->device)); sim_queue_cast(queue)->first;) sim_yield();
  return STATUS_OK;
}

static const struct gpu_backend backend = {
    .name = "sim",
    .about = "work that takes the time it is said to take",
    .alloc = sim_memory_alloc,
    .sharing = {.alloc = sim_memory_alloc},
    .free = sim_memory_free,
    .alloc_host = sim_host_alloc,
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
    .ready = sim_ready,
    .elapsed = sim_elapsed,
    .sync = sim_queue_sync,
};

/* ---- the device ---- */

status_t sim_device_open(struct gpu_device **device)
{
  struct sim_device *d = sim_array(1, sizeof *d);
  d->base.backend = &backend;
  RETURN_IF_FAILED(sim_queue_create(&d->base, GPU_NORMAL, &d->core));
  *device = &d->base;
  return STATUS_OK;
}

status_t sim_core_copy(double bytes, sim_call *call, void *of)
{
  struct gpu_queue *core = device_of(sim_self()->device)->core;
  RETURN_IF_FAILED(copy_put(core, bytes));
  return sim_then(core, call, of, 0);
}

void sim_device_gosa(struct gpu_device *device, struct gpu_mem gosa, double value)
{
  device_of(device)->gosa = gosa.handle;
  device_of(device)->gosa_value = value;
}
