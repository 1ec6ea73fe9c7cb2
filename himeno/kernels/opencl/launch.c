/* SPDX-License-Identifier: MIT */
#include "himeno/kernels/opencl/launch.h"

#include <stdio.h>

struct opencl_launch opencl_launch_begin(struct himeno_exec *exec, enum opencl_entry entry)
{
  return (struct opencl_launch){exec, exec->entries[entry], opencl_entry_name(entry), 0, CL_SUCCESS};
}

void opencl_argument(struct opencl_launch *launch, size_t bytes, const void *value)
{
  cl_int error = clSetKernelArg(launch->kernel, launch->n++, bytes, value);
  if (launch->error == CL_SUCCESS) launch->error = error;
}

void opencl_buffer(struct opencl_launch *launch, void *handle)
{
  cl_mem buffer = handle;
  opencl_argument(launch, sizeof buffer, &buffer);
}

cl_long2 opencl_stride(const struct layout *layout)
{
  return (cl_long2){{layout->plane, layout->pitch}};
}

cl_int8 opencl_box(const struct box *b, int odd, int64_t first_k)
{
  return (cl_int8){{(cl_int)b->lo[0], (cl_int)b->lo[1], (cl_int)b->lo[2], (cl_int)b->hi[0], (cl_int)b->hi[1],
                    (cl_int)b->hi[2], odd, (cl_int)first_k}};
}

void opencl_sweep_arguments(struct opencl_launch *launch, const struct himeno_sweep *sweep, int64_t first_k)
{
  const struct himeno_exec *x = launch->exec;
  const cl_long2 stride = opencl_stride(&x->fields.layout);
  const cl_int8 box = opencl_box(&sweep->box, sweep->source, first_k);
  const cl_int slot = sweep->slot;

  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) opencl_buffer(launch, x->fields.coefficient[m].handle);
  opencl_buffer(launch, x->fields.p[sweep->source].handle);
  opencl_buffer(launch, x->fields.p[1 - sweep->source].handle);
  opencl_buffer(launch, x->gosa == GOSA_LAUNCH ? x->partial : x->fields.gosa.handle);
  opencl_argument(launch, sizeof stride, &stride);
  opencl_argument(launch, sizeof box, &box);
  opencl_argument(launch, sizeof slot, &slot);
}

status_t opencl_launch_end(struct opencl_launch *launch, struct gpu_queue *queue, cl_uint dimensions,
                           const size_t *groups, const size_t *group)
{
  char what[96];
  size_t global[3];

  for (cl_uint d = 0; d < dimensions; d++) global[d] = groups[d] * group[d];
  if (launch->error == CL_SUCCESS)
    launch->error = clEnqueueNDRangeKernel(opencl_queue_handle(queue), launch->kernel, dimensions, NULL,
                                           global, group, 0, NULL, NULL);
  if (launch->error == CL_SUCCESS) return STATUS_OK;
  snprintf(what, sizeof what, "launch of OpenCL kernel %s of %s", launch->name, launch->exec->kernel->name);
  return opencl_fail(launch->error, what);
}
