/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Every wait on another rank has a deadline. Past it the job ends with STATUS_HANG and one
 * message that names the waiting rank and those it waits for.
 *
 * A wait for named ranks, as for halos, ends at the deadline, unless one of them is seen to get on.
 * One for all ranks goes on while another rank of this host works or gets on, for ten deadlines at
 * most, since an untroubled rank may have the longer work. A rank that gives no sign of life at all
 * for a deadline is reported whether anybody waits for it or not (heartbeat.h). Without watch_open
 * waits have WATCH_SECONDS, and the message knows this rank's wait alone. */
#ifndef COMM_RANKS_WATCH_H
#define COMM_RANKS_WATCH_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define WATCH_SECONDS     60.0 /**< default deadline */
#define WATCH_TARGETS_MAX 26
#define WATCH_NAME_MAX    320

/** \brief Right after MPI_Init: watches all waits of this rank. \a seconds > 0 is the deadline of
 * each. */
status_t watch_open(double seconds);
void watch_close(void);

/** \brief The deadline. */
double watch_seconds(void);

/** \brief "rank 3 on host n01", by its number in the whole job, of a rank of \a comm. */
const char *watch_rank_name(MPI_Comm comm, int rank, char text[WATCH_NAME_MAX]);

/** Name of the wait in agree_status, for messages. */
extern const char watch_agreement[];

/** \brief The sweep that this rank is in from now on, from 1; 0 for none. Costs nothing. */
void watch_sweep(long sweep);

/** Whom a rank waits for. */
struct watch_targets {
  long sweep; /**< set where watch_sweep does not know it: the device runs ahead of the host */
  int n;
  struct {
    int rank;
    char face[8]; /**< "i-", …; "" where there is none */
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
      /** "halos", "the sum of gosa", …; NULL while it waits for its own device, unless that waits
       * for targets */
      what;
  uint64_t begin, served; /**< nanoseconds in which this process ran */
};

/** \brief Begins a wait for \a what; with \a describe NULL, of all ranks. The texts must outlive
 * the wait. */
void watch_begin(struct watch_wait *wait, MPI_Comm comm, const char *what, watch_describe *describe,
                 const void *of);

/** \brief To be called over and over while nothing has come. STATUS_HANG past the deadline, or when
 * another rank is past its own: one rank has then printed the message, and the job is to be
 * ended. */
status_t watch_poll(struct watch_wait *wait);

/** \brief Like watch_poll when the deadline has passed already: the device has run into it. */
status_t watch_expired(struct watch_wait *wait);

/** \brief Like watch_poll without a deadline of its own: for long waits on the rank's own
 * device. */
status_t watch_serve(struct watch_wait *wait);

/** \brief MPI_Wait with the deadline. \a what: "the sum of gosa", … */
status_t watch_request(MPI_Comm comm, MPI_Request *request, const char *what);

/** \brief The same where one rank of \a comm alone is waited for. */
status_t watch_peer(MPI_Comm comm, MPI_Request *request, int peer, const char *what);

/** \brief A barrier without a deadline of its own, for ranks that have nothing to do while others
 * are busy: those watch each other, and a silent rank is reported all the same. */
status_t watch_patiently(MPI_Comm comm, const char *what);

/** \brief Collectives with the deadline. */
status_t watch_barrier(MPI_Comm comm, const char *what);
status_t watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                         MPI_Op op, const char *what);
/** \brief \a bytes of each rank, in the order of ranks, at rank 0 (elsewhere \a receive does not
 * matter) or everywhere. */
status_t watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what);
status_t watch_allgather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what);
status_t watch_bcast(MPI_Comm comm, void *buffer, int count, MPI_Datatype type, int root, const char *what);

#endif
