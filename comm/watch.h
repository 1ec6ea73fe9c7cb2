/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Every wait on another rank has a deadline. Past it the job ends with STATUS_HANG and one message: who waits for whom.
 *
 * A watch belongs to a communicator. Ranks that wait tell each other, over a communicator of their own, what for; the
 * lowest rank that still answers speaks for all. Waits on a communicator without a watch have WATCH_SECONDS, and the message
 * then knows this rank's wait alone. */
#ifndef COMM_WATCH_H
#define COMM_WATCH_H

#include <mpi.h>
#include <stddef.h>

#include "base/status.h"

#define WATCH_SECONDS     60.0 /**< default deadline */
#define WATCH_TARGETS_MAX 26

/** \brief Collective: watches the waits on \a comm. \a seconds > 0 is the deadline of each. */
status_t watch_open(MPI_Comm comm, double seconds);

/** \brief Frees the watch; also happens when \a comm is freed. */
void watch_close(MPI_Comm comm);

/** \brief Deadline of waits on \a comm. */
double watch_seconds(MPI_Comm comm);

/** \brief Host of a rank of \a comm; "" where unknown. */
const char *watch_host(MPI_Comm comm, int rank);

/** \brief The sweep that this rank is in from now on, from 1; 0 for none. Costs nothing. */
void watch_sweep(MPI_Comm comm, long sweep);

/** Whom a rank waits for. */
struct watch_targets {
  long sweep; /**< set where watch_sweep does not know it: the device runs ahead of the host */
  int n;
  struct {
    int rank;
    char face[8]; /**< "i-", … */
  } at[WATCH_TARGETS_MAX];
};

/** Fills in who has not answered yet. Called when someone asks. */
typedef void watch_describe(const void *of, struct watch_targets *targets);

/** One wait. */
struct watch_wait {
  MPI_Comm comm;
  watch_describe *describe; /**< NULL where it is for all ranks */
  const void *of;
  const char *
      what; /**< "halos", "the sum of gosa", …; NULL while it waits for its own device, unless that waits for targets */
  double begin, served;
};

/** \brief Begins a wait for \a what; with \a describe NULL, of all ranks. The texts must outlive the wait. */
void watch_begin(struct watch_wait *wait, MPI_Comm comm, const char *what, watch_describe *describe,
                 const void *of);

/** \brief To be called over and over while nothing has come. STATUS_HANG past the deadline, or when another rank is past its
 * own: one rank has then printed the message, and the job is to be ended. */
status_t watch_look(struct watch_wait *wait);

/** \brief Like watch_look when the deadline has passed already: the device has run into it. */
status_t watch_expired(struct watch_wait *wait);

/** \brief Like watch_look without a deadline of its own: for long waits on the rank's own device. */
status_t watch_serve(struct watch_wait *wait);

/** \brief MPI_Wait with the deadline. \a what: "the sum of gosa", … */
status_t watch_request(MPI_Comm comm, MPI_Request *request, const char *what);

/** \brief A barrier without a deadline, for ranks that have nothing to do while others are busy, and those watch each other. */
status_t watch_patiently(MPI_Comm comm);

/** \brief Collectives with the deadline. */
status_t watch_barrier(MPI_Comm comm, const char *what);
status_t watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                         MPI_Op op, const char *what);
/** \brief \a bytes of each rank, in the order of ranks, at rank 0 (elsewhere \a receive does not matter) or everywhere. */
status_t watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what);
status_t watch_allgather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what);
status_t watch_bcast(MPI_Comm comm, void *buffer, int count, MPI_Datatype type, int root, const char *what);

#endif
