/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Bounds of copies, for backends whose own copy would not notice. */
#ifndef GPU_RANGE_H
#define GPU_RANGE_H

#include "base/log.h"
#include "gpu/gpu.h"

/** \brief STATUS_FAULT, logged with the name of the \a verb, when the bytes do not lie inside the
 * memory. */
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
