/* SPDX-License-Identifier: MIT */
#include "suite/list.h"

#include <stdlib.h>

#include "base/report.h"

static void list_device(const struct gpu_device_info *info, int index, FILE *out)
{
  fprintf(out, "    device %d   %s", index, info->name);
  if (info->memory_bytes) fprintf(out, ", %s", report_bytes(info->memory_bytes));
  if (info->compute_units)
    fprintf(out, ", %d %s", info->compute_units, info->is_cpu && !info->emulated ? "cores" : "compute units");
  if (info->arch[0]) fprintf(out, ", %s", info->arch);
  if (info->pci[0]) fprintf(out, ", PCI %s", info->pci);
  if (info->uuid[0]) fprintf(out, "\n               %s", info->uuid);
  fprintf(out, "\n");
}

static int list_devices(const struct gpu_backend *backend, FILE *out)
{
  char reason[GPU_TEXT_MAX] = "";
  struct gpu_device_info *devices = NULL;
  int n = 0;
  backend->probe(&devices, &n, reason);
  fprintf(out, "  %s: %s\n", backend->name, backend->about);
  if (n == 0) fprintf(out, "    no device: %s\n", reason);
  for (int d = 0; d < n; d++) list_device(&devices[d], d, out);
  free(devices);
  return n;
}

void list_backends(const struct gpu_backend *asked, const char *heading, list_more *more, FILE *out)
{
  fprintf(out, "Backends (--backend) in the order of automatic choice, devices (--device)%s:\n", heading);
  for (int b = 0; gpu_backends[b]; b++) {
    if (asked ? gpu_backends[b] != asked : gpu_backends[b]->for_tests) continue;
    more(gpu_backends[b], list_devices(gpu_backends[b], out), out);
  }
}
