/* SPDX-License-Identifier: MIT */
/* Backends that were not built stay in the list, which says why. Without a device no verb but probe
 * can be reached. */
#include "config.h"

#include <stdio.h>

#include "gpu/gpu.h"

#if !HAVE_CUDA || !HAVE_OPENCL
static void refuse(const char *library, struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  *devices = NULL;
  *n = 0;
  snprintf(reason, GPU_TEXT_MAX, "not built: configured without %s", library);
}
#endif

#if !HAVE_CUDA
static void cuda_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  refuse("CUDA", devices, n, reason);
}
const struct gpu_backend gpu_backend_cuda = {.name = "cuda",
                                             .about = "NVIDIA GPUs through the CUDA runtime",
                                             .memory = GPU_MEMORY_CUDA,
                                             .probe = cuda_probe};
#endif

#if !HAVE_OPENCL
static void opencl_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  refuse("OpenCL", devices, n, reason);
}
const struct gpu_backend gpu_backend_opencl = {
    .name = "opencl", .about = "OpenCL 1.2 devices: GPUs, accelerators, CPUs", .probe = opencl_probe};
#endif
