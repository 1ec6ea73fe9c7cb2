/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Native handles of the OpenCL backend, for the kernels of each workload. */
#ifndef GPU_OPENCL_OPENCL_DEVICE_H
#define GPU_OPENCL_OPENCL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdatomic.h>

#include "gpu/gpu.h"

struct opencl_pinned;
struct opencl_built;

enum { NOTICE_NONE, NOTICE_WRITING, NOTICE_COMPLETE };

struct opencl_device {
  struct gpu_device base;
  cl_platform_id platform;
  cl_device_id id;
  cl_context context;
  cl_command_queue service;     /**< queue for allocating and mapping memory */
  struct opencl_pinned *pinned; /**< memory that alloc_host or pin mapped */
  struct opencl_built *built;   /**< programs built so far */
  uint64_t held_bytes;          /**< bytes that this process has allocated */
  uint64_t free_at_open;        /**< bytes that were free at open; for a CPU, on the host */
  /** state of `notice`, which any thread of the driver may write */
  atomic_int noticed;
  char notice[256];   /**< the first error that the driver reported asynchronously */
  atomic_int refused; /**< 1: an allocation was refused */
};

struct opencl_queue {
  struct gpu_queue base;
  cl_command_queue queue;
};

/** \brief Builds \a source for the device. Callers that ask for the same program share one build
 * while the device is open; each releases its own reference. On failure logs the first lines of the
 * build log and returns STATUS_ENVIRONMENT. */
status_t opencl_program_build(struct opencl_device *device, const char *source, const char *options,
                              cl_program *program);

/** \brief Like opencl_program_build, for a user's kernel from the file \a path. Returns
 * STATUS_USAGE for a compile error. */
status_t opencl_program_build_file(struct opencl_device *device, const char *path, const char *source,
                                   const char *options, cl_program *program);

/** \brief Releases the device's own references to the programs built. */
void opencl_programs_release(struct opencl_device *device);

/** \brief Returns the name of an error, such as "CL_OUT_OF_RESOURCES"; for unknown codes "OpenCL
 * error -1234", in a buffer per thread. */
const char *opencl_error_name(cl_int error);

/** \brief Returns STATUS_OK for CL_SUCCESS. Otherwise logs "what: error" and returns
 * STATUS_ENVIRONMENT for lack of memory, STATUS_FAULT for other errors. */
status_t opencl_check(cl_int error, const char *what);

/** \brief Calls clGetDeviceInfo; logs failures as opencl_check does. */
status_t opencl_query(const struct opencl_device *device, cl_device_info what, size_t bytes, void *value);

int opencl_has_extension(cl_device_id id, const char *name);

/** \brief Returns 1 if the driver is NVIDIA's driver, which differs from others in some details. */
int opencl_is_nvidia(const struct opencl_device *device);

/** \brief Returns an NVIDIA device's compute capability, e.g. 90 for sm_90; 0 for other devices. */
int opencl_nvidia_chip(const struct opencl_device *device);

/** \brief Reads the work-group limits of a compiled kernel. \a most: largest number of work-items,
 * which the kernel's registers may reduce below the device's limit. \a required: the size in x, y,
 * z that the kernel requires by its attribute, or zeros. */
status_t opencl_kernel_limits(const struct opencl_device *device, cl_kernel kernel, size_t *most,
                              size_t required[3]);

static inline cl_command_queue opencl_queue_handle(struct gpu_queue *queue)
{
  return ((struct opencl_queue *)queue)->queue;
}

status_t opencl_copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                        size_t bytes);
status_t opencl_copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset,
                         size_t bytes);
status_t opencl_copy_rows_in(struct gpu_queue *queue, struct gpu_mem mem, const struct gpu_rows *rows,
                             const void *host);
status_t opencl_copy_rows_out(struct gpu_queue *queue, void *host, struct gpu_mem mem,
                              const struct gpu_rows *rows);
status_t opencl_clear(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, size_t bytes);

struct opencl_probed {
  cl_platform_id platform;
  cl_device_id id;
  cl_device_type type;
  struct gpu_device_info info;
};

/** \brief Lists the devices that can compute: GPUs, then accelerators, then CPUs, in the platforms'
 * order. A device that several platforms show is listed once, for the first of them. If there are
 * none, \a reason gives the cause. The caller frees *entries. */
void opencl_list(struct opencl_probed **entries, int *n, char reason[GPU_TEXT_MAX]);

#endif
