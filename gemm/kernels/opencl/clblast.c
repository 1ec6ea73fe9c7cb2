/* SPDX-License-Identifier: MIT */
/* The reference library on OpenCL GPUs, with the parameters that its authors tuned for each GPU. */
#include "gemm/kernels/opencl/opencl_gemm.h"

#include <clblast_c.h>

#include <stdio.h>

#include "base/log.h"

static int clblast_fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                        const struct gemm_problem *p, char why[GPU_TEXT_MAX])
{
  (void)kernel, (void)p;
  if (device->info.is_cpu) snprintf(why, GPU_TEXT_MAX, "is for GPUs");
  return !why[0];
}

/* CLBlast returns OpenCL's error codes and additional ones. */
static status_t result_status(CLBlastStatusCode code)
{
  if (code == CLBlastSuccess) return STATUS_OK;
  if (code == CLBlastOpenCLOutOfResources || code == CLBlastOpenCLOutOfHostMemory ||
      code == CLBlastTempBufferAllocFailure || code == CLBlastOpenCLBuildProgramFailure)
    return log_fail(STATUS_ENVIRONMENT,
                    "CLBlastSgemm: out of device memory, or no kernel for this device (%d)", (int)code);
  return log_fail(STATUS_FAULT, "CLBlastSgemm: status %d", (int)code);
}

static CLBlastTranspose transpose(int transposed)
{
  return transposed ? CLBlastTransposeYes : CLBlastTransposeNo;
}

static status_t clblast_launch(struct gemm_exec *exec, struct gpu_queue *gpu_queue,
                               const struct gemm_operands *o)
{
  const struct gemm_problem *p = &exec->problem;
  cl_command_queue queue = opencl_queue_handle(gpu_queue);
  return result_status(CLBlastSgemm(CLBlastLayoutRowMajor, transpose(p->trans_a), transpose(p->trans_b),
                                    (size_t)p->m, (size_t)p->n, (size_t)p->k, p->alpha, o->a.handle, 0,
                                    (size_t)p->ld[GEMM_A], o->b.handle, 0, (size_t)p->ld[GEMM_B], p->beta,
                                    o->c.handle, 0, (size_t)p->ld[GEMM_C], &queue, NULL));
}

static const struct gemm_ops ops = {.fits = clblast_fits, .launch = clblast_launch};

const struct gemm_kernel gemm_opencl_clblast = {
    .name = "clblast",
    .step = "CLBlast, with its own tuning for this device",
    .is_reference = 1,
    .types = GEMM_BIT(GEMM_F32),
    .transposes = 1,
    .ops = &ops,
};
