/* SPDX-License-Identifier: MIT */
/* mem-gpu's kernels on OpenCL devices. Sources in opencl/ are built when the device opens. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/opencl/opencl_device.h"
#include "tools/memory/kernels/mem_ops.h"
#include "tools/memory/opencl/common_cl.h"
#include "tools/memory/opencl/copy_cl.h"
#include "tools/memory/opencl/mix_cl.h"

#define GROUP_MAX  256
#define TILE_WORDS 4
/** Maximum words that one launch of a comparison checks, because its counters have 32 bits. */
#define CHECK_WORDS ((uint64_t)1 << 30)

#define CL_ALL(K)                                                                                            \
  K(fill)                                                                                                    \
  K(check)                                                                                                   \
  K(ring_fill)                                                                                               \
  K(chase)                                                                                                   \
  K(study_4)                                                                                                 \
  K(study_16)                                                                                                \
  K(study_4_paced)                                                                                           \
  K(study_16_paced)                                                                                          \
  K(tile)                                                                                                    \
  K(word)                                                                                                    \
  K(babel)                                                                                                   \
  K(read_words)                                                                                              \
  K(write_words)                                                                                             \
  K(combine_1)                                                                                               \
  K(combine_3)                                                                                               \
  K(combine_13)                                                                                              \
  K(window_read)                                                                                             \
  K(flops)

#define NUMBER(name) KERNEL_##name,
enum kernel { CL_ALL(NUMBER) KERNELS };
#define NAME(name) #name,
static const char *const kernel_names[] = {CL_ALL(NAME)};

struct mem_opencl_exec {
  struct opencl_device *device;
  size_t group; /**< number of work-items per group that every kernel supports */
  size_t units;
  cl_program program;
  cl_kernel kernels[KERNELS];
  cl_mem found, result; /**< counters of a check; result of a chase */
};

static uint64_t line_bytes(const struct mem_opencl_exec *x)
{
  return x->device->base.info.is_cpu ? 64 : 128;
}

static status_t mem_opencl_build(struct mem_opencl_exec *x)
{
  static const char *const parts[] = {memory_common_cl, memory_copy_cl, memory_mix_cl};
  char options[200];
  size_t bytes = 1;
  for (int n = 0; n < 3; n++) bytes += strlen(parts[n]);
  char *source = calloc(bytes, 1);
  if (!source) return log_fail(STATUS_ENVIRONMENT, "out of host memory for OpenCL sources");
  for (int n = 0; n < 3; n++) strcat(source, parts[n]);
  snprintf(options, sizeof options,
           "-cl-std=CL1.2 -D LINE=%d -D SUM_GROUP=%zu -D TILE_GROUP=%zu -D TILE_WORDS=%d", (int)line_bytes(x),
           x->group, x->group, TILE_WORDS);
  status_t status = opencl_program_build(x->device, source, options, &x->program);
  free(source);
  return status;
}

static status_t create_kernels(struct mem_opencl_exec *x)
{
  for (int k = 0; k < KERNELS; k++) {
    cl_int error;
    x->kernels[k] = clCreateKernel(x->program, kernel_names[k], &error);
    if (error == CL_SUCCESS) continue;
    x->kernels[k] = NULL;
    return log_fail(STATUS_FAULT, "clCreateKernel %s: %s", kernel_names[k], opencl_error_name(error));
  }
  return STATUS_OK;
}

static status_t mem_opencl_buffer_create(struct mem_opencl_exec *x, size_t bytes, cl_mem *buffer)
{
  cl_int error;
  cl_mem made = clCreateBuffer(x->device->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  RETURN_IF_FAILED(opencl_check(error, "clCreateBuffer for counters"));
  *buffer = made;
  return STATUS_OK;
}

static void cl_close_exec(struct mem_exec *exec)
{
  struct mem_opencl_exec *x = (struct mem_opencl_exec *)exec;
  if (!x) return;
  if (x->result) clReleaseMemObject(x->result);
  if (x->found) clReleaseMemObject(x->found);
  for (int k = 0; k < KERNELS; k++)
    if (x->kernels[k]) clReleaseKernel(x->kernels[k]);
  if (x->program) clReleaseProgram(x->program);
  free(x);
}

static status_t cl_open_exec(struct gpu_device *device, struct mem_exec **exec)
{
  status_t status;
  struct mem_opencl_exec *x = calloc(1, sizeof *x);
  if (!x) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the OpenCL kernels");
  x->device = (struct opencl_device *)device;
  x->units = (size_t)device->info.compute_units;
  TRY(opencl_query(x->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof x->group, &x->group), fail);
  while (x->group & (x->group - 1)) x->group &= x->group - 1;
  if (x->group > GROUP_MAX) x->group = GROUP_MAX;
  TRY(mem_opencl_build(x), fail);
  TRY(create_kernels(x), fail);
  TRY(mem_opencl_buffer_create(x, 3 * sizeof(cl_uint), &x->found), fail);
  TRY(mem_opencl_buffer_create(x, sizeof(cl_ulong), &x->result), fail);
  *exec = (struct mem_exec *)x;
  return STATUS_OK;
fail:
  cl_close_exec((struct mem_exec *)x);
  return status;
}

static void cl_traits(const struct mem_exec *exec, struct mem_traits *traits)
{
  const struct mem_opencl_exec *x = (const struct mem_opencl_exec *)exec;
  *traits = (struct mem_traits){.line = line_bytes(x),
                                .threads_max = (int)x->group,
                                .blocks_max = 2048,
                                .assign = 1 << MEM_CYCLIC | 1 << MEM_BLOCK | 1 << MEM_GROUP,
                                .copy_shapes = {2, {"one tile per work-group", "one word per work-item"}},
                                .mix_shapes = {1, {"1 word a work-item"}},
                                .types = 1 << MEM_FP32};
}

struct argument {
  size_t bytes;
  const void *value;
};
#define ARG(variable) ((struct argument){sizeof(variable), &(variable)})
#define ARGS(...)     ((const struct argument[]){__VA_ARGS__, {0, NULL}})

/** Enqueues \a rows rows of \a groups groups of \a lanes work-items. */
static status_t mem_opencl_launch(struct mem_exec *exec, struct gpu_queue *queue, enum kernel k,
                                  size_t groups, size_t rows, size_t lanes, const struct argument *arguments)
{
  struct mem_opencl_exec *x = (struct mem_opencl_exec *)exec;
  size_t global[2] = {groups * lanes, rows}, local[2] = {lanes, 1};
  for (cl_uint a = 0; arguments[a].bytes; a++) {
    cl_int error = clSetKernelArg(x->kernels[k], a, arguments[a].bytes, arguments[a].value);
    if (error != CL_SUCCESS)
      return log_fail(STATUS_FAULT, "argument %u of %s: %s", a, kernel_names[k], opencl_error_name(error));
  }
  cl_int error = clEnqueueNDRangeKernel(opencl_queue_handle(queue), x->kernels[k], rows > 1 ? 2 : 1, NULL,
                                        global, local, 0, NULL, NULL);
  if (error == CL_SUCCESS) return STATUS_OK;
  char what[80];
  snprintf(what, sizeof what, "launching %s", kernel_names[k]);
  return opencl_check(error, what);
}

/** Enqueues as many groups as fill the device, for kernels that stride over their data. */
static status_t fill_device(struct mem_exec *exec, struct gpu_queue *queue, enum kernel k,
                            const struct argument *arguments)
{
  struct mem_opencl_exec *x = (struct mem_opencl_exec *)exec;
  return mem_opencl_launch(exec, queue, k, x->units * 8, 1, x->group, arguments);
}

static status_t cl_fill(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                        int number)
{
  cl_mem buffer = mem.handle;
  cl_ulong n = bytes / 4;
  cl_uint array = (cl_uint)number;
  return fill_device(exec, queue, KERNEL_fill, ARGS(ARG(buffer), ARG(n), ARG(array)));
}

/* Checks one part of memory. Counters have 32 bits, so they are read after each part. */
static status_t check_part(struct mem_exec *exec, struct gpu_queue *queue, cl_mem buffer, uint64_t first,
                           uint64_t words, struct mem_check *c)
{
  struct mem_opencl_exec *x = (struct mem_opencl_exec *)exec;
  cl_uint found[3] = {0, ~0u, 0};
  cl_int written = c->expect == MEM_EXPECT_WRITTEN, arrays = c->arrays, compare = buffer != NULL;
  cl_mem part = compare ? buffer : x->found;
  cl_ulong n = words, at = first;
  cl_command_queue q = opencl_queue_handle(queue);
  RETURN_IF_FAILED(
      opencl_check(clEnqueueWriteBuffer(q, x->found, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL),
                   "starting a comparison"));
  RETURN_IF_FAILED(
      fill_device(exec, queue, KERNEL_check,
                  ARGS(ARG(part), ARG(n), ARG(written), ARG(arrays), ARG(compare), ARG(x->found), ARG(at))));
  RETURN_IF_FAILED(
      opencl_check(clEnqueueReadBuffer(q, x->found, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL),
                   "reading a comparison"));
  c->sum += found[2];
  if (found[0] && !c->wrong) c->first = first + found[1];
  c->wrong += found[0];
  return STATUS_OK;
}

static status_t cl_check(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                         struct mem_check *c)
{
  uint64_t words = bytes / 4;
  c->wrong = c->first = c->sum = 0;
  for (uint64_t first = 0; first < words; first += CHECK_WORDS)
    RETURN_IF_FAILED(check_part(exec, queue, mem.handle, first,
                                words - first < CHECK_WORDS ? words - first : CHECK_WORDS, c));
  return STATUS_OK;
}

static status_t mem_opencl_study(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_copy *c)
{
  struct mem_opencl_exec *x = (struct mem_opencl_exec *)exec;
  cl_mem from = c->from.handle, to = c->to.handle;
  cl_ulong n = c->bytes / (uint64_t)c->streams / (uint64_t)c->width;
  cl_int streams = c->streams, assign = c->assign;
  enum kernel kernel = c->width == 4 ? (c->paced ? KERNEL_study_4_paced : KERNEL_study_4)
                                     : (c->paced ? KERNEL_study_16_paced : KERNEL_study_16);
  return mem_opencl_launch(exec, queue, kernel, x->units * (size_t)c->blocks, 1, (size_t)c->threads,
                           ARGS(ARG(from), ARG(to), ARG(n), ARG(streams), ARG(assign)));
}

static status_t cl_copy(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_copy *c)
{
  struct mem_opencl_exec *x = (struct mem_opencl_exec *)exec;
  cl_mem from = c->from.handle, to = c->to.handle;
  cl_ulong n = c->bytes / 16;
  size_t each = x->group * (c->shape == 0 ? TILE_WORDS : 1);
  switch (c->method) {
  case MEM_STUDY:
    return mem_opencl_study(exec, queue, c);
  case MEM_TUNED:
    return mem_opencl_launch(exec, queue, c->shape == 0 ? KERNEL_tile : KERNEL_word,
                             (size_t)((n + each - 1) / each), 1, x->group, ARGS(ARG(from), ARG(to), ARG(n)));
  case MEM_BABEL:
    return mem_opencl_launch(exec, queue, KERNEL_babel, (size_t)(c->bytes / 8 / x->group), 1, x->group,
                             ARGS(ARG(from), ARG(to)));
  default:
    return opencl_check(
        clEnqueueCopyBuffer(opencl_queue_handle(queue), from, to, 0, 0, c->bytes, 0, NULL, NULL),
        "copying a buffer");
  }
}

static status_t cl_mix(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_mix *mix)
{
  struct argument arguments[MEM_ARRAYS_MAX + 3] = {{0, NULL}};
  cl_mem buffers[MEM_ARRAYS_MAX], sum = mix->sum.handle;
  cl_ulong n = mix->bytes / 16;
  int a = 0;
  for (; a < mix->reads + mix->writes; a++) {
    buffers[a] = mix->arrays[a].handle;
    arguments[a] = ARG(buffers[a]);
  }
  arguments[a++] = ARG(n);
  if (!mix->writes) arguments[a] = ARG(sum);
  enum kernel kernel = !mix->writes      ? KERNEL_read_words
                       : mix->reads == 0 ? KERNEL_write_words
                       : mix->reads == 1 ? KERNEL_combine_1
                       : mix->reads == 3 ? KERNEL_combine_3
                                         : KERNEL_combine_13;
  return fill_device(exec, queue, kernel, arguments);
}

static status_t cl_ring_fill(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem,
                             const struct mem_ring *ring)
{
  cl_mem buffer = mem.handle;
  cl_ulong nodes = ring->nodes;
  cl_uint stride = ring->stride;
  return fill_device(exec, queue, KERNEL_ring_fill, ARGS(ARG(buffer), ARG(nodes), ARG(stride)));
}

static status_t cl_chase(struct mem_exec *exec, struct gpu_queue *queue, struct mem_chase *chase)
{
  struct mem_opencl_exec *x = (struct mem_opencl_exec *)exec;
  cl_mem buffer = chase->mem.handle;
  cl_ulong at = chase->start, hops = chase->hops, end = 0;
  RETURN_IF_FAILED(gpu_record(chase->begin_event, queue));
  RETURN_IF_FAILED(mem_opencl_launch(exec, queue, KERNEL_chase, 1, 1, 1,
                                     ARGS(ARG(buffer), ARG(at), ARG(hops), ARG(x->result))));
  RETURN_IF_FAILED(gpu_record(chase->end_event, queue));
  RETURN_IF_FAILED(opencl_check(
      clEnqueueReadBuffer(opencl_queue_handle(queue), x->result, CL_TRUE, 0, sizeof end, &end, 0, NULL, NULL),
      "reading a chase's result"));
  chase->end = end;
  chase->cycles = 0;
  return STATUS_OK;
}

static status_t cl_window(struct mem_exec *exec, struct gpu_queue *queue, struct mem_window *w)
{
  struct mem_opencl_exec *x = (struct mem_opencl_exec *)exec;
  cl_mem from = w->mem.handle, sum = w->sum.handle;
  cl_ulong n = w->bytes / 16;
  cl_int passes = w->passes, own = w->own;
  size_t groups = x->units * (GROUP_MAX * 8 / x->group);
  w->readers = own ? (int)groups : 1;
  return mem_opencl_launch(exec, queue, KERNEL_window_read, groups, 1, x->group,
                           ARGS(ARG(from), ARG(n), ARG(passes), ARG(own), ARG(sum)));
}

static status_t cl_flops(struct mem_exec *exec, struct gpu_queue *queue, struct mem_flops *f)
{
  cl_mem from = f->mem.handle, sum = f->sum.handle;
  cl_ulong n = f->bytes / 16;
  cl_int flop16 = f->flop16;
  return fill_device(exec, queue, KERNEL_flops, ARGS(ARG(from), ARG(n), ARG(flop16), ARG(sum)));
}

const struct mem_ops mem_ops_opencl = {
    .backend = "opencl",
    .native = "clEnqueueCopyBuffer",
    .open = cl_open_exec,
    .close = cl_close_exec,
    .traits = cl_traits,
    .fill = cl_fill,
    .check = cl_check,
    .copy = cl_copy,
    .mix = cl_mix,
    .ring_fill = cl_ring_fill,
    .chase = cl_chase,
    .window = cl_window,
    .flops = cl_flops,
};
