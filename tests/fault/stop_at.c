/* SPDX-License-Identifier: MIT */
/* Replaces MPI functions to stop a rank. A place is an MPI call with one call path of the program;
 * places are numbered in the order in which a rank reaches them first. With STOP_AT=RANK:PLACE the
 * rank stops there, and writes the host's clock, the place and the call to the file STOP_NOTE. With
 * STOP_AT=RANK:0 it writes the number of places so far at each new place. */
#include <execinfo.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLACES_MAX 4096
#define DEPTH      24

static uint64_t site_here(const char *call)
{
  void *frames[DEPTH];
  int n = backtrace(frames, DEPTH);
  uint64_t site = (uintptr_t)call;
  for (int f = 2; f < n; f++) site = site * 0x100000001b3u + (uintptr_t)frames[f];
  return site;
}

static void note(int place, const char *call)
{
  struct timespec now;
  const char *path = getenv("STOP_NOTE");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  fprintf(file, "%ld.%09ld %d %s\n", (long)now.tv_sec, now.tv_nsec, place, call);
  fclose(file);
}

static void come(const char *call)
{
  static uint64_t sites[PLACES_MAX];
  static int places;
  const char *text = getenv("STOP_AT");
  int rank, victim, where;
  uint64_t site = site_here(call);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!text || sscanf(text, "%d:%d", &victim, &where) != 2 || rank != victim) return;
  for (int p = 0; p < places; p++)
    if (sites[p] == site) return;
  if (places == PLACES_MAX) return;
  sites[places++] = site;
  if (where == 0 || places == where) note(places, call);
  if (places == where) raise(SIGSTOP);
}

#define STOP(name, parameters, arguments)                                                                    \
  int MPI_##name parameters                                                                                  \
  {                                                                                                          \
    come("MPI_" #name);                                                                                      \
    return PMPI_##name arguments;                                                                            \
  }

STOP(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request))
STOP(Iallreduce,
     (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request),
     (from, to, n, type, op, comm, request))
STOP(Ibcast, (void *at, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
     (at, n, type, root, comm, request))
STOP(Igather,
     (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype to_type, int root,
      MPI_Comm comm, MPI_Request *request),
     (from, n, type, to, m, to_type, root, comm, request))
STOP(Iallgather,
     (const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype to_type, MPI_Comm comm,
      MPI_Request *request),
     (from, n, type, to, m, to_type, comm, request))
STOP(Isend, (const void *at, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
     (at, n, type, to, tag, comm, request))
STOP(Irecv, (void *at, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
     (at, n, type, from, tag, comm, request))
STOP(Allreduce, (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (from, to, n, type, op, comm))
STOP(Allgatherv,
     (const void *from, int n, MPI_Datatype type, void *to, const int *counts, const int *offsets,
      MPI_Datatype to_type, MPI_Comm comm),
     (from, n, type, to, counts, offsets, to_type, comm))
STOP(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
STOP(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
STOP(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
     (comm, type, key, info, made))
STOP(Comm_free, (MPI_Comm * comm), (comm))
STOP(Finalize, (void), ())
