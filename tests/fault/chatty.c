/* SPDX-License-Identifier: MIT */
/* A preloaded library that prints to standard output whenever a library could: in constructors, in
 * MPI_Init and MPI_Finalize, at exit and in destructors. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void print(const char *when)
{
  printf("chatty: %s\n", when);
  fflush(stdout);
  if (write(STDOUT_FILENO, "chatty: unbuffered\n", 19) < 0) abort();
  printf("chatty: still in the buffer\n");
}

static void at_exit(void)
{
  print("at exit");
}

__attribute__((constructor)) static void construct(void)
{
  print("in a constructor");
  atexit(at_exit);
}

__attribute__((destructor)) static void destruct(void)
{
  print("in a destructor");
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  print("in MPI_Init");
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Init(int *argc, char ***argv)
{
  print("in MPI_Init");
  return PMPI_Init(argc, argv);
}

int MPI_Finalize(void)
{
  print("in MPI_Finalize");
  return PMPI_Finalize();
}
