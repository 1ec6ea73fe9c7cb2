/* SPDX-License-Identifier: MIT */
/* MPI with the virtual clock. A second message, with its own tag, has the arrival time of each
 * message. A collective call ends when the last rank has entered it. A request completes at that
 * time of the clock. A test of requests waits in real time until it knows the arrival time, for
 * CLOCK_PATIENCE at most. Ranks send all messages of an exchange before they test requests, so only
 * a rank that fails or hangs makes others wait so long. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/param.h>

#include "clock.h"

#define STAMP_TAG   16384
#define FLIGHTS_MAX 4096

/* A pending request. */
struct flight {
  MPI_Request request, stamp;
  /* a message's arrival time, or the time when the last rank entered a collective call */
  int64_t at;
  int64_t mine, cost;
};

static struct flight flights[FLIGHTS_MAX];
static int n_flights;

/* Returns a new flight. Flights never move, because MPI writes into them. */
static struct flight *flight_add(int64_t cost)
{
  int f = 0;
  while (f < n_flights && flights[f].request != MPI_REQUEST_NULL) f++;
  if (f == FLIGHTS_MAX) abort();
  if (f == n_flights) n_flights++;
  flights[f] = (struct flight){MPI_REQUEST_NULL, MPI_REQUEST_NULL, 0, clock_now(), cost};
  return &flights[f];
}

static struct flight *flight_find(MPI_Request request)
{
  for (int f = 0; f < n_flights; f++)
    if (flights[f].request == request) return &flights[f];
  return NULL;
}

/* Returns 1 if the request's time has come. */
static int has_come(MPI_Request request)
{
  struct flight *flight = request == MPI_REQUEST_NULL ? NULL : flight_find(request);
  if (!flight) return 1;
  int known = 0;
  for (const double begin = PMPI_Wtime(); !known && PMPI_Wtime() - begin < CLOCK_PATIENCE;)
    PMPI_Test(&flight->stamp, &known, MPI_STATUS_IGNORE);
  if (!known) return 0;
  if (flight->at + flight->cost <= clock_now()) return 1;
  clock_expect(flight->at + flight->cost);
  return 0;
}

static int finish(MPI_Request *request, MPI_Status *status)
{
  struct flight *flight = *request == MPI_REQUEST_NULL ? NULL : flight_find(*request);
  if (flight) flight->request = MPI_REQUEST_NULL;
  return PMPI_Wait(request, status);
}

static int64_t bytes_of(int count, MPI_Datatype type)
{
  int size;
  PMPI_Type_size(type, &size);
  return (int64_t)count * size;
}

/* ---- messages ---- */

double clock_path(MPI_Comm comm, int peer)
{
  MPI_Group group, world;
  char word[48];
  int other;
  const int rank = clock_rank();
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, 1, &peer, world, &other);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  snprintf(word, sizeof word, "path@%d-%d", MIN(rank, other), MAX(rank, other));
  return clock_word(word, 1);
}

/* A rank sends one message after the other. A slow path delays only its own messages. */
int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  static int64_t out;
  if (peer == MPI_PROC_NULL) return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
  if (out < clock_now()) out = clock_now();
  const double cost = (double)bytes_of(count, type) * clock_word("link", 0),
               latency = clock_word("latency", 0), path = clock_path(comm, peer);
  out += (int64_t)cost;
  const int64_t arrives = out + (int64_t)(latency * path + cost * (path - 1));
  PMPI_Send(&arrives, 1, MPI_INT64_T, peer, STAMP_TAG + tag, comm);
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  struct flight *flight = flight_add(0);
  PMPI_Irecv(&flight->at, 1, MPI_INT64_T, peer, STAMP_TAG + tag, comm, &flight->stamp);
  int error = PMPI_Irecv(buffer, count, type, peer, tag, comm, request);
  flight->request = *request;
  return error;
}

/* ---- collective calls ---- */

static struct flight *enter(const char *word, MPI_Comm comm)
{
  struct flight *flight = flight_add((int64_t)clock_word(word, 0));
  PMPI_Iallreduce(&flight->mine, &flight->at, 1, MPI_INT64_T, MPI_MAX, comm, &flight->stamp);
  return flight;
}

static int entered(struct flight *flight, int error, const MPI_Request *request)
{
  flight->request = *request;
  return error;
}

int MPI_Iallreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
  struct flight *flight = enter("reduce", comm);
  return entered(flight, PMPI_Iallreduce(send, receive, count, type, op, comm, request), request);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
  struct flight *flight = enter("barrier", comm);
  return entered(flight, PMPI_Ibarrier(comm, request), request);
}

int MPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request)
{
  struct flight *flight = enter("barrier", comm);
  return entered(flight, PMPI_Ibcast(buffer, count, type, root, comm, request), request);
}

static void collective_spend(MPI_Comm comm, int64_t bytes)
{
  int64_t mine = clock_now(), last;
  PMPI_Allreduce(&mine, &last, 1, MPI_INT64_T, MPI_MAX, comm);
  clock_spend((double)(last - mine) + clock_word("reduce", 0) + (double)bytes * clock_word("link", 0));
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  collective_spend(comm, bytes_of(count, type));
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int MPI_Alltoall(const void *send, int n, MPI_Datatype type, void *receive, int m, MPI_Datatype into,
                 MPI_Comm comm)
{
  int ranks;
  MPI_Comm_size(comm, &ranks);
  collective_spend(comm, bytes_of(n, type) * (ranks - 1));
  return PMPI_Alltoall(send, n, type, receive, m, into, comm);
}

/* ---- tests ---- */

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
  *done = has_come(*request);
  return *done ? finish(request, status) : MPI_SUCCESS;
}

int MPI_Testall(int n, MPI_Request *requests, int *done, MPI_Status *statuses)
{
  *done = 1;
  for (int r = 0; r < n; r++) *done &= has_come(requests[r]);
  for (int r = 0; r < n && *done; r++)
    finish(&requests[r], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[r]);
  return MPI_SUCCESS;
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
  for (int r = 0; r < n; r++) {
    struct flight *flight = flight_find(requests[r]);
    if (flight) PMPI_Wait(&flight->stamp, MPI_STATUS_IGNORE);
    if (flight && flight->at > clock_now()) clock_spend((double)(flight->at - clock_now()));
    finish(&requests[r], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[r]);
  }
  return MPI_SUCCESS;
}

int MPI_Testsome(int n, MPI_Request *requests, int *done, int *indices, MPI_Status *statuses)
{
  int active = 0;
  *done = 0;
  for (int r = 0; r < n; r++) {
    active += requests[r] != MPI_REQUEST_NULL;
    if (requests[r] == MPI_REQUEST_NULL || !has_come(requests[r])) continue;
    finish(&requests[r], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*done]);
    indices[(*done)++] = r;
  }
  if (!active) *done = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
