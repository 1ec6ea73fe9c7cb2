/* SPDX-License-Identifier: MIT */
#include "comm/halo/transport.h"
#include "suite/list.h"

void list_backend_transports(const struct gpu_backend *backend, FILE *out)
{
  char reason[GPU_TEXT_MAX] = "";
  fprintf(out, "    transports");
  for (int t = 0, n = 0; halo_transports[t]; t++)
    if (halo_transports[t]->available(backend, reason))
      fprintf(out, "%s%s", n++ ? ", " : " ", halo_transports[t]->name);
  fprintf(out, "\n");
  for (int t = 0; halo_transports[t]; t++)
    if (!halo_transports[t]->available(backend, reason))
      fprintf(out, "    transport  %s unavailable: %s\n", halo_transports[t]->name, reason);
}

void list_transports(FILE *out)
{
  fprintf(out, "Transports (--transport):\n");
  for (int t = 0; halo_transports[t]; t++)
    fprintf(out, "  %-10s %s;\n             moved by %s\n", halo_transports[t]->name,
            halo_transports[t]->memory, halo_transports[t]->mover);
}
