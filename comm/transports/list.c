/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "comm/halo/transport.h"

#include <string.h>

const struct halo_transport *const halo_transports[] = {
    &halo_transport_staged,
    &halo_transport_pageable,
    &halo_transport_mpi,
    &halo_transport_nccl,
    &halo_transport_ipc,
    &halo_transport_p2p,
    NULL,
};

const struct halo_transport *halo_transport_find(const char *name)
{
  for (int t = 0; halo_transports[t]; t++)
    if (strcmp(halo_transports[t]->name, name) == 0) return halo_transports[t];
  return NULL;
}
