/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gpu/opencl/opencl_device.h"

#define BUILD_LOG_LINES 8

#define NAMED(code)           code, #code
#define PLATFORM_NOT_FOUND    (-1001) /* error code of the ICD loader (cl_khr_icd): no platform */
#define NVIDIA_ILLEGAL_ACCESS (-9999) /* NVIDIA's driver: illegal access by a kernel */

static const struct {
  cl_int code;
  const char *name;
} error_names[] = {
    {NAMED(CL_SUCCESS)},
    {NAMED(CL_DEVICE_NOT_FOUND)},
    {NAMED(CL_DEVICE_NOT_AVAILABLE)},
    {NAMED(CL_COMPILER_NOT_AVAILABLE)},
    {NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE)},
    {NAMED(CL_OUT_OF_RESOURCES)},
    {NAMED(CL_OUT_OF_HOST_MEMORY)},
    {NAMED(CL_PROFILING_INFO_NOT_AVAILABLE)},
    {NAMED(CL_MEM_COPY_OVERLAP)},
    {NAMED(CL_BUILD_PROGRAM_FAILURE)},
    {NAMED(CL_MAP_FAILURE)},
    {NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET)},
    {NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)},
    {NAMED(CL_COMPILE_PROGRAM_FAILURE)},
    {NAMED(CL_LINKER_NOT_AVAILABLE)},
    {NAMED(CL_LINK_PROGRAM_FAILURE)},
    {NAMED(CL_DEVICE_PARTITION_FAILED)},
    {NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)},
    {NAMED(CL_INVALID_VALUE)},
    {NAMED(CL_INVALID_DEVICE_TYPE)},
    {NAMED(CL_INVALID_PLATFORM)},
    {NAMED(CL_INVALID_DEVICE)},
    {NAMED(CL_INVALID_CONTEXT)},
    {NAMED(CL_INVALID_QUEUE_PROPERTIES)},
    {NAMED(CL_INVALID_COMMAND_QUEUE)},
    {NAMED(CL_INVALID_HOST_PTR)},
    {NAMED(CL_INVALID_MEM_OBJECT)},
    {NAMED(CL_INVALID_BINARY)},
    {NAMED(CL_INVALID_BUILD_OPTIONS)},
    {NAMED(CL_INVALID_PROGRAM)},
    {NAMED(CL_INVALID_PROGRAM_EXECUTABLE)},
    {NAMED(CL_INVALID_KERNEL_NAME)},
    {NAMED(CL_INVALID_KERNEL_DEFINITION)},
    {NAMED(CL_INVALID_KERNEL)},
    {NAMED(CL_INVALID_ARG_INDEX)},
    {NAMED(CL_INVALID_ARG_VALUE)},
    {NAMED(CL_INVALID_ARG_SIZE)},
    {NAMED(CL_INVALID_KERNEL_ARGS)},
    {NAMED(CL_INVALID_WORK_DIMENSION)},
    {NAMED(CL_INVALID_WORK_GROUP_SIZE)},
    {NAMED(CL_INVALID_WORK_ITEM_SIZE)},
    {NAMED(CL_INVALID_GLOBAL_OFFSET)},
    {NAMED(CL_INVALID_EVENT_WAIT_LIST)},
    {NAMED(CL_INVALID_EVENT)},
    {NAMED(CL_INVALID_OPERATION)},
    {NAMED(CL_INVALID_BUFFER_SIZE)},
    {NAMED(CL_INVALID_GLOBAL_WORK_SIZE)},
    {NAMED(CL_INVALID_PROPERTY)},
    {NAMED(CL_INVALID_COMPILER_OPTIONS)},
    {NAMED(CL_INVALID_LINKER_OPTIONS)},
    {NAMED(CL_INVALID_DEVICE_PARTITION_COUNT)},
    {PLATFORM_NOT_FOUND, "CL_PLATFORM_NOT_FOUND_KHR"},
    {NVIDIA_ILLEGAL_ACCESS, "illegal memory access by a kernel"},
};

const char *opencl_error_name(cl_int error)
{
  static _Thread_local char unknown[32];
  for (size_t i = 0; i < sizeof error_names / sizeof *error_names; i++)
    if (error_names[i].code == error) return error_names[i].name;
  snprintf(unknown, sizeof unknown, "OpenCL error %d", (int)error);
  return unknown;
}

status_t opencl_check(cl_int error, const char *what)
{
  if (error == CL_SUCCESS) return STATUS_OK;
  int memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY ||
               error == CL_INVALID_BUFFER_SIZE;
  return log_fail(memory ? STATUS_ENVIRONMENT : STATUS_FAULT, "%s: %s", what, opencl_error_name(error));
}

status_t opencl_query(const struct opencl_device *device, cl_device_info what, size_t bytes, void *value)
{
  return opencl_check(clGetDeviceInfo(device->id, what, bytes, value, NULL), "clGetDeviceInfo");
}

/** Truncates a text to its first lines and joins them with "|". */
static void join_lines(char *text, int lines)
{
  for (char *at = text; (at = strchr(at, '\n')); at++) {
    *at = '|';
    if (--lines == 0) *at = '\0';
  }
}

/** Logs the first lines of the build log. Returns STATUS_USAGE if the user's file \a path does not
 * compile, otherwise STATUS_ENVIRONMENT. \a path is NULL for the suite's own source. */
static status_t build_failed(struct opencl_device *device, cl_program program, cl_int error, const char *path)
{
  size_t bytes = 0;
  char *text = NULL;
  status_t status;
  if (clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) == CL_SUCCESS)
    text = calloc(1, bytes + 1);
  if (text) clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, bytes, text, NULL);
  if (text) join_lines(text, BUILD_LOG_LINES);
  if (path && error == CL_BUILD_PROGRAM_FAILURE)
    status = log_fail(STATUS_USAGE, "--kernel-file %s does not compile: %s", path, text ? text : "");
  else
    status = log_fail(STATUS_ENVIRONMENT, "the OpenCL compiler of %s: %s: %s", device->base.info.platform,
                      opencl_error_name(error), text ? text : "");
  free(text);
  return status;
}

status_t opencl_program_build_file(struct opencl_device *device, const char *path, const char *source,
                                   const char *options, cl_program *program)
{
  cl_int error;
  cl_program built = clCreateProgramWithSource(device->context, 1, &source, NULL, &error);
  RETURN_IF_FAILED(opencl_check(error, "clCreateProgramWithSource"));
  error = clBuildProgram(built, 1, &device->id, options, NULL, NULL);
  if (error != CL_SUCCESS) {
    status_t status = build_failed(device, built, error, path);
    atomic_store(&device->noticed, NOTICE_NONE);
    clReleaseProgram(built);
    return status;
  }
  *program = built;
  return STATUS_OK;
}

/* A program built for a device. It is kept for reuse, because compilers are slow, some even if
 * their own cache has the result. */
struct opencl_built {
  struct opencl_built *next;
  cl_program program;
  size_t options_length;
  char text[]; /**< the options, then the source, from which it was built */
};

static struct opencl_built *built_find(const struct opencl_device *device, const char *source,
                                       const char *options)
{
  const size_t length = strlen(options);
  struct opencl_built *at = device->built;
  while (at && (at->options_length != length || strncmp(at->text, options, length) != 0 ||
                strcmp(at->text + length, source) != 0))
    at = at->next;
  return at;
}

static void built_keep(struct opencl_device *device, const char *source, const char *options,
                       cl_program program)
{
  const size_t length = strlen(options);
  struct opencl_built *built = malloc(sizeof *built + length + strlen(source) + 1);
  if (!built) return;
  strcpy(built->text, options);
  strcpy(built->text + length, source);
  built->options_length = length;
  clRetainProgram(program);
  built->program = program;
  built->next = device->built;
  device->built = built;
}

void opencl_programs_release(struct opencl_device *device)
{
  while (device->built) {
    struct opencl_built *next = device->built->next;
    clReleaseProgram(device->built->program);
    free(device->built);
    device->built = next;
  }
}

status_t opencl_program_build(struct opencl_device *device, const char *source, const char *options,
                              cl_program *program)
{
  const struct opencl_built *built = built_find(device, source, options);
  if (built) {
    clRetainProgram(built->program);
    *program = built->program;
    return STATUS_OK;
  }
  RETURN_IF_FAILED(opencl_program_build_file(device, NULL, source, options, program));
  built_keep(device, source, options, *program);
  return STATUS_OK;
}

int opencl_is_nvidia(const struct opencl_device *device)
{
  return !strcmp(device->base.info.platform, "NVIDIA CUDA");
}

int opencl_nvidia_chip(const struct opencl_device *device)
{
  const char *arch = device->base.info.arch;
  return opencl_is_nvidia(device) && !strncmp(arch, "sm_", 3) ? atoi(arch + 3) : 0;
}

/* NVIDIA's driver reports a limit of 256 for every kernel, even for kernels that it compiled for
 * larger groups and can run. */
status_t opencl_kernel_limits(const struct opencl_device *device, cl_kernel kernel, size_t *most,
                              size_t required[3])
{
  size_t limit, group[3];
  cl_int error =
      clGetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof limit, &limit, NULL);
  if (error == CL_SUCCESS)
    error = clGetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group,
                                     group, NULL);
  RETURN_IF_FAILED(opencl_check(error, "clGetKernelWorkGroupInfo"));
  const size_t items = group[0] * group[1] * group[2];
  *most = opencl_is_nvidia(device) && items > limit ? items : limit;
  memcpy(required, group, sizeof group);
  return STATUS_OK;
}
