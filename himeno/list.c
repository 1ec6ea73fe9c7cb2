/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "base/report.h"
#include "comm/grid.h"
#include "comm/transport.h"
#include "himeno/kernels.h"
#include "himeno/report.h"

static void list_device(const struct gpu_device_info *info, int index, FILE *out)
{
  fprintf(out, "    device %d   %s", index, info->name);
  if (info->memory_bytes) fprintf(out, ", %s", report_bytes(info->memory_bytes));
  if (info->compute_units)
    fprintf(out, ", %d %s", info->compute_units, info->is_cpu && !info->emulated ? "cores" : "compute units");
  if (info->arch[0]) fprintf(out, ", %s", info->arch);
  if (info->pci[0]) fprintf(out, ", PCI %s", info->pci);
  if (info->uuid[0]) fprintf(out, ", %s", info->uuid);
  fprintf(out, "\n");
}

static void list_devices(const struct gpu_backend *backend, FILE *out)
{
  char reason[GPU_TEXT_MAX] = "";
  struct gpu_device_info *devices = NULL;
  int n = 0;
  backend->probe(&devices, &n, reason);
  if (n == 0) fprintf(out, "    no device: %s\n", reason);
  for (int d = 0; d < n; d++) list_device(&devices[d], d, out);
  free(devices);
}

static void list_kernels(const struct gpu_backend *backend, FILE *out)
{
  const struct himeno_kernel_set *set = himeno_kernels_find(backend->name);
  for (int k = 0; set && k < set->n; k++)
    fprintf(out, "    kernel     %-12s %s\n", set->kernels[k].name, set->kernels[k].step);
}

void himeno_report_list(FILE *out)
{
  fprintf(out, "Backends (--backend), in the order of automatic choice; their devices (--device) and kernels "
               "(--kernel):\n");
  for (int b = 0; gpu_backends[b]; b++) {
    fprintf(out, "  %s: %s\n", gpu_backends[b]->name, gpu_backends[b]->about);
    list_devices(gpu_backends[b], out);
    list_kernels(gpu_backends[b], out);
  }
  fprintf(out, "Transports (--transport):\n");
  for (int t = 0; halo_transports[t]; t++)
    fprintf(out, "  %-10s %s\n", halo_transports[t]->name, halo_transports[t]->about);
  fprintf(out, "Sizes (--size):\n");
  for (int n = 0; n < grid_size_count(); n++) {
    const struct grid_size *size = grid_size_named(n);
    int64_t points = size->extent[0] * size->extent[1] * size->extent[2];
    fprintf(out, "  %-3s %4lldx%lldx%lld, %s on the devices\n", size->name, (long long)size->extent[0],
            (long long)size->extent[1], (long long)size->extent[2],
            report_bytes((uint64_t)points * HIMENO_BYTES_PER_POINT));
  }
}
