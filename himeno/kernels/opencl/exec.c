/* SPDX-License-Identifier: MIT */
/* Set-up of a kernel: program, size of its groups on the device, buffers of partial sums. */
#include "himeno/kernels/opencl/exec.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/switches.h"
#include "himeno/kernels/opencl/common_cl.h"
#include "himeno/kernels/opencl/field_cl.h"

SWITCH("HIMENO_OPENCL_FP64", TUNING, AGREED, CHOICE("0|1"),
       "0: OpenCL kernels sum gosa in two floats, as on devices without fp64");
SWITCH("HIMENO_OPENCL_ATOMICS", TUNING, AGREED, CHOICE("0|1"),
       "0: OpenCL kernels sum gosa in a separate launch, without atomics");
SWITCH("HIMENO_OPENCL_WIDE", TUNING, AGREED, CHOICE("0|1"),
       "1: temporal OpenCL kernels use groups of up to 1024; 0: smaller ones; unset: 1 on NVIDIA devices");

#define FIELD_GROUP_MAX 256
/** One group adds up the last sums of a sweep, so it should be large. */
#define REDUCE_GROUP_MAX 1024

const char *const opencl_entry_names[ENTRIES] = {"sweep",    "fill_standard", "fill_dense", "ceiling13",
                                                 "checksum", "reduce",        "reduce_add"};

int64_t opencl_first_k(const struct opencl_variant *variant, const struct box *b)
{
  return b->lo[2] / variant->align * variant->align;
}

void opencl_groups(const struct opencl_variant *variant, const struct box *b, size_t groups[3])
{
  for (int n = 0; n < 3; n++) {
    int d = 2 - n;
    int64_t lo = d == 2 ? opencl_first_k(variant, b) : b->lo[d];
    groups[n] = (size_t)((b->hi[d] - lo + variant->points[n] - 1) / variant->points[n]);
  }
}

/** Sets \a limits to the maximum work-items of a group: in total, in k, in j. */
static status_t group_limits(const struct opencl_device *device, size_t limits[3])
{
  size_t items[ITEM_DIMENSIONS];
  RETURN_IF_FAILED(opencl_query(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof limits[0], &limits[0]));
  RETURN_IF_FAILED(opencl_query(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items));
  limits[1] = items[0];
  limits[2] = items[1];
  return STATUS_OK;
}

static int opencl_exec_fits(const struct opencl_variant *variant, const size_t limits[3])
{
  return (size_t)(variant->group[0] * variant->group[1]) <= limits[0] &&
         (size_t)variant->group[0] <= limits[1] && (size_t)variant->group[1] <= limits[2];
}

/** Minimum side of a group with a halo: its work-items must be enough to load a ring around it. */
#define LEAST_SIDE 8

/** Halves the longer side of a group; returns 0 if too few points would remain without the halo. */
static int halve_with_halo(struct opencl_variant *s)
{
  int d = s->group[1] >= s->group[0];
  if (s->group[d] / 2 <= 2 * s->halo || s->group[d] / 2 < LEAST_SIDE) return 0;
  s->group[d] /= 2;
  s->points[d] = s->group[d] - 2 * s->halo;
  return 1;
}

/** Halves a group in j, then in k, until the device supports it. Fails if the tile is fixed. */
static status_t fit_group(struct opencl_exec *x, const size_t limits[3])
{
  struct opencl_variant *s = &x->variant;
  while (s->shrinks && !opencl_exec_fits(s, limits) && s->group[0] * s->group[1] > 1) {
    if (s->halo > 0 && !halve_with_halo(s)) break;
    if (s->halo > 0) continue;
    int d = s->group[1] > 1 ? 1 : 0;
    s->group[d] /= 2;
    s->points[d] /= 2;
  }
  if (opencl_exec_fits(s, limits)) return STATUS_OK;
  return log_fail(
      STATUS_ENVIRONMENT, "kernel %s needs groups of %dx%d work-items, but %s takes at most %zu (%zux%zu)",
      x->kernel->name, s->group[0], s->group[1], x->device->base.info.name, limits[0], limits[1], limits[2]);
}

/** Returns compiler options that describe the device. */
static const char *device_options(const struct opencl_exec *x)
{
  static const char *const means[] = {"", " -D GOSA_ADD", " -D GOSA_EXCHANGE"};
  static _Thread_local char options[120];
  snprintf(options, sizeof options, "-cl-std=CL1.2%s%s", x->fp64 ? " -D HIMENO_FP64" : "", means[x->gosa]);
  return options;
}

status_t opencl_exec_build(const struct opencl_exec *x, const struct opencl_variant *variant,
                           const char *const parts[], cl_program *program)
{
  char options[280];
  size_t bytes = 1;
  char *source;

  for (int n = 0; parts[n]; n++) bytes += strlen(parts[n]);
  if (!(source = calloc(bytes, 1)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for OpenCL sources");
  for (int n = 0; parts[n]; n++) strcat(source, parts[n]);
  snprintf(options, sizeof options,
           "%s -D GROUP_K=%d -D GROUP_J=%d -D FIELD_GROUP=%zu -D REDUCE_GROUP=%zu %s", device_options(x),
           variant->group[0], variant->group[1], x->field_group, x->reduce_group,
           variant->options ? variant->options : "");
  status_t status = opencl_program_build(x->device, source, options, program);
  free(source);
  return status;
}

static status_t create_entries(struct opencl_exec *x)
{
  char what[96];
  for (int n = 0; n < ENTRIES; n++) {
    cl_int error;
    cl_program program = n == ENTRY_SWEEP && x->own ? x->own : x->program;
    x->entries[n] = clCreateKernel(program, opencl_entry_names[n], &error);
    snprintf(what, sizeof what, "clCreateKernel %s of %s", opencl_entry_names[n], x->kernel->name);
    RETURN_IF_FAILED(opencl_check(error, what));
  }
  return STATUS_OK;
}

static void release_program(struct opencl_exec *x)
{
  for (int n = 0; n < ENTRIES; n++) {
    if (x->entries[n]) clReleaseKernel(x->entries[n]);
    x->entries[n] = NULL;
  }
  if (x->program) clReleaseProgram(x->program);
  x->program = NULL;
}

/** Halves \a limit until a one-dimensional group of that size is allowed, and returns it. */
static size_t group_within(size_t limit, size_t most, const size_t limits[3])
{
  while (limit > most || limit > limits[1]) limit /= 2;
  return limit;
}

/** Kinds of kernels; all kernels of a kind have the same group size. */
enum { OF_SWEEP, OF_FIELDS, OF_SUMS, KINDS };

/** Sets \a run to whether all kernels run with the group sizes that they were built for. If not,
 * sets \a most to the maximum for each kind. */
static status_t groups_run(const struct opencl_exec *x, int *run, size_t most[KINDS])
{
  const size_t want[KINDS] = {opencl_group_items(&x->variant), x->field_group, x->reduce_group};
  *run = 1;
  for (int n = 0; n < ENTRIES; n++) {
    const int sums = n == ENTRY_REDUCE || n == ENTRY_ADD;
    const int kind = n == ENTRY_SWEEP ? OF_SWEEP : sums ? OF_SUMS : OF_FIELDS;
    size_t limit, required[3];
    RETURN_IF_FAILED(opencl_kernel_limits(x->device, x->entries[n], &limit, required));
    if (limit >= want[kind]) continue;
    *run = 0;
    if (limit < most[kind]) most[kind] = limit;
  }
  return STATUS_OK;
}

/** Limits for the planes of a march along i. With fewer planes the start costs too much. With more,
 * adjacent groups drift so far apart that their common halos leave L2. On an H100, 128 was 5%
 * faster than 64 at L and 2% at XL. */
#define LEAST_PLANES 8
#define MOST_PLANES  128

/** Divides the march along i so that one group per compute unit finishes the array soonest. */
static status_t plan_march(struct opencl_exec *x)
{
  const struct box *all = &x->fields.layout.interior;
  const int64_t planes = box_extent(all, 0), ramp = 2 * x->variant.halo + 4;
  size_t groups[3];
  cl_uint units;
  int64_t best = INT64_MAX;

  if (x->variant.halo == 0) return STATUS_OK;
  RETURN_IF_FAILED(opencl_query(x->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units));
  opencl_groups(&x->variant, all, groups);
  const int64_t tiles = (int64_t)(groups[0] * groups[1]);
  for (int64_t pieces = 1; pieces == 1 || pieces * LEAST_PLANES <= planes; pieces++) {
    int64_t march = (planes + pieces - 1) / pieces, used = (planes + march - 1) / march;
    int64_t rounds = (tiles * used + units - 1) / units;
    if (march > MOST_PLANES || rounds * (march + ramp) >= best) continue;
    best = rounds * (march + ramp);
    x->variant.points[2] = (int)march;
  }
  return STATUS_OK;
}

/** Builds the program for the largest groups that the device supports, and again for smaller ones
 * if the compiled kernels need them. */
static status_t prepare_program(struct opencl_exec *x)
{
  size_t limits[3];
  int run;

  RETURN_IF_FAILED(group_limits(x->device, limits));
  size_t most[KINDS] = {limits[0], limits[0], limits[0]};
  for (;;) {
    if (!x->own) RETURN_IF_FAILED(fit_group(x, (const size_t[3]){most[OF_SWEEP], limits[1], limits[2]}));
    RETURN_IF_FAILED(plan_march(x));
    x->field_group = group_within(FIELD_GROUP_MAX, most[OF_FIELDS], limits);
    x->reduce_group = group_within(REDUCE_GROUP_MAX, most[OF_SUMS], limits);
    const char *const parts[] = {himeno_common_cl, himeno_field_cl, x->own ? NULL : x->variant.source, NULL};
    RETURN_IF_FAILED(opencl_exec_build(x, &x->variant, parts, &x->program));
    RETURN_IF_FAILED(create_entries(x));
    RETURN_IF_FAILED(groups_run(x, &run, most));
    if (run) return STATUS_OK;
    release_program(x);
  }
}

/** Checks that the device has enough local memory for the compiled sweep. The last argument of a
 * user's kernel is local memory for its group's sum, which is set here. */
static status_t local_memory_set(const struct opencl_exec *x)
{
  const size_t scratch = opencl_group_items(&x->variant) * sizeof(double);
  cl_ulong need, have;
  cl_int error = CL_SUCCESS;
  if (x->own) error = clSetKernelArg(x->entries[ENTRY_SWEEP], SWEEP_ARGUMENTS, scratch, NULL);
  RETURN_IF_FAILED(opencl_check(error, "clSetKernelArg of the group's scratch"));
  error = clGetKernelWorkGroupInfo(x->entries[ENTRY_SWEEP], x->device->id, CL_KERNEL_LOCAL_MEM_SIZE,
                                   sizeof need, &need, NULL);
  RETURN_IF_FAILED(opencl_check(error, "clGetKernelWorkGroupInfo"));
  RETURN_IF_FAILED(opencl_query(x->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof have, &have));
  if (need <= have) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "kernel %s needs %llu bytes of local memory, but %s has %llu",
                  x->kernel->name, (unsigned long long)need, x->device->base.info.name,
                  (unsigned long long)have);
}

static status_t create_standard_p(struct opencl_exec *x)
{
  const struct layout *layout = &x->fields.layout;
  size_t planes = (size_t)layout->extent[0];
  float *table = malloc(planes * sizeof *table);
  cl_int error;
  if (!table)
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for %zu planes of initial data", planes);
  for (size_t i = 0; i < planes; i++)
    table[i] = himeno_standard_p(layout->origin[0] + (int64_t)i, layout->global[0]);
  x->standard_p = clCreateBuffer(x->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                 planes * sizeof *table, table, &error);
  free(table);
  return opencl_check(error, "clCreateBuffer for initial data");
}

/* Creates the buffers of partial sums for the whole interior, which needs the most groups. */
static status_t create_buffers(struct opencl_exec *x)
{
  size_t groups[3], n;

  opencl_groups(&x->variant, &x->fields.layout.interior, groups);
  n = x->gosa == GOSA_LAUNCH ? groups[0] * groups[1] * groups[2] * (size_t)x->kernel->sweeps : 0;
  if (n < CHECKSUM_GROUPS) n = CHECKSUM_GROUPS;
  RETURN_IF_FAILED(gpu_alloc(&x->device->base, n * sizeof(double), &x->partial));
  RETURN_IF_FAILED(gpu_alloc(&x->device->base, opencl_chunks(n) * sizeof(double), &x->chunks));
  return create_standard_p(x);
}

void opencl_exec_close(struct opencl_exec *x)
{
  if (!x) return;
  if (x->standard_p) clReleaseMemObject(x->standard_p);
  gpu_free(&x->device->base, &x->chunks);
  gpu_free(&x->device->base, &x->partial);
  release_program(x);
  if (x->own) clReleaseProgram(x->own);
  free(x);
}

/** Chooses the device's best method to sum up gosa. For tests, HIMENO_OPENCL_ATOMICS=0 and
 * HIMENO_OPENCL_FP64=0 simulate a device without atomics or doubles. */
static void gosa_choose(struct opencl_exec *x)
{
  const struct gpu_device_info *info = &x->device->base.info;
  x->gosa = GOSA_LAUNCH;
  x->fp64 = info->fp64 && switch_number("HIMENO_OPENCL_FP64", 1);
  if (!x->fp64 || !switch_number("HIMENO_OPENCL_ATOMICS", 1)) return;
  if (opencl_is_nvidia(x->device))
    x->gosa = opencl_nvidia_chip(x->device) >= 60 ? GOSA_ADD : GOSA_LAUNCH;
  else if (info->is_cpu && opencl_has_extension(x->device->id, "cl_khr_int64_base_atomics"))
    x->gosa = GOSA_EXCHANGE;
}

/** Maximum bytes of all arrays for which caching coefficients makes sweeps faster. Measured on an
 * H100: M (0.2 GB) gains 3%, L (1.9 GB) 0.3%, XL (15 GB) loses 5%. OpenCL does not report the size
 * of L2: NVIDIA's driver returns that of L1. */
#define CACHED_BYTES (2.0 * (1 << 30))

static status_t variant_open(struct opencl_exec *x)
{
  const struct opencl_variant *variant = x->kernel->variant;
  const double bytes = (HIMENO_ARRAYS + 1) * sizeof(float) * (double)layout_floats(&x->fields.layout);
  if (!variant) return opencl_user_open(x->device, x->kernel->file, device_options(x), &x->own, &x->variant);
  /* groups may be large: NVIDIA's compiler limits registers to fit the group's size */
  if (variant->wide && switch_number("HIMENO_OPENCL_WIDE", opencl_is_nvidia(x->device)) == 1)
    x->variant = *variant->wide;
  else
    x->variant = variant->cached && bytes <= CACHED_BYTES ? *variant->cached : *variant;
  return STATUS_OK;
}

status_t opencl_exec_open(struct gpu_device *device, const struct himeno_fields *fields,
                          const struct himeno_kernel *kernel, struct opencl_exec **exec)
{
  struct opencl_exec *x;
  status_t status;

  for (int d = 0; d < 3; d++)
    if (fields->layout.extent[d] > INT_MAX)
      return log_fail(STATUS_USAGE, "OpenCL kernels take at most %d points in a dimension, not %lld", INT_MAX,
                      (long long)fields->layout.extent[d]);
  if (!(x = calloc(1, sizeof *x)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the OpenCL kernels");
  x->device = (struct opencl_device *)device;
  x->fields = *fields;
  x->kernel = kernel;
  gosa_choose(x);
  TRY(variant_open(x), fail);
  TRY(prepare_program(x), fail);
  TRY(local_memory_set(x), fail);
  TRY(create_buffers(x), fail);
  *exec = x;
  return STATUS_OK;
fail:
  opencl_exec_close(x);
  return status;
}
