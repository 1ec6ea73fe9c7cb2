/* SPDX-License-Identifier: MIT */
#include "gemm/report/report.h"
#include "suite/list.h"

static void list_kernel(const struct gemm_kernel *kernel, FILE *out)
{
  const char *comma = "";
  fprintf(out, "    %-10s %-13s ", kernel->is_reference ? "reference" : "kernel", kernel->name);
  for (int type = 0; type < GEMM_TYPES; type++) {
    if (!(kernel->types & GEMM_BIT(type))) continue;
    fprintf(out, "%s%s", comma, gemm_types[type].name);
    comma = ", ";
  }
  fprintf(out, "; NN%s\n               %s\n", kernel->transposes ? " NT TN TT" : "", kernel->step);
}

static void gemm_list_backend(const struct gpu_backend *backend, int devices, FILE *out)
{
  const struct gemm_kernel_set *set = gemm_kernels_find(backend->name);
  (void)devices;
  if (!set) fprintf(out, "    no kernels for matrix products\n");
  for (int k = 0; set && k < set->n; k++) list_kernel(set->kernels[k], out);
}

void gemm_report_list(const struct gpu_backend *asked, FILE *out)
{
  list_backends(asked, " and kernels (--kernel)", gemm_list_backend, out);
  fprintf(out, "Types (--type):\n");
  for (int type = 0; type < GEMM_TYPES; type++)
    fprintf(out, "  %-8s %s\n", gemm_types[type].name, gemm_types[type].about);
}
