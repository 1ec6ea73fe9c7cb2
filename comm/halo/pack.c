/* SPDX-License-Identifier: MIT */
#include "comm/halo/pack.h"

#include <string.h>

#include "config.h"

static const struct halo_packer *const packers[] = {
#if HAVE_CUDA
    &halo_packer_cuda,
#endif
#if HAVE_OPENCL
    &halo_packer_opencl,
#endif
    &halo_packer_cpu,    &halo_packer_null, &halo_packer_qpu,
};

const struct halo_packer *halo_packer_find(const char *backend)
{
  for (size_t n = 0; n < sizeof packers / sizeof *packers; n++)
    if (!strcmp(packers[n]->backend, backend)) return packers[n];
  return NULL;
}
