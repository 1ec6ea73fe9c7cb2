/* SPDX-License-Identifier: MIT */
#include "himeno/kernels/opencl/persistent.h"

#include "base/log.h"
#include "base/switches.h"
#include "himeno/kernels/opencl/common_cl.h"
#include "himeno/kernels/opencl/launch.h"
#include "himeno/kernels/opencl/persistent_cl.h"

/* Of a launch. On a slow device and a grid of 2 GB these take seconds, and some drivers end what
 * takes longer. */
#define SWEEPS_MOST 127
/* Work-items of a compute unit on NVIDIA's devices. More groups than run at a time find nothing
 * left when they begin. */
#define UNIT_ITEMS 2048
/* Work-items of a row of a group, at least. */
#define LEAST_WIDTH 8
/* Counters, each in a line of its own: persistent.cl. */
#define STATE_WORDS 64

static int wanted(const struct himeno_exec *x)
{
  const int ordered = opencl_nvidia_chip(x->device) >= 70;
  return x->step.persistent && switch_number("HIMENO_OPENCL_PERSISTENT", ordered) &&
         x->gosa == (ordered ? GOSA_ADD : GOSA_EXCHANGE);
}

/* As wide as the rows, with as many work-items. */
static void shape(struct himeno_exec *x)
{
  const struct box *all = &x->fields.layout.interior;
  struct opencl_step *s = &x->persistent.step;
  *s = *x->step.persistent;
  while (s->group[0] > LEAST_WIDTH && s->points[0] / 2 >= all->hi[2] - opencl_first_k(s, all)) {
    s->group[0] /= 2, s->points[0] /= 2;
    s->group[1] *= 2, s->points[1] *= 2;
  }
}

static status_t build(struct himeno_exec *x)
{
  const struct opencl_step *step = &x->persistent.step;
  const char *const parts[] = {himeno_common_cl, step->source, himeno_persistent_cl, NULL};
  size_t most, required[3];
  cl_int error;

  RETURN_IF_FAILED(opencl_exec_build(x, step, parts, &x->persistent.program));
  cl_kernel kernel = clCreateKernel(x->persistent.program, "persistent", &error);
  if (error != CL_SUCCESS) return opencl_fail(error, "clCreateKernel of the persistent kernel");
  x->persistent.kernel = kernel;
  RETURN_IF_FAILED(opencl_kernel_limits(x->device, kernel, &most, required));
  if (most < opencl_group_items(step)) opencl_persistent_close(x);
  return STATUS_OK;
}

/* Older drivers may not know all instructions. */
static void try_build(struct himeno_exec *x)
{
  const int muted = log_mute(1);
  const status_t status = build(x);
  log_mute(muted);
  if (status == STATUS_OK) return;
  opencl_persistent_close(x);
  log_warn("kernel %s: one sweep a launch on %s, whose driver does not build the kernel for many",
           x->kernel->name, x->device->base.info.name);
}

status_t opencl_persistent_open(struct himeno_exec *x)
{
  cl_int error;
  if (!wanted(x)) return STATUS_OK;
  shape(x);
  try_build(x);
  if (!x->persistent.kernel) return STATUS_OK;
  cl_mem state =
      clCreateBuffer(x->device->context, CL_MEM_READ_WRITE, STATE_WORDS * sizeof(cl_uint), NULL, &error);
  if (error != CL_SUCCESS) return opencl_fail(error, "clCreateBuffer for tickets");
  x->persistent.state = state;
  return STATUS_OK;
}

void opencl_persistent_close(struct himeno_exec *x)
{
  if (x->persistent.state) clReleaseMemObject(x->persistent.state);
  if (x->persistent.kernel) clReleaseKernel(x->persistent.kernel);
  if (x->persistent.program) clReleaseProgram(x->persistent.program);
  x->persistent = (struct opencl_persistent){.kernel = NULL};
}

int opencl_persistent_most(const struct himeno_exec *x)
{
  return x->persistent.kernel ? SWEEPS_MOST : 1;
}

static status_t state_clear(struct himeno_exec *x, struct gpu_queue *queue)
{
  const cl_uint zero = 0;
  cl_int error = clEnqueueFillBuffer(opencl_queue_handle(queue), x->persistent.state, &zero, sizeof zero, 0,
                                     STATE_WORDS * sizeof zero, 0, NULL, NULL);
  return error == CL_SUCCESS ? STATUS_OK : opencl_fail(error, "clEnqueueFillBuffer of tickets");
}

/* As many groups as run at a time, if there are tiles for all. */
static size_t groups_of(const struct himeno_exec *x, size_t tiles)
{
  const size_t units = (size_t)x->device->base.info.compute_units;
  const size_t most = units * UNIT_ITEMS / opencl_group_items(&x->persistent.step);
  return tiles < most ? tiles : most;
}

status_t opencl_persistent_sweep(struct himeno_exec *x, struct gpu_queue *queue,
                                 const struct himeno_sweep *sweep)
{
  const struct opencl_step *step = &x->persistent.step;
  const size_t group[2] = {(size_t)step->group[0], (size_t)step->group[1]};
  struct opencl_launch launch = {.exec = x, .kernel = x->persistent.kernel, .name = "persistent"};
  size_t n[3];
  const cl_int sweeps = sweep->sweeps;

  opencl_groups(step, &sweep->box, n);
  const size_t all = n[0] * n[1] * n[2];
  const cl_int4 tiles = {{(cl_int)n[0], (cl_int)n[1], (cl_int)n[2], (cl_int)all}};
  const size_t groups[2] = {groups_of(x, all), 1};
  RETURN_IF_FAILED(state_clear(x, queue));
  opencl_sweep_arguments(&launch, sweep, opencl_first_k(step, &sweep->box));
  opencl_argument(&launch, sizeof tiles, &tiles);
  opencl_argument(&launch, sizeof sweeps, &sweeps);
  opencl_buffer(&launch, x->persistent.state);
  return opencl_launch_end(&launch, queue, 2, groups, group);
}
