/* SPDX-License-Identifier: MIT */
/* Kernels of the null backend: the correct CPU reference, and calls that fail on demand. */
#include <string.h>

#include "gpu/null/null_device.h"
#include "himeno/kernels/kernels.h"

static const struct himeno_kernel kernels[] = {
    {.name = "reference",
     .step = "the CPU's plain loop, can fail on demand (for tests)",
     .standard = 1,
     .sweeps = 1,
     .rung = 1},
};

static status_t null_sweep_open(struct gpu_device *device, const struct himeno_fields *fields,
                                const struct himeno_kernel *kernel, struct himeno_exec **exec)
{
  (void)kernel;
  RETURN_IF_FAILED(null_call("open kernels", STATUS_ENVIRONMENT));
  return himeno_kernels_cpu.open(device, fields, himeno_kernel_reference, exec);
}

static void null_close(struct himeno_exec *exec)
{
  himeno_kernels_cpu.close(exec);
}

static status_t null_fill(struct himeno_exec *exec, struct gpu_queue *queue, enum himeno_array array,
                          enum himeno_data data)
{
  RETURN_IF_FAILED(null_call("launch fill", STATUS_FAULT));
  return himeno_kernels_cpu.fill(exec, queue, array, data);
}

static status_t null_sweep(struct himeno_exec *exec, struct gpu_queue *queue,
                           const struct himeno_sweep *sweep)
{
  RETURN_IF_FAILED(null_call("launch sweep", STATUS_FAULT));
  return himeno_kernels_cpu.sweep(exec, queue, sweep);
}

static status_t null_ceiling(struct himeno_exec *exec, struct gpu_queue *queue)
{
  RETURN_IF_FAILED(null_call("launch ceiling", STATUS_FAULT));
  return himeno_kernels_cpu.ceiling(exec, queue);
}

static status_t null_checksum(struct himeno_exec *exec, struct gpu_queue *queue, const struct gpu_mem *arrays,
                              int n, const struct box *box, uint64_t *sum)
{
  RETURN_IF_FAILED(null_call("launch checksum", STATUS_FAULT));
  return himeno_kernels_cpu.checksum(exec, queue, arrays, n, box, sum);
}

/* Number of simulated multiprocessors, which run one after the other. */
#define PROCESSORS 4

static status_t null_repeat(struct himeno_exec *exec, struct gpu_queue *queue,
                            const struct himeno_fields *fields, int source, const struct box *box, int times,
                            const struct himeno_stuck *stuck, float *values, int *processors)
{
  const struct himeno_sweep sweep = {.box = *box, .sweeps = 1, .source = source};
  const struct layout *l = &fields->layout;
  const float *p = fields->p[1 - source].handle;
  RETURN_IF_FAILED(null_sweep(exec, queue, &sweep));
  for (int t = 0; t < times; t++) {
    processors[t] = t % PROCESSORS;
    for (int64_t i = box->lo[0]; i < box->hi[0]; i++)
      for (int64_t j = box->lo[1]; j < box->hi[1]; j++)
        for (int64_t k = box->lo[2]; k < box->hi[2]; k++, values++) {
          uint32_t bits;
          memcpy(&bits, &p[i * l->plane + j * l->pitch + k], sizeof bits);
          if (processors[t] == stuck->processor) bits ^= (uint32_t)1 << stuck->bit;
          memcpy(values, &bits, sizeof bits);
        }
  }
  return STATUS_OK;
}

static int null_concurrent(const struct himeno_exec *exec)
{
  (void)exec;
  return 1;
}

const struct himeno_kernel_set himeno_kernels_null = {
    .backend = "null",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .open = null_sweep_open,
    .close = null_close,
    .fill = null_fill,
    .sweep = null_sweep,
    .concurrent = null_concurrent,
    .ceiling = null_ceiling,
    .checksum = null_checksum,
    .repeat = null_repeat,
};
