/* SPDX-License-Identifier: MIT */
#include "gpu/memory.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "gpu/telemetry.h"

/* Sets the limit that the device reports. A CPU's limit is the smallest one of the host; its free
 * memory excludes allocations of this process that are not touched yet. */
static status_t device_limit(struct gpu_device *device, const struct host_memory *host,
                             struct host_limit *limit)
{
  const struct gpu_device_info *info = &device->info;
  *limit = (struct host_limit){.total = info->memory_bytes};
  snprintf(limit->name, sizeof limit->name, "on device %s", info->pci[0] ? info->pci : info->name);
  if (info->is_cpu && host->total <= info->memory_bytes) *limit = *host_memory_least(host);
  return gpu_memory_free(device, &limit->available);
}

status_t gpu_memory_limits(struct gpu_device *device, struct host_limit limits[GPU_LIMITS])
{
  struct host_memory host;
  host_memory_read(&host);
  RETURN_IF_FAILED(device_limit(device, &host, &limits[GPU_LIMIT_DEVICE]));
  for (int s = 0; s < HOST_SCOPES; s++) {
    limits[GPU_LIMIT_HOST + s] = host.limit[s];
    if (!device->info.is_cpu && s != HOST_PROCESS)
      limits[GPU_LIMIT_HOST + s] = (struct host_limit){.total = UINT64_MAX, .available = UINT64_MAX};
  }
  return STATUS_OK;
}

static int holder_text(const struct telemetry_holder *holder, char *text, size_t size)
{
  char path[64], name[64];
  snprintf(path, sizeof path, "/proc/%u/comm", holder->process);
  host_read_line(path, name, sizeof name);
  return snprintf(text, size, "process %u (%s%s%s)", holder->process, name[0] ? name : "of another container",
                  holder->bytes > 0 ? ", " : "",
                  holder->bytes > 0 ? report_bytes((uint64_t)holder->bytes) : "");
}

const char *gpu_memory_holders(const struct gpu_device *device, char text[GPU_HOLDERS_TEXT])
{
  struct telemetry_memory memory;
  size_t used = 0;
  text[0] = '\0';
  telemetry_memory(device->info.pci, &memory);
  for (int h = 0; h < memory.n && h < TELEMETRY_HOLDERS && used < GPU_HOLDERS_TEXT; h++) {
    used += (size_t)snprintf(text + used, GPU_HOLDERS_TEXT - used, "%s", h ? ", " : "; held by ");
    if (used < GPU_HOLDERS_TEXT)
      used += (size_t)holder_text(&memory.holder[h], text + used, GPU_HOLDERS_TEXT - used);
  }
  if (memory.n > TELEMETRY_HOLDERS && used < GPU_HOLDERS_TEXT)
    snprintf(text + used, GPU_HOLDERS_TEXT - used, " and %d more", memory.n - TELEMETRY_HOLDERS);
  return text;
}

status_t gpu_memory_refused(struct gpu_device *device, uint64_t bytes, const char *detail)
{
  struct host_limit limits[GPU_LIMITS];
  const struct host_limit *least = limits;
  char holders[GPU_HOLDERS_TEXT] = "";
  RETURN_IF_FAILED(gpu_memory_limits(device, limits));
  for (int l = 1; l < GPU_LIMITS; l++)
    if (limits[l].available < least->available) least = &limits[l];
  if (least == limits) gpu_memory_holders(device, holders);
  return log_fail_local(STATUS_ENVIRONMENT, "too little %s memory: %s more needed, %s of %s free %s%s%s%s",
                        device->info.is_cpu ? "host" : "device", report_bytes(bytes),
                        report_bytes(least->available), report_bytes(least->total), least->name, holders,
                        detail[0] ? "; " : "", detail);
}

status_t gpu_host_memory_refused(uint64_t bytes, const char *how)
{
  struct host_memory host;
  host_memory_read(&host);
  const struct host_limit *least = host_memory_least(&host);
  return log_fail_local(STATUS_ENVIRONMENT, "too little host memory: %s more needed%s, %s of %s free %s",
                        report_bytes(bytes), how, report_bytes(least->available), report_bytes(least->total),
                        least->name);
}
