/* SPDX-License-Identifier: MIT */
/* The OpenCL kernel set: the ladder, and the host side of a launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "himeno/kernels/opencl/block16_cl.h"
#include "himeno/kernels/opencl/launch.h"
#include "himeno/kernels/opencl/naive_cl.h"
#include "himeno/kernels/opencl/paced_cl.h"
#include "himeno/kernels/opencl/persistent.h"
#include "himeno/kernels/opencl/stream_cl.h"
#include "himeno/kernels/opencl/temporal_cl.h"

static const struct opencl_step stream_persistent = {
    .source = himeno_stream_cl, .group = {64, 2, 1}, .points = {256, 2, 1}, .align = 4, .options = "-D KEEP"};
static const struct opencl_step stream_cached = {.source = himeno_stream_cl,
                                                 .group = {32, 4, 1},
                                                 .points = {128, 4, 1},
                                                 .align = 4,
                                                 .shrinks = 1,
                                                 .options = "-D KEEP",
                                                 .persistent = &stream_persistent};
/* Groups of 640 work-items of 96 registers and of 1024 of 64 fill a multiprocessor. Others take
 * what any device does. */
#define TEMPORAL(T, K, J, WIDE)                                                                              \
  {                                                                                                          \
    .source = himeno_temporal_cl, .group = {K, J, 1}, .points = {(K)-2 * ((T)-1), (J)-2 * ((T)-1), 1},       \
    .align = 1, .shrinks = 1, .halo = (T)-1, .options = "-D SWEEPS=" #T, .wide = WIDE                        \
  }
static const struct opencl_step wide[] = {TEMPORAL(2, 64, 16, NULL), TEMPORAL(3, 32, 20, NULL)};

static const struct opencl_step naive = {
    .source = himeno_naive_cl, .group = {64, 4, 1}, .points = {64, 4, 1}, .align = 32, .shrinks = 1};
static const struct opencl_step block16 = {
    .source = himeno_block16_cl, .group = {16, 16, 1}, .points = {16, 16, 8}, .align = 16};
static const struct opencl_step paced = {
    .source = himeno_paced_cl, .group = {64, 4, 1}, .points = {64, 4, 64}, .align = 1};
static const struct opencl_step stream = {.source = himeno_stream_cl,
                                          .group = {64, 4, 1},
                                          .points = {256, 4, 1},
                                          .align = 4,
                                          .shrinks = 1,
                                          .cached = &stream_cached};
static const struct opencl_step temporal2 = TEMPORAL(2, 32, 8, &wide[0]);
static const struct opencl_step temporal3 = TEMPORAL(3, 16, 16, &wide[1]);

static const struct himeno_kernel kernels[] = {
    {.name = "naive",
     .step = "one work-item a point, caches alone",
     .sweeps = 1,
     .trial = 1,
     .rung = 1,
     .variant = &naive},
    {.name = "block16",
     .step = "16x16x8 tile with its halo in local memory before use, as in 2008",
     .sweeps = 1,
     .rung = 2,
     .variant = &block16},
    {.name = "paced",
     .step = "64x4 columns march over 64 planes, three local planes, a barrier a plane, as in 2009",
     .sweeps = 1,
     .rung = 3,
     .variant = &paced},
    {.name = "stream",
     .standard = 1,
     .step =
         "4 points in a vector a work-item, p through the caches; by one rank on NVIDIA many sweeps a launch",
     .sweeps = 1,
     .trial = 1,
     .rung = 4,
     .variant = &stream},
    {.name = "temporal2",
     .step = "two sweeps a pass over memory: tiles march along i, p in between in local memory",
     .class_ = HIMENO_TEMPORAL,
     .sweeps = 2,
     .trial = 1,
     .rung = 5,
     .variant = &temporal2},
    {.name = "temporal3",
     .step = "three sweeps a pass over memory",
     .class_ = HIMENO_TEMPORAL,
     .sweeps = 3,
     .trial = 1,
     .rung = 6,
     .variant = &temporal3},
};

static const struct himeno_kernel own = {.sweeps = 1};

/** A group a row, with work-items along k. */
static status_t launch_rows(struct opencl_launch *launch, struct gpu_queue *queue)
{
  const struct layout *layout = &launch->exec->fields.layout;
  size_t rows = (size_t)(layout->extent[0] * layout->extent[1]);
  return opencl_launch_end(launch, queue, 1, &rows, &launch->exec->field_group);
}

/** Where the local array lies in the grid. */
static void place_arguments(struct opencl_launch *launch)
{
  const struct layout *layout = &launch->exec->fields.layout;
  cl_long4 origin = {{layout->origin[0], layout->origin[1], layout->origin[2], 0}};
  cl_long2 global = {{layout->global[1], layout->global[2]}};
  opencl_argument(launch, sizeof origin, &origin);
  opencl_argument(launch, sizeof global, &global);
}

static status_t fill_field(struct himeno_exec *x, struct gpu_queue *queue, void *out, enum himeno_array array,
                           enum himeno_data data)
{
  const struct layout *layout = &x->fields.layout;
  const struct himeno_rule *rule = &himeno_rules[array];
  const cl_long2 stride = opencl_stride(layout);
  const cl_int4 extent = {
      {(cl_int)layout->extent[0], (cl_int)layout->extent[1], (cl_int)layout->extent[2], 0}};
  struct opencl_launch launch = opencl_launch_begin(x, data == HIMENO_DENSE ? ENTRY_DENSE : ENTRY_STANDARD);

  opencl_buffer(&launch, out);
  if (data == HIMENO_DENSE) {
    cl_float4 lo_w_zero = {{rule->lo, rule->w, rule->zero_below, 0}};
    cl_ulong number = array;
    opencl_argument(&launch, sizeof lo_w_zero, &lo_w_zero);
    opencl_argument(&launch, sizeof number, &number);
  } else {
    opencl_buffer(&launch, array == HIMENO_P ? x->standard_p : NULL);
    opencl_argument(&launch, sizeof rule->standard, &rule->standard);
  }
  opencl_argument(&launch, sizeof stride, &stride);
  opencl_argument(&launch, sizeof extent, &extent);
  if (data == HIMENO_DENSE) place_arguments(&launch);
  return launch_rows(&launch, queue);
}

static status_t opencl_fill(struct himeno_exec *x, struct gpu_queue *queue, enum himeno_array array,
                            enum himeno_data data)
{
  if (array != HIMENO_P) return fill_field(x, queue, x->fields.coefficient[array].handle, array, data);
  RETURN_IF_FAILED(fill_field(x, queue, x->fields.p[0].handle, array, data));
  return fill_field(x, queue, x->fields.p[1].handle, array, data);
}

/** Adds n partial sums from `from` on to gosa[slot], through chunks where they are many. */
static status_t add_partials(struct himeno_exec *x, struct gpu_queue *queue, size_t from, size_t n, int slot)
{
  const size_t one = 1;
  cl_mem in = x->partial, out = x->chunks;
  cl_int place = slot;

  while (n > REDUCE_CHUNK) {
    struct opencl_launch reduce = opencl_launch_begin(x, ENTRY_REDUCE);
    cl_ulong begin = from, all = n, chunk = REDUCE_CHUNK;
    size_t groups = opencl_chunks(n);
    opencl_buffer(&reduce, in);
    opencl_argument(&reduce, sizeof begin, &begin);
    opencl_argument(&reduce, sizeof all, &all);
    opencl_argument(&reduce, sizeof chunk, &chunk);
    opencl_buffer(&reduce, out);
    RETURN_IF_FAILED(opencl_launch_end(&reduce, queue, 1, &groups, &x->reduce_group));
    cl_mem swap = in;
    in = out;
    out = swap;
    n = groups;
    from = 0;
  }
  struct opencl_launch add = opencl_launch_begin(x, ENTRY_ADD);
  cl_ulong begin = from, rest = n;
  opencl_buffer(&add, in);
  opencl_argument(&add, sizeof begin, &begin);
  opencl_argument(&add, sizeof rest, &rest);
  opencl_buffer(&add, x->fields.gosa.handle);
  opencl_argument(&add, sizeof place, &place);
  return opencl_launch_end(&add, queue, 1, &one, &x->reduce_group);
}

/** What a pass of several sweeps must know of the points around its box. */
static void around_arguments(struct opencl_launch *launch)
{
  const struct layout *layout = &launch->exec->fields.layout;
  cl_int8 interior = opencl_box(&layout->interior, 0, 0);
  cl_int4 extent = {{(cl_int)layout->extent[0], (cl_int)layout->extent[1], (cl_int)layout->extent[2],
                     launch->exec->step.points[2]}};
  opencl_argument(launch, sizeof interior, &interior);
  opencl_argument(launch, sizeof extent, &extent);
}

static status_t opencl_sweep(struct himeno_exec *x, struct gpu_queue *queue, const struct himeno_sweep *sweep)
{
  const size_t group[3] = {(size_t)x->step.group[0], (size_t)x->step.group[1], (size_t)x->step.group[2]};
  struct opencl_launch launch = opencl_launch_begin(x, ENTRY_SWEEP);
  size_t groups[3];

  if (!box_points(&sweep->box)) return STATUS_OK;
  if (sweep->sweeps > x->kernel->sweeps) return opencl_persistent_sweep(x, queue, sweep);
  opencl_groups(&x->step, &sweep->box, groups);
  opencl_sweep_arguments(&launch, sweep, opencl_first_k(&x->step, &sweep->box));
  if (x->kernel->sweeps > 1) around_arguments(&launch);
  RETURN_IF_FAILED(opencl_launch_end(&launch, queue, 3, groups, group));
  if (x->gosa != GOSA_LAUNCH) return STATUS_OK;
  const size_t n = groups[0] * groups[1] * groups[2];
  for (int t = 0; t < x->kernel->sweeps; t++)
    RETURN_IF_FAILED(add_partials(x, queue, (size_t)t * n, n, sweep->slot + t));
  return STATUS_OK;
}

static status_t opencl_ceiling(struct himeno_exec *x, struct gpu_queue *queue)
{
  struct opencl_launch launch = opencl_launch_begin(x, ENTRY_CEILING);
  cl_ulong vectors = (cl_ulong)layout_floats(&x->fields.layout) / 4;
  size_t groups = (vectors + x->field_group - 1) / x->field_group;

  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) opencl_buffer(&launch, x->fields.coefficient[m].handle);
  opencl_buffer(&launch, x->fields.p[0].handle);
  opencl_buffer(&launch, x->fields.p[1].handle);
  opencl_argument(&launch, sizeof vectors, &vectors);
  return opencl_launch_end(&launch, queue, 1, &groups, &x->field_group);
}

/* The kernel has arguments for all coefficients: where there are fewer arrays the last one stands
 * in, unread. */
static status_t opencl_checksum(struct himeno_exec *x, struct gpu_queue *queue, const struct gpu_mem *arrays,
                                int n, const struct box *box, uint64_t *sum)
{
  const cl_long2 stride = opencl_stride(&x->fields.layout);
  const cl_int8 bounds = opencl_box(box, 0, 0);
  const cl_int all = n;
  const size_t groups = CHECKSUM_GROUPS;
  cl_ulong partial[CHECKSUM_GROUPS];
  struct opencl_launch launch = opencl_launch_begin(x, ENTRY_CHECKSUM);
  uint64_t total = 0;

  for (int a = 0; a < HIMENO_COEFFICIENTS; a++) opencl_buffer(&launch, arrays[a < n ? a : n - 1].handle);
  opencl_argument(&launch, sizeof all, &all);
  opencl_buffer(&launch, x->partial);
  opencl_argument(&launch, sizeof stride, &stride);
  opencl_argument(&launch, sizeof bounds, &bounds);
  place_arguments(&launch);
  RETURN_IF_FAILED(opencl_launch_end(&launch, queue, 1, &groups, &x->field_group));
  cl_int error = clEnqueueReadBuffer(opencl_queue_handle(queue), x->partial, CL_TRUE, 0, sizeof partial,
                                     partial, 0, NULL, NULL);
  if (error != CL_SUCCESS) return opencl_fail(error, "clEnqueueReadBuffer of the checksum");
  for (int n = 0; n < CHECKSUM_GROUPS; n++) total += partial[n];
  *sum = total;
  return STATUS_OK;
}

static status_t opencl_resources(struct himeno_exec *x, struct himeno_resources *resources)
{
  cl_ulong local;
  cl_int error = clGetKernelWorkGroupInfo(x->entries[ENTRY_SWEEP], x->device->id, CL_KERNEL_LOCAL_MEM_SIZE,
                                          sizeof local, &local, NULL);
  if (error != CL_SUCCESS) return opencl_fail(error, "clGetKernelWorkGroupInfo");
  *resources =
      (struct himeno_resources){.threads = (int)opencl_group_items(&x->step), .local_bytes = (int)local};
  return STATUS_OK;
}

const struct himeno_kernel_set himeno_kernels_opencl = {
    .backend = "opencl",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .own = &own,
    .open = opencl_exec_open,
    .close = opencl_exec_close,
    .fill = opencl_fill,
    .sweep = opencl_sweep,
    .at_once = opencl_persistent_most,
    .ceiling = opencl_ceiling,
    .checksum = opencl_checksum,
    .resources = opencl_resources,
};
