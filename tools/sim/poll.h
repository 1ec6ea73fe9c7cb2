/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What polling loops of a transport become in simulated time, and what they send. */
#ifndef TOOLS_SIM_POLL_H
#define TOOLS_SIM_POLL_H

#include <mpi.h>

#include "base/status.h"

/** What a rank has sent. */
struct sim_sent {
  long messages, tokens; /**< tokens: of no bytes */
  double bytes;
};

/** \brief Room for so many ranks, all in this process. */
status_t poll_open(int ranks);

/** \brief This rank's device reaches a point that was asked for only at \a time. */
void poll_until(double time);

/** \brief What else goes on while this rank polls: \a progress(of) takes it as far as it can, then
 * it waits for *request. */
void poll_background(status_t (*progress)(void *of), void *of, MPI_Request *request);

const struct sim_sent *poll_sent(int rank);
void poll_sent_reset(int rank);

/** \brief In place of MPI_Testsome: tells what sim_yield found finished, and sim_yield what to wait
 * for. */
int sim_testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);

/** \brief MPI_Isend, counted. */
int sim_isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request);

/** \brief MPI_Iallreduce that is complete when it returns, for what comm/ agrees on before the
 * first sweep. SimGrid's own sends from each rank to all, and keeps a record of every such message
 * to the end, through which it searches at each later one. */
int sim_iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request);

/** \brief MPI_Test; no request is a finished one, as MPI says and SimGrid 3.32 does not. */
int sim_test(MPI_Request *request, int *done, MPI_Status *status);

/** \brief Waits for the next thing that can happen: the device, or a message. */
int sim_yield(void);

#endif
