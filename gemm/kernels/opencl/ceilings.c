/* SPDX-License-Identifier: MIT */
/* Ceilings by kernels of their own: each is launched until it takes long enough to be timed. Where
 * the device is a CPU, the host's threads measure it. */
#include "gemm/kernels/opencl/ceilings_cl.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gemm/kernels/cpu/cpu_gemm.h"
#include "gemm/kernels/opencl/common_cl.h"
#include "gemm/kernels/opencl/opencl_gemm.h"

#define GROUP        256
#define GROUPS       16 /* a compute unit */
#define TURNS        64
#define LONG_ENOUGH  0.02
#define TURNS_MAX    (1 << 22)
#define DEVICE_BYTES ((size_t)256 << 20)

struct bench {
  struct opencl_device *device;
  struct gpu_queue *queue;
  struct gpu_event *begin, *end;
  cl_program program;
  struct gpu_mem in, out;
  size_t items;
};

static status_t set(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
  cl_int error = clSetKernelArg(kernel, index, bytes, value);
  return error == CL_SUCCESS ? STATUS_OK : opencl_fail(error, "clSetKernelArg of a ceiling");
}

static status_t timed(const struct bench *b, cl_kernel kernel, double *seconds)
{
  const size_t local = GROUP;
  RETURN_IF_FAILED(gpu_record(b->begin, b->queue));
  cl_int error = clEnqueueNDRangeKernel(opencl_queue_handle(b->queue), kernel, 1, NULL, &b->items, &local, 0,
                                        NULL, NULL);
  if (error != CL_SUCCESS) return opencl_fail(error, "clEnqueueNDRangeKernel of a ceiling");
  RETURN_IF_FAILED(gpu_record(b->end, b->queue));
  RETURN_IF_FAILED(gpu_sync(b->queue));
  return gpu_elapsed(b->begin, b->end, seconds);
}

/* Doubles the turns until the time is measurable; *seconds is of one turn. */
static status_t turns_time(const struct bench *b, cl_kernel kernel, double *seconds)
{
  double once = 0;
  for (cl_int turns = TURNS; turns <= TURNS_MAX; turns *= 4) {
    RETURN_IF_FAILED(set(kernel, 0, sizeof turns, &turns));
    RETURN_IF_FAILED(timed(b, kernel, &once));
    *seconds = once / turns;
    if (once >= LONG_ENOUGH) break;
  }
  return STATUS_OK;
}

static status_t kernel_make(const struct bench *b, const char *name, cl_kernel *kernel)
{
  cl_int error;
  *kernel = clCreateKernel(b->program, name, &error);
  if (error == CL_SUCCESS) return STATUS_OK;
  *kernel = NULL;
  return opencl_fail(error, "clCreateKernel of a ceiling");
}

static status_t spin_measure(const struct bench *b, double *flops)
{
  cl_kernel kernel;
  cl_mem out = b->out.handle;
  cl_float factor = 0.5f;
  double seconds = 0;
  status_t status;
  RETURN_IF_FAILED(kernel_make(b, "spin", &kernel));
  TRY(set(kernel, 1, sizeof factor, &factor), done);
  TRY(set(kernel, 2, sizeof out, &out), done);
  TRY(turns_time(b, kernel, &seconds), done);
  /* 8 chains of four, 8 times unrolled. */
  *flops = seconds > 0 ? 2.0 * 64 * 4 * (double)b->items / seconds : 0;
done:
  clReleaseKernel(kernel);
  return status;
}

static status_t local_measure(const struct bench *b, double *rate)
{
  cl_kernel kernel;
  cl_mem out = b->out.handle;
  double seconds = 0;
  status_t status;
  RETURN_IF_FAILED(kernel_make(b, "read_local", &kernel));
  TRY(set(kernel, 1, sizeof out, &out), done);
  TRY(turns_time(b, kernel, &seconds), done);
  *rate = seconds > 0 ? 64.0 * (double)b->items / seconds : 0;
done:
  clReleaseKernel(kernel);
  return status;
}

static status_t device_measure(const struct bench *b, double *rate)
{
  cl_kernel kernel;
  cl_mem in = b->in.handle, out = b->out.handle;
  cl_int chunks = (cl_int)(b->in.bytes / 16);
  double seconds = 0;
  status_t status;
  RETURN_IF_FAILED(kernel_make(b, "read_device", &kernel));
  TRY(set(kernel, 0, sizeof chunks, &chunks), done);
  TRY(set(kernel, 1, sizeof in, &in), done);
  TRY(set(kernel, 2, sizeof out, &out), done);
  for (int round = 0; round < 3; round++) TRY(timed(b, kernel, &seconds), done);
  *rate = seconds > 0 ? (double)b->in.bytes / seconds : 0;
done:
  clReleaseKernel(kernel);
  return status;
}

static status_t bench_open(struct bench *b)
{
  char *source = calloc(1, strlen(gemm_common_cl) + strlen(gemm_ceilings_cl) + 1);
  if (!source) return log_fail(STATUS_ENVIRONMENT, "out of host memory for OpenCL sources");
  strcat(strcat(source, gemm_common_cl), gemm_ceilings_cl);
  status_t status = opencl_program_build(b->device, source, "-cl-std=CL1.2", &b->program);
  free(source);
  RETURN_IF_FAILED(status);
  int units = b->device->base.info.compute_units;
  b->items = (size_t)GROUP * GROUPS * (size_t)(units > 0 ? units : 1);
  RETURN_IF_FAILED(gpu_alloc(&b->device->base, DEVICE_BYTES, &b->in));
  RETURN_IF_FAILED(gpu_alloc(&b->device->base, b->items * sizeof(float), &b->out));
  RETURN_IF_FAILED(gpu_clear(b->queue, b->in, 0, b->in.bytes));
  RETURN_IF_FAILED(gpu_event_create(&b->device->base, &b->begin));
  return gpu_event_create(&b->device->base, &b->end);
}

status_t gemm_opencl_ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                              struct gemm_ceilings *ceilings)
{
  struct bench b = {.device = (struct opencl_device *)device, .queue = queue};
  struct gemm_ceilings found = {0};
  status_t status;
  if (device->info.is_cpu) return gemm_cpu_ceilings(device, queue, type, ceilings);
  TRY(bench_open(&b), done);
  TRY(spin_measure(&b, &found.flops), done);
  TRY(device_measure(&b, &found.bytes_per_second), done);
  TRY(local_measure(&b, &found.local_bytes_per_second), done);
  *ceilings = found;
done:
  gpu_event_destroy(b.end);
  gpu_event_destroy(b.begin);
  gpu_free(device, &b.out);
  gpu_free(device, &b.in);
  if (b.program) clReleaseProgram(b.program);
  return status;
}
