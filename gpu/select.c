/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gpu/select.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/values.h"

int gpu_device_matches(const char *wanted, const struct gpu_device_info *info, int index)
{
  long long n;
  if (!wanted) return 1;
  if (value_read_int(wanted, 0, 1 << 20, &n) == STATUS_OK) return n == index;
  return strncasecmp(info->uuid, wanted, strlen(wanted)) == 0 || strcasestr(info->name, wanted) != NULL;
}

/* No CPU through a driver: the CPU backend is faster there. */
int gpu_fits_auto(const struct gpu_backend *backend)
{
  char reason[GPU_TEXT_MAX];
  struct gpu_device_info *devices = NULL;
  int n = 0, fits = 0;
  if (backend->on_host) return 1;
  if (backend->for_tests) return 0;
  backend->probe(&devices, &n, reason);
  for (int d = 0; d < n; d++) fits |= !devices[d].is_cpu;
  free(devices);
  return fits;
}

status_t gpu_select(const struct gpu_backend *backend, const char *wanted, const struct gpu_backend **chosen,
                    int *index)
{
  char reason[GPU_TEXT_MAX] = "";
  struct gpu_device_info *devices = NULL;
  int n = 0, found = -1;
  for (int b = 0; !backend; b++)
    if (gpu_fits_auto(gpu_backends[b])) backend = gpu_backends[b];
  backend->probe(&devices, &n, reason);
  for (int d = n - 1; d >= 0; d--)
    if (gpu_device_matches(wanted, &devices[d], d)) found = d;
  free(devices);
  if (n == 0) return log_fail(STATUS_ENVIRONMENT, "backend %s: %s", backend->name, reason);
  if (found < 0)
    return log_fail(STATUS_ENVIRONMENT,
                    "--device %s: none of the %d device%s of backend %s has that position, UUID or name; "
                    "--list shows them",
                    wanted, n, n > 1 ? "s" : "", backend->name);
  *chosen = backend;
  *index = found;
  return STATUS_OK;
}
