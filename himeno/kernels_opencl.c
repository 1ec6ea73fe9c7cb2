/* SPDX-License-Identifier: MIT */
/* The OpenCL kernel set: what is on the ladder, and the host side of a launch. The steps are in himeno/opencl/. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/opencl/opencl_device.h"
#include "himeno/kernels.h"
#include "himeno/opencl/block16_cl.h"
#include "himeno/opencl/common_cl.h"
#include "himeno/opencl/field_cl.h"
#include "himeno/opencl/naive_cl.h"
#include "himeno/opencl/paced_cl.h"
#include "himeno/opencl/stream_cl.h"

/** Partial sums that one group adds up. */
#define REDUCE_CHUNK 4096
/** Groups of the checksum: enough to fill any device, few enough to add up on the host. */
#define CHECKSUM_GROUPS 1024
#define FIELD_GROUP_MAX 256
/** One group adds up a sweep's last sums, so it should be large. */
#define REDUCE_GROUP_MAX 1024

static const struct himeno_kernel kernels[] = {
    {.name = "naive", .step = "one work-item a point, caches alone", .sweeps = 1, .rung = 1},
    {.name = "block16",
     .step = "16x16x8 tile with its halo in local memory before use, as in 2008",
     .sweeps = 1,
     .rung = 2},
    {.name = "paced",
     .step = "64x4 columns march over 64 planes, three local planes, a barrier a plane, as in 2009",
     .sweeps = 1,
     .rung = 3},
    {.name = "stream", .step = "4 points in a vector a work-item, p through the caches", .sweeps = 1, .rung = 4},
};

/** Geometry of a variant: a group covers points[d] points in k, j, i, and may be made smaller where `shrinks`. */
struct opencl_step {
  const char *source;
  int group[2]; /**< work-items in k and j */
  int points[3];
  int align;    /**< groups start at multiples of this many floats in k */
  int shrinks;
};

static const struct opencl_step steps[] = {
    {himeno_naive_cl, {64, 4}, {64, 4, 1}, 1, 1},
    {himeno_block16_cl, {16, 16}, {16, 16, 8}, 1, 0},
    {himeno_paced_cl, {64, 4}, {64, 4, 64}, 1, 0},
    {himeno_stream_cl, {64, 4}, {256, 4, 1}, 4, 1},
};
#define KERNELS (sizeof kernels / sizeof kernels[0])
_Static_assert(KERNELS == sizeof steps / sizeof steps[0], "every kernel has its step");

enum entry { ENTRY_SWEEP, ENTRY_STANDARD, ENTRY_DENSE, ENTRY_CEILING, ENTRY_CHECKSUM, ENTRY_REDUCE, ENTRY_ADD, ENTRIES };
static const char *const entry_names[ENTRIES] = {"sweep",    "fill_standard", "fill_dense", "ceiling13",
                                                 "checksum", "reduce",        "reduce_add"};

struct himeno_exec {
  struct opencl_device *device;
  struct himeno_fields fields;
  const struct himeno_kernel *kernel;
  struct opencl_step step; /**< shrunk to the device */
  int fp64;
  size_t field_group, reduce_group;
  cl_program program;
  cl_kernel entries[ENTRIES];
  cl_mem partial, chunks; /**< sums of groups, and of REDUCE_CHUNK groups */
  cl_mem standard_p;      /**< standard p of each local plane */
};

/** Arguments of one launch, set in order; the first error stays. */
struct launch {
  struct himeno_exec *exec;
  enum entry entry;
  cl_uint n;
  cl_int error;
};

static struct launch launch_begin(struct himeno_exec *exec, enum entry entry)
{
  return (struct launch){exec, entry, 0, CL_SUCCESS};
}

static void argument(struct launch *launch, size_t bytes, const void *value)
{
  cl_int error = clSetKernelArg(launch->exec->entries[launch->entry], launch->n++, bytes, value);
  if (launch->error == CL_SUCCESS) launch->error = error;
}

static void buffer_argument(struct launch *launch, void *handle)
{
  cl_mem buffer = handle;
  argument(launch, sizeof buffer, &buffer);
}

static status_t launch_end(struct launch *launch, struct gpu_queue *queue, cl_uint dimensions, const size_t *groups,
                           const size_t *group)
{
  char what[96];
  size_t global[3];

  for (cl_uint d = 0; d < dimensions; d++) global[d] = groups[d] * group[d];
  if (launch->error == CL_SUCCESS)
    launch->error = clEnqueueNDRangeKernel(opencl_queue_handle(queue), launch->exec->entries[launch->entry], dimensions,
                                           NULL, global, group, 0, NULL, NULL);
  if (launch->error == CL_SUCCESS) return STATUS_OK;
  snprintf(what, sizeof what, "launch of OpenCL kernel %s of %s", entry_names[launch->entry],
           launch->exec->kernel->name);
  return opencl_fail(launch->error, what);
}

static cl_long2 stride_of(const struct layout *layout)
{
  return (cl_long2){{layout->plane, layout->pitch}};
}

static cl_int8 box_argument(const struct box *b, int odd)
{
  return (cl_int8){{(cl_int)b->lo[0], (cl_int)b->lo[1], (cl_int)b->lo[2], (cl_int)b->hi[0], (cl_int)b->hi[1],
                    (cl_int)b->hi[2], odd, 0}};
}

/** Groups that cover a box, in k, j, i. */
static void groups_of(const struct opencl_step *step, const struct box *b, size_t groups[3])
{
  for (int n = 0; n < 3; n++) {
    int d = 2 - n;
    int64_t lo = d == 2 ? b->lo[2] / step->align * step->align : b->lo[d];
    groups[n] = (size_t)((b->hi[d] - lo + step->points[n] - 1) / step->points[n]);
  }
}

static size_t chunks_of(size_t n)
{
  return (n + REDUCE_CHUNK - 1) / REDUCE_CHUNK;
}

/* ---- what is made once ---- */

static status_t query(const struct opencl_device *device, cl_device_info what, size_t bytes, void *value)
{
  cl_int error = clGetDeviceInfo(device->id, what, bytes, value, NULL);
  return error == CL_SUCCESS ? STATUS_OK : opencl_fail(error, "clGetDeviceInfo");
}

/** Work-items that a group may have: in all, in k, in j. */
static status_t group_limits(const struct opencl_device *device, size_t limits[3])
{
  cl_uint dimensions;
  size_t *items;
  status_t status;

  RETURN_IF_FAILED(query(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof limits[0], &limits[0]));
  RETURN_IF_FAILED(query(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, sizeof dimensions, &dimensions));
  if (!(items = calloc(dimensions, sizeof *items))) return log_fail(STATUS_ENVIRONMENT, "no memory for device limits");
  TRY(query(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, dimensions * sizeof *items, items), done);
  limits[1] = items[0];
  limits[2] = dimensions > 1 ? items[1] : 1;
done:
  free(items);
  return status;
}

static int fits(const struct opencl_step *step, const size_t limits[3])
{
  return (size_t)(step->group[0] * step->group[1]) <= limits[0] && (size_t)step->group[0] <= limits[1] &&
         (size_t)step->group[1] <= limits[2];
}

/** Halves a group in j, then in k, until the device takes it; steps whose tile is their point say that they cannot. */
static status_t fit_group(struct himeno_exec *x, const size_t limits[3])
{
  struct opencl_step *s = &x->step;
  while (s->shrinks && !fits(s, limits) && s->group[0] * s->group[1] > 1) {
    int d = s->group[1] > 1 ? 1 : 0;
    s->group[d] /= 2;
    s->points[d] /= 2;
  }
  if (fits(s, limits)) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "kernel %s needs groups of %dx%d work-items, %s takes %zu (%zux%zu)",
                  x->kernel->name, s->group[0], s->group[1], x->device->base.info.name, limits[0], limits[1], limits[2]);
}

static status_t build(struct himeno_exec *x)
{
  char options[160];
  const char *parts[] = {himeno_common_cl, himeno_field_cl, x->step.source};
  size_t bytes = 1;
  char *source;

  for (int n = 0; n < 3; n++) bytes += strlen(parts[n]);
  if (!(source = calloc(bytes, 1))) return log_fail(STATUS_ENVIRONMENT, "no memory for OpenCL sources");
  for (int n = 0; n < 3; n++) strcat(source, parts[n]);
  snprintf(options, sizeof options, "-cl-std=CL1.2 -D GROUP_K=%d -D GROUP_J=%d -D FIELD_GROUP=%zu -D REDUCE_GROUP=%zu%s",
           x->step.group[0], x->step.group[1], x->field_group, x->reduce_group, x->fp64 ? " -D HIMENO_FP64" : "");
  status_t status = opencl_program_build(x->device, source, options, &x->program);
  free(source);
  return status;
}

static status_t create_entries(struct himeno_exec *x)
{
  char what[96];
  for (int n = 0; n < ENTRIES; n++) {
    cl_int error;
    x->entries[n] = clCreateKernel(x->program, entry_names[n], &error);
    if (error == CL_SUCCESS) continue;
    x->entries[n] = NULL;
    snprintf(what, sizeof what, "clCreateKernel %s of %s", entry_names[n], x->kernel->name);
    return opencl_fail(error, what);
  }
  return STATUS_OK;
}

static void release_program(struct himeno_exec *x)
{
  for (int n = 0; n < ENTRIES; n++) {
    if (x->entries[n]) clReleaseKernel(x->entries[n]);
    x->entries[n] = NULL;
  }
  if (x->program) clReleaseProgram(x->program);
  x->program = NULL;
}

/** The largest power of two within a limit and what the device takes in one dimension. */
static size_t group_within(size_t limit, const size_t limits[3])
{
  while (limit > limits[0] || limit > limits[1]) limit /= 2;
  return limit;
}

/** Work-items that a compiled kernel takes, which registers may make fewer than the device does. */
static status_t compiled_limit(const struct himeno_exec *x, enum entry entry, size_t *limit)
{
  cl_int error = clGetKernelWorkGroupInfo(x->entries[entry], x->device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof *limit,
                                          limit, NULL);
  return error == CL_SUCCESS ? STATUS_OK : opencl_fail(error, "clGetKernelWorkGroupInfo");
}

/** Whether all kernels run with the groups they were built for; if not, *least is what the narrowest of them takes. */
static status_t groups_run(const struct himeno_exec *x, int *run, size_t *least)
{
  *run = 1;
  *least = SIZE_MAX;
  for (int n = 0; n < ENTRIES; n++) {
    size_t limit, want = n == ENTRY_SWEEP                        ? (size_t)(x->step.group[0] * x->step.group[1])
                         : n == ENTRY_REDUCE || n == ENTRY_ADD ? x->reduce_group
                                                                : x->field_group;
    RETURN_IF_FAILED(compiled_limit(x, n, &limit));
    if (limit < want) *run = 0;
    if (limit < *least) *least = limit;
  }
  return STATUS_OK;
}

/** Builds for groups as large as the device takes; again with smaller ones while the compiled kernels take less. */
static status_t prepare_program(struct himeno_exec *x)
{
  size_t limits[3], least;
  int run;

  RETURN_IF_FAILED(group_limits(x->device, limits));
  for (;;) {
    RETURN_IF_FAILED(fit_group(x, limits));
    x->field_group = group_within(FIELD_GROUP_MAX, limits);
    x->reduce_group = group_within(REDUCE_GROUP_MAX, limits);
    RETURN_IF_FAILED(build(x));
    RETURN_IF_FAILED(create_entries(x));
    RETURN_IF_FAILED(groups_run(x, &run, &least));
    if (run) return STATUS_OK;
    release_program(x);
    limits[0] = least;
  }
}

/** Local memory: what the compiled sweep takes must be there. */
static status_t check_local_memory(const struct himeno_exec *x)
{
  cl_ulong need, have;
  cl_int error = clGetKernelWorkGroupInfo(x->entries[ENTRY_SWEEP], x->device->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof need,
                                          &need, NULL);
  if (error != CL_SUCCESS) return opencl_fail(error, "clGetKernelWorkGroupInfo");
  RETURN_IF_FAILED(query(x->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof have, &have));
  if (need <= have) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "kernel %s needs %llu bytes of local memory, %s has %llu", x->kernel->name,
                  (unsigned long long)need, x->device->base.info.name, (unsigned long long)have);
}

static status_t create_buffer(struct himeno_exec *x, size_t bytes, void *host, cl_mem *buffer)
{
  cl_int error;
  cl_mem_flags flags = CL_MEM_READ_WRITE | (host ? CL_MEM_COPY_HOST_PTR : 0);
  cl_mem made = clCreateBuffer(x->device->context, flags, bytes, host, &error);
  if (error != CL_SUCCESS) return opencl_fail(error, "clCreateBuffer for partial sums");
  *buffer = made;
  return STATUS_OK;
}

static status_t create_standard_p(struct himeno_exec *x)
{
  const struct layout *layout = &x->fields.layout;
  size_t planes = (size_t)layout->extent[0];
  float *table = malloc(planes * sizeof *table);

  if (!table) return log_fail(STATUS_ENVIRONMENT, "no memory for %zu planes of initial data", planes);
  for (size_t i = 0; i < planes; i++) table[i] = himeno_standard_p(layout->origin[0] + (int64_t)i, layout->global[0]);
  status_t status = create_buffer(x, planes * sizeof *table, table, &x->standard_p);
  free(table);
  return status;
}

/* Groups that cover a box inside the interior are never more than those that cover all of it. */
static status_t create_buffers(struct himeno_exec *x)
{
  size_t groups[3], n;

  groups_of(&x->step, &x->fields.layout.interior, groups);
  n = groups[0] * groups[1] * groups[2];
  if (n < CHECKSUM_GROUPS) n = CHECKSUM_GROUPS;
  RETURN_IF_FAILED(create_buffer(x, n * sizeof(double), NULL, &x->partial));
  RETURN_IF_FAILED(create_buffer(x, chunks_of(n) * sizeof(double), NULL, &x->chunks));
  return create_standard_p(x);
}

static void opencl_close(struct himeno_exec *x)
{
  if (!x) return;
  if (x->standard_p) clReleaseMemObject(x->standard_p);
  if (x->chunks) clReleaseMemObject(x->chunks);
  if (x->partial) clReleaseMemObject(x->partial);
  release_program(x);
  free(x);
}

static status_t check_extents(const struct layout *layout)
{
  for (int d = 0; d < 3; d++)
    if (layout->extent[d] > INT_MAX)
      return log_fail(STATUS_USAGE, "OpenCL kernels take at most %d points in a dimension, not %lld", INT_MAX,
                      (long long)layout->extent[d]);
  return STATUS_OK;
}

static status_t opencl_open(struct gpu_device *device, const struct himeno_fields *fields,
                            const struct himeno_kernel *kernel, struct himeno_exec **exec)
{
  const char *fp64 = getenv("HIMENO_OPENCL_FP64");
  struct himeno_exec *x;
  status_t status;

  RETURN_IF_FAILED(check_extents(&fields->layout));
  if (!(x = calloc(1, sizeof *x))) return log_fail(STATUS_ENVIRONMENT, "no memory for the OpenCL kernels");
  x->device = (struct opencl_device *)device;
  x->fields = *fields;
  x->kernel = kernel;
  x->step = steps[kernel - kernels];
  x->fp64 = device->info.fp64 && !(fp64 && !strcmp(fp64, "0"));
  TRY(prepare_program(x), fail);
  TRY(check_local_memory(x), fail);
  TRY(create_buffers(x), fail);
  *exec = x;
  return STATUS_OK;
fail:
  opencl_close(x);
  return status;
}

/* ---- what runs ---- */

/** A group a row, with work-items along k. */
static status_t launch_rows(struct launch *launch, struct gpu_queue *queue)
{
  const struct layout *layout = &launch->exec->fields.layout;
  size_t rows = (size_t)(layout->extent[0] * layout->extent[1]);
  return launch_end(launch, queue, 1, &rows, &launch->exec->field_group);
}

/** Where the local array lies in the grid. */
static void place_arguments(struct launch *launch)
{
  const struct layout *layout = &launch->exec->fields.layout;
  cl_long4 origin = {{layout->origin[0], layout->origin[1], layout->origin[2], 0}};
  cl_long2 global = {{layout->global[1], layout->global[2]}};
  argument(launch, sizeof origin, &origin);
  argument(launch, sizeof global, &global);
}

static status_t fill_field(struct himeno_exec *x, struct gpu_queue *queue, void *out, enum himeno_array array,
                           enum himeno_data data)
{
  const struct layout *layout = &x->fields.layout;
  const struct himeno_rule *rule = &himeno_rules[array];
  const cl_long2 stride = stride_of(layout);
  const cl_int4 extent = {{(cl_int)layout->extent[0], (cl_int)layout->extent[1], (cl_int)layout->extent[2], 0}};
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

static status_t opencl_fill(struct himeno_exec *x, struct gpu_queue *queue, enum himeno_array array,
                            enum himeno_data data)
{
  if (array != HIMENO_P) return fill_field(x, queue, x->fields.coefficient[array].handle, array, data);
  RETURN_IF_FAILED(fill_field(x, queue, x->fields.p[0].handle, array, data));
  return fill_field(x, queue, x->fields.p[1].handle, array, data);
}

/** Adds the first n partial sums to gosa[slot], through chunks where they are many. */
static status_t add_partials(struct himeno_exec *x, struct gpu_queue *queue, size_t n, int slot)
{
  const size_t one = 1;
  cl_mem in = x->partial, out = x->chunks;
  cl_int place = slot;

  while (n > REDUCE_CHUNK) {
    struct launch reduce = launch_begin(x, ENTRY_REDUCE);
    cl_ulong all = n, chunk = REDUCE_CHUNK;
    size_t groups = chunks_of(n);
    buffer_argument(&reduce, in);
    argument(&reduce, sizeof all, &all);
    argument(&reduce, sizeof chunk, &chunk);
    buffer_argument(&reduce, out);
    RETURN_IF_FAILED(launch_end(&reduce, queue, 1, &groups, &x->reduce_group));
    cl_mem swap = in;
    in = out;
    out = swap;
    n = groups;
  }
  struct launch add = launch_begin(x, ENTRY_ADD);
  cl_ulong rest = n;
  buffer_argument(&add, in);
  argument(&add, sizeof rest, &rest);
  buffer_argument(&add, x->fields.gosa.handle);
  argument(&add, sizeof place, &place);
  return launch_end(&add, queue, 1, &one, &x->reduce_group);
}

static status_t opencl_sweep(struct himeno_exec *x, struct gpu_queue *queue, const struct himeno_sweep *sweep)
{
  const cl_long2 stride = stride_of(&x->fields.layout);
  const cl_int8 box = box_argument(&sweep->box, sweep->source);
  const size_t group[3] = {(size_t)x->step.group[0], (size_t)x->step.group[1], 1};
  struct launch launch = launch_begin(x, ENTRY_SWEEP);
  size_t groups[3];

  if (!box_points(&sweep->box)) return STATUS_OK;
  groups_of(&x->step, &sweep->box, groups);
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) buffer_argument(&launch, x->fields.coefficient[m].handle);
  buffer_argument(&launch, x->fields.p[sweep->source].handle);
  buffer_argument(&launch, x->fields.p[1 - sweep->source].handle);
  buffer_argument(&launch, x->partial);
  argument(&launch, sizeof stride, &stride);
  argument(&launch, sizeof box, &box);
  RETURN_IF_FAILED(launch_end(&launch, queue, 3, groups, group));
  return add_partials(x, queue, groups[0] * groups[1] * groups[2], sweep->slot);
}

static status_t opencl_ceiling(struct himeno_exec *x, struct gpu_queue *queue)
{
  struct launch launch = launch_begin(x, ENTRY_CEILING);
  cl_ulong vectors = (cl_ulong)layout_floats(&x->fields.layout) / 4;
  size_t groups = (vectors + x->field_group - 1) / x->field_group;

  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) buffer_argument(&launch, x->fields.coefficient[m].handle);
  buffer_argument(&launch, x->fields.p[0].handle);
  buffer_argument(&launch, x->fields.p[1].handle);
  argument(&launch, sizeof vectors, &vectors);
  return launch_end(&launch, queue, 1, &groups, &x->field_group);
}

static status_t opencl_checksum(struct himeno_exec *x, struct gpu_queue *queue, int which, uint64_t *sum)
{
  const cl_long2 stride = stride_of(&x->fields.layout);
  const cl_int8 box = box_argument(&x->fields.layout.counted, 0);
  const size_t groups = CHECKSUM_GROUPS;
  cl_ulong partial[CHECKSUM_GROUPS];
  struct launch launch = launch_begin(x, ENTRY_CHECKSUM);
  uint64_t total = 0;

  buffer_argument(&launch, x->fields.p[which].handle);
  buffer_argument(&launch, x->partial);
  argument(&launch, sizeof stride, &stride);
  argument(&launch, sizeof box, &box);
  place_arguments(&launch);
  RETURN_IF_FAILED(launch_end(&launch, queue, 1, &groups, &x->field_group));
  cl_int error = clEnqueueReadBuffer(opencl_queue_handle(queue), x->partial, CL_TRUE, 0, sizeof partial, partial, 0, NULL,
                                     NULL);
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
  *resources = (struct himeno_resources){.threads = x->step.group[0] * x->step.group[1], .local_bytes = (int)local};
  return STATUS_OK;
}

const struct himeno_kernel_set himeno_kernels_opencl = {
    .backend = "opencl",
    .kernels = kernels,
    .n = KERNELS,
    .open = opencl_open,
    .close = opencl_close,
    .fill = opencl_fill,
    .sweep = opencl_sweep,
    .ceiling = opencl_ceiling,
    .checksum = opencl_checksum,
    .resources = opencl_resources,
};
