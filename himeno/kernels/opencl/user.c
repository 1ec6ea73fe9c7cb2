/* SPDX-License-Identifier: MIT */
/* A user's own kernel, compiled at run time; doc/kernel-template.cl is a starting point. */
#include "himeno/kernels/opencl/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "himeno/kernels/opencl/common_cl.h"
#include "himeno/kernels/opencl/shape_cl.h"
#include "himeno/kernels/opencl/user_cl.h"

/* Tiles start at multiples of this many floats along k, as in CUDA. */
#define ROW_ALIGNMENT 32
#define SHAPE_INTS    7 /* validity, threads along k, j, i, and points along i, j, k */

static status_t opencl_user_compile(struct opencl_device *device, const char *path, const char *options,
                                    cl_program *program)
{
  char *source = NULL, *text;
  RETURN_IF_FAILED(himeno_kernel_source(path, &source));
  size_t bytes = strlen(himeno_common_cl) + strlen(himeno_user_cl) + strlen(source) +
                 strlen(himeno_shape_cl) + strlen(path) + 64;
  status_t status;
  if ((text = malloc(bytes))) {
    /* Errors show line numbers of the user's file, and its name if it can be quoted. */
    const int named = !strpbrk(path, "\"\\\n");
    snprintf(text, bytes, "%s%s#line 1%s%s%s\n%s\n#line 1 \"shape\"\n%s", himeno_common_cl, himeno_user_cl,
             named ? " \"" : "", named ? path : "", named ? "\"" : "", source, himeno_shape_cl);
    status = opencl_program_build_file(device, path, text, options, program);
  } else {
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for the source of %s", path);
  }
  free(text);
  free(source);
  return status;
}

/* Runs the kernel that reports the shape. */
static status_t shape_run(struct opencl_device *device, cl_program program, int shape[SHAPE_INTS])
{
  cl_int error;
  size_t one = 1;
  cl_mem out = NULL;
  cl_kernel kernel = clCreateKernel(program, "shape", &error);
  RETURN_IF_FAILED(opencl_check(error, "clCreateKernel shape of the kernel file"));
  out = clCreateBuffer(device->context, CL_MEM_READ_WRITE, SHAPE_INTS * sizeof(cl_int), NULL, &error);
  if (error == CL_SUCCESS) error = clSetKernelArg(kernel, 0, sizeof out, &out);
  if (error == CL_SUCCESS)
    error = clEnqueueNDRangeKernel(device->service, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
  if (error == CL_SUCCESS)
    error = clEnqueueReadBuffer(device->service, out, CL_TRUE, 0, SHAPE_INTS * sizeof(cl_int), shape, 0, NULL,
                                NULL);
  if (out) clReleaseMemObject(out);
  clReleaseKernel(kernel);
  return opencl_check(error, "reading the shape of the kernel file");
}

struct limits {
  size_t most;        /* maximum work-items per group of this kernel */
  size_t required[3]; /* required by the kernel's attribute, zeros without one */
  size_t items[ITEM_DIMENSIONS];
};

static status_t threads_check(const struct opencl_device *device, cl_kernel kernel, const int threads[3])
{
  struct limits l = {0};
  double all = 1;
  RETURN_IF_FAILED(opencl_kernel_limits(device, kernel, &l.most, l.required));
  RETURN_IF_FAILED(opencl_query(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof l.items, l.items));
  for (int d = 0; d < 3; d++) {
    all *= threads[d];
    if (threads[d] < 1 || (size_t)threads[d] > l.items[d] || all > (double)l.most)
      return log_fail(
          STATUS_USAGE,
          "--kernel-file: threads {%d, %d, %d}: must be 1 to %zu in all, and at most {%zu, %zu, %zu}",
          threads[0], threads[1], threads[2], l.most, l.items[0], l.items[1], l.items[2]);
    if (l.required[0] != 0 && l.required[d] != (size_t)threads[d])
      return log_fail(STATUS_USAGE,
                      "--kernel-file: threads {%d, %d, %d}: must be {%zu, %zu, %zu}, the group size that the "
                      "kernel requires",
                      threads[0], threads[1], threads[2], l.required[0], l.required[1], l.required[2]);
  }
  return STATUS_OK;
}

static status_t opencl_user_shape_check(const struct opencl_device *device, cl_kernel kernel,
                                        const int shape[SHAPE_INTS])
{
  const int *threads = shape + 1, *tile = shape + 4;
  if (!shape[0])
    return log_fail(STATUS_USAGE,
                    "--kernel-file: threads and tile must be arrays of three ints in constant memory");
  RETURN_IF_FAILED(threads_check(device, kernel, threads));
  if (tile[0] >= 1 && tile[1] >= 1 && tile[2] >= 1) return STATUS_OK;
  return log_fail(STATUS_USAGE, "--kernel-file: tile {%d, %d, %d}: each must be at least 1", tile[0], tile[1],
                  tile[2]);
}

/* Checks for conditions that would make a launch fail. The message names the condition. */
static status_t opencl_user_kernel_check(const struct opencl_device *device, cl_program program,
                                         const int shape[SHAPE_INTS])
{
  cl_int error;
  cl_uint arguments;
  cl_kernel kernel = clCreateKernel(program, "sweep", &error);
  if (error == CL_INVALID_KERNEL_NAME)
    return log_fail(STATUS_USAGE, "--kernel-file: it has no kernel named sweep");
  RETURN_IF_FAILED(opencl_check(error, "clCreateKernel sweep of the kernel file"));
  error = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL);
  status_t status = opencl_check(error, "clGetKernelInfo of the kernel file's kernel");
  if (status == STATUS_OK)
    status = arguments == SWEEP_ARGUMENTS + 1
                 ? opencl_user_shape_check(device, kernel, shape)
                 : log_fail(STATUS_USAGE, "--kernel-file: the arguments of sweep must be SWEEP_ARGUMENTS");
  clReleaseKernel(kernel);
  return status;
}

status_t opencl_user_open(struct opencl_device *device, const char *path, const char *options,
                          cl_program *program, struct opencl_variant *variant)
{
  int shape[SHAPE_INTS];
  status_t status;
  cl_program built;
  RETURN_IF_FAILED(opencl_user_compile(device, path, options, &built));
  TRY(shape_run(device, built, shape), fail);
  TRY(opencl_user_kernel_check(device, built, shape), fail);
  *variant = (struct opencl_variant){.group = {shape[1], shape[2], shape[3]},
                                     .points = {shape[6], shape[5], shape[4]},
                                     .align = ROW_ALIGNMENT};
  *program = built;
  return STATUS_OK;
fail:
  clReleaseProgram(built);
  return status;
}
