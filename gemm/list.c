/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "gemm/report/report.h"
#include "suite/list.h"

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
    list_backend(gpu_backends[b], out);
    if (!set) fprintf(out, "    no kernels for matrix products\n");
    for (int k = 0; set && k < set->n; k++) list_kernel(set->kernels[k], out);
  }
  fprintf(out, "Types (--type):\n");
  for (int type = 0; type < GEMM_TYPES; type++)
    fprintf(out, "  %-8s %s\n", gemm_types[type].name, gemm_types[type].about);
}
