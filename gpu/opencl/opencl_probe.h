/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The OpenCL devices of this process, over all platforms. */
#ifndef GPU_OPENCL_OPENCL_PROBE_H
#define GPU_OPENCL_OPENCL_PROBE_H

#include "gpu/opencl/opencl_device.h"

struct opencl_probed {
  cl_platform_id platform;
  cl_device_id id;
  cl_device_type type;
  struct gpu_device_info info;
};

/** \brief Lists what can compute: GPUs, then accelerators, then CPUs, in the platforms' order. A
 * device that several platforms show is listed once, for the first of them. With none, \a reason
 * says why. The caller frees *entries. */
void opencl_list(struct opencl_probed **entries, int *n, char reason[GPU_TEXT_MAX]);

#endif
