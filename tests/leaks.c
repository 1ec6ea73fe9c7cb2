/* SPDX-License-Identifier: MIT */
/* Part of programs built with --enable-sanitizers. MPI libraries lose memory when they start, and
 * do not free all of it when they end. So allocations in MPI_Init are ignored, and leaks are
 * searched just before MPI_Finalize, when memory in use is still reachable. A leak ends the process
 * with exit code 23. */
#include <mpi.h>
#include <sanitizer/lsan_interface.h>

const char *__lsan_default_options(void);

const char *__lsan_default_options(void)
{
  return "leak_check_at_exit=0";
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
  __lsan_disable();
  int error = PMPI_Init_thread(argc, argv, required, provided);
  __lsan_enable();
  return error;
}

int MPI_Init(int *argc, char ***argv)
{
  __lsan_disable();
  int error = PMPI_Init(argc, argv);
  __lsan_enable();
  return error;
}

int MPI_Finalize(void)
{
  __lsan_do_leak_check();
  return PMPI_Finalize();
}
