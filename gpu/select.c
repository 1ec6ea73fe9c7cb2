/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gpu/select.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/values.h"

/* The device at that index of the probe. */
static int device_matches(const char *wanted, const struct gpu_device_info *info, int index)
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

status_t gpu_choice_make(const struct gpu_backend *backend, const char *wanted, struct gpu_choice *choice)
{
  char reason[GPU_TEXT_MAX] = "";
  struct gpu_choice c = {NULL, NULL, 0};
  int probed = 0;
  backend->probe(&c.devices, &probed, reason);
  c.index = calloc((size_t)probed + 1, sizeof *c.index);
  for (int d = 0; c.index && d < probed; d++) {
    if (!device_matches(wanted, &c.devices[d], d)) continue;
    c.devices[c.n] = c.devices[d];
    c.index[c.n++] = d;
  }
  *choice = c;
  if (c.n > 0) return STATUS_OK;
  int memory = c.index != NULL;
  gpu_choice_free(choice);
  if (!memory) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the list of devices");
  if (probed == 0) return log_fail(STATUS_ENVIRONMENT, "backend %s: %s", backend->name, reason);
  return log_fail(STATUS_ENVIRONMENT,
                  "--device %s: none of the %d device%s of backend %s has that position, UUID or name; "
                  "--list shows them",
                  wanted, probed, probed > 1 ? "s" : "", backend->name);
}

void gpu_choice_free(struct gpu_choice *choice)
{
  free(choice->devices);
  free(choice->index);
  *choice = (struct gpu_choice){NULL, NULL, 0};
}

status_t gpu_select(const struct gpu_backend *backend, const char *wanted, const struct gpu_backend **chosen,
                    int *index)
{
  struct gpu_choice choice;
  for (int b = 0; !backend; b++)
    if (gpu_fits_auto(gpu_backends[b])) backend = gpu_backends[b];
  RETURN_IF_FAILED(gpu_choice_make(backend, wanted, &choice));
  *chosen = backend;
  *index = choice.index[0];
  gpu_choice_free(&choice);
  return STATUS_OK;
}
