/* SPDX-License-Identifier: MIT */
#include "comm/halo/pack.h"

#include <string.h>

#include "config.h"

#define PACKER(name, built) GPU_BUILT(built, halo_packer_##name),
static const struct halo_packer *const packers[] = {GPU_BACKENDS(PACKER)};

const struct halo_packer *halo_packer_find(const char *backend)
{
  for (size_t n = 0; n < sizeof packers / sizeof *packers; n++)
    if (packers[n] && !strcmp(packers[n]->backend, backend)) return packers[n];
  return NULL;
}
