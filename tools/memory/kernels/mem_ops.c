/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/memory/kernels/mem_ops.h"

#include <string.h>

/* Backends that mem-gpu does not support. */
const struct mem_ops mem_ops_qpu = {.backend = NULL}, mem_ops_null = {.backend = NULL};

#define OPS(name, built) GPU_BUILT(built, mem_ops_##name),
static const struct mem_ops *const all[] = {GPU_BACKENDS(OPS)};

const char *const mem_assign_names[] = {"cyclic", "block", "group"};
const char *const mem_type_names[] = {"fp32", "tf32", "fp16", "bf16"};
const char *const mem_method_names[] = {"study", "tuned", "babelstream", "native"};

const struct mem_ops *mem_ops_find(const char *backend)
{
  for (size_t n = 0; n < sizeof all / sizeof *all; n++)
    if (all[n] && all[n]->backend && !strcmp(all[n]->backend, backend)) return all[n];
  return NULL;
}
