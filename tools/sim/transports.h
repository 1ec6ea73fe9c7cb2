/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What lies below the program's transports: links of devices, memory that ranks of a host
 * share, and messages. */
#ifndef TOOLS_SIM_TRANSPORTS_H
#define TOOLS_SIM_TRANSPORTS_H

#include <mpi.h>

#include "comm/halo/link.h"

/* What a kernel that exchanges halos itself puts into a queue. */

/** \brief The slabs' computing and their stores; then the flags of \a step. */
status_t link_store(struct gpu_queue *queue, const struct halo_link *link);
status_t link_raise(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);

/** \brief Waits for the neighbours' flags of \a step. */
status_t link_await(struct gpu_queue *queue, const struct halo_link *link, uint64_t step);

/* A host's memory, which the copies of its ranks share. Each byte of a copy takes sim.own seconds
 * of its own, for a bus or a core, and sim.host for each copy that is under way there. */

/** \brief A copy begins on the host of \a rank; what must be served until it ends. */
double memory_begin(int rank, double bytes);

/** \brief When the copy ends if none begins or ends before: now, and it has. */
double memory_end(int rank, double target);

/* Halos that ranks hand over in it, and MPI's messages. */

/** \brief Whether an address lies in memory that ranks hand halos over in. */
int handover_is_there(const void *host);

/** \brief Of \a bytes that this rank copies to \a host, those that go to ranks of its host. */
double handover_bytes(const void *host, size_t bytes);

/** \brief Seconds that an exchange by staged takes at its two ends. */
double staged_ends(const struct halo_plan *plan);

/** \brief Seconds before this rank's kernel sends by p2p, besides what it sends. */
double kernel_chain(int rank);

/** \brief Seconds until a small message is seen. */
double message_wire(int from, int to);

/** \brief In place of MPI's. The sum of doubles takes the messages of recursive doubling, as gosa's
 * does; what else ranks agree on nobody times. */
int sim_iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request);
int sim_isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request);
int sim_irecv(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request);
int sim_testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);

/** \brief Whether this rank's part of a sum is here. */
int sim_sum_test(MPI_Request *request);

#endif
