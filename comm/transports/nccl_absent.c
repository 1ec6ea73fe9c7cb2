/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "comm/halo/transport.h"
#include "comm/transports/nccl.h"

static int absent_available(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX])
{
  (void)backend;
  snprintf(reason, GPU_TEXT_MAX, "not built: configured without CUDA");
  return 0;
}

/** The transport is never available, so its other functions are never called. */
const struct halo_transport halo_transport_nccl = {
    .name = "nccl",
    .memory = "device memory",
    .mover = "NCCL; needs its library",
    .available = absent_available,
};

const struct nccl_collectives nccl_collectives = {.open = NULL};
