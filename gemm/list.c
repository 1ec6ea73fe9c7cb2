/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "base/report.h"
#include "gemm/report/report.h"

static void list_device(const struct gpu_device_info *info, int index, FILE *out)
{
  fprintf(out, "    device %d   %s", index, info->name);
  if (info->memory_bytes) fprintf(out, ", %s", report_bytes(info->memory_bytes));
  if (info->compute_units)
    fprintf(out, ", %d %s", info->compute_units, info->is_cpu ? "cores" : "compute units");
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

static void list_kernel(const struct gemm_kernel *kernel, FILE *out)
{
  const char *comma = "";
  fprintf(out, "    %-10s %-13s %s (", kernel->yardstick ? "yardstick" : "kernel", kernel->name,
          kernel->step);
  for (int type = 0; type < GEMM_TYPES; type++) {
    if (!(kernel->types & GEMM_BIT(type))) continue;
    fprintf(out, "%s%s", comma, gemm_types[type].name);
    comma = ", ";
  }
  fprintf(out, kernel->transposes ? "; NN NT TN TT)\n" : "; NN)\n");
}

void gemm_report_list(FILE *out)
{
  fprintf(out, "Backends (--backend), in the order of automatic choice; their devices (--device) and kernels "
               "(--kernel):\n");
  for (int b = 0; gpu_backends[b]; b++) {
    const struct gemm_kernel_set *set = gemm_kernels_find(gpu_backends[b]->name);
    fprintf(out, "  %s: %s\n", gpu_backends[b]->name, gpu_backends[b]->about);
    list_devices(gpu_backends[b], out);
    if (!set) fprintf(out, "    no kernels for matrix products\n");
    for (int k = 0; set && k < set->n; k++) list_kernel(set->kernels[k], out);
  }
  fprintf(out, "Types (--type):\n");
  for (int type = 0; type < GEMM_TYPES; type++)
    fprintf(out, "  %-8s %s\n", gemm_types[type].name, gemm_types[type].about);
}
