/* SPDX-License-Identifier: MIT */
/** \file
 * \brief A device whose work takes the time that it is given, and moves no data; what its copies
 * share, and how kernels and messages leave it. */
#ifndef TOOLS_SIM_DEVICE_H
#define TOOLS_SIM_DEVICE_H

#include <mpi.h>

#include "comm/halo/link.h"
#include "gpu/gpu.h"

/** What a queue calls when it comes to it, \a since when: it is done at the time that is returned;
 * if that lies ahead it is called again. */
typedef double sim_call(void *of, uint64_t n, double since);

/** \brief The device of this rank. */
status_t sim_device_open(struct gpu_device **device);

/** \brief Does what can be done by now, then waits for the next thing that can happen to this rank.
 * In place of sched_yield. */
int sim_yield(void);

/** \brief Puts into a queue: work of so many seconds, or a call. */
status_t sim_work(struct gpu_queue *queue, double seconds);
status_t sim_then(struct gpu_queue *queue, sim_call *call, void *of, uint64_t n);

/** \brief A copy by this rank's core, as MPI makes it within a host; then a call. */
status_t sim_core_copy(double bytes, sim_call *call, void *of);

/** \brief Copies out of \a gosa give \a value for each sweep. */
void sim_device_gosa(struct gpu_device *device, struct gpu_mem gosa, double value);

/* Kernels that exchange halos themselves. */

/** \brief Puts into a queue: the slabs' computing and their stores; the flags of \a step; waiting
 * for the neighbours' flags of \a step. */
status_t link_store(struct gpu_queue *queue, const struct halo_link *link);
status_t link_raise(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);
status_t link_await(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);

/* Memory that ranks of a host hand packed halos over in (handover.c). */

/** \brief Whether an address lies there; of \a bytes that this rank copies to \a host, those that
 * go to ranks of its host. */
int handover_is_there(const void *host);
double handover_bytes(const void *host, size_t bytes);

/* In place of MPI's (messages.c). */

/** \brief A sum of doubles takes the messages of recursive doubling, as that of gosa does; what
 * else ranks agree on is not timed. */
int sim_iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request);
int sim_isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request);
int sim_irecv(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request);
int sim_testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);

#endif
