/* SPDX-License-Identifier: MIT */
/* Replaces MPI_Isend. SHORT_MESSAGE=N:FLOATS: rank 1's Nth message of more than one float is sent
 * with FLOATS fewer floats, or more if FLOATS is negative. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  static long messages;
  const char *text = getenv("SHORT_MESSAGE");
  long when;
  int rank, fewer;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && type == MPI_FLOAT && count > 1 && text && sscanf(text, "%ld:%d", &when, &fewer) == 2 &&
      ++messages == when)
    count -= fewer;
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}
