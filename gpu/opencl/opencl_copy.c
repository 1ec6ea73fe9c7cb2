/* SPDX-License-Identifier: MIT */
#include "gpu/opencl/opencl_device.h"
#include "gpu/memory.h"

/* OpenCL rejects copies of zero bytes, so they are skipped here. */
status_t opencl_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                        size_t bytes)
{
  RETURN_IF_FAILED(gpu_range_check("copy in", mem, offset, bytes));
  if (!bytes) return STATUS_OK;
  cl_int error = clEnqueueWriteBuffer(opencl_queue_handle(queue), mem.handle, CL_FALSE, offset, bytes, host,
                                      0, NULL, NULL);
  return opencl_check(error, "clEnqueueWriteBuffer");
}

status_t opencl_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset, size_t bytes)
{
  RETURN_IF_FAILED(gpu_range_check("copy out", mem, offset, bytes));
  if (!bytes) return STATUS_OK;
  cl_int error = clEnqueueReadBuffer(opencl_queue_handle(queue), mem.handle, CL_FALSE, offset, bytes, host, 0,
                                     NULL, NULL);
  return opencl_check(error, "clEnqueueReadBuffer");
}

static status_t opencl_rows_copy(struct gpu_queue *queue, struct gpu_mem mem, const struct gpu_rows *rows,
                                 void *host, int out)
{
  const size_t packed[3] = {0, 0, 0}, region[3] = {rows->width, rows->rows, rows->layers};
  const size_t field[3] = {rows->offset % rows->pitch, rows->offset % rows->slice / rows->pitch,
                           rows->offset / rows->slice};
  const char *what = out ? "clEnqueueReadBufferRect" : "clEnqueueWriteBufferRect";
  RETURN_IF_FAILED(gpu_rows_check(what, mem, rows));
  cl_command_queue q = opencl_queue_handle(queue);
  cl_int error = out ? clEnqueueReadBufferRect(q, mem.handle, CL_FALSE, field, packed, region, rows->pitch,
                                               rows->slice, 0, 0, host, 0, NULL, NULL)
                     : clEnqueueWriteBufferRect(q, mem.handle, CL_FALSE, field, packed, region, rows->pitch,
                                                rows->slice, 0, 0, host, 0, NULL, NULL);
  return opencl_check(error, what);
}

status_t opencl_copy_rows_in(struct gpu_queue *queue, struct gpu_mem mem, const struct gpu_rows *rows,
                             const void *host)
{
  return opencl_rows_copy(queue, mem, rows, (void *)host, 0);
}

status_t opencl_copy_rows_out(struct gpu_queue *queue, void *host, struct gpu_mem mem,
                              const struct gpu_rows *rows)
{
  return opencl_rows_copy(queue, mem, rows, host, 1);
}

status_t opencl_clear(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes)
{
  const cl_uint zero = 0;
  RETURN_IF_FAILED(gpu_range_check("clear", mem, offset, bytes));
  if (!bytes) return STATUS_OK;
  size_t width = offset % sizeof zero || bytes % sizeof zero ? 1 : sizeof zero;
  cl_int error =
      clEnqueueFillBuffer(opencl_queue_handle(queue), mem.handle, &zero, width, offset, bytes, 0, NULL, NULL);
  return opencl_check(error, "clEnqueueFillBuffer");
}
