/* SPDX-License-Identifier: MIT */
/* Ceilings by dedicated kernels: each is launched repeatedly until its time can be measured. If the
 * device is a CPU, the host's threads measure the ceilings instead. */
#include "gemm/kernels/opencl/ceilings_cl.h"

#include "gemm/kernels/cpu/cpu_gemm.h"
#include "gemm/kernels/opencl/opencl_gemm.h"

#define GROUP          256
#define GROUPS         16 /* work-groups per compute unit */
#define ITERATIONS     64
#define LONG_ENOUGH    0.02
#define ITERATIONS_MAX (1 << 22)
#define DEVICE_BYTES   ((size_t)256 << 20)

struct opencl_bench {
  struct opencl_device *device;
  struct gpu_queue *queue;
  struct gpu_event *begin, *end;
  cl_program program;
  struct gpu_mem in, out;
  size_t items;
};

static status_t opencl_bench_timed(const struct opencl_bench *b, cl_kernel kernel,
                                   const struct opencl_argument *arguments, cl_uint n, double *seconds)
{
  const size_t global[3] = {b->items, 1, 1}, local[3] = {GROUP, 1, 1};
  RETURN_IF_FAILED(gpu_record(b->begin, b->queue));
  RETURN_IF_FAILED(gemm_opencl_launch(b->queue, kernel, arguments, n, global, local));
  RETURN_IF_FAILED(gpu_record(b->end, b->queue));
  RETURN_IF_FAILED(gpu_sync(b->queue));
  return gpu_elapsed(b->begin, b->end, seconds);
}

/* Measures arithmetic or local memory. Increases the number of iterations (arguments[0]) until the
 * time can be measured. \a work is the work of one work-item in one iteration. */
static status_t iterations_measure(const struct opencl_bench *b, const char *name,
                                   struct opencl_argument *arguments, cl_uint n, double work, double *rate)
{
  cl_kernel kernel;
  double seconds = 0;
  status_t status = STATUS_OK;
  cl_int iterations = ITERATIONS;
  RETURN_IF_FAILED(gemm_opencl_kernel(b->program, name, &kernel));
  arguments[0] = (struct opencl_argument)OPENCL_ARGUMENT(iterations);
  for (; iterations <= ITERATIONS_MAX && seconds < LONG_ENOUGH; iterations *= 4) {
    TRY(opencl_bench_timed(b, kernel, arguments, n, &seconds), done);
    *rate = seconds > 0 ? work * iterations * (double)b->items / seconds : 0;
  }
done:
  clReleaseKernel(kernel);
  return status;
}

static status_t device_measure(const struct opencl_bench *b, double *rate)
{
  cl_kernel kernel;
  cl_mem in = b->in.handle, out = b->out.handle;
  cl_int chunks = (cl_int)(b->in.bytes / 16);
  const struct opencl_argument arguments[] = {OPENCL_ARGUMENT(chunks), OPENCL_ARGUMENT(in),
                                              OPENCL_ARGUMENT(out)};
  double seconds = 0;
  status_t status = STATUS_OK;
  RETURN_IF_FAILED(gemm_opencl_kernel(b->program, "read_device", &kernel));
  for (int round = 0; round < 3; round++) TRY(opencl_bench_timed(b, kernel, arguments, 3, &seconds), done);
  *rate = seconds > 0 ? (double)b->in.bytes / seconds : 0;
done:
  clReleaseKernel(kernel);
  return status;
}

static status_t opencl_bench_open(struct opencl_bench *b)
{
  const struct opencl_gemm_variant ceilings = {.source = gemm_ceilings_cl};
  RETURN_IF_FAILED(gemm_opencl_build(b->device, &ceilings, "-cl-std=CL1.2", &b->program));
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
  struct opencl_bench b = {.device = (struct opencl_device *)device, .queue = queue};
  struct gemm_ceilings found = {0};
  status_t status;
  if (device->info.is_cpu) return gemm_cpu_ceilings(device, queue, type, ceilings);
  TRY(opencl_bench_open(&b), done);
  cl_mem out = b.out.handle;
  cl_float factor = 0.5f;
  struct opencl_argument spin[] = {{0}, OPENCL_ARGUMENT(factor), OPENCL_ARGUMENT(out)};
  struct opencl_argument local[] = {{0}, OPENCL_ARGUMENT(out)};
  /* work per iteration. spin: 8 chains of float4, unrolled 8 times; read_local: 64 bytes */
  TRY(iterations_measure(&b, "spin", spin, 3, 2.0 * 64 * 4, &found.flops), done);
  TRY(device_measure(&b, &found.bytes_per_second), done);
  TRY(iterations_measure(&b, "read_local", local, 2, 64, &found.local_bytes_per_second), done);
  *ceilings = found;
done:
  gpu_event_destroy(b.end);
  gpu_event_destroy(b.begin);
  gpu_free(device, &b.out);
  gpu_free(device, &b.in);
  if (b.program) clReleaseProgram(b.program);
  return status;
}
