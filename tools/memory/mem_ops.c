/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tools/memory/mem_ops.h"

#include <string.h>

static const struct mem_ops *const all[] = {
#if HAVE_CUDA
    &mem_ops_cuda,
#endif
#if HAVE_OPENCL
    &mem_ops_opencl,
#endif
    &mem_ops_cpu,
};

const char *const mem_assign_names[] = {"cyclic", "block", "group"};
const char *const mem_type_names[] = {"fp32", "tf32", "fp16", "bf16"};
const char *const mem_method_names[] = {"study", "tuned", "babelstream", "native"};

const struct mem_ops *mem_ops_find(const char *backend)
{
  for (size_t n = 0; n < sizeof all / sizeof *all; n++)
    if (!strcmp(all[n]->backend, backend)) return all[n];
  return NULL;
}
