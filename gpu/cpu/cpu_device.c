/* SPDX-License-Identifier: MIT */
/* The CPU backend has one device: the cores that the process may use, with the host's own memory. A
 * queue never has pending work, since every call returns when its work is done. */
#include "gpu/cpu/cpu_device.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "base/meta.h"
#include "base/report.h"
#include "base/stats.h"
#include "base/switches.h"
#include "gpu/host.h"
#include "gpu/host_share.h"
#include "gpu/memory.h"

/* A switch that the kernels of himeno-gpu and gemm-gpu read. */
SWITCH("HIMENO_CPU_SIMD", TUNING, AGREED, CHOICE("avx512|avx2|sse2|generic"),
       "instruction set of CPU kernels, instead of the widest available");

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

#define HUGE_PAGE ((size_t)2 << 20)

/* A sweep reads 13 arrays and writes one at the same index. If all began at the same offset in a
 * page, the 14 streams would compete for the same few sets of the L1 cache, which repeat every 4
 * KiB. In huge pages this also holds for the L2 cache, whose sets repeat every 64 or 128 KiB. So
 * the nth array starts n modulo 16 steps after the start of a page. A step is 256 bytes, and for
 * large arrays 256 bytes and two pages. With one thread, 13 reads and a write were 8% faster with
 * steps of 256 bytes on an Intel Xeon and 11% on an AMD EPYC; steps of whole pages gained nothing.
 * With two pages more, 16 threads of a Xeon that compute two sweeps per pass went from 1.26 to 1.43
 * times the bandwidth ceiling. */
#define STAGGER_STEP   ((size_t)256)
#define STAGGER_LARGE  (STAGGER_STEP + 8192)
#define STAGGER_PLACES 16

struct cpu_block {
  struct cpu_block *next;
  void *map;
  size_t map_bytes;
  void *start;
  size_t bytes;
};

struct cpu_device {
  struct gpu_device base;
  struct cpu_block *blocks;
  unsigned long allocations; /**< number of allocations so far, which determines the stagger */
  /** number of bytes allocated now; the system counts pages only after they are touched */
  uint64_t held_bytes;
  uint64_t available_at_open;
};

struct cpu_event {
  struct gpu_event base;
  int recorded;
  double seconds; /* by stats_now() */
};

static const char *cpu_vector_extension(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return " avx512f";
  if (__builtin_cpu_supports("avx2")) return " avx2";
  if (__builtin_cpu_supports("avx")) return " avx";
#endif
  return "";
}

/** Counts the cores to which the process is bound, and adds up their last-level caches. */
static void cpu_count_cores(struct gpu_device_info *info)
{
  hwloc_topology_t topology;
  hwloc_bitmap_t bound = NULL;
  if (hwloc_topology_init(&topology)) return;
  if (hwloc_topology_load(topology) || !(bound = hwloc_bitmap_alloc())) goto done;
  if (hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS))
    hwloc_bitmap_copy(bound, hwloc_topology_get_allowed_cpuset(topology));

  int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
  hwloc_obj_t object = NULL, level = NULL;
  while ((object = hwloc_get_next_obj_by_type(topology, cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU, object))) {
    if (!hwloc_bitmap_intersects(object->cpuset, bound)) continue;
    info->compute_units++;
    hwloc_obj_t cache = object;
    for (hwloc_obj_t up = object; up; up = up->parent)
      if (hwloc_obj_type_is_dcache(up->type)) cache = up;
    if (cache != object && cache != level) info->cache_bytes += cache->attr->cache.size;
    level = cache;
  }
done:
  hwloc_bitmap_free(bound);
  hwloc_topology_destroy(topology);
}

static void cpu_describe(struct gpu_device_info *info)
{
  struct host_memory memory;
  struct utsname system;
  memset(info, 0, sizeof *info);
  meta_cpu_model(info->name, sizeof info->name);
  host_uuid(info->uuid, sizeof info->uuid);
  if (!uname(&system)) {
    snprintf(info->driver, sizeof info->driver, "%.60s %.60s", system.sysname, system.release);
    snprintf(info->arch, sizeof info->arch, "%.16s%s", system.machine, cpu_vector_extension());
  }
  host_memory_read(&memory);
  info->memory_bytes = info->max_alloc_bytes = memory.total;
  cpu_count_cores(info);
  if (info->compute_units < 1) info->compute_units = 1;
  info->numa = -1;
  info->fp64 = 1;
  info->is_cpu = 1;
}

static void cpu_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  struct gpu_device_info *info = malloc(sizeof *info);
  *devices = info;
  *n = info ? 1 : 0;
  snprintf(reason, GPU_TEXT_MAX, "%s", info ? "" : "out of host memory");
  if (info) cpu_describe(info);
}

static status_t cpu_device_open(int index, struct gpu_device **opened)
{
  struct host_memory memory;
  if (index != 0) return log_fail(STATUS_ENVIRONMENT, "the cpu backend has only device 0, not %d", index);
  struct cpu_device *device = calloc(1, sizeof *device);
  if (!device) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a device's record");
  device->base.backend = &gpu_backend_cpu;
  cpu_describe(&device->base.info);
  host_memory_read(&memory);
  device->available_at_open = memory.available;
  *opened = &device->base;
  return STATUS_OK;
}

void cpu_close(struct gpu_device *device)
{
  free(device);
}

/* Sets the smaller of two figures. The system's count still includes allocated but untouched pages.
 * The memory available at open less held_bytes ignores what other processes have taken since. */
static status_t cpu_memory_free(struct gpu_device *base, uint64_t *bytes)
{
  struct cpu_device *device = (struct cpu_device *)base;
  struct host_memory memory;
  host_memory_read(&memory);
  uint64_t held = device->held_bytes, start = device->available_at_open;
  uint64_t ours = held < start ? start - held : 0;
  *bytes = ours < memory.available ? ours : memory.available;
  return STATUS_OK;
}

/** Maps memory so that an array of \a bytes bytes begins `lead` bytes after a multiple of `align`,
 * and is followed by at least one page. Returns 0 if that fails. */
static int cpu_map(struct cpu_block *block, size_t bytes, size_t align, size_t lead)
{
  block->map_bytes = bytes + lead + align + host_page_bytes();
  block->map = mmap(NULL, block->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block->map == MAP_FAILED) return 0;
  uintptr_t first = ((uintptr_t)block->map + align - 1) / align * align;
  /* Advise only whole huge pages, because a partial one would use memory beyond the array. */
  if (align == HUGE_PAGE) madvise((void *)first, (lead + bytes) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
  block->start = (void *)(first + lead);
  block->bytes = bytes;
  return 1;
}

static size_t bytes_before(const struct cpu_block *block)
{
  return (size_t)((char *)block->start - (char *)block->map);
}

static size_t bytes_after(const struct cpu_block *block)
{
  return block->map_bytes - bytes_before(block) - block->bytes;
}

/* Pages stay untouched, so that the thread that first writes a page determines its NUMA node. Large
 * arrays use huge pages. The address sanitizer marks the surrounding bytes as out of bounds. */
static status_t cpu_alloc(struct gpu_device *base, size_t bytes, struct gpu_mem *mem)
{
  struct cpu_device *device = (struct cpu_device *)base;
  uint64_t available = HOST_SMALL_BYTES;
  if (bytes >= HOST_SMALL_BYTES) RETURN_IF_FAILED(cpu_memory_free(base, &available));
  if (bytes > available) return gpu_memory_refused(base, bytes, "");
  struct cpu_block *block = malloc(sizeof *block);
  size_t lead = device->allocations % STAGGER_PLACES * (bytes >= HUGE_PAGE ? STAGGER_LARGE : STAGGER_STEP);
  if (!block || !cpu_map(block, bytes, bytes >= HUGE_PAGE ? HUGE_PAGE : host_page_bytes(), lead)) {
    free(block);
    return gpu_memory_refused(base, bytes, "the system refuses it");
  }
  ASAN_POISON_MEMORY_REGION(block->map, bytes_before(block));
  ASAN_POISON_MEMORY_REGION((char *)block->start + bytes, bytes_after(block));
  block->next = device->blocks;
  device->blocks = block;
  device->allocations++;
  device->held_bytes += bytes;
  mem->handle = block->start;
  mem->bytes = bytes;
  return STATUS_OK;
}

static void cpu_free(struct gpu_device *base, struct gpu_mem *mem)
{
  struct cpu_device *device = (struct cpu_device *)base;
  if (host_share_free(mem->handle)) {
    device->held_bytes -= mem->bytes;
    return;
  }
  for (struct cpu_block **link = &device->blocks; *link; link = &(*link)->next) {
    struct cpu_block *block = *link;
    if (block->start != mem->handle) continue;
    *link = block->next;
    device->held_bytes -= block->bytes;
    ASAN_UNPOISON_MEMORY_REGION(block->map, bytes_before(block));
    ASAN_UNPOISON_MEMORY_REGION((char *)block->start + block->bytes, bytes_after(block));
    munmap(block->map, block->map_bytes);
    free(block);
    return;
  }
}

static status_t cpu_alloc_shared(struct gpu_device *base, size_t bytes, struct gpu_mem *mem)
{
  struct cpu_device *device = (struct cpu_device *)base;
  void *memory = host_share_alloc(bytes);
  if (!memory)
    return log_fail(STATUS_ENVIRONMENT, "too little memory to share: %s needed", report_bytes(bytes));
  device->held_bytes += bytes;
  *mem = (struct gpu_mem){memory, bytes};
  return STATUS_OK;
}

static status_t cpu_share(struct gpu_device *device, struct gpu_mem mem, struct gpu_share *share)
{
  (void)device;
  return host_share_offer(mem, share);
}

static int cpu_attach(struct gpu_device *device, const struct gpu_share *share, struct gpu_mem *mem,
                      char reason[GPU_TEXT_MAX])
{
  (void)device;
  return host_share_attach(share, mem, reason);
}

void cpu_detach(struct gpu_device *device, struct gpu_mem *mem)
{
  (void)device;
  host_share_detach(mem);
}

static int host_has(size_t bytes)
{
  struct host_memory host;
  if (bytes < HOST_SMALL_BYTES) return 1;
  host_memory_read(&host);
  return bytes <= host_memory_least(&host)->available;
}

status_t cpu_alloc_host(struct gpu_device *device, size_t bytes, enum gpu_host_kind kind, void **host)
{
  void *memory;
  (void)device, (void)kind;
  if (!host_has(bytes) || posix_memalign(&memory, host_page_bytes(), bytes ? bytes : 1))
    return gpu_host_memory_refused(bytes, "");
  *host = memory;
  return STATUS_OK;
}

void cpu_free_host(struct gpu_device *device, enum gpu_host_kind kind, void *host)
{
  (void)device, (void)kind;
  free(host);
}

status_t cpu_queue_create(struct gpu_device *device, enum gpu_urgency urgency, struct gpu_queue **created)
{
  (void)urgency;
  struct gpu_queue *queue = calloc(1, sizeof *queue);
  if (!queue) return log_fail(STATUS_ENVIRONMENT, "out of host memory for a queue");
  queue->device = device;
  *created = queue;
  return STATUS_OK;
}

void cpu_queue_destroy(struct gpu_queue *queue)
{
  free(queue);
}

status_t cpu_event_create(struct gpu_device *device, struct gpu_event **created)
{
  struct cpu_event *event = calloc(1, sizeof *event);
  if (!event) return log_fail(STATUS_ENVIRONMENT, "out of host memory for an event");
  event->base.device = device;
  *created = &event->base;
  return STATUS_OK;
}

void cpu_event_destroy(struct gpu_event *event)
{
  free(event);
}

status_t cpu_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                     size_t bytes)
{
  (void)queue;
  RETURN_IF_FAILED(gpu_range_check("copy in", mem, offset, bytes));
  if (bytes) memcpy((char *)mem.handle + offset, host, bytes);
  return STATUS_OK;
}

status_t cpu_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset, size_t bytes)
{
  (void)queue;
  RETURN_IF_FAILED(gpu_range_check("copy out", mem, offset, bytes));
  if (bytes) memcpy(host, (const char *)mem.handle + offset, bytes);
  return STATUS_OK;
}

static status_t cpu_device_copy(struct gpu_queue *queue, struct gpu_mem to, size_t to_offset,
                                struct gpu_mem from, size_t from_offset, size_t bytes)
{
  RETURN_IF_FAILED(gpu_range_check("copy from", from, from_offset, bytes));
  return cpu_copy_in(queue, to, to_offset, (const char *)from.handle + from_offset, bytes);
}

status_t cpu_clear(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes)
{
  (void)queue;
  RETURN_IF_FAILED(gpu_range_check("clear", mem, offset, bytes));
  memset((char *)mem.handle + offset, 0, bytes);
  return STATUS_OK;
}

status_t cpu_record(struct gpu_event *base, struct gpu_queue *queue)
{
  struct cpu_event *event = (struct cpu_event *)base;
  (void)queue;
  event->seconds = stats_now();
  event->recorded = 1;
  return STATUS_OK;
}

status_t cpu_wait(struct gpu_queue *queue, struct gpu_event *event)
{
  (void)queue, (void)event;
  return STATUS_OK;
}

status_t cpu_ready(struct gpu_event *event, int *ready)
{
  (void)event;
  *ready = 1;
  return STATUS_OK;
}

status_t cpu_elapsed(struct gpu_event *begin, struct gpu_event *end, double *seconds)
{
  struct cpu_event *a = (struct cpu_event *)begin, *b = (struct cpu_event *)end;
  if (!a->recorded || !b->recorded)
    return log_fail(STATUS_FAULT, "the time between events that were never recorded");
  *seconds = b->seconds - a->seconds;
  return STATUS_OK;
}

status_t cpu_sync(struct gpu_queue *queue)
{
  (void)queue;
  return STATUS_OK;
}

const struct gpu_backend gpu_backend_cpu = {
    .name = "cpu",
    .about = "the host's own cores, OpenMP and SIMD",
    .memory = GPU_MEMORY_HOST,
    .on_host = 1,
    .probe = cpu_probe,
    .open = cpu_device_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .alloc_host = cpu_alloc_host,
    .free_host = cpu_free_host,
    .memory_free = cpu_memory_free,
    .queue_create = cpu_queue_create,
    .queue_destroy = cpu_queue_destroy,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .copy_in = cpu_copy_in,
    .copy_out = cpu_copy_out,
    .clear = cpu_clear,
    .record = cpu_record,
    .wait = cpu_wait,
    .ready = cpu_ready,
    .elapsed = cpu_elapsed,
    .sync = cpu_sync,
    .sharing = {cpu_alloc_shared, cpu_share, cpu_attach, cpu_detach, cpu_device_copy},
};
