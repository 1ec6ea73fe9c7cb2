/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "base/report.h"
#include "comm/halo/grid.h"
#include "comm/halo/transport.h"
#include "himeno/kernels/kernels.h"
#include "himeno/report/report.h"
#include "suite/list.h"

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
    list_backend(gpu_backends[b], out);
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
