/* SPDX-License-Identifier: MIT */
/* The OpenCL kernel set: the ladder, and the host side of a launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/switches.h"
#include "himeno/kernels/opencl/block16_cl.h"
#include "himeno/kernels/opencl/common_cl.h"
#include "himeno/kernels/opencl/exec.h"
#include "himeno/kernels/opencl/naive_cl.h"
#include "himeno/kernels/opencl/paced_cl.h"
#include "himeno/kernels/opencl/persistent_cl.h"
#include "himeno/kernels/opencl/stream_cl.h"
#include "himeno/kernels/opencl/temporal_cl.h"

SWITCH("HIMENO_OPENCL_PERSISTENT", TUNING, AGREED, CHOICE("0|1"),
       "1: an OpenCL launch does many sweeps; 0: one; unset: 1 on NVIDIA devices from sm_70 on");

static const struct opencl_variant stream_persistent = {
    .source = himeno_stream_cl, .group = {64, 2, 1}, .points = {256, 2, 1}, .align = 4, .options = "-D KEEP"};
static const struct opencl_variant stream_cached = {.source = himeno_stream_cl,
                                                    .group = {32, 4, 1},
                                                    .points = {128, 4, 1},
                                                    .align = 4,
                                                    .shrinks = 1,
                                                    .options = "-D KEEP",
                                                    .persistent = &stream_persistent};
/* On NVIDIA's devices, groups of 640 work-items with 96 registers and of 1024 with 64 fill a
 * multiprocessor. Other devices get sizes that any device supports. */
#define TEMPORAL(T, K, J, WIDE)                                                                              \
  {                                                                                                          \
    .source = himeno_temporal_cl, .group = {K, J, 1}, .points = {(K)-2 * ((T)-1), (J)-2 * ((T)-1), 1},       \
    .align = 1, .shrinks = 1, .halo = (T)-1, .options = "-D SWEEPS=" #T, .wide = WIDE                        \
  }
static const struct opencl_variant wide[] = {TEMPORAL(2, 64, 16, NULL), TEMPORAL(3, 32, 20, NULL)};

static const struct opencl_variant naive = {
    .source = himeno_naive_cl, .group = {64, 4, 1}, .points = {64, 4, 1}, .align = 32, .shrinks = 1};
static const struct opencl_variant block16 = {
    .source = himeno_block16_cl, .group = {16, 16, 1}, .points = {16, 16, 8}, .align = 16};
static const struct opencl_variant paced = {
    .source = himeno_paced_cl, .group = {64, 4, 1}, .points = {64, 4, 16}, .align = 32};
static const struct opencl_variant stream = {.source = himeno_stream_cl,
                                             .group = {64, 4, 1},
                                             .points = {256, 4, 1},
                                             .align = 4,
                                             .shrinks = 1,
                                             .cached = &stream_cached};
static const struct opencl_variant temporal2 = TEMPORAL(2, 32, 8, &wide[0]);
static const struct opencl_variant temporal3 = TEMPORAL(3, 16, 16, &wide[1]);

static const struct himeno_kernel kernels[] = {
    {.name = "naive",
     .step = "one work-item per point; no local memory",
     .sweeps = 1,
     .trial = 1,
     .rung = 1,
     .variant = &naive},
    {.name = "block16",
     .step = "load a 16x16x8 tile and its halo into local memory first (2008)",
     .sweeps = 1,
     .rung = 2,
     .variant = &block16},
    {.name = "paced",
     .step = "blocks of 64x4 step through 16 planes; 3 planes in local memory (2009)",
     .sweeps = 1,
     .rung = 3,
     .variant = &paced},
    {.name = "stream",
     .standard = 1,
     .step = "vectors of 4 points per work-item, p read through the caches",
     .sweeps = 1,
     .trial = 1,
     .rung = 4,
     .variant = &stream},
    {.name = "temporal2",
     .step = "two sweeps per pass over memory; the first one's p is in local memory",
     .class_ = HIMENO_TEMPORAL,
     .sweeps = 2,
     .trial = 1,
     .rung = 5,
     .variant = &temporal2},
    {.name = "temporal3",
     .step = "three sweeps per pass over memory",
     .class_ = HIMENO_TEMPORAL,
     .sweeps = 3,
     .trial = 1,
     .rung = 6,
     .variant = &temporal3},
};

static const struct himeno_kernel own = {.sweeps = 1};

/* ---- a launch ---- */

/* A launch whose arguments are set one after the other. Keeps the first error. */
struct launch {
  struct opencl_exec *exec;
  cl_kernel kernel;
  const char *name; /* name in the source */
  cl_uint n;
  cl_int error;
};

/* Begins a launch of a kernel that every variant has. */
static struct launch launch_begin(struct opencl_exec *exec, enum opencl_entry entry)
{
  return (struct launch){exec, exec->entries[entry], opencl_entry_names[entry], 0, CL_SUCCESS};
}

static void argument(struct launch *launch, size_t bytes, const void *value)
{
  cl_int error = clSetKernelArg(launch->kernel, launch->n++, bytes, value);
  if (launch->error == CL_SUCCESS) launch->error = error;
}

static void buffer_argument(struct launch *launch, void *handle)
{
  cl_mem buffer = handle;
  argument(launch, sizeof buffer, &buffer);
}

static cl_long2 stride_of(const struct layout *layout)
{
  return (cl_long2){{layout->plane, layout->pitch}};
}

static cl_int8 opencl_box(const struct box *b)
{
  return (cl_int8){{(cl_int)b->lo[0], (cl_int)b->lo[1], (cl_int)b->lo[2], (cl_int)b->hi[0], (cl_int)b->hi[1],
                    (cl_int)b->hi[2]}};
}

/* Sets the arguments of every sweep: arrays, sums, strides, the box with the start of the first
 * group, and the slot. */
static void sweep_arguments(struct launch *launch, const struct himeno_sweep *sweep, int64_t first_k)
{
  const struct opencl_exec *x = launch->exec;
  const cl_long2 stride = stride_of(&x->fields.layout);
  const cl_int slot = sweep->slot;
  cl_int8 box = opencl_box(&sweep->box);
  box.s[6] = sweep->source;
  box.s[7] = (cl_int)first_k;

  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) buffer_argument(launch, x->fields.coefficient[m].handle);
  buffer_argument(launch, x->fields.p[sweep->source].handle);
  buffer_argument(launch, x->fields.p[1 - sweep->source].handle);
  buffer_argument(launch, x->gosa == GOSA_LAUNCH ? x->partial.handle : x->fields.gosa.handle);
  argument(launch, sizeof stride, &stride);
  argument(launch, sizeof box, &box);
  argument(launch, sizeof slot, &slot);
}

/* Enqueues \a groups of \a group work-items. Returns the first error since launch_begin. */
static status_t launch_end(struct launch *launch, struct gpu_queue *queue, cl_uint dimensions,
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
  return opencl_check(launch->error, what);
}

/* ---- data ---- */

/** Launches one group per row, with work-items along k. */
static status_t launch_rows(struct launch *launch, struct gpu_queue *queue)
{
  const struct layout *layout = &launch->exec->fields.layout;
  size_t rows = (size_t)(layout->extent[0] * layout->extent[1]);
  return launch_end(launch, queue, 1, &rows, &launch->exec->field_group);
}

/** Sets the origin of the local array in the grid. */
static void place_arguments(struct launch *launch)
{
  const struct layout *layout = &launch->exec->fields.layout;
  cl_long4 origin = {{layout->origin[0], layout->origin[1], layout->origin[2], 0}};
  cl_long2 global = {{layout->global[1], layout->global[2]}};
  argument(launch, sizeof origin, &origin);
  argument(launch, sizeof global, &global);
}

static status_t opencl_fill_field(struct opencl_exec *x, struct gpu_queue *queue, void *out,
                                  enum himeno_array array, enum himeno_data data)
{
  const struct layout *layout = &x->fields.layout;
  const struct himeno_rule *rule = &himeno_rules[array];
  const cl_long2 stride = stride_of(layout);
  const cl_int4 extent = {
      {(cl_int)layout->extent[0], (cl_int)layout->extent[1], (cl_int)layout->extent[2], 0}};
  struct launch launch = launch_begin(x, data == HIMENO_DENSE ? ENTRY_DENSE : ENTRY_STANDARD);

  buffer_argument(&launch, out);
  if (data == HIMENO_DENSE) {
    cl_float4 lo_w_zero = {{rule->lo, rule->w, rule->zero_below, 0}};
    cl_ulong number = array;
    argument(&launch, sizeof lo_w_zero, &lo_w_zero);
    argument(&launch, sizeof number, &number);
  } else {
    buffer_argument(&launch, array == HIMENO_P ? x->standard_p : NULL);
    argument(&launch, sizeof rule->standard, &rule->standard);
  }
  argument(&launch, sizeof stride, &stride);
  argument(&launch, sizeof extent, &extent);
  if (data == HIMENO_DENSE) place_arguments(&launch);
  return launch_rows(&launch, queue);
}

static status_t opencl_fill(struct himeno_exec *exec, struct gpu_queue *queue, enum himeno_array array,
                            enum himeno_data data)
{
  struct opencl_exec *x = (struct opencl_exec *)exec;
  if (array != HIMENO_P) return opencl_fill_field(x, queue, x->fields.coefficient[array].handle, array, data);
  RETURN_IF_FAILED(opencl_fill_field(x, queue, x->fields.p[0].handle, array, data));
  return opencl_fill_field(x, queue, x->fields.p[1].handle, array, data);
}

/** Adds n partial sums, from `from` on, to gosa[slot]. Many sums are first reduced in chunks. */
static status_t add_partials(struct opencl_exec *x, struct gpu_queue *queue, size_t from, size_t n, int slot)
{
  const size_t one = 1;
  void *in = x->partial.handle, *out = x->chunks.handle;
  cl_int place = slot;

  while (n > REDUCE_CHUNK) {
    struct launch reduce = launch_begin(x, ENTRY_REDUCE);
    cl_ulong begin = from, all = n, chunk = REDUCE_CHUNK;
    size_t groups = opencl_chunks(n);
    buffer_argument(&reduce, in);
    argument(&reduce, sizeof begin, &begin);
    argument(&reduce, sizeof all, &all);
    argument(&reduce, sizeof chunk, &chunk);
    buffer_argument(&reduce, out);
    RETURN_IF_FAILED(launch_end(&reduce, queue, 1, &groups, &x->reduce_group));
    void *swap = in;
    in = out;
    out = swap;
    n = groups;
    from = 0;
  }
  struct launch add = launch_begin(x, ENTRY_ADD);
  cl_ulong begin = from, rest = n;
  buffer_argument(&add, in);
  argument(&add, sizeof begin, &begin);
  argument(&add, sizeof rest, &rest);
  buffer_argument(&add, x->fields.gosa.handle);
  argument(&add, sizeof place, &place);
  return launch_end(&add, queue, 1, &one, &x->reduce_group);
}

/* ---- many sweeps in one launch ---- */

/* Maximum sweeps per launch. On a slow device and a grid of 2 GB they take seconds, and some
 * drivers abort longer launches. */
#define SWEEPS_MOST 127
/* Work-items per compute unit on NVIDIA's devices. If more groups were launched than run at a time,
 * the others would find no work left. */
#define UNIT_ITEMS 2048
/* Minimum work-items of a group along a row. */
#define LEAST_WIDTH 8
/* Words of the counters, each of which has its own cache line: see persistent.cl. */
#define STATE_WORDS 64

static int persistent_wanted(const struct opencl_exec *x)
{
  const int ordered = opencl_nvidia_chip(x->device) >= 70;
  return x->variant.persistent && switch_number("HIMENO_OPENCL_PERSISTENT", ordered) &&
         x->gosa == (ordered ? GOSA_ADD : GOSA_EXCHANGE);
}

/* If rows are short, narrows groups to a row, with the same number of work-items. */
static void persistent_shape(struct opencl_exec *x)
{
  const struct box *all = &x->fields.layout.interior;
  struct opencl_variant *s = &x->persistent.variant;
  *s = *x->variant.persistent;
  while (s->group[0] > LEAST_WIDTH && s->points[0] / 2 >= all->hi[2] - opencl_first_k(s, all)) {
    s->group[0] /= 2, s->points[0] /= 2;
    s->group[1] *= 2, s->points[1] *= 2;
  }
}

static void persistent_close(struct opencl_exec *x)
{
  gpu_free(&x->device->base, &x->persistent.state);
  if (x->persistent.kernel) clReleaseKernel(x->persistent.kernel);
  if (x->persistent.program) clReleaseProgram(x->persistent.program);
  x->persistent = (struct opencl_persistent){.kernel = NULL};
}

static status_t persistent_build(struct opencl_exec *x)
{
  const struct opencl_variant *variant = &x->persistent.variant;
  const char *const parts[] = {himeno_common_cl, variant->source, himeno_persistent_cl, NULL};
  size_t most, required[3];
  cl_int error;

  RETURN_IF_FAILED(opencl_exec_build(x, variant, parts, &x->persistent.program));
  cl_kernel kernel = clCreateKernel(x->persistent.program, "persistent", &error);
  RETURN_IF_FAILED(opencl_check(error, "clCreateKernel of the persistent kernel"));
  x->persistent.kernel = kernel;
  RETURN_IF_FAILED(opencl_kernel_limits(x->device, kernel, &most, required));
  if (most < opencl_group_items(variant)) persistent_close(x);
  return STATUS_OK;
}

/* Builds the persistent kernel. Failing is no error: older drivers may lack instructions. */
static void persistent_try(struct opencl_exec *x)
{
  const int muted = log_mute(1);
  const status_t status = persistent_build(x);
  log_mute(muted);
  if (status == STATUS_OK) return;
  persistent_close(x);
  log_warn("kernel %s: one sweep a launch on %s, whose driver does not build the kernel for many",
           x->kernel->name, x->device->base.info.name);
}

static status_t persistent_open(struct opencl_exec *x)
{
  if (!persistent_wanted(x)) return STATUS_OK;
  persistent_shape(x);
  persistent_try(x);
  if (!x->persistent.kernel) return STATUS_OK;
  return gpu_alloc(&x->device->base, STATE_WORDS * sizeof(cl_uint), &x->persistent.state);
}

static int persistent_most(const struct himeno_exec *exec)
{
  const struct opencl_exec *x = (const struct opencl_exec *)exec;
  return x->persistent.kernel ? SWEEPS_MOST : 1;
}

/* Returns the number of groups that run at a time, at most the number of tiles. */
static size_t groups_of(const struct opencl_exec *x, size_t tiles)
{
  const size_t units = (size_t)x->device->base.info.compute_units;
  const size_t most = units * UNIT_ITEMS / opencl_group_items(&x->persistent.variant);
  return tiles < most ? tiles : most;
}

static status_t persistent_sweep(struct opencl_exec *x, struct gpu_queue *queue,
                                 const struct himeno_sweep *sweep)
{
  const struct opencl_variant *variant = &x->persistent.variant;
  const size_t group[2] = {(size_t)variant->group[0], (size_t)variant->group[1]};
  struct launch launch = {.exec = x, .kernel = x->persistent.kernel, .name = "persistent"};
  size_t n[3];
  const cl_int sweeps = sweep->sweeps;

  opencl_groups(variant, &sweep->box, n);
  const size_t all = n[0] * n[1] * n[2];
  const cl_int4 tiles = {{(cl_int)n[0], (cl_int)n[1], (cl_int)n[2], (cl_int)all}};
  const size_t groups[2] = {groups_of(x, all), 1};
  RETURN_IF_FAILED(gpu_clear(queue, x->persistent.state, 0, x->persistent.state.bytes));
  sweep_arguments(&launch, sweep, opencl_first_k(variant, &sweep->box));
  argument(&launch, sizeof tiles, &tiles);
  argument(&launch, sizeof sweeps, &sweeps);
  buffer_argument(&launch, x->persistent.state.handle);
  return launch_end(&launch, queue, 2, groups, group);
}

/* ---- sweeps ---- */

/** Sets the further arguments of a pass of several sweeps: the points around the box. */
static void around_arguments(struct launch *launch)
{
  const struct layout *layout = &launch->exec->fields.layout;
  cl_int8 interior = opencl_box(&layout->interior);
  cl_int4 extent = {{(cl_int)layout->extent[0], (cl_int)layout->extent[1], (cl_int)layout->extent[2],
                     launch->exec->variant.points[2]}};
  argument(launch, sizeof interior, &interior);
  argument(launch, sizeof extent, &extent);
}

static status_t opencl_sweep(struct himeno_exec *exec, struct gpu_queue *queue,
                             const struct himeno_sweep *sweep)
{
  struct opencl_exec *x = (struct opencl_exec *)exec;
  const size_t group[3] = {(size_t)x->variant.group[0], (size_t)x->variant.group[1],
                           (size_t)x->variant.group[2]};
  struct launch launch = launch_begin(x, ENTRY_SWEEP);
  size_t groups[3];

  if (!box_points(&sweep->box)) return STATUS_OK;
  if (sweep->sweeps > x->kernel->sweeps) return persistent_sweep(x, queue, sweep);
  opencl_groups(&x->variant, &sweep->box, groups);
  sweep_arguments(&launch, sweep, opencl_first_k(&x->variant, &sweep->box));
  if (x->kernel->sweeps > 1) around_arguments(&launch);
  RETURN_IF_FAILED(launch_end(&launch, queue, 3, groups, group));
  if (x->gosa != GOSA_LAUNCH) return STATUS_OK;
  const size_t n = groups[0] * groups[1] * groups[2];
  for (int t = 0; t < x->kernel->sweeps; t++)
    RETURN_IF_FAILED(add_partials(x, queue, (size_t)t * n, n, sweep->slot + t));
  return STATUS_OK;
}

static status_t opencl_ceiling(struct himeno_exec *exec, struct gpu_queue *queue)
{
  struct opencl_exec *x = (struct opencl_exec *)exec;
  struct launch launch = launch_begin(x, ENTRY_CEILING);
  cl_ulong vectors = (cl_ulong)layout_floats(&x->fields.layout) / 4;
  size_t groups = (vectors + x->field_group - 1) / x->field_group;

  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) buffer_argument(&launch, x->fields.coefficient[m].handle);
  buffer_argument(&launch, x->fields.p[0].handle);
  buffer_argument(&launch, x->fields.p[1].handle);
  argument(&launch, sizeof vectors, &vectors);
  return launch_end(&launch, queue, 1, &groups, &x->field_group);
}

/* For fewer than all coefficients, the last array is passed repeatedly and not read. */
static status_t opencl_checksum(struct himeno_exec *exec, struct gpu_queue *queue,
                                const struct gpu_mem *arrays, int n, const struct box *box, uint64_t *sum)
{
  struct opencl_exec *x = (struct opencl_exec *)exec;
  const cl_long2 stride = stride_of(&x->fields.layout);
  const cl_int8 bounds = opencl_box(box);
  const cl_int all = n;
  const size_t groups = CHECKSUM_GROUPS;
  cl_ulong partial[CHECKSUM_GROUPS];
  struct launch launch = launch_begin(x, ENTRY_CHECKSUM);
  uint64_t total = 0;

  for (int a = 0; a < HIMENO_COEFFICIENTS; a++) buffer_argument(&launch, arrays[a < n ? a : n - 1].handle);
  argument(&launch, sizeof all, &all);
  buffer_argument(&launch, x->partial.handle);
  argument(&launch, sizeof stride, &stride);
  argument(&launch, sizeof bounds, &bounds);
  place_arguments(&launch);
  RETURN_IF_FAILED(launch_end(&launch, queue, 1, &groups, &x->field_group));
  cl_int error = clEnqueueReadBuffer(opencl_queue_handle(queue), x->partial.handle, CL_TRUE, 0,
                                     sizeof partial, partial, 0, NULL, NULL);
  RETURN_IF_FAILED(opencl_check(error, "clEnqueueReadBuffer of the checksum"));
  for (int group = 0; group < CHECKSUM_GROUPS; group++) total += partial[group];
  *sum = total;
  return STATUS_OK;
}

static status_t opencl_resources(struct himeno_exec *exec, struct himeno_resources *resources)
{
  struct opencl_exec *x = (struct opencl_exec *)exec;
  cl_ulong local;
  cl_int error = clGetKernelWorkGroupInfo(x->entries[ENTRY_SWEEP], x->device->id, CL_KERNEL_LOCAL_MEM_SIZE,
                                          sizeof local, &local, NULL);
  RETURN_IF_FAILED(opencl_check(error, "clGetKernelWorkGroupInfo"));
  *resources =
      (struct himeno_resources){.threads = (int)opencl_group_items(&x->variant), .local_bytes = (int)local};
  return STATUS_OK;
}

static void opencl_sweep_close(struct himeno_exec *exec)
{
  struct opencl_exec *x = (struct opencl_exec *)exec;
  if (x) persistent_close(x);
  opencl_exec_close(x);
}

static status_t opencl_sweep_open(struct gpu_device *device, const struct himeno_fields *fields,
                                  const struct himeno_kernel *kernel, struct himeno_exec **exec)
{
  struct opencl_exec *x;
  RETURN_IF_FAILED(opencl_exec_open(device, fields, kernel, &x));
  status_t status = persistent_open(x);
  if (status == STATUS_OK)
    *exec = (struct himeno_exec *)x;
  else
    opencl_sweep_close((struct himeno_exec *)x);
  return status;
}

static int opencl_concurrent(const struct himeno_exec *exec)
{
  return ((const struct opencl_exec *)exec)->gosa != GOSA_LAUNCH;
}

const struct himeno_kernel_set himeno_kernels_opencl = {
    .backend = "opencl",
    .kernels = kernels,
    .n = sizeof kernels / sizeof *kernels,
    .own = &own,
    .open = opencl_sweep_open,
    .close = opencl_sweep_close,
    .fill = opencl_fill,
    .sweep = opencl_sweep,
    .sweeps_per_launch = persistent_most,
    .concurrent = opencl_concurrent,
    .ceiling = opencl_ceiling,
    .checksum = opencl_checksum,
    .resources = opencl_resources,
};
