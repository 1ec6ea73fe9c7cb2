/* SPDX-License-Identifier: MIT */
/* The OpenCL backend: in-order queues with profiling, events as markers. */
#include "gpu/opencl/opencl_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/report.h"
#include "gpu/cpu/cpu_device.h"
#include "gpu/memory.h"
#include "gpu/telemetry.h"

/** Mapped host memory: allocated by the driver, or the caller's memory that the driver has
 * pinned. */
struct opencl_pinned {
  struct opencl_pinned *next;
  cl_mem buffer;
  void *host;
};

struct opencl_event {
  struct gpu_event base;
  cl_event event; /**< the last marker; NULL before the first record */
};

static struct opencl_device *native(struct gpu_device *device)
{
  return (struct opencl_device *)device;
}

/** Receives errors that the driver reports by itself, possibly late and from another thread. Lack
 * of memory is not recorded: the failed allocation has already reported it. */
static void CL_CALLBACK notice(const char *text, const void *data, size_t bytes, void *user)
{
  struct opencl_device *device = user;
  (void)data, (void)bytes;
  if (atomic_load(&device->refused) && strstr(text, "ALLOCATION_FAILURE")) return;
  int none = NOTICE_NONE;
  if (!atomic_compare_exchange_strong(&device->noticed, &none, NOTICE_WRITING)) return;
  snprintf(device->notice, sizeof device->notice, "%.*s", (int)strcspn(text, "\n"), text);
  atomic_store(&device->noticed, NOTICE_COMPLETE);
}

/** Returns STATUS_FAULT if the driver has reported an error asynchronously since open, even if all
 * calls succeeded. */
static status_t check_notices(struct gpu_device *base)
{
  struct opencl_device *device = native(base);
  if (atomic_load(&device->noticed) != NOTICE_COMPLETE) return STATUS_OK;
  return log_fail(STATUS_FAULT, "the OpenCL driver reports: %s", device->notice);
}

static void opencl_device_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  struct opencl_probed *entries;
  opencl_list(&entries, n, reason);
  *devices = (struct gpu_device_info *)entries; /* reuses the entries' memory */
  for (int i = 0; i < *n; i++) memmove(&(*devices)[i], &entries[i].info, sizeof **devices);
}

/* A CPU's driver starts one thread per core of the host, even if this process is bound to a few of
 * them. So if the driver can divide the device, use a sub-device as large as the binding. */
static void fit_binding(struct opencl_device *device)
{
  cl_uint units;
  cl_device_id part;
  const cl_device_partition_property by_count[] = {CL_DEVICE_PARTITION_BY_COUNTS,
                                                   device->base.info.compute_units,
                                                   CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  if (clGetDeviceInfo(device->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL) != CL_SUCCESS)
    return;
  if ((cl_uint)device->base.info.compute_units >= units) return;
  if (clCreateSubDevices(device->id, by_count, 1, &part, NULL) == CL_SUCCESS) device->id = part;
}

static status_t open_context(struct opencl_device *device, int index)
{
  cl_int error;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->platform,
                                              0};
  device->context = clCreateContext(properties, 1, &device->id, notice, device, &error);
  if (error != CL_SUCCESS) return gpu_open_fail(&device->base.info, index, opencl_error_name(error));
  device->service = clCreateCommandQueue(device->context, device->id, 0, &error);
  if (error != CL_SUCCESS) {
    clReleaseContext(device->context);
    return gpu_open_fail(&device->base.info, index, opencl_error_name(error));
  }
  return STATUS_OK;
}

/* Returns the free memory in bytes. OpenCL has no query for it. A CPU has the host's free memory.
 * For other devices this is telemetry's value, or all memory if telemetry has none. */
static uint64_t free_now(const struct gpu_device_info *info)
{
  struct host_memory host;
  struct telemetry_memory device = {.free = TELEMETRY_UNKNOWN};
  if (info->is_cpu)
    host_memory_read(&host);
  else
    telemetry_memory(info->pci, &device);
  const uint64_t left = info->is_cpu ? host.available : device.free >= 0 ? (uint64_t)device.free : UINT64_MAX;
  return left < info->memory_bytes ? left : info->memory_bytes;
}

static status_t opencl_device_open(int index, struct gpu_device **opened)
{
  char reason[GPU_TEXT_MAX];
  struct opencl_probed *entries;
  status_t status;
  int n;
  opencl_list(&entries, &n, reason);
  struct opencl_device *device = calloc(1, sizeof *device);
  if (index < 0 || index >= n) {
    status = log_fail(STATUS_ENVIRONMENT, "there is no OpenCL device %d: %s", index,
                      n ? "fewer are listed" : reason);
    goto fail;
  }
  if (!device) {
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for a device's record");
    goto fail;
  }
  device->base.backend = &gpu_backend_opencl;
  device->base.info = entries[index].info;
  device->platform = entries[index].platform;
  device->id = entries[index].id;
  device->free_at_open = free_now(&device->base.info);
  fit_binding(device);
  TRY(open_context(device, index), release);
  free(entries);
  *opened = &device->base;
  return STATUS_OK;
release:
  clReleaseDevice(device->id);
fail:
  free(device);
  free(entries);
  return status;
}

static void opencl_device_close(struct gpu_device *base)
{
  struct opencl_device *device = native(base);
  opencl_programs_release(device);
  clReleaseCommandQueue(device->service);
  clReleaseContext(device->context);
  clReleaseDevice(device->id); /* has no effect on a device that is no sub-device */
  free(device);
}

/* Sets *bytes to the memory that was free at open less the memory that this process holds. A CPU
 * device has at most the memory that is free on the host now. */
static status_t opencl_memory_free(struct gpu_device *base, uint64_t *bytes)
{
  struct opencl_device *device = native(base);
  uint64_t start = device->free_at_open, left = device->held_bytes < start ? start - device->held_bytes : 0;
  uint64_t now = base->info.is_cpu ? free_now(&base->info) : left;
  *bytes = now < left ? now : left;
  return STATUS_OK;
}

/* Drivers allocate when a buffer is first used. Writing a byte here detects a lack of memory
 * early. */
static cl_int opencl_place(struct opencl_device *device, cl_mem buffer)
{
  const cl_uchar zero = 0;
  cl_int error =
      clEnqueueFillBuffer(device->service, buffer, &zero, sizeof zero, 0, sizeof zero, 0, NULL, NULL);
  return error == CL_SUCCESS ? clFinish(device->service) : error;
}

/* Creates a buffer in the caller's \a memory, or in new memory if \a memory is NULL. */
static cl_int opencl_buffer_create(struct opencl_device *device, cl_mem_flags flags, size_t bytes,
                                   void *memory, cl_mem *buffer)
{
  cl_int error;
  cl_mem created = clCreateBuffer(device->context, CL_MEM_READ_WRITE | flags, bytes, memory, &error);
  if (error != CL_SUCCESS) return error;
  if (!memory) error = opencl_place(device, created);
  if (error != CL_SUCCESS) {
    clReleaseMemObject(created);
    return error;
  }
  *buffer = created;
  return CL_SUCCESS;
}

/** CL_OUT_OF_RESOURCES means lack of memory here; from a kernel, it means access out of bounds. */
static status_t alloc_failed(struct opencl_device *device, size_t bytes, cl_int error)
{
  char detail[128];
  atomic_store(&device->refused, 1);
  atomic_store(&device->noticed, NOTICE_NONE);
  if (error != CL_OUT_OF_RESOURCES && error != CL_MEM_OBJECT_ALLOCATION_FAILURE &&
      error != CL_INVALID_BUFFER_SIZE && error != CL_OUT_OF_HOST_MEMORY)
    return opencl_check(error, "clCreateBuffer");
  snprintf(detail, sizeof detail, "at most %s at once (%s)", report_bytes(device->base.info.max_alloc_bytes),
           opencl_error_name(error));
  return gpu_memory_refused(&device->base, bytes, detail);
}

static status_t opencl_alloc(struct gpu_device *base, size_t bytes, struct gpu_mem *mem)
{
  struct opencl_device *device = native(base);
  uint64_t left = HOST_SMALL_BYTES;
  cl_mem buffer = NULL;
  if (bytes >= HOST_SMALL_BYTES || !base->info.is_cpu) RETURN_IF_FAILED(opencl_memory_free(base, &left));
  cl_int error = bytes > left ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                              : opencl_buffer_create(device, 0, bytes ? bytes : 1, NULL, &buffer);
  if (error != CL_SUCCESS) return alloc_failed(device, bytes, error);
  device->held_bytes += bytes;
  mem->handle = buffer;
  mem->bytes = bytes;
  return STATUS_OK;
}

static void opencl_free(struct gpu_device *base, struct gpu_mem *mem)
{
  native(base)->held_bytes -= mem->bytes;
  clReleaseMemObject(mem->handle);
}

static status_t opencl_part(struct gpu_mem whole, size_t offset, size_t bytes, struct gpu_mem *part)
{
  cl_int error;
  const cl_buffer_region region = {offset, bytes};
  cl_mem buffer =
      clCreateSubBuffer(whole.handle, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
  RETURN_IF_FAILED(opencl_check(error, "taking a part of a buffer"));
  *part = (struct gpu_mem){buffer, bytes};
  return STATUS_OK;
}

static void opencl_part_end(struct gpu_mem *part)
{
  clReleaseMemObject(part->handle);
}

/** Creates pinned memory: a buffer in host memory that stays mapped while it exists. If \a memory
 * is NULL, the driver allocates it. */
static cl_int pinned_add(struct opencl_device *device, void *memory, size_t bytes, void **host)
{
  cl_int error;
  struct opencl_pinned *pinned = malloc(sizeof *pinned);
  if (!pinned) return CL_OUT_OF_HOST_MEMORY;
  error = opencl_buffer_create(device, memory ? CL_MEM_USE_HOST_PTR : CL_MEM_ALLOC_HOST_PTR, bytes, memory,
                               &pinned->buffer);
  if (error != CL_SUCCESS) {
    free(pinned);
    return error;
  }
  pinned->host = clEnqueueMapBuffer(device->service, pinned->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                    bytes, 0, NULL, NULL, &error);
  if (error != CL_SUCCESS) {
    clReleaseMemObject(pinned->buffer);
    free(pinned);
    return error;
  }
  pinned->next = device->pinned;
  device->pinned = pinned;
  *host = pinned->host;
  return CL_SUCCESS;
}

static void pinned_drop(struct opencl_device *device, const void *host)
{
  for (struct opencl_pinned **link = &device->pinned; *link; link = &(*link)->next) {
    struct opencl_pinned *pinned = *link;
    if (pinned->host != host) continue;
    *link = pinned->next;
    clEnqueueUnmapMemObject(device->service, pinned->buffer, pinned->host, 0, NULL, NULL);
    clFinish(device->service);
    clReleaseMemObject(pinned->buffer);
    free(pinned);
    return;
  }
}

static status_t opencl_alloc_host(struct gpu_device *base, size_t bytes, enum gpu_host_kind kind, void **host)
{
  if (kind == GPU_HOST_PAGEABLE) return cpu_alloc_host(base, bytes, kind, host);
  cl_int error = pinned_add(native(base), NULL, bytes ? bytes : 1, host);
  return error == CL_SUCCESS ? STATUS_OK : alloc_failed(native(base), bytes, error);
}

static void opencl_free_host(struct gpu_device *base, enum gpu_host_kind kind, void *host)
{
  if (kind == GPU_HOST_PAGEABLE)
    free(host);
  else
    pinned_drop(native(base), host);
}

/* A CPU device needs no pinning, because the host itself copies. */
static int opencl_pin(struct gpu_device *base, void *host, size_t bytes, char reason[GPU_TEXT_MAX])
{
  void *mapped;
  cl_int error = base->info.is_cpu ? CL_SUCCESS : pinned_add(native(base), host, bytes, &mapped);
  if (error == CL_SUCCESS) return 1;
  atomic_store(&native(base)->noticed, NOTICE_NONE);
  snprintf(reason, GPU_TEXT_MAX, "%s of host memory cannot be page-locked (%s)", report_bytes(bytes),
           opencl_error_name(error));
  return 0;
}

static void opencl_unpin(struct gpu_device *base, void *host)
{
  pinned_drop(native(base), host);
}

/* OpenCL 1.2 has no priorities, so urgent queues are ordinary ones. */
static status_t opencl_queue_create(struct gpu_device *base, enum gpu_urgency urgency,
                                    struct gpu_queue **created)
{
  (void)urgency;
  struct opencl_device *device = native(base);
  cl_int error;
  struct opencl_queue *queue = malloc(sizeof *queue);
  if (!queue) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a queue");
  queue->base.device = base;
  queue->queue = clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &error);
  if (error != CL_SUCCESS) {
    free(queue);
    return opencl_check(error, "clCreateCommandQueue");
  }
  *created = &queue->base;
  return STATUS_OK;
}

static void opencl_queue_destroy(struct gpu_queue *queue)
{
  clReleaseCommandQueue(opencl_queue_handle(queue));
  free(queue);
}

static status_t opencl_event_create(struct gpu_device *device, struct gpu_event **created)
{
  struct opencl_event *event = calloc(1, sizeof *event);
  if (!event) return log_fail(STATUS_ENVIRONMENT, "out of host memory for an event");
  event->base.device = device;
  *created = &event->base;
  return STATUS_OK;
}

static void opencl_event_destroy(struct gpu_event *base)
{
  struct opencl_event *event = (struct opencl_event *)base;
  if (event->event) clReleaseEvent(event->event);
  free(event);
}

static status_t opencl_record(struct gpu_event *base, struct gpu_queue *queue)
{
  struct opencl_event *event = (struct opencl_event *)base;
  cl_event marker;
  cl_int error = clEnqueueMarkerWithWaitList(opencl_queue_handle(queue), 0, NULL, &marker);
  RETURN_IF_FAILED(opencl_check(error, "clEnqueueMarkerWithWaitList"));
  if (event->event) clReleaseEvent(event->event);
  event->event = marker;
  return STATUS_OK;
}

static cl_int flush_queue_of(cl_event event)
{
  cl_command_queue queue;
  cl_int error = clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
  return error == CL_SUCCESS ? clFlush(queue) : error;
}

/* Flushes the marker's queue: OpenCL starts no work that waits for a queue that was never
 * flushed. */
static status_t opencl_wait(struct gpu_queue *queue, struct gpu_event *base)
{
  struct opencl_event *event = (struct opencl_event *)base;
  if (!event->event) return STATUS_OK;
  cl_int error = flush_queue_of(event->event);
  if (error == CL_SUCCESS)
    error = clEnqueueBarrierWithWaitList(opencl_queue_handle(queue), 1, &event->event, NULL);
  return opencl_check(error, "clEnqueueBarrierWithWaitList");
}

static status_t opencl_ready(struct gpu_event *base, int *ready)
{
  struct opencl_event *event = (struct opencl_event *)base;
  cl_int state = CL_COMPLETE, error = CL_SUCCESS;
  if (event->event) {
    error = flush_queue_of(event->event);
    if (error == CL_SUCCESS)
      error = clGetEventInfo(event->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    if (error == CL_SUCCESS && state < 0) error = state;
  }
  RETURN_IF_FAILED(opencl_check(error, "work before an event"));
  RETURN_IF_FAILED(check_notices(base->device));
  *ready = state == CL_COMPLETE;
  return STATUS_OK;
}

static status_t event_time(struct gpu_event *base, cl_ulong *nanoseconds)
{
  struct opencl_event *event = (struct opencl_event *)base;
  if (!event->event) return log_fail(STATUS_FAULT, "the time between events that were never recorded");
  cl_int error =
      clGetEventProfilingInfo(event->event, CL_PROFILING_COMMAND_END, sizeof *nanoseconds, nanoseconds, NULL);
  return opencl_check(error, "clGetEventProfilingInfo");
}

static status_t opencl_elapsed(struct gpu_event *begin, struct gpu_event *end, double *seconds)
{
  cl_ulong first, last;
  RETURN_IF_FAILED(event_time(begin, &first));
  RETURN_IF_FAILED(event_time(end, &last));
  *seconds = 1e-9 * (double)(cl_long)(last - first);
  return STATUS_OK;
}

static status_t opencl_sync(struct gpu_queue *queue)
{
  cl_int error = clFinish(opencl_queue_handle(queue));
  RETURN_IF_FAILED(opencl_check(error, "clFinish"));
  return check_notices(queue->device);
}

const struct gpu_backend gpu_backend_opencl = {
    .name = "opencl",
    .about = "OpenCL 1.2 devices: GPUs, accelerators, CPUs",
    .probe = opencl_device_probe,
    .open = opencl_device_open,
    .close = opencl_device_close,
    .alloc = opencl_alloc,
    .free = opencl_free,
    .alloc_host = opencl_alloc_host,
    .free_host = opencl_free_host,
    .pins = {opencl_pin, opencl_unpin},
    .row_copies = {opencl_copy_rows_in, opencl_copy_rows_out},
    .memory_free = opencl_memory_free,
    .queue_create = opencl_queue_create,
    .queue_destroy = opencl_queue_destroy,
    .event_create = opencl_event_create,
    .event_destroy = opencl_event_destroy,
    .copy_in = opencl_copy_in,
    .copy_out = opencl_copy_out,
    .clear = opencl_clear,
    .parts = {opencl_part, opencl_part_end},
    .record = opencl_record,
    .wait = opencl_wait,
    .ready = opencl_ready,
    .elapsed = opencl_elapsed,
    .sync = opencl_sync,
};
