/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>

#include "suite/list.h"
#include "tools/memory/run.h"

void mem_report_list(FILE *out)
{
  fprintf(out, "Backends (--backend), in the order of automatic choice, and their devices (--device):\n");
  for (int b = 0; gpu_backends[b]; b++) {
    const struct gpu_backend *backend = gpu_backends[b];
    const struct mem_ops *ops = mem_ops_find(backend->name);
    if (backend->for_tests) continue;
    list_backend(backend, out);
    if (!ops) continue;
    fprintf(out, "    measures   copies (%s), mixes, latency%s, host, roofline%s\n", ops->native,
            ops->trace ? " with the cycles of single loads" : "", ops->pair ? ", pairs" : "");
  }
}
