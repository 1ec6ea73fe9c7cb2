/* SPDX-License-Identifier: MIT */
#include "gpu/gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define BACKEND(name, built) &gpu_backend_##name,
const struct gpu_backend *const gpu_backends[] = {GPU_BACKENDS(BACKEND) NULL};

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
  return log_fail(STATUS_USAGE, "%s %s: allowed are %s", option, text, names);
}
