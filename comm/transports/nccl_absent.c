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

/** Never available, so the other functions are not called. */
const struct halo_transport halo_transport_nccl = {
    .name = "nccl",
    .memory = "device memory",
    .mover = "NCCL; needs its library",
    .available = absent_available,
};

const struct nccl_collectives nccl_collectives = {NULL};
