/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What polling loops of a transport become in simulated time, and what they send. */
#ifndef HIMENO_SIM_POLL_H
#define HIMENO_SIM_POLL_H

#include <mpi.h>

#include "base/status.h"

/** What a rank has sent. */
struct sim_sent {
  long messages, tokens; /**< tokens: of no bytes */
  double bytes;
};

/** \brief Room for so many ranks, all in this process. */
status_t poll_open(int ranks);
void poll_close(void);

/** \brief This rank's device reaches a point that was asked for only at \a time. */
void poll_until(double time);

/** \brief What else goes on while this rank polls: \a progress(of) takes it as far as it can, then it waits for *request. */
void poll_background(status_t (*progress)(void *of), void *of, MPI_Request *request);

const struct sim_sent *poll_sent(int rank);
void poll_sent_reset(int rank);

/** \brief In place of MPI_Testsome: tells what sim_yield found finished, and sim_yield what to wait for. */
int sim_testsome(int n, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]);

/** \brief MPI_Isend, counted. */
int sim_isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request);

/** \brief Waits for the next thing that can happen: the device, or a message. */
int sim_yield(void);

#endif
