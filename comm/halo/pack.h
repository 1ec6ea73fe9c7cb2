/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Kernels that copy between a field and the contiguous halo buffers: one const struct per
 * backend, selected by name. */
#ifndef COMM_HALO_PACK_H
#define COMM_HALO_PACK_H

#include "comm/halo/halo.h"
#include "gpu/gpu.h"

struct halo_link_ops;
/** An open packer. Each backend casts it to its own struct. */
struct halo_packer_state;

struct halo_packer {
  const char *backend;
  status_t (*open)(struct gpu_device *device, const struct layout *layout, const struct halo_plan *plan,
                   struct halo_packer_state **state);
  /** \brief Gathers all send boxes of \a field into \a buffer if \a gather is 1, otherwise scatters
   * \a buffer into all receive boxes. Asynchronous in the queue. */
  status_t (*move)(struct halo_packer_state *state, struct gpu_queue *queue, struct gpu_mem field,
                   struct gpu_mem buffer, int gather);
  void (*close)(struct halo_packer_state *state);
  /** operations on links; NULL if devices cannot access each other's memory */
  const struct halo_link_ops *link_ops;
};

#define HALO_PACKER(name, built) extern const struct halo_packer halo_packer_##name;
GPU_BACKENDS(HALO_PACKER)
#undef HALO_PACKER

/** \brief Returns the packer of a backend, or NULL if the backend was not built. */
const struct halo_packer *halo_packer_find(const char *backend);

#endif
