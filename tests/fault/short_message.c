/* SPDX-License-Identifier: MIT */
/* Replaces MPI_Isend. SHORT_MESSAGE=N:FLOATS: rank 1's Nth message of more than one float is sent
 * with FLOATS fewer floats (0.5 are two bytes), or more if FLOATS is negative. CHANGED_BYTES=N: a
 * bit of each message of N bytes or N / 4 floats that rank 1 sends is changed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request)
{
  static long messages;
  static char copy[1 << 18];
  const char *text = getenv("SHORT_MESSAGE");
  const char *changed = getenv("CHANGED_BYTES");
  long when;
  int rank;
  double fewer;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1 && type == MPI_FLOAT && count > 1 && text && sscanf(text, "%ld:%lf", &when, &fewer) == 2 &&
      ++messages == when)
    return PMPI_Isend(buffer, (int)((count - fewer) * sizeof(float)), MPI_BYTE, peer, tag, comm, request);
  const size_t bytes = (size_t)count * (type == MPI_FLOAT ? sizeof(float) : 1);
  if (rank == 1 && changed && bytes == (size_t)atoi(changed) && bytes <= sizeof copy) {
    memcpy(copy, buffer, bytes);
    copy[0] ^= 1;
    buffer = copy;
  }
  return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}
