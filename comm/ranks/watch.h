/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Every wait for another rank has a deadline. If a deadline passes, the job ends with
 * STATUS_HANG and one message, which names the waiting rank and the ranks that it waits for.
 *
 * A wait for named ranks, as for halos, ends at the deadline, unless one of them makes progress. A
 * wait for all ranks continues while another rank of this host works or makes progress, up to ten
 * deadlines, because a healthy rank may have more work. A rank without any sign of life for a
 * deadline is reported even if no rank waits for it (heartbeat.h). Without watch_open the deadline
 * is WATCH_SECONDS, and the message contains only this rank's wait. */
#ifndef COMM_RANKS_WATCH_H
#define COMM_RANKS_WATCH_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define WATCH_SECONDS     60.0 /**< default deadline */
#define WATCH_TARGETS_MAX 26
#define WATCH_NAME_MAX    320

/** \brief Call after MPI_Init: gives all waits of this rank a deadline of \a seconds > 0. */
status_t watch_open(double seconds);
void watch_close(void);

double watch_seconds(void);

/** \brief Writes "rank 3 on host n01" for a rank of \a comm, with its number in MPI_COMM_WORLD. */
const char *watch_rank_name(MPI_Comm comm, int rank, char text[WATCH_NAME_MAX]);

/** Name of the wait in agree_status, for messages. */
extern const char watch_agreement[];

/** \brief Sets the number of the sweep that this rank is in, from 1; 0 for none. */
void watch_sweep(long sweep);

/** The ranks that a rank waits for. */
struct watch_targets {
  long sweep; /**< the sweep of the device if it differs from the host's; otherwise 0 */
  int n;
  struct {
    int rank;
    char face[8]; /**< face of the awaited halo, such as "i-"; "" for other waits */
  } at[WATCH_TARGETS_MAX];
};

/** Lists the ranks that have not answered yet. */
typedef void watch_describe(const void *of, struct watch_targets *targets);

/** A wait in progress. */
struct watch_wait {
  MPI_Comm comm;
  watch_describe *describe; /**< NULL for a wait for all ranks */
  const void *of;
  /** name such as "the sum of gosa"; NULL while only the rank's own device is awaited */
  const char *what;
  /** begin: start of the wait; served: last poll; in nanoseconds without suspensions */
  uint64_t begin, served;
};

/** \brief Begins a wait named \a what for the ranks that \a describe lists, or for all ranks if \a
 * describe is NULL. \a what and \a of must outlive the wait. */
void watch_begin(struct watch_wait *wait, MPI_Comm comm, const char *what, watch_describe *describe,
                 const void *of);

/** \brief Call repeatedly during the wait. Returns STATUS_HANG if a wait of this or another rank
 * has passed its deadline. One rank has then printed the message. The caller must end the job. */
status_t watch_poll(struct watch_wait *wait);

/** \brief Handles a wait on the device that has passed its deadline, as watch_poll does. */
status_t watch_expired(struct watch_wait *wait);

/** \brief Like watch_poll without a deadline; for possibly long waits for the rank's own device. */
status_t watch_serve(struct watch_wait *wait);

/** \brief Waits for an MPI request, with the deadline. \a what is a name such as "the sum of
 * gosa". */
status_t watch_request(MPI_Comm comm, MPI_Request *request, const char *what);

/** \brief Like watch_request, for a wait for one rank of \a comm. */
status_t watch_peer(MPI_Comm comm, MPI_Request *request, int peer, const char *what);

/** \brief A barrier without a deadline of its own, for idle ranks while others are busy. The busy
 * ranks watch each other, and a silent rank is still reported. */
status_t watch_patiently(MPI_Comm comm, const char *what);

/** \brief Collective operations of MPI, with the deadline of watch_open. */
status_t watch_barrier(MPI_Comm comm, const char *what);
status_t watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                         MPI_Op op, const char *what);
/** \brief Gathers \a bytes per rank, in the order of ranks, on rank 0 (\a receive is ignored
 * elsewhere); watch_allgather gathers on all ranks. */
status_t watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what);
status_t watch_allgather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what);
status_t watch_bcast(MPI_Comm comm, void *buffer, int count, MPI_Datatype type, int root, const char *what);

#endif
