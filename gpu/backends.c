/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gpu/gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define BACKEND(name, built) &gpu_backend_##name,
const struct gpu_backend *const gpu_backends[] = {GPU_BACKENDS(BACKEND) NULL};

#define BACKEND_NAME(name, built) #name,
const char *const gpu_backend_names[] = {GPU_BACKENDS(BACKEND_NAME)};

volatile int gpu_calls;

const struct gpu_backend *gpu_backend_find(const char *name)
{
  for (int b = 0; gpu_backends[b]; b++)
    if (!strcmp(gpu_backends[b]->name, name)) return gpu_backends[b];
  return NULL;
}

status_t gpu_backend_parse(const char *option, const char *text, void *field)
{
  const struct gpu_backend **backend = field;
  char names[256] = "auto";
  *backend = NULL;
  if (strcmp(text, "auto") == 0) return STATUS_OK;
  if ((*backend = gpu_backend_find(text))) return STATUS_OK;
  for (int b = 0; gpu_backends[b]; b++) {
    size_t used = strlen(names);
    snprintf(names + used, sizeof names - used, ", %s", gpu_backends[b]->name);
  }
  return log_fail(STATUS_USAGE, "%s %s: must be one of %s", option, text, names);
}

status_t gpu_open_fail(const struct gpu_device_info *info, int index, const char *error)
{
  return log_fail_local(STATUS_ENVIRONMENT, "device %d (%s%s%s) cannot be opened: %s", index,
                        info->name[0] ? info->name : "unknown", info->pci[0] ? ", PCI " : "", info->pci,
                        error);
}

#if !HAVE_CUDA || !HAVE_OPENCL
static void backend_refuse(const char *library, struct gpu_device_info **devices, int *n,
                           char reason[GPU_TEXT_MAX])
{
  *devices = NULL;
  *n = 0;
  snprintf(reason, GPU_TEXT_MAX, "not built: configured without %s", library);
}
#endif

#if !HAVE_CUDA
static void cuda_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  backend_refuse("CUDA", devices, n, reason);
}
const struct gpu_backend gpu_backend_cuda = {.name = "cuda",
                                             .about = "NVIDIA GPUs through the CUDA runtime",
                                             .memory = GPU_MEMORY_CUDA,
                                             .probe = cuda_probe};
#endif

#if !HAVE_OPENCL
static void backend_opencl_probe(struct gpu_device_info **devices, int *n, char reason[GPU_TEXT_MAX])
{
  backend_refuse("OpenCL", devices, n, reason);
}
const struct gpu_backend gpu_backend_opencl = {
    .name = "opencl", .about = "OpenCL 1.2 devices: GPUs, accelerators, CPUs", .probe = backend_opencl_probe};
#endif
