/* SPDX-License-Identifier: MIT */
/* The dummy backend's halos: its memory is the host's, which the CPU's packer knows. */
#include "comm/halo/pack.h"

static status_t dummy_open(struct gpu_device *device, const struct layout *layout,
                           const struct halo_plan *plan, struct halo_packer_state **state)
{
  return halo_packer_cpu.open(device, layout, plan, state);
}

static status_t dummy_pack(struct halo_packer_state *state, struct gpu_queue *queue, struct gpu_mem field,
                           struct gpu_mem buffer)
{
  return halo_packer_cpu.pack(state, queue, field, buffer);
}

static status_t dummy_unpack(struct halo_packer_state *state, struct gpu_queue *queue, struct gpu_mem field,
                             struct gpu_mem buffer)
{
  return halo_packer_cpu.unpack(state, queue, field, buffer);
}

static void dummy_close(struct halo_packer_state *state)
{
  halo_packer_cpu.close(state);
}

const struct halo_packer halo_packer_dummy = {"dummy",      dummy_open,  dummy_pack,
                                              dummy_unpack, dummy_close, NULL};
