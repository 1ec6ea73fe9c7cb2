/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A device whose queues are time lines: work takes the time it is said to take, and moves no
 * data. */
#ifndef TOOLS_SIM_DEVICE_H
#define TOOLS_SIM_DEVICE_H

#include "comm/halo/pack.h"
#include "gpu/gpu.h"

/** Latency of a message, and what the ends of an exchange take besides, in seconds. The longest
 * latency of an exchange counts; all but the wire's share of it passes in packing and unpacking, as
 * the rest does: half before the messages leave, half after they arrived. */
struct sim_exchange {
  double (*latency)(const struct halo_message *message);
  double (*ends)(const struct halo_plan *plan);
};

/** \brief A device of this rank. Buffers of all ranks are one and the same memory, of \a bytes. */
status_t sim_device_open(const struct sim_exchange *exchange, size_t bytes, struct gpu_device **device);
void sim_device_close(struct gpu_device *device);

/** \brief Work of so many seconds in a queue. */
void sim_work(struct gpu_queue *queue, double seconds);

#endif
