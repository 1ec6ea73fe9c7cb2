/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The device layer: one const struct per backend, with the same functions (verbs) for every
 * device.
 *
 * A device has queues. Work in one queue runs in order; queues run concurrently. Copies and kernels
 * are asynchronous to the host if the device supports that (on the CPU backend a call returns when
 * the work is done). Kernels are not launched here: each workload launches its own, and gets the
 * native handles from the backend's header (gpu/cuda/cuda_device.h, gpu/opencl/opencl_device.h).
 *
 * Every verb returns STATUS_OK, or logs the exact cause and returns STATUS_ENVIRONMENT (not
 * available, or not enough) or STATUS_FAULT (failed while running). Outputs are set only on
 * success. */
#ifndef GPU_GPU_H
#define GPU_GPU_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "gpu/backends.h"

#define GPU_TEXT_MAX 128

struct gpu_backend;

/** Properties of a device, known before it is opened. Unknown texts are "", unknown numbers 0. */
struct gpu_device_info {
  char name[GPU_TEXT_MAX]; /**< product name, as the vendor writes it */
  /** "GPU-…" for NVIDIA, a stable text per host for CPUs, 32 hex digits for other devices */
  char uuid[48];
  char pci[16];                /**< PCI address such as "0000:3b:00.0"; "" for CPUs */
  char driver[GPU_TEXT_MAX];   /**< driver and runtime versions */
  char arch[32];               /**< architecture, such as "sm_90" or "x86_64 avx2" */
  char platform[GPU_TEXT_MAX]; /**< OpenCL platform, "" for other backends */
  uint64_t memory_bytes;       /**< total memory */
  uint64_t max_alloc_bytes;    /**< largest single allocation */
  uint64_t cache_bytes;        /**< size of the last-level cache */
  int compute_units;           /**< number of multiprocessors or cores */
  int numa;                    /**< NUMA node by its OS index, −1 if unknown */
  int fp64;                    /**< 1: the device supports double precision */
  int is_cpu;                  /**< 1: the device uses the host's own cores */
  int emulated;                /**< 1: its times come from an emulator and are no measurements */
};

struct gpu_device {
  const struct gpu_backend *backend;
  struct gpu_device_info info;
};

struct gpu_queue {
  struct gpu_device *device;
};

struct gpu_event {
  struct gpu_device *device;
};

/** Device memory: a CUDA device pointer, a cl_mem, or a host pointer. */
struct gpu_mem {
  void *handle;
  size_t bytes;
};

/** Data with which another process of the host opens shared memory. It can be copied as bytes. */
struct gpu_share {
  unsigned char handle[64]; /**< data in the backend's own format */
  uint64_t bytes;
  char uuid[48]; /**< UUID of the device */
};

/** Rows of a box in device memory; lengths in bytes. In host memory the rows are contiguous. */
struct gpu_rows {
  size_t offset;             /**< offset of the first row */
  size_t width, rows, pitch; /**< bytes per row, rows per layer, bytes from row to row */
  size_t layers, slice;      /**< layers; bytes from one layer to the next, a multiple of pitch */
};

/** Recorded work of a queue, which can be launched repeatedly. */
struct gpu_graph {
  struct gpu_device *device;
};

enum gpu_host_kind {
  GPU_HOST_PAGEABLE, /**< ordinary memory */
  GPU_HOST_PINNED    /**< page-locked, if the device supports that */
};

enum gpu_urgency { GPU_NORMAL, GPU_URGENT };

/** Libraries that can use a device's memory by address. */
enum gpu_memory {
  GPU_MEMORY_OPAQUE, /**< only the backend itself can use the memory */
  GPU_MEMORY_HOST,   /**< the host can use it, and therefore every library */
  GPU_MEMORY_CUDA    /**< libraries with CUDA support can use it */
};

/** Alignment of the start of a part (gpu_part), in bytes. OpenCL's CL_DEVICE_MEM_BASE_ADDR_ALIGN is
 * 4096 bits on NVIDIA's driver, the largest known value. */
#define GPU_PART_BYTES 512

/** The vendor whose GPUs a backend serves best. */
enum gpu_vendor { GPU_VENDOR_ANY, GPU_VENDOR_NVIDIA, GPU_VENDOR_AMD, GPU_VENDOR_INTEL, GPU_VENDORS };

struct gpu_backend {
  const char *name;  /**< "cpu", "cuda", … */
  const char *about; /**< description in --list */
  enum gpu_memory memory;
  /** On a host with a GPU of this vendor, automatic choice uses only this backend. */
  enum gpu_vendor vendor;
  int on_host;   /**< 1: kernels run on this process's threads, so there is always a device */
  int for_tests; /**< 1: used only if the user names it */
  /** maximum number of compute units that a program may select; 0: programs use all units */
  int units_max;

  /** \brief Lists devices. Never fails: if there are none, *n is 0 and `reason` gives the cause
   * (not built, no driver, …). The caller frees *devices. */
  void (*probe)(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX]);
  status_t (*open)(int index, struct gpu_device **device);
  void (*close)(struct gpu_device *device);

  /** \brief Allocates memory with undefined contents. The CPU backend leaves pages untouched, so
   * that the threads that first write them determine their NUMA nodes. */
  status_t (*alloc)(struct gpu_device *device, size_t bytes, struct gpu_mem *mem);
  void (*free)(struct gpu_device *device, struct gpu_mem *mem);
  status_t (*alloc_host)(struct gpu_device *device, size_t bytes, enum gpu_host_kind kind, void **host);
  void (*free_host)(struct gpu_device *device, enum gpu_host_kind kind, void *host);
  /** \brief Sets *bytes to the device memory that is free now. */
  status_t (*memory_free)(struct gpu_device *device, uint64_t *bytes);

  /** \brief Creates a queue. Work of an urgent queue precedes waiting work of other queues if the
   * device supports that. */
  status_t (*queue_create)(struct gpu_device *device, enum gpu_urgency urgency, struct gpu_queue **queue);
  void (*queue_destroy)(struct gpu_queue *queue);
  status_t (*event_create)(struct gpu_device *device, struct gpu_event **event);
  void (*event_destroy)(struct gpu_event *event);

  /** \brief Copies in queue order. Host memory must stay valid until the queue has passed the
   * copy. */
  status_t (*copy_in)(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                      size_t bytes);
  status_t (*copy_out)(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset, size_t bytes);
  /** \brief Sets \a bytes bytes at \a offset to zero. */
  status_t (*clear)(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes);

  /** \brief Marks the current end of the queue. An event can be recorded again. */
  status_t (*record)(struct gpu_event *event, struct gpu_queue *queue);
  /** \brief Makes later work of the queue wait for the event. */
  status_t (*wait)(struct gpu_queue *queue, struct gpu_event *event);
  /** \brief Sets *ready to whether the queue has reached the event, without blocking. Also makes
   * the device start queued work. */
  status_t (*ready)(struct gpu_event *event, int *ready);
  /** \brief Sets *seconds to the time between two passed events of a device, by its own clock. */
  status_t (*elapsed)(struct gpu_event *begin, struct gpu_event *end, double *seconds);
  /** \brief Blocks the host until the queue is empty. */
  status_t (*sync)(struct gpu_queue *queue);

  /* Capabilities: groups of verbs, of which a backend has all or none; gpu_has checks that. Some
   * wrappers below have a fallback; the others require the capability. */

  /** Events without a timestamp. Backends whose timestamps cost nothing lack this capability;
   * gpu_event_create_untimed then makes timed events. */
  struct gpu_untimed {
    status_t (*create)(struct gpu_device *device, struct gpu_event **event);
  } untimed;

  /** \brief `pin` makes copies from and to memory of host_share.h as fast as those of
   * GPU_HOST_PINNED, until `unpin`. If pinning fails, `pin` returns 0, sets \a reason and logs
   * nothing. Backends without the capability already copy at full speed. */
  struct gpu_pins {
    int (*pin)(struct gpu_device *device, void *host, size_t bytes, char reason[GPU_TEXT_MAX]);
    void (*unpin)(struct gpu_device *device, void *host);
  } pins;

  /** \brief Copies of a box by the device's copy engines, as fast as contiguous copies unless rows
   * are short. Without the capability the host would copy row by row. */
  struct gpu_row_copies {
    status_t (*in)(struct gpu_queue *queue, struct gpu_mem mem, const struct gpu_rows *rows,
                   const void *host);
    status_t (*out)(struct gpu_queue *queue, void *host, struct gpu_mem mem, const struct gpu_rows *rows);
  } row_copies;

  /** Functions for memory that other processes of the host can open. */
  struct gpu_sharing {
    /** \brief Allocates shared memory; the verb free releases it. */
    status_t (*alloc)(struct gpu_device *device, size_t bytes, struct gpu_mem *mem);
    status_t (*publish)(struct gpu_device *device, struct gpu_mem mem, struct gpu_share *share);
    /** \brief Opens memory that another process shares, for kernels and copies of \a device. If
     * that is impossible, returns 0, sets \a reason and logs nothing. */
    int (*attach)(struct gpu_device *device, const struct gpu_share *share, struct gpu_mem *mem,
                  char reason[GPU_TEXT_MAX]);
    void (*detach)(struct gpu_device *device, struct gpu_mem *mem);
    /** \brief Copies between two device memories, one of which may be attached. */
    status_t (*copy)(struct gpu_queue *queue, struct gpu_mem to, size_t to_offset, struct gpu_mem from,
                     size_t from_offset, size_t bytes);
  } sharing;

  /** \brief `begin` makes a memory object of \a bytes bytes of \a whole from \a offset on (a
   * multiple of GPU_PART_BYTES). Call `end` before \a whole is freed; queued work may still use the
   * part. Backends without the capability use addresses. */
  struct gpu_parts {
    status_t (*begin)(struct gpu_mem whole, size_t offset, size_t bytes, struct gpu_mem *part);
    void (*end)(struct gpu_mem *part);
  } parts;

  /** \brief Work enqueued between `begin` and `end`, in the queue and in others that wait for its
   * events, is recorded instead of executed. */
  struct gpu_graphs {
    status_t (*begin)(struct gpu_queue *queue);
    status_t (*end)(struct gpu_queue *queue, struct gpu_graph **graph);
    status_t (*launch)(struct gpu_graph *graph, struct gpu_queue *queue);
    void (*destroy)(struct gpu_graph *graph);
  } graphs;
};

/** True if a backend has a capability, for example gpu_has(backend, graphs). */
#define gpu_has(backend, capability) gpu_has_##capability(backend)
#define GPU_HAS(capability, verb)                                                                            \
  static inline int gpu_has_##capability(const struct gpu_backend *backend)                                  \
  {                                                                                                          \
    return backend->capability.verb != NULL;                                                                 \
  }
GPU_HAS(untimed, create)
GPU_HAS(pins, pin)
GPU_HAS(row_copies, in)
GPU_HAS(sharing, alloc)
GPU_HAS(parts, begin)
GPU_HAS(graphs, begin)
#undef GPU_HAS

#define GPU_BACKEND(name, built) extern const struct gpu_backend gpu_backend_##name;
GPU_BACKENDS(GPU_BACKEND)
#undef GPU_BACKEND

/** \brief All backends, built or not, in order of preference; ends with NULL. */
extern const struct gpu_backend *const gpu_backends[];

/** \brief Names of all backends; the array has no NULL at the end. */
#define GPU_BACKEND_ONE(name, built) +1
extern const char *const gpu_backend_names[GPU_BACKENDS(GPU_BACKEND_ONE)];

/** \brief Returns the backend with that name, or NULL. */
const struct gpu_backend *gpu_backend_find(const char *name);

/** \brief Reads the name of a backend into a const struct gpu_backend *, "auto" as NULL. Logs and
 * returns STATUS_USAGE for any other text. */
status_t gpu_backend_parse(const char *option, const char *text, void *backend);

/** \brief For backends: logs that the device could not be opened, with its PCI address and the
 * driver's \a error. Returns STATUS_ENVIRONMENT. */
status_t gpu_open_fail(const struct gpu_device_info *info, int index, const char *error);

static inline status_t gpu_open(const struct gpu_backend *backend, int index, struct gpu_device **device)
{
  return backend->open(index, device);
}

/** \brief 1 while a call that may wait for the device is running, so that other threads know that
 * the main thread waits for the device. */
extern volatile int gpu_calls;

static inline status_t gpu_called(status_t status)
{
  gpu_calls = 0;
  return status;
}

static inline void gpu_close(struct gpu_device *device)
{
  if (device) device->backend->close(device);
}
static inline status_t gpu_alloc(struct gpu_device *device, size_t bytes, struct gpu_mem *mem)
{
  return gpu_called((gpu_calls = 1, device->backend->alloc(device, bytes, mem)));
}
static inline status_t gpu_alloc_shared(struct gpu_device *device, size_t bytes, struct gpu_mem *mem)
{
  const struct gpu_backend *backend = device->backend;
  return (gpu_has(backend, sharing) ? backend->sharing.alloc : backend->alloc)(device, bytes, mem);
}
/** \brief Pins host memory if the backend needs that. Returns 1, or 0 with a \a reason. */
static inline int gpu_pin(struct gpu_device *device, void *host, size_t bytes, char reason[GPU_TEXT_MAX])
{
  return !gpu_has(device->backend, pins) || device->backend->pins.pin(device, host, bytes, reason);
}
static inline void gpu_unpin(struct gpu_device *device, void *host)
{
  if (gpu_has(device->backend, pins)) device->backend->pins.unpin(device, host);
}
static inline void gpu_free(struct gpu_device *device, struct gpu_mem *mem)
{
  if (mem->handle) device->backend->free(device, mem);
  mem->handle = NULL;
}
static inline status_t gpu_alloc_host(struct gpu_device *device, size_t bytes, enum gpu_host_kind kind,
                                      void **host)
{
  return device->backend->alloc_host(device, bytes, kind, host);
}
static inline void gpu_free_host(struct gpu_device *device, enum gpu_host_kind kind, void *host)
{
  if (host) device->backend->free_host(device, kind, host);
}
static inline status_t gpu_memory_free(struct gpu_device *device, uint64_t *bytes)
{
  return device->backend->memory_free(device, bytes);
}
static inline status_t gpu_queue_create(struct gpu_device *device, enum gpu_urgency urgency,
                                        struct gpu_queue **queue)
{
  return gpu_called((gpu_calls = 1, device->backend->queue_create(device, urgency, queue)));
}
static inline void gpu_queue_destroy(struct gpu_queue *queue)
{
  if (queue) queue->device->backend->queue_destroy(queue);
}
static inline status_t gpu_event_create(struct gpu_device *device, struct gpu_event **event)
{
  return gpu_called((gpu_calls = 1, device->backend->event_create(device, event)));
}
static inline status_t gpu_event_create_untimed(struct gpu_device *device, struct gpu_event **event)
{
  const struct gpu_backend *backend = device->backend;
  return (gpu_has(backend, untimed) ? backend->untimed.create : backend->event_create)(device, event);
}
static inline void gpu_event_destroy(struct gpu_event *event)
{
  if (event) event->device->backend->event_destroy(event);
}
static inline status_t gpu_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset,
                                   const void *host, size_t bytes)
{
  return gpu_called((gpu_calls = 1, queue->device->backend->copy_in(queue, mem, offset, host, bytes)));
}
static inline status_t gpu_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset,
                                    size_t bytes)
{
  return gpu_called((gpu_calls = 1, queue->device->backend->copy_out(queue, host, mem, offset, bytes)));
}
static inline status_t gpu_copy_rows_in(struct gpu_queue *queue, struct gpu_mem mem,
                                        const struct gpu_rows *rows, const void *host)
{
  return gpu_called((gpu_calls = 1, queue->device->backend->row_copies.in(queue, mem, rows, host)));
}
static inline status_t gpu_copy_rows_out(struct gpu_queue *queue, void *host, struct gpu_mem mem,
                                         const struct gpu_rows *rows)
{
  return gpu_called((gpu_calls = 1, queue->device->backend->row_copies.out(queue, host, mem, rows)));
}
/** \brief Returns 1 if work of a device with that kind of \a memory occupies the host's cores. */
static inline int gpu_takes_cores(enum gpu_memory memory, const struct gpu_device_info *info)
{
  return info->is_cpu || memory == GPU_MEMORY_HOST;
}
static inline status_t gpu_clear(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes)
{
  return gpu_called((gpu_calls = 1, queue->device->backend->clear(queue, mem, offset, bytes)));
}
static inline status_t gpu_record(struct gpu_event *event, struct gpu_queue *queue)
{
  return gpu_called((gpu_calls = 1, queue->device->backend->record(event, queue)));
}
static inline status_t gpu_wait(struct gpu_queue *queue, struct gpu_event *event)
{
  return gpu_called((gpu_calls = 1, queue->device->backend->wait(queue, event)));
}
static inline status_t gpu_ready(struct gpu_event *event, int *ready)
{
  return gpu_called((gpu_calls = 1, event->device->backend->ready(event, ready)));
}
static inline status_t gpu_elapsed(struct gpu_event *begin, struct gpu_event *end, double *seconds)
{
  return gpu_called((gpu_calls = 1, begin->device->backend->elapsed(begin, end, seconds)));
}
static inline status_t gpu_sync(struct gpu_queue *queue)
{
  return gpu_called((gpu_calls = 1, queue->device->backend->sync(queue)));
}
/** \brief Copies to the host, and waits until the queue is empty. */
static inline status_t gpu_read(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset,
                                size_t bytes)
{
  status_t status = gpu_copy_out(queue, host, mem, offset, bytes);
  return status == STATUS_OK ? gpu_sync(queue) : status;
}
static inline status_t gpu_share(struct gpu_device *device, struct gpu_mem mem, struct gpu_share *share)
{
  return device->backend->sharing.publish(device, mem, share);
}
static inline int gpu_attach(struct gpu_device *device, const struct gpu_share *share, struct gpu_mem *mem,
                             char reason[GPU_TEXT_MAX])
{
  return device->backend->sharing.attach(device, share, mem, reason);
}
static inline void gpu_detach(struct gpu_device *device, struct gpu_mem *mem)
{
  if (mem->handle) device->backend->sharing.detach(device, mem);
  mem->handle = NULL;
}
static inline status_t gpu_copy(struct gpu_queue *queue, struct gpu_mem to, size_t to_offset,
                                struct gpu_mem from, size_t from_offset, size_t bytes)
{
  return gpu_called(
      (gpu_calls = 1, queue->device->backend->sharing.copy(queue, to, to_offset, from, from_offset, bytes)));
}
static inline status_t gpu_part(struct gpu_device *device, struct gpu_mem whole, size_t offset, size_t bytes,
                                struct gpu_mem *part)
{
  if (gpu_has(device->backend, parts)) return device->backend->parts.begin(whole, offset, bytes, part);
  *part = (struct gpu_mem){(char *)whole.handle + offset, bytes};
  return STATUS_OK;
}
static inline void gpu_part_end(struct gpu_device *device, struct gpu_mem *part)
{
  if (gpu_has(device->backend, parts)) device->backend->parts.end(part);
}
static inline status_t gpu_graph_begin(struct gpu_queue *queue)
{
  return queue->device->backend->graphs.begin(queue);
}
static inline status_t gpu_graph_end(struct gpu_queue *queue, struct gpu_graph **graph)
{
  return queue->device->backend->graphs.end(queue, graph);
}
static inline status_t gpu_graph_launch(struct gpu_graph *graph, struct gpu_queue *queue)
{
  return graph->device->backend->graphs.launch(graph, queue);
}
static inline void gpu_graph_destroy(struct gpu_graph *graph)
{
  if (graph) graph->device->backend->graphs.destroy(graph);
}

#endif
