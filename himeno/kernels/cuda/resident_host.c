/* SPDX-License-Identifier: MIT */
/* Resident kernels do all sweeps over the owned points in one launch. A part of the points is swept
 * by tiles of a variant. */
#include <inttypes.h>

#include "base/log.h"
#include "himeno/kernels/cuda/exec.h"
#include "himeno/kernels/cuda/resident.h"

static status_t resident_open(struct cuda_exec *exec)
{
  const struct layout *layout = &exec->fields.layout;
  const int64_t *extent = layout->extent;
  struct cuda_pass pass = exec->pass[0];
  int fits, code;
  exec->variant = exec->kernel->variant;
  cuda_box_set(&pass, &layout->owned);
  RETURN_IF_FAILED(cuda_exec_state(exec, sizeof(struct cuda_resident)));
  RETURN_IF_FAILED(cuda_exec_check(exec, cuda_resident_open(&pass, layout, exec->state, &fits),
                                   "preparing resident sweeps"));
  if (fits) return cuda_exec_code(exec, (const void *)(uintptr_t)exec->variant->kernel, &code);
  return log_fail(STATUS_ENVIRONMENT,
                  "kernel %s: the coefficients of %" PRId64 "x%" PRId64 "x%" PRId64
                  " do not fit into %s's shared memory",
                  exec->kernel->name, extent[0], extent[1], extent[2], exec->device->info.name);
}

static status_t resident_sweep(struct cuda_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass,
                               const struct himeno_sweep *sweep)
{
  if (!cuda_is_owned(exec, &sweep->box)) return cuda_tiles_sweep(exec, queue, pass, sweep);
  return cuda_exec_check(
      exec, cuda_resident_launch(exec->state, pass, sweep->sweeps, sweep->link, cuda_exec_alone(queue)),
      "launching resident sweeps");
}

static cudaError_t resident_block(const struct cuda_exec *exec, struct cuda_block *block)
{
  const struct cuda_resident *resident = exec->state;
  return cuda_block_read(cuda_resident_kernel(resident), resident->threads, resident->bytes, block);
}

const struct himeno_ops cuda_resident_ops = {
    .open = resident_open, .sweep = resident_sweep, .block = resident_block};
