/* SPDX-License-Identifier: MIT */
#include "comm/ranks/mpi_check.h"

#include <mpi.h>

#include "base/log.h"

status_t mpi_check(int error, const char *what)
{
  if (error == MPI_SUCCESS) return STATUS_OK;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, text, &length);
  return log_fail(STATUS_FAULT, "%s: %s", what, text);
}
