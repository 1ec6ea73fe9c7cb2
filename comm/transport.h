/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A halo transport: one const struct a way of moving halos, one file each.
 *
 * A sweep computes the points that neighbours need, calls `start`, computes the rest, and calls `finish`. Between the
 * two the transport moves what it can without holding the host for long. */
#ifndef COMM_TRANSPORT_H
#define COMM_TRANSPORT_H

#include <mpi.h>

#include "comm/halo.h"
#include "comm/pack.h"
#include "gpu/gpu.h"

struct halo_exchange;

/** Seconds summed over all exchanges since halo_times_reset, and their number. */
enum halo_phase { HALO_PACK, HALO_D2H, HALO_WAIT, HALO_TRANSFER, HALO_H2D, HALO_UNPACK, HALO_PHASES };

struct halo_times {
  double seconds[HALO_PHASES];
  long exchanges;
};

struct halo_context {
  MPI_Comm comm;
  struct gpu_device *device;
  const struct decomp *decomp;
  const struct layout *layout;
  const struct halo_plan *plan;
};

struct halo_transport {
  const char *name;
  const char *about;
  /** \brief Whether it can run with this backend; if not, the reason. */
  int (*available)(const struct gpu_backend *backend, char reason[GPU_TEXT_MAX]);
  /** \brief Collective. Buffers, packer, queue. */
  status_t (*setup)(const struct halo_context *context, struct halo_exchange **exchange);
  /** \brief Begins to move the halos of \a field, whose points to send are complete once \a computed has passed. */
  status_t (*start)(struct halo_exchange *exchange, struct gpu_mem field, struct gpu_event *computed);
  /** \brief Lets messages move without blocking: for use between pieces of interior work. */
  status_t (*progress)(struct halo_exchange *exchange);
  /** \brief Returns when all that needs the host is done; the field's halos are valid once *arrived has passed. */
  status_t (*finish)(struct halo_exchange *exchange, struct gpu_event **arrived);
  /** \brief Adds what has passed on the device to the times. Call when its queue is empty. */
  status_t (*times)(struct halo_exchange *exchange, struct halo_times *times);
  void (*teardown)(struct halo_exchange *exchange);
};

extern const struct halo_transport halo_transport_staged;
extern const struct halo_transport halo_transport_pageable;

/** \brief All transports; ends with NULL. */
extern const struct halo_transport *const halo_transports[];

const struct halo_transport *halo_transport_find(const char *name);

#endif
