/* SPDX-License-Identifier: MIT */
/* The CUDA backend, on the runtime API. The runtime is linked statically, so that a program also
 * starts on a host without a driver; the probe then gives the reason. */
#include "gpu/cuda/cuda_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/values.h"
#include "gpu/cpu/cpu_device.h"
#include "gpu/cuda/cuda_verbs.h"
#include "gpu/host.h"
#include "gpu/memory.h"

struct cuda_event {
  struct gpu_event base;
  cudaEvent_t event;
};

static cudaEvent_t event_handle(struct gpu_event *event)
{
  return ((struct cuda_event *)event)->event;
}

/* Returns 1 if the error means that memory, a device or a driver is unavailable, and 0 if it means
 * that the run failed. */
static int lacks(cudaError_t error)
{
  switch (error) {
  case cudaErrorMemoryAllocation:
  case cudaErrorInsufficientDriver:
  case cudaErrorInitializationError:
  case cudaErrorNoDevice:
  case cudaErrorInvalidDevice:
  case cudaErrorDevicesUnavailable:
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorUnsupportedPtxVersion:
  case cudaErrorJitCompilerNotFound:
  case cudaErrorSystemNotReady:
  case cudaErrorSystemDriverMismatch:
  case cudaErrorCompatNotSupportedOnDevice:
  case cudaErrorNotSupported:
    return 1;
  default:
    return 0;
  }
}

status_t cuda_fail(cudaError_t error, const char *what)
{
  /* clear the error, so that no later launch reports it again; sticky errors stay */
  cudaGetLastError();
  return log_fail(lacks(error) ? STATUS_ENVIRONMENT : STATUS_FAULT, "%s: %s (%s)", what,
                  cudaGetErrorString(error), cudaGetErrorName(error));
}

status_t cuda_use(struct gpu_device *device)
{
  return cuda_check(cudaSetDevice(((struct cuda_device *)device)->ordinal), "selecting the CUDA device");
}

static int pci_numa(const char *pci)
{
  char path[96], text[16];
  snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", pci);
  host_read_line(path, text, sizeof text);
  return text[0] ? atoi(text) : -1;
}

void cuda_write_uuid(char *text, size_t size, const cudaUUID_t *uuid)
{
  size_t n = (size_t)snprintf(text, size, "GPU");
  for (int b = 0; b < 16; b++)
    n +=
        (size_t)snprintf(text + n, size - n, "%s%02x", b == 0 || (b >= 4 && b <= 10 && b % 2 == 0) ? "-" : "",
                         (unsigned char)uuid->bytes[b]);
}

static void write_versions(char *text, size_t size)
{
  char module[32];
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  host_read_line("/sys/module/nvidia/version", module, sizeof module);
  snprintf(text, size, "driver %s%sCUDA %d.%d, runtime CUDA %d.%d", module, module[0] ? ", " : "",
           driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

static void cuda_describe(struct gpu_device_info *info, const struct cudaDeviceProp *properties)
{
  snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, properties->name);
  value_make_printable(info->name);
  cuda_write_uuid(info->uuid, sizeof info->uuid, &properties->uuid);
  snprintf(info->pci, sizeof info->pci, "%04x:%02x:%02x.0", (unsigned)properties->pciDomainID & 0xfffffff,
           (unsigned)properties->pciBusID & 0xff, (unsigned)properties->pciDeviceID & 0xff);
  write_versions(info->driver, sizeof info->driver);
  snprintf(info->arch, sizeof info->arch, "sm_%d%d", properties->major, properties->minor);
  info->memory_bytes = properties->totalGlobalMem;
  info->max_alloc_bytes = properties->totalGlobalMem;
  info->cache_bytes = (uint64_t)properties->l2CacheSize;
  info->compute_units = properties->multiProcessorCount;
  info->numa = pci_numa(info->pci);
  info->fp64 = 1;
}

/* Explains why the driver has no version: its library cannot be loaded, or is another vendor's
 * library. */
static void explain_no_driver(char reason[GPU_TEXT_MAX])
{
  Dl_info found;
  void *library = dlopen("libcuda.so.1", RTLD_LAZY);
  if (!library) {
    snprintf(reason, GPU_TEXT_MAX, "no NVIDIA driver: %s", dlerror());
    return;
  }
  void *symbol = dlsym(library, "cuInit");
  const int named = symbol && dladdr(symbol, &found) && found.dli_fname;
  snprintf(reason, GPU_TEXT_MAX, "%.90s is not NVIDIA's driver, or is broken",
           named ? found.dli_fname : "libcuda.so.1");
  dlclose(library);
}

static void cuda_explain(cudaError_t error, char reason[GPU_TEXT_MAX])
{
  const char *visible = getenv("CUDA_VISIBLE_DEVICES");
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (error == cudaErrorStubLibrary)
    snprintf(reason, GPU_TEXT_MAX,
             "libcuda.so.1 is the CUDA toolkit's stub: take its folder out of LD_LIBRARY_PATH");
  else if (error == cudaErrorInsufficientDriver && driver == 0)
    explain_no_driver(reason);
  else if (error == cudaErrorInsufficientDriver)
    snprintf(reason, GPU_TEXT_MAX,
             "the NVIDIA driver is too old: it serves CUDA %d.%d, this program needs %d.%d", driver / 1000,
             driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  else if (error == cudaErrorMemoryAllocation)
    snprintf(reason, GPU_TEXT_MAX,
             "too little host memory to start CUDA: see ulimit -v and the job's control group");
  else if (error == cudaErrorNoDevice && visible)
    snprintf(reason, GPU_TEXT_MAX, "no NVIDIA device is visible with CUDA_VISIBLE_DEVICES=%.60s", visible);
  else if (error == cudaErrorNoDevice || error == cudaSuccess)
    snprintf(reason, GPU_TEXT_MAX, "the NVIDIA driver finds no device");
  else
    snprintf(reason, GPU_TEXT_MAX, "%s (%s)", cudaGetErrorString(error), cudaGetErrorName(error));
}

static void cuda_device_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  int count = 0;
  struct cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceCount(&count);
  *devices = NULL;
  *n = 0;
  if (error != cudaSuccess || count == 0) goto none;
  struct gpu_device_info *list = calloc((size_t)count, sizeof *list);
  if (!list) {
    snprintf(reason, GPU_TEXT_MAX, "out of host memory");
    return;
  }
  for (int d = 0; d < count; d++) {
    if ((error = cudaGetDeviceProperties(&properties, d)) != cudaSuccess) {
      free(list);
      snprintf(reason, GPU_TEXT_MAX, "device %d: %s (%s)", d, cudaGetErrorString(error),
               cudaGetErrorName(error));
      cudaGetLastError();
      return;
    }
    cuda_describe(&list[d], &properties);
  }
  *devices = list;
  *n = count;
  return;
none:
  cuda_explain(error, reason);
  cudaGetLastError();
}

static status_t cuda_device_open(int index, struct gpu_device **device)
{
  struct cuda_device *d = calloc(1, sizeof *d);
  if (!d) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a CUDA device");
  d->base.backend = &gpu_backend_cuda;
  d->ordinal = index;
  cudaError_t error = cudaGetDeviceProperties(&d->properties, index);
  if (error == cudaSuccess) {
    cuda_describe(&d->base.info, &d->properties);
    error = cudaSetDevice(index);
  }
  if (error == cudaSuccess) error = cudaFree(NULL); /* cudaFree(NULL) creates the context */
  if (error == cudaSuccess) {
    *device = &d->base;
    return STATUS_OK;
  }
  cudaGetLastError();
  gpu_open_fail(&d->base.info, index, cudaGetErrorString(error));
  free(d);
  return STATUS_ENVIRONMENT;
}

static status_t cuda_memory_free(struct gpu_device *device, uint64_t *bytes)
{
  size_t available, total;
  RETURN_IF_FAILED(cuda_use(device));
  RETURN_IF_FAILED(cuda_check(cudaMemGetInfo(&available, &total), "reading the free device memory"));
  *bytes = available;
  return STATUS_OK;
}

static status_t alloc(struct gpu_device *device, size_t bytes, struct gpu_mem *mem)
{
  void *pointer;
  RETURN_IF_FAILED(cuda_use(device));
  cudaError_t error = cudaMalloc(&pointer, bytes ? bytes : 1);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return gpu_memory_refused(device, bytes, "");
  }
  RETURN_IF_FAILED(cuda_check(error, "allocating device memory"));
  *mem = (struct gpu_mem){pointer, bytes};
  return STATUS_OK;
}

/* Releasing logs no errors: after a device fault every call repeats the error that was already
 * logged. */
static void free_memory(struct gpu_device *device, struct gpu_mem *mem)
{
  (void)device;
  if (cudaFree(mem->handle) != cudaSuccess) cudaGetLastError();
}

static status_t alloc_host(struct gpu_device *device, size_t bytes, enum gpu_host_kind kind, void **host)
{
  void *memory = NULL;
  if (kind == GPU_HOST_PAGEABLE) return cpu_alloc_host(device, bytes, kind, host);
  RETURN_IF_FAILED(cuda_use(device));
  cudaError_t error = cudaHostAlloc(&memory, bytes ? bytes : 1, cudaHostAllocPortable);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return gpu_host_memory_refused(bytes, " page-locked");
  }
  RETURN_IF_FAILED(cuda_check(error, "allocating page-locked host memory"));
  *host = memory;
  return STATUS_OK;
}

static void free_host(struct gpu_device *device, enum gpu_host_kind kind, void *host)
{
  (void)device;
  if (kind == GPU_HOST_PAGEABLE)
    free(host);
  else if (cudaFreeHost(host) != cudaSuccess)
    cudaGetLastError();
}

static status_t cuda_queue_create(struct gpu_device *device, enum gpu_urgency urgency,
                                  struct gpu_queue **queue)
{
  int least = 0, greatest = 0;
  RETURN_IF_FAILED(cuda_use(device));
  RETURN_IF_FAILED(
      cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "reading the stream priorities"));
  struct cuda_queue *q = calloc(1, sizeof *q);
  if (!q) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a CUDA queue");
  q->base.device = device;
  cudaError_t error = cudaStreamCreateWithPriority(&q->stream, cudaStreamNonBlocking,
                                                   urgency == GPU_URGENT ? greatest : least);
  if (error != cudaSuccess) {
    free(q);
    return cuda_fail(error, "creating a CUDA stream");
  }
  *queue = &q->base;
  return STATUS_OK;
}

static void cuda_queue_destroy(struct gpu_queue *queue)
{
  if (cudaStreamDestroy(cuda_queue_handle(queue)) != cudaSuccess) cudaGetLastError();
  free(queue);
}

static status_t event_create_flags(struct gpu_device *device, unsigned flags, struct gpu_event **event)
{
  RETURN_IF_FAILED(cuda_use(device));
  struct cuda_event *e = calloc(1, sizeof *e);
  if (!e) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a CUDA event");
  e->base.device = device;
  cudaError_t error = cudaEventCreateWithFlags(&e->event, flags);
  if (error != cudaSuccess) {
    free(e);
    return cuda_fail(error, "creating a CUDA event");
  }
  *event = &e->base;
  return STATUS_OK;
}

static status_t cuda_event_create(struct gpu_device *device, struct gpu_event **event)
{
  return event_create_flags(device, cudaEventDefault, event);
}

/* On an H200, an event occupies a stream for 1.3 µs with a timestamp, and for 0.03 µs without. */
static status_t event_create_untimed(struct gpu_device *device, struct gpu_event **event)
{
  return event_create_flags(device, cudaEventDisableTiming, event);
}

static void cuda_event_destroy(struct gpu_event *event)
{
  if (cudaEventDestroy(event_handle(event)) != cudaSuccess) cudaGetLastError();
  free(event);
}

static status_t cuda_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                             size_t bytes)
{
  RETURN_IF_FAILED(gpu_range_check("copy in", mem, offset, bytes));
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_check(cudaMemcpyAsync((char *)mem.handle + offset, host, bytes, cudaMemcpyHostToDevice,
                                    cuda_queue_handle(queue)),
                    "copying to the device");
}

static status_t cuda_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset,
                              size_t bytes)
{
  RETURN_IF_FAILED(gpu_range_check("copy out", mem, offset, bytes));
  return cuda_check(cudaMemcpyAsync(host, (const char *)mem.handle + offset, bytes, cudaMemcpyDeviceToHost,
                                    cuda_queue_handle(queue)),
                    "copying from the device");
}

static status_t cuda_rows_copy(struct gpu_queue *queue, struct gpu_mem mem, const struct gpu_rows *rows,
                               void *host, enum cudaMemcpyKind kind, const char *what)
{
  RETURN_IF_FAILED(gpu_rows_check(what, mem, rows));
  int flat = rows->layers == 1 || rows->rows == 1;
  size_t height = rows->layers * rows->rows, pitch = rows->rows == 1 ? rows->slice : rows->pitch;
  char *device = (char *)mem.handle + rows->offset;
  if (flat)
    return cuda_check(kind == cudaMemcpyHostToDevice
                          ? cudaMemcpy2DAsync(device, pitch, host, rows->width, rows->width, height, kind,
                                              cuda_queue_handle(queue))
                          : cudaMemcpy2DAsync(host, rows->width, device, pitch, rows->width, height, kind,
                                              cuda_queue_handle(queue)),
                      what);
  struct cudaPitchedPtr packed = {host, rows->width, rows->width, rows->rows};
  struct cudaPitchedPtr field = {device, rows->pitch, rows->width, rows->slice / rows->pitch};
  struct cudaMemcpy3DParms copy = {.srcPtr = kind == cudaMemcpyHostToDevice ? packed : field,
                                   .dstPtr = kind == cudaMemcpyHostToDevice ? field : packed,
                                   .extent = {rows->width, rows->rows, rows->layers},
                                   .kind = kind};
  return cuda_check(cudaMemcpy3DAsync(&copy, cuda_queue_handle(queue)), what);
}

static status_t copy_rows_in(struct gpu_queue *queue, struct gpu_mem mem, const struct gpu_rows *rows,
                             const void *host)
{
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_rows_copy(queue, mem, rows, (void *)host, cudaMemcpyHostToDevice, "copying rows to the device");
}

static status_t copy_rows_out(struct gpu_queue *queue, void *host, struct gpu_mem mem,
                              const struct gpu_rows *rows)
{
  return cuda_rows_copy(queue, mem, rows, host, cudaMemcpyDeviceToHost, "copying rows from the device");
}

static status_t cuda_clear(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes)
{
  RETURN_IF_FAILED(gpu_range_check("clear", mem, offset, bytes));
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_check(cudaMemsetAsync((char *)mem.handle + offset, 0, bytes, cuda_queue_handle(queue)),
                    "clearing device memory");
}

static status_t cuda_record(struct gpu_event *event, struct gpu_queue *queue)
{
  return cuda_check(cudaEventRecord(event_handle(event), cuda_queue_handle(queue)), "recording a CUDA event");
}

static status_t wait_event(struct gpu_queue *queue, struct gpu_event *event)
{
  ((struct cuda_queue *)queue)->overlap = 0;
  return cuda_check(cudaStreamWaitEvent(cuda_queue_handle(queue), event_handle(event), 0),
                    "waiting for a CUDA event");
}

static status_t event_ready(struct gpu_event *event, int *ready)
{
  cudaError_t error = cudaEventQuery(event_handle(event));
  if (error == cudaErrorNotReady)
    cudaGetLastError();
  else
    RETURN_IF_FAILED(cuda_check(error, "the CUDA device"));
  *ready = error == cudaSuccess;
  return STATUS_OK;
}

static status_t cuda_elapsed(struct gpu_event *begin, struct gpu_event *end, double *seconds)
{
  float milliseconds;
  RETURN_IF_FAILED(cuda_check(cudaEventElapsedTime(&milliseconds, event_handle(begin), event_handle(end)),
                              "reading the time between CUDA events"));
  *seconds = 1e-3 * (double)milliseconds;
  return STATUS_OK;
}

static status_t sync_queue(struct gpu_queue *queue)
{
  return cuda_check(cudaStreamSynchronize(cuda_queue_handle(queue)), "the CUDA device");
}

const struct gpu_backend gpu_backend_cuda = {
    .name = "cuda",
    .about = "NVIDIA GPUs through the CUDA runtime",
    .memory = GPU_MEMORY_CUDA,
    .vendor = GPU_VENDOR_NVIDIA,
    .probe = cuda_device_probe,
    .open = cuda_device_open,
    .close = cpu_close,
    .alloc = alloc,
    .free = free_memory,
    .alloc_host = alloc_host,
    .free_host = free_host,
    .memory_free = cuda_memory_free,
    .queue_create = cuda_queue_create,
    .queue_destroy = cuda_queue_destroy,
    .event_create = cuda_event_create,
    .untimed = {event_create_untimed},
    .event_destroy = cuda_event_destroy,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .clear = cuda_clear,
    .record = cuda_record,
    .wait = wait_event,
    .ready = event_ready,
    .elapsed = cuda_elapsed,
    .sync = sync_queue,
    .pins = {cuda_pin, cuda_unpin},
    .row_copies = {copy_rows_in, copy_rows_out},
    .sharing = {cuda_alloc_shared, cuda_share, cuda_attach, cuda_detach, cuda_copy},
    .graphs = {cuda_graph_begin, cuda_graph_end, cuda_graph_launch, cuda_graph_destroy},
};
