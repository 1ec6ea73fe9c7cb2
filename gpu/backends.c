/* SPDX-License-Identifier: MIT */
#include "gpu/gpu.h"

#include <string.h>

const struct gpu_backend *const gpu_backends[] = {&gpu_backend_cuda, &gpu_backend_opencl, &gpu_backend_cpu,
                                                  &gpu_backend_null, NULL};

const struct gpu_backend *gpu_backend_find(const char *name)
{
  for (int b = 0; gpu_backends[b]; b++)
    if (!strcmp(gpu_backends[b]->name, name)) return gpu_backends[b];
  return NULL;
}
