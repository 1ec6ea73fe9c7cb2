/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What lies below the program's transports: memory that ranks of a host see, and
 * messages. */
#ifndef TOOLS_SIM_TRANSPORTS_H
#define TOOLS_SIM_TRANSPORTS_H

#include <mpi.h>

#include "comm/halo/halo.h"
#include "base/status.h"

/** \brief For all ranks of sim. */
status_t handover_ranks_open(void);
status_t links_open(void);
status_t messages_open(void);
status_t sums_open(void);

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

/** \brief What waits for all ranks. */
struct sum;

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
