/* SPDX-License-Identifier: MIT */
#include "gpu/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/values.h"

/* Returns whether --device \a wanted selects the device at \a index of the probe. */
static int device_matches(const char *wanted, const struct gpu_device_info *info, int index)
{
  long long n;
  if (!wanted) return 1;
  if (value_read_int(wanted, 0, 1 << 20, &n) == STATUS_OK) return n == index;
  return strncasecmp(info->uuid, wanted, strlen(wanted)) == 0 || strcasestr(info->name, wanted) != NULL;
}

/* Returns whether automatic choice may use the backend; if not, sets the reason. Devices that are
 * CPUs do not count, because the CPU backend is faster on them. */
static int has_gpu(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX])
{
  struct gpu_device_info *devices = NULL;
  int n = 0, gpus = 0;
  backend->probe(&devices, &n, reason);
  for (int d = 0; d < n; d++) gpus += !devices[d].is_cpu;
  if (n > 0 && !gpus) snprintf(reason, GPU_TEXT_MAX, "only CPUs");
  free(devices);
  return gpus > 0;
}

void gpu_claim_best(const struct gpu_backend *const *backends, struct gpu_claim *claim)
{
  char drivers[GPU_CLAIM_TEXT - GPU_BUS_TEXT - 160] = "", reason[GPU_TEXT_MAX];
  struct gpu_bus bus;
  int b = 0, lost = 0, found = 0;
  memset(claim, 0, sizeof *claim);
  gpu_bus_read(&bus);
  for (; !lost; b++) {
    if (backends[b]->for_tests) continue;
    if (backends[b]->on_host || (found = has_gpu(backends[b], reason))) break;
    const size_t used = strlen(drivers);
    snprintf(drivers + used, sizeof drivers - used, "%s%s: %s", used ? "; " : "", backends[b]->name, reason);
    lost = backends[b]->vendor && bus.of[backends[b]->vendor] > 0;
  }
  lost |= !found && bus.n > 0;
  claim->backend = lost ? -1 : b;
  if (lost)
    snprintf(claim->reason, sizeof claim->reason,
             "%s on the PCI bus cannot be used (%s): %s. Mend the driver, or choose another backend, such as "
             "-b cpu",
             bus.n > 1 ? "GPUs" : "a GPU", bus.listed, drivers);
  else if (!found && bus.hiding)
    snprintf(claim->reason, sizeof claim->reason, "%s hides all GPUs", bus.hiding);
  else if (!found)
    snprintf(claim->reason, sizeof claim->reason, "%s",
             bus.known ? "no GPU on the PCI bus" : "no GPU found; the PCI bus lists no device");
}

void gpu_claim_make(const struct gpu_backend *asked, struct gpu_claim *claim)
{
  char reason[GPU_TEXT_MAX] = "";
  struct gpu_device_info *devices = NULL;
  int n = 0, b = 0;
  memset(claim, 0, sizeof *claim);
  if (!asked) {
    gpu_claim_best(gpu_backends, claim);
    return;
  }
  while (gpu_backends[b] != asked) b++;
  asked->probe(&devices, &n, reason);
  claim->only_cpus = n > 0 && devices[0].is_cpu && !asked->on_host;
  free(devices);
  claim->backend = n > 0 ? b : -1;
  if (n == 0) snprintf(claim->reason, sizeof claim->reason, "backend %s: %s", asked->name, reason);
}

status_t gpu_choice_make(const struct gpu_backend *backend, const char *wanted, struct gpu_choice *choice)
{
  char reason[GPU_TEXT_MAX] = "";
  struct gpu_choice c = {NULL, NULL, 0};
  int probed = 0;
  backend->probe(&c.devices, &probed, reason);
  c.index = calloc((size_t)probed + 1, sizeof *c.index);
  for (int d = 0; c.index && d < probed; d++) {
    if (!wanted && c.devices[d].is_cpu && !c.devices[0].is_cpu) continue;
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

status_t gpu_select(const struct gpu_backend *asked, const char *wanted, struct gpu_claim *claim, int *index)
{
  struct gpu_choice choice;
  gpu_claim_make(asked, claim);
  if (claim->backend < 0) return log_fail(STATUS_ENVIRONMENT, "%s", claim->reason);
  RETURN_IF_FAILED(gpu_choice_make(gpu_backends[claim->backend], wanted, &choice));
  *index = choice.index[0];
  gpu_choice_free(&choice);
  return STATUS_OK;
}
