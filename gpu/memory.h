/* SPDX-License-Identifier: MIT */
/** \file
 * \brief How much memory is left for a device, which limit applies, and which processes use the
 * rest. */
#ifndef GPU_MEMORY_H
#define GPU_MEMORY_H

#include "gpu/gpu.h"
#include "gpu/host.h"
#include "base/log.h"

/** Index of a limit: the device's own memory, then the limits of host memory by enum host_scope. */
enum { GPU_LIMIT_DEVICE, GPU_LIMIT_HOST, GPU_LIMITS = GPU_LIMIT_HOST + HOST_SCOPES };

/** \brief Reads the limits of allocations on \a device. For a GPU only the limit of the process
 * applies, because drivers map device memory into its address space; the limits of machine and
 * control group are unset. */
status_t gpu_memory_limits(struct gpu_device *device, struct host_limit limits[GPU_LIMITS]);

#define GPU_HOLDERS_TEXT 256
/** \brief Writes the other processes with memory on \a device, as NVML lists them, into \a text: ";
 * held by process 4711 (python3, 73.0 GiB)", or "" if unknown. Returns text. */
const char *gpu_memory_holders(const struct gpu_device *device, char text[GPU_HOLDERS_TEXT]);

/** \brief Logs that another \a bytes bytes could not be allocated, with the limit and the processes
 * that hold the memory. The message ends with \a detail. Returns STATUS_ENVIRONMENT. */
status_t gpu_memory_refused(struct gpu_device *device, uint64_t bytes, const char *detail);

/** \brief Like gpu_memory_refused, for host memory. \a how is " page-locked", or "". */
status_t gpu_host_memory_refused(uint64_t bytes, const char *how);

/** \brief Logs an error naming \a verb and returns STATUS_FAULT if the bytes are outside \a mem. */
static inline status_t gpu_range_check(const char *verb, struct gpu_mem mem, size_t offset, size_t bytes)
{
  if (offset <= mem.bytes && bytes <= mem.bytes - offset) return STATUS_OK;
  return log_fail(STATUS_FAULT, "%s of %zu bytes at %zu is outside of device memory of %zu bytes", verb,
                  bytes, offset, mem.bytes);
}

static inline status_t gpu_rows_check(const char *verb, struct gpu_mem mem, const struct gpu_rows *rows)
{
  return gpu_range_check(verb, mem, rows->offset,
                         (rows->layers - 1) * rows->slice + (rows->rows - 1) * rows->pitch + rows->width);
}

#endif
