/* SPDX-License-Identifier: MIT */
#include "gpu/null/null_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/report.h"
#include "base/switches.h"
#include "gpu/cpu/cpu_device.h"
#include "gpu/host.h"
#include "gpu/host_share.h"
#include "gpu/memory.h"

SWITCH("HIMENO_NULL_FAIL", TEST, OWN, COUNT, "backend `null`: that call fails");
SWITCH("HIMENO_NULL_HANG", TEST, OWN, COUNT, "backend `null`: that call never returns");
SWITCH("HIMENO_NULL_RANK", TEST, OWN, NUMBER(0, INT_MAX),
       "backend `null`: only this rank fails, hangs or has faulty peer access");
SWITCH("HIMENO_NULL_DEVICES", TEST, OWN, NUMBER(0, 64), "backend `null`: number of devices; unset: 8");
SWITCH("HIMENO_NULL_APART", TEST, OWN, NUMBER(0, INT_MAX),
       "backend `null`: neighbours cannot access this rank's memory");
SWITCH("HIMENO_NULL_PEER", TEST, OWN, CHOICE("attach|store|put|get|flags|faces"),
       "backend `null`: what fails unnoticed between a rank and its neighbours' memory");

#define DEVICES_DEFAULT 8
#define MEMORY_BYTES    ((uint64_t)16 << 30)

struct null_device {
  struct gpu_device base;
  uint64_t held_bytes;
};

#define ATTACHED 64 /* number of the most recent attachments that are remembered */
static const void *attached[ATTACHED];
static int n_attached;

static const char *peer_fault = "";
static long calls;
/* number of the call that fails, and of the call that never returns, from 1; 0: none */
static long failing, hanging;

/** Returns the global rank from the launcher's variables, or −1 without a launcher. */
static long long launcher_rank(void)
{
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    long long rank = environment_number(names[i], -1);
    if (rank >= 0) return rank;
  }
  return -1;
}

long null_calls(void)
{
  return calls;
}

status_t null_call(const char *verb, status_t status)
{
  const long call = ++calls;
  while (call == hanging) {
    gpu_calls = 1; /* kernel launches do not set this flag, so it is set here */
    pause();
  }
  if (call != failing) return STATUS_OK;
  return log_fail(status, "null device: call %ld, %s, fails on demand", calls, verb);
}

int null_peer_fault(const char *kind)
{
  return strcmp(peer_fault, kind) == 0;
}

static void failing_plan(void)
{
  long long only = switch_number("HIMENO_NULL_RANK", -1);
  const int is_this = only < 0 || launcher_rank() == only;
  failing = is_this ? (long)switch_number("HIMENO_NULL_FAIL", 0) : 0;
  hanging = is_this ? (long)switch_number("HIMENO_NULL_HANG", 0) : 0;
  if (is_this && switch_text("HIMENO_NULL_PEER")) peer_fault = switch_text("HIMENO_NULL_PEER");
}

static int null_devices(void)
{
  return (int)switch_number("HIMENO_NULL_DEVICES", DEVICES_DEFAULT);
}

static void null_describe(int index, struct gpu_device_info *info)
{
  memset(info, 0, sizeof *info);
  snprintf(info->name, sizeof info->name, "Null device %d", index);
  snprintf(info->uuid, sizeof info->uuid, "%016llx%016llx", (unsigned long long)hash_mix((uint64_t)index),
           (unsigned long long)hash_mix(~(uint64_t)index));
  snprintf(info->pci, sizeof info->pci, "0000:%02x:00.0", 0x10 + index);
  snprintf(info->driver, sizeof info->driver, "none");
  snprintf(info->arch, sizeof info->arch, "null");
  info->memory_bytes = info->max_alloc_bytes = MEMORY_BYTES;
  info->cache_bytes = (uint64_t)1 << 16;
  info->compute_units = 1;
  info->numa = -1;
  info->fp64 = 1;
}

static void null_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  int count = null_devices();
  struct gpu_device_info *infos = malloc((count ? (size_t)count : 1) * sizeof *infos);
  if (!infos) count = 0;
  for (int i = 0; i < count; i++) null_describe(i, &infos[i]);
  snprintf(reason, GPU_TEXT_MAX, "%s",
           count   ? ""
           : infos ? "HIMENO_NULL_DEVICES asks for none"
                   : "out of host memory");
  *devices = infos;
  *n = count;
}

static status_t null_device_open(int index, struct gpu_device **opened)
{
  failing_plan();
  RETURN_IF_FAILED(null_call("open", STATUS_ENVIRONMENT));
  if (index < 0 || index >= null_devices())
    return log_fail(STATUS_ENVIRONMENT, "there is no null device %d, only %d of them", index, null_devices());
  struct null_device *device = calloc(1, sizeof *device);
  if (!device) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a device's record");
  device->base.backend = &gpu_backend_null;
  null_describe(index, &device->base.info);
  *opened = &device->base;
  return STATUS_OK;
}

static status_t null_memory_free(struct gpu_device *device, uint64_t *bytes)
{
  RETURN_IF_FAILED(null_call("memory_free", STATUS_FAULT));
  *bytes = device->info.memory_bytes - ((struct null_device *)device)->held_bytes;
  return STATUS_OK;
}

/* Memory comes from the C library, so that sanitizers detect leaks and accesses out of bounds. */
static status_t null_alloc(struct gpu_device *base, size_t bytes, struct gpu_mem *mem)
{
  struct null_device *device = (struct null_device *)base;
  void *memory;
  RETURN_IF_FAILED(null_call("alloc", STATUS_ENVIRONMENT));
  if (bytes > base->info.memory_bytes - device->held_bytes || posix_memalign(&memory, 64, bytes ? bytes : 1))
    return gpu_memory_refused(base, bytes, "");
  device->held_bytes += bytes;
  mem->handle = memory;
  mem->bytes = bytes;
  return STATUS_OK;
}

static void null_free(struct gpu_device *device, struct gpu_mem *mem)
{
  ((struct null_device *)device)->held_bytes -= mem->bytes;
  if (!host_share_free(mem->handle)) free(mem->handle);
}

static status_t null_alloc_shared(struct gpu_device *base, size_t bytes, struct gpu_mem *mem)
{
  void *memory;
  RETURN_IF_FAILED(null_call("alloc_shared", STATUS_ENVIRONMENT));
  if (!(memory = host_share_alloc(bytes)))
    return log_fail(STATUS_ENVIRONMENT, "too little memory to share: %s needed", report_bytes(bytes));
  ((struct null_device *)base)->held_bytes += bytes;
  *mem = (struct gpu_mem){memory, bytes};
  return STATUS_OK;
}

static status_t null_share(struct gpu_device *device, struct gpu_mem mem, struct gpu_share *share)
{
  (void)device;
  RETURN_IF_FAILED(null_call("share", STATUS_FAULT));
  return host_share_offer(mem, share);
}

/* HIMENO_NULL_APART=R: rank R and its neighbours cannot reach each other's memory. */
static int null_attach(struct gpu_device *device, const struct gpu_share *share, struct gpu_mem *mem,
                       char reason[GPU_TEXT_MAX])
{
  (void)device;
  long long separate = switch_number("HIMENO_NULL_APART", -1);
  if (separate >= 0 && separate == launcher_rank()) {
    snprintf(reason, GPU_TEXT_MAX, "no peer access between the devices, on demand");
    return 0;
  }
  if (!host_share_attach(share, mem, reason)) return 0;
  attached[n_attached++ % ATTACHED] = mem->handle;
  if (null_peer_fault("attach"))
    mmap(mem->handle, mem->bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return 1;
}

/* Defines the remaining functions. Each counts the call and runs the CPU backend's function: the
 * CPU backend's queues, events and copies ignore the device. */
#define COUNTED(verb, status, parameters, arguments)                                                         \
  static status_t null_##verb parameters                                                                     \
  {                                                                                                          \
    RETURN_IF_FAILED(null_call(#verb, status));                                                              \
    return gpu_backend_cpu.verb arguments;                                                                   \
  }

COUNTED(alloc_host, STATUS_ENVIRONMENT,
        (struct gpu_device * device, size_t bytes, enum gpu_host_kind kind, void **host),
        (device, bytes, kind, host))
COUNTED(queue_create, STATUS_ENVIRONMENT,
        (struct gpu_device * device, enum gpu_urgency urgency, struct gpu_queue **queue),
        (device, urgency, queue))
COUNTED(event_create, STATUS_ENVIRONMENT, (struct gpu_device * device, struct gpu_event **event),
        (device, event))
COUNTED(copy_in, STATUS_FAULT,
        (struct gpu_queue * queue, struct gpu_mem mem, size_t offset, const void *host, size_t bytes),
        (queue, mem, offset, host, bytes))
COUNTED(copy_out, STATUS_FAULT,
        (struct gpu_queue * queue, void *host, struct gpu_mem mem, size_t offset, size_t bytes),
        (queue, host, mem, offset, bytes))
COUNTED(clear, STATUS_FAULT, (struct gpu_queue * queue, struct gpu_mem mem, size_t offset, size_t bytes),
        (queue, mem, offset, bytes))
COUNTED(record, STATUS_FAULT, (struct gpu_event * event, struct gpu_queue *queue), (event, queue))
COUNTED(wait, STATUS_FAULT, (struct gpu_queue * queue, struct gpu_event *event), (queue, event))
COUNTED(ready, STATUS_FAULT, (struct gpu_event * event, int *ready), (event, ready))
COUNTED(elapsed, STATUS_FAULT, (struct gpu_event * begin, struct gpu_event *end, double *seconds),
        (begin, end, seconds))
COUNTED(sync, STATUS_FAULT, (struct gpu_queue * queue), (queue))

static status_t null_copy(struct gpu_queue *queue, struct gpu_mem to, size_t to_offset, struct gpu_mem from,
                          size_t from_offset, size_t bytes)
{
  int gets = 0;
  RETURN_IF_FAILED(null_call("copy", STATUS_FAULT));
  RETURN_IF_FAILED(gpu_backend_cpu.sharing.copy(queue, to, to_offset, from, from_offset, bytes));
  for (int a = 0; a < ATTACHED; a++) gets |= from.handle == attached[a];
  if (null_peer_fault(gets ? "get" : "put"))
    ((uint32_t *)to.handle)[(to_offset + bytes / 2) / sizeof(uint32_t)] ^= 1u << 24;
  return STATUS_OK;
}

/* Pins nothing, and fails in the cases in which a real device does. */
static int null_pin(struct gpu_device *device, void *host, size_t bytes, char reason[GPU_TEXT_MAX])
{
  (void)device;
  if (bytes > 0 && (uintptr_t)host % host_page_bytes() == 0) return 1;
  snprintf(reason, GPU_TEXT_MAX, "%zu bytes at %p cannot be page-locked", bytes, host);
  return 0;
}

static void null_unpin(struct gpu_device *device, void *host)
{
  (void)device;
  (void)host;
}

const struct gpu_backend gpu_backend_null = {
    .name = "null",
    .about = "host memory that fails on demand, for tests",
    .memory = GPU_MEMORY_HOST,
    .for_tests = 1,
    .probe = null_probe,
    .open = null_device_open,
    .close = cpu_close,
    .alloc = null_alloc,
    .free = null_free,
    .alloc_host = null_alloc_host,
    .free_host = cpu_free_host,
    .memory_free = null_memory_free,
    .queue_create = null_queue_create,
    .queue_destroy = cpu_queue_destroy,
    .event_create = null_event_create,
    .event_destroy = cpu_event_destroy,
    .pins = {null_pin, null_unpin},
    .copy_in = null_copy_in,
    .copy_out = null_copy_out,
    .clear = null_clear,
    .record = null_record,
    .wait = null_wait,
    .ready = null_ready,
    .elapsed = null_elapsed,
    .sync = null_sync,
    .sharing = {null_alloc_shared, null_share, null_attach, cpu_detach, null_copy},
};
