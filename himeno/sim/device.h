/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A device whose queues are time lines: work takes the time it is said to take, and moves no data. */
#ifndef HIMENO_SIM_DEVICE_H
#define HIMENO_SIM_DEVICE_H

#include "comm/pack.h"
#include "gpu/gpu.h"

/** Latency of a message. All but the wire's share passes in packing and unpacking, half before the messages leave and half after
 * they arrived. */
typedef double sim_latency(const struct halo_message *message);

/** \brief A device of this rank. Buffers of all ranks are one and the same memory, of \a bytes. */
status_t sim_device_open(sim_latency *latency, size_t bytes, struct gpu_device **device);
void sim_device_close(struct gpu_device *device);

/** \brief Work of so many seconds in a queue. */
void sim_work(struct gpu_queue *queue, double seconds);

/** \brief When the queue will be empty, on the clock of MPI_Wtime. */
double sim_queue_end(const struct gpu_queue *queue);

#endif
