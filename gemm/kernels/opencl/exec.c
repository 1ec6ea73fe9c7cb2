/* SPDX-License-Identifier: MIT */
/* Builds a kernel for one problem. Matrix sizes are arguments. Values that change the generated
 * code, such as tile sizes, are constants of the program. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gemm/kernels/opencl/combine_cl.h"
#include "gemm/kernels/opencl/common_cl.h"
#include "gemm/kernels/opencl/opencl_gemm.h"

/* Offsets within a tile fit in 32 bits if a tile's rows are at most this many elements apart. */
#define NEAR_ROWS (INT64_C(1) << 22)

#define COMBINE_ACROSS 32
#define COMBINE_DOWN   4

#define OPTIONS_MAX 400

struct opencl_gemm_state {
  struct opencl_device *device;
  cl_program program;
  cl_kernel gemm, combine; /* kernels of separate programs; combine is NULL unless k is split */
  cl_mem parts;            /* partial products of C's size, one after the other */
  int64_t steps;           /* steps of k per partial product */
};

static const struct opencl_gemm_variant *variant_of(const struct gemm_exec *exec)
{
  return exec->kernel->variant;
}

static int64_t tiles(int64_t extent, int64_t tile)
{
  return (extent + tile - 1) / tile;
}

static size_t items_of(const struct opencl_gemm_variant *v, const struct gemm_blocks *b)
{
  return v->geometry == OPENCL_SINGLE ? 1
                                      : (size_t)(b->group_m / b->item_m) * (size_t)(b->group_n / b->item_n);
}

static int opencl_gemm_fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                            const struct gemm_problem *p, char why[GPU_TEXT_MAX])
{
  const struct opencl_gemm_variant *v = kernel->variant;
  (void)p;
  if (v->cpus_only && !device->info.is_cpu) snprintf(why, GPU_TEXT_MAX, "is for CPUs");
  return !why[0];
}

/* Checks the compiled kernel's limits: it may allow fewer work-items than the device does, or need
 * more local memory than there is. */
static status_t opencl_gemm_limits_check(const struct gemm_exec *exec, const struct opencl_gemm_state *s)
{
  size_t items = items_of(variant_of(exec), &exec->blocks), most, required[3];
  cl_ulong need, have;
  RETURN_IF_FAILED(opencl_kernel_limits(s->device, s->gemm, &most, required));
  cl_int error =
      clGetKernelWorkGroupInfo(s->gemm, s->device->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof need, &need, NULL);
  RETURN_IF_FAILED(opencl_check(error, "clGetKernelWorkGroupInfo"));
  RETURN_IF_FAILED(opencl_query(s->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof have, &have));
  if (items > most)
    return log_fail(STATUS_ENVIRONMENT, "kernel %s needs groups of %zu work-items, but %s takes at most %zu",
                    exec->kernel->name, items, exec->device->info.name, most);
  if (need > have)
    return log_fail(STATUS_ENVIRONMENT, "kernel %s needs %llu bytes of local memory, but %s has %llu",
                    exec->kernel->name, (unsigned long long)need, exec->device->info.name,
                    (unsigned long long)have);
  return STATUS_OK;
}

static int has_edges(const struct gemm_problem *p, const struct gemm_blocks *b)
{
  return p->m % b->group_m || p->n % b->group_n || p->k % b->group_k;
}

/* Returns whether the kernel stores chunks of four columns. It does if k is split, and rows of C
 * and of the partial products start at multiples of 16 bytes. Without a split, C is written only
 * once, and chunks need registers that a long product can use better. */
static int has_aligned_c(const struct gemm_problem *p, const struct gemm_blocks *b)
{
  return b->splits > 1 && p->ld[GEMM_C] % 4 == 0 && p->n % 4 == 0;
}

static status_t options_write(const struct gemm_exec *exec, const struct opencl_gemm_state *s, char *text,
                              size_t size)
{
  const struct gemm_problem *p = &exec->problem;
  const struct gemm_blocks *b = &exec->blocks;
  cl_uint lanes = 1;
  RETURN_IF_FAILED(opencl_query(s->device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof lanes, &lanes));
  int tiled = variant_of(exec)->geometry == OPENCL_TILES,
      is_near = p->ld[GEMM_A] <= NEAR_ROWS && p->ld[GEMM_B] <= NEAR_ROWS;
  int aligned = p->ld[GEMM_A] % 4 == 0 && p->ld[GEMM_B] % 4 == 0;
  if (variant_of(exec)->geometry == OPENCL_SINGLE) lanes = (cl_uint)b->item_n / 2;
  snprintf(text, size,
           "-cl-std=CL1.2 -D GROUP_M=%d -D GROUP_N=%d -D GROUP_K=%d -D ITEM_M=%d -D ITEM_N=%d -D TRANS_A=%d "
           "-D TRANS_B=%d -D LANES=%u -D OFFSET=%s%s%s%s%s",
           b->group_m, b->group_n, b->group_k, b->item_m, b->item_n, p->trans_a, p->trans_b, (unsigned)lanes,
           is_near ? "uint" : "ulong", tiled && has_edges(p, b) ? " -D EDGES" : "",
           aligned ? " -D ALIGNED" : "", has_aligned_c(p, b) ? " -D ALIGNED_C" : "",
           exec->device->info.is_cpu ? " -D ON_CPU" : "");
  return STATUS_OK;
}

status_t gemm_opencl_build(struct opencl_device *device, const struct opencl_gemm_variant *v,
                           const char *options, cl_program *program)
{
  const char *shared = v->shared_source ? v->shared_source : "";
  char *source = calloc(strlen(gemm_common_cl) + strlen(shared) + strlen(v->source) + 1, 1);
  if (!source) return log_fail(STATUS_ENVIRONMENT, "out of host memory for OpenCL sources");
  strcat(strcat(strcat(source, gemm_common_cl), shared), v->source);
  status_t status = opencl_program_build(device, source, options, program);
  free(source);
  return status;
}

status_t gemm_opencl_kernel(cl_program program, const char *name, cl_kernel *kernel)
{
  cl_int error;
  cl_kernel made = clCreateKernel(program, name, &error);
  RETURN_IF_FAILED(opencl_check(error, "clCreateKernel for matrix products"));
  *kernel = made;
  return STATUS_OK;
}

/* Creates kernel combine from a separate program. That program depends on the number of splits and
 * builds quickly, while the product's own program serves any number of splits. */
static status_t combine_create(const struct gemm_exec *exec, struct opencl_gemm_state *s)
{
  static const struct opencl_gemm_variant combine = {.source = gemm_combine_cl};
  char options[OPTIONS_MAX];
  cl_program program;
  snprintf(options, sizeof options, "-cl-std=CL1.2 -D SPLITS=%d%s", exec->blocks.splits,
           has_aligned_c(&exec->problem, &exec->blocks) ? " -D ALIGNED_C" : "");
  RETURN_IF_FAILED(gemm_opencl_build(s->device, &combine, options, &program));
  status_t status = gemm_opencl_kernel(program, "combine", &s->combine);
  clReleaseProgram(program);
  return status;
}

status_t gemm_opencl_launch(struct gpu_queue *queue, cl_kernel kernel,
                            const struct opencl_argument *arguments, cl_uint n, const size_t global[3],
                            const size_t local[3])
{
  for (cl_uint x = 0; x < n; x++) {
    cl_int error = clSetKernelArg(kernel, x, arguments[x].bytes, arguments[x].value);
    RETURN_IF_FAILED(opencl_check(error, "clSetKernelArg for matrix products"));
  }
  cl_int error =
      clEnqueueNDRangeKernel(opencl_queue_handle(queue), kernel, 3, NULL, global, local, 0, NULL, NULL);
  return opencl_check(error, "clEnqueueNDRangeKernel for matrix products");
}

static void items_cut(const struct gemm_exec *exec, size_t global[3], size_t local[3])
{
  const struct gemm_blocks *b = &exec->blocks;
  const struct opencl_gemm_variant *v = variant_of(exec);
  size_t down = (size_t)tiles(exec->problem.m, b->group_m),
         across = (size_t)tiles(exec->problem.n, b->group_n);
  int single = v->geometry == OPENCL_SINGLE;
  local[0] = single ? 1 : (size_t)(b->group_n / b->item_n);
  local[1] = single ? 1 : (size_t)(b->group_m / b->item_m);
  global[0] = across * local[0];
  global[1] = down * local[1];
  global[2] = local[2] = 1;
  if (v->geometry != OPENCL_TILES) return;
  local[0] *= local[1];
  local[1] = 1;
  global[0] = down * across * local[0];
  global[1] = 1;
  global[2] = (size_t)b->splits;
}

/* If k is split, the parts are stored unscaled, and combine scales their sum. */
static status_t product_launch(const struct gemm_exec *exec, const struct opencl_gemm_state *s,
                               struct gpu_queue *queue, const struct gemm_operands *o)
{
  const struct gemm_problem *p = &exec->problem;
  int split = exec->blocks.splits > 1, tiled = variant_of(exec)->geometry == OPENCL_TILES;
  cl_int m = (cl_int)p->m, n = (cl_int)p->n, k = (cl_int)p->k, steps = (cl_int)s->steps;
  cl_int lda = (cl_int)p->ld[GEMM_A], ldb = (cl_int)p->ld[GEMM_B], ldc = split ? n : (cl_int)p->ld[GEMM_C];
  cl_float alpha = split ? 1 : p->alpha, beta = split ? 0 : p->beta;
  cl_mem a = o->a.handle, b = o->b.handle, c = split ? s->parts : o->c.handle;
  const struct opencl_argument arguments[] = {
      OPENCL_ARGUMENT(m),   OPENCL_ARGUMENT(n),   OPENCL_ARGUMENT(k),     OPENCL_ARGUMENT(lda),
      OPENCL_ARGUMENT(ldb), OPENCL_ARGUMENT(ldc), OPENCL_ARGUMENT(alpha), OPENCL_ARGUMENT(beta),
      OPENCL_ARGUMENT(a),   OPENCL_ARGUMENT(b),   OPENCL_ARGUMENT(c),     OPENCL_ARGUMENT(steps)};
  size_t global[3], local[3];
  items_cut(exec, global, local);
  return gemm_opencl_launch(queue, s->gemm, arguments, tiled ? 12 : 11, global, local);
}

static status_t combine_launch(const struct gemm_exec *exec, const struct opencl_gemm_state *s,
                               struct gpu_queue *queue, const struct gemm_operands *o)
{
  const struct gemm_problem *p = &exec->problem;
  cl_int m = (cl_int)p->m, n = (cl_int)p->n, ldc = (cl_int)p->ld[GEMM_C];
  cl_float alpha = p->alpha, beta = p->beta;
  cl_mem c = o->c.handle;
  const struct opencl_argument arguments[] = {
      OPENCL_ARGUMENT(m),    OPENCL_ARGUMENT(n),        OPENCL_ARGUMENT(ldc), OPENCL_ARGUMENT(alpha),
      OPENCL_ARGUMENT(beta), OPENCL_ARGUMENT(s->parts), OPENCL_ARGUMENT(c)};
  int64_t columns = has_aligned_c(p, &exec->blocks) ? 4 : 1;
  const size_t local[3] = {COMBINE_ACROSS, COMBINE_DOWN, 1};
  const size_t global[3] = {(size_t)tiles(p->n, columns * COMBINE_ACROSS) * COMBINE_ACROSS,
                            (size_t)tiles(p->m, COMBINE_DOWN) * COMBINE_DOWN, 1};
  return gemm_opencl_launch(queue, s->combine, arguments, 7, global, local);
}

static status_t opencl_gemm_launch(struct gemm_exec *exec, struct gpu_queue *queue,
                                   const struct gemm_operands *o)
{
  const struct opencl_gemm_state *s = exec->state;
  RETURN_IF_FAILED(product_launch(exec, s, queue, o));
  return s->combine ? combine_launch(exec, s, queue, o) : STATUS_OK;
}

/* Reduces the number of parts of k so that each part but the last consists of whole tiles. */
static void splits_settle(struct gemm_exec *exec, struct opencl_gemm_state *s)
{
  struct gemm_blocks *b = &exec->blocks;
  int64_t k = exec->problem.k, tile = b->group_k > 0 ? b->group_k : 1;
  if (b->splits < 1) b->splits = 1;
  s->steps = tiles(tiles(k, b->splits), tile) * tile;
  b->splits = (int)tiles(k, s->steps);
}

static status_t parts_create(const struct gemm_exec *exec, struct opencl_gemm_state *s)
{
  cl_int error;
  size_t bytes =
      (size_t)exec->problem.m * (size_t)exec->problem.n * sizeof(float) * (size_t)exec->blocks.splits;
  s->parts = clCreateBuffer(s->device->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
  if (error == CL_SUCCESS) return STATUS_OK;
  s->parts = NULL;
  return opencl_check(error, "clCreateBuffer for parts of a product");
}

static status_t opencl_gemm_open(struct gemm_exec *exec)
{
  struct opencl_gemm_state *s = exec->state = calloc(1, sizeof *s);
  if (!s) return log_fail(STATUS_ENVIRONMENT, "out of host memory for kernel %s", exec->kernel->name);
  s->device = (struct opencl_device *)exec->device;
  splits_settle(exec, s);
  char options[OPTIONS_MAX];
  RETURN_IF_FAILED(options_write(exec, s, options, sizeof options));
  RETURN_IF_FAILED(gemm_opencl_build(s->device, variant_of(exec), options, &s->program));
  RETURN_IF_FAILED(gemm_opencl_kernel(s->program, "gemm", &s->gemm));
  RETURN_IF_FAILED(opencl_gemm_limits_check(exec, s));
  if (exec->blocks.splits == 1) return STATUS_OK;
  RETURN_IF_FAILED(combine_create(exec, s));
  return parts_create(exec, s);
}

static void opencl_gemm_close(struct gemm_exec *exec)
{
  struct opencl_gemm_state *s = exec->state;
  if (!s) return;
  if (s->parts) clReleaseMemObject(s->parts);
  if (s->combine) clReleaseKernel(s->combine);
  if (s->gemm) clReleaseKernel(s->gemm);
  if (s->program) clReleaseProgram(s->program);
  free(s);
}

static void opencl_gemm_resources(const struct gemm_exec *exec, struct gemm_resources *r)
{
  const struct opencl_gemm_state *s = exec->state;
  cl_ulong bytes = 0;
  r->threads = (int)items_of(variant_of(exec), &exec->blocks);
  if (clGetKernelWorkGroupInfo(s->gemm, s->device->id, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes,
                               NULL) == CL_SUCCESS)
    r->local_bytes = (int)bytes;
}

const struct gemm_ops gemm_opencl_ops = {.fits = opencl_gemm_fits,
                                         .open = opencl_gemm_open,
                                         .close = opencl_gemm_close,
                                         .launch = opencl_gemm_launch,
                                         .resources = opencl_gemm_resources};
