/* SPDX-License-Identifier: MIT */
/* The reference library on OpenCL devices that are CPUs: the host's CBLAS on the device's memory,
 * which is mapped, not copied. */
#include "gemm/kernels/cpu/cpu_gemm.h"

#include <stdio.h>

#include "config.h"
#include "gemm/kernels/opencl/opencl_gemm.h"

static int opencl_cblas_fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                             const struct gemm_problem *p, char why[GPU_TEXT_MAX])
{
  if (device->info.is_cpu) return gemm_kernel_fits_int(kernel, device, p, why);
  snprintf(why, GPU_TEXT_MAX, "is for CPUs");
  return 0;
}

static status_t map(cl_command_queue queue, struct gpu_mem mem, cl_map_flags flags, void **host)
{
  cl_int error;
  void *mapped = clEnqueueMapBuffer(queue, mem.handle, CL_TRUE, flags, 0, mem.bytes, 0, NULL, NULL, &error);
  if (error != CL_SUCCESS) return opencl_fail(error, "clEnqueueMapBuffer of a matrix");
  *host = mapped;
  return STATUS_OK;
}

static status_t unmap(cl_command_queue queue, struct gpu_mem mem, void *host)
{
  cl_int error = host ? clEnqueueUnmapMemObject(queue, mem.handle, host, 0, NULL, NULL) : CL_SUCCESS;
  return error == CL_SUCCESS ? STATUS_OK : opencl_fail(error, "clEnqueueUnmapMemObject of a matrix");
}

static status_t opencl_cblas_launch(struct gemm_exec *exec, struct gpu_queue *gpu_queue,
                                    const struct gemm_operands *o)
{
  cl_command_queue queue = opencl_queue_handle(gpu_queue);
  void *a = NULL, *b = NULL, *c = NULL;
  status_t status;
  TRY(map(queue, o->a, CL_MAP_READ, &a), done);
  TRY(map(queue, o->b, CL_MAP_READ, &b), done);
  TRY(map(queue, o->c, CL_MAP_READ | CL_MAP_WRITE, &c), done);
  gemm_cblas(&exec->problem, a, b, c);
done:
  status = status_worst(status, unmap(queue, o->c, c));
  status = status_worst(status, unmap(queue, o->b, b));
  return status_worst(status, unmap(queue, o->a, a));
}

static const struct gemm_ops ops = {
    .fits = opencl_cblas_fits, .open = gemm_cblas_open, .launch = opencl_cblas_launch};

const struct gemm_kernel gemm_opencl_cblas = {
    .name = "cblas",
    .step = CBLAS_NAME " on the device's memory, if the device is a CPU",
    .is_reference = 1,
    .types = GEMM_BIT(GEMM_F32),
    .transposes = 1,
    .ops = &ops,
};
