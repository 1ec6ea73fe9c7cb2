/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A device whose work takes the time that it is said to take, and moves no data. */
#ifndef TOOLS_SIM_DEVICE_H
#define TOOLS_SIM_DEVICE_H

#include "comm/halo/pack.h"
#include "gpu/gpu.h"

/** What a queue calls when it comes to it, \a since when: it is done at the time that is returned;
 * where that lies ahead it is called again. */
typedef double sim_call(void *of, uint64_t n, double since);

/** \brief The device of this rank. */
status_t sim_device_open(struct gpu_device **device);
void sim_device_close(struct gpu_device *device);

/** \brief Does what can be done by now; the time when more can be, INFINITY if that hangs on
 * others. */
double device_progress(struct gpu_device *device);

/** \brief Something may have changed that a queue waits for. */
void device_touch(struct gpu_device *device);

/** \brief Puts into a queue: work of so many seconds, a copy that shares the host's memory, or a
 * call. */
status_t sim_work(struct gpu_queue *queue, double seconds);
status_t sim_copy(struct gpu_queue *queue, double bytes);
status_t sim_then(struct gpu_queue *queue, sim_call *call, void *of, uint64_t n);

/** \brief A copy by this rank's core, as MPI makes it within a host; then a call. */
status_t sim_core_copy(double bytes, sim_call *call, void *of);

/** \brief Copies out of \a gosa give \a value for each sweep. */
void sim_device_gosa(struct gpu_device *device, struct gpu_mem gosa, double value);

#endif
