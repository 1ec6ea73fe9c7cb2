/* SPDX-License-Identifier: MIT */
/* The dummy transport: staged's messages between fields in memory of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "comm/halo/transport.h"

#define FIELDS 64

static void *own[FIELDS];

static int dummy_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX])
{
  if (backend->memory == GPU_MEMORY_HOST) return 1;
  snprintf(reason, GPU_TEXT_MAX, "the dummy transport moves host memory only");
  return 0;
}

static int place_of(const void *handle)
{
  int f = 0;
  while (f < FIELDS && own[f] != handle) f++;
  return f;
}

static status_t dummy_alloc(struct gpu_device *device, size_t bytes, struct gpu_mem *mem)
{
  const int f = place_of(NULL);
  (void)device;
  if (f < FIELDS) own[f] = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (f == FIELDS || !own[f]) return log_fail(STATUS_ENVIRONMENT, "the dummy transport has no memory");
  *mem = (struct gpu_mem){own[f], bytes};
  return STATUS_OK;
}

static void dummy_free(struct gpu_device *device, struct gpu_mem *mem)
{
  (void)device;
  own[place_of(mem->handle)] = NULL;
  free(mem->handle);
}

static status_t dummy_setup(const struct halo_context *context, struct halo_reach reach[HALO_MESSAGES_MAX],
                            struct halo_exchange **exchange)
{
  for (int f = 0; f < 2; f++)
    if (place_of(context->fields[f].handle) == FIELDS)
      return log_fail(STATUS_FAULT, "a field of the dummy transport is in memory of others");
  return halo_transport_staged.setup(context, reach, exchange);
}

static status_t dummy_start(struct halo_exchange *exchange, struct gpu_mem from, struct gpu_mem field,
                            struct gpu_event *computed)
{
  return halo_transport_staged.start(exchange, from, field, computed);
}

static status_t dummy_progress(struct halo_exchange *exchange)
{
  return halo_transport_staged.progress(exchange);
}

static status_t dummy_finish(struct halo_exchange *exchange, struct gpu_event **arrived)
{
  return halo_transport_staged.finish(exchange, arrived);
}

static status_t dummy_times(struct halo_exchange *exchange, struct halo_times *times)
{
  return halo_transport_staged.times(exchange, times);
}

static void dummy_teardown(struct halo_exchange *exchange)
{
  halo_transport_staged.teardown(exchange);
}

const struct halo_transport halo_transport_dummy = {
    .name = "dummy",
    .about = "staged, between fields in memory of its own",
    .available = dummy_available,
    .alloc = dummy_alloc,
    .free = dummy_free,
    .setup = dummy_setup,
    .start = dummy_start,
    .progress = dummy_progress,
    .finish = dummy_finish,
    .times = dummy_times,
    .teardown = dummy_teardown,
};
