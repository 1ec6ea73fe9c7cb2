/* SPDX-License-Identifier: MIT */
/* Replaces an MPI function: ranks share memory only if SLURMD_NODENAME is the same, as on simulated
 * hosts. */
#include <mpi.h>
#include <stdlib.h>

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
  unsigned host = 0;
  (void)type, (void)info;
  for (const char *c = getenv("SLURMD_NODENAME"); c && *c; c++) host = host * 31 + (unsigned char)*c;
  return PMPI_Comm_split(comm, (int)(host & 0x7fffffff), key, made);
}
