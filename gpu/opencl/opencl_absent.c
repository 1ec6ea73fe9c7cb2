/* SPDX-License-Identifier: MIT */
/* Stands in for the OpenCL backend where it was not built, so that the list of backends can say
 * why. */
#include <stdio.h>

#include "base/log.h"
#include "gpu/gpu.h"

static void absent_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  *devices = NULL;
  *n = 0;
  snprintf(reason, GPU_TEXT_MAX, "not built: configured without OpenCL");
}

static status_t absent_open(int index, struct gpu_device **device)
{
  (void)index, (void)device;
  return log_fail(STATUS_ENVIRONMENT, "the opencl backend was not built: configured without OpenCL");
}

/** Without a device no other verb can be reached. */
const struct gpu_backend gpu_backend_opencl = {
    .name = "opencl",
    .about = "OpenCL 1.2 devices: GPUs, accelerators, CPUs",
    .probe = absent_probe,
    .open = absent_open,
};
