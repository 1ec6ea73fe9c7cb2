/* SPDX-License-Identifier: MIT */
#include "comm/ranks/guard.h"

#include <stdio.h>

#include "comm/ranks/alarm.h"
#include "comm/ranks/mpi_check.h"

static struct alarm_slot *own(void)
{
  return alarm_monitor()->own;
}

status_t guard_begin(MPI_Comm comm, const char *what)
{
  RETURN_IF_FAILED(watch_barrier(comm, what));
  snprintf(own()->call, sizeof own()->call, "%s", what);
  own()->moved = alarm_clock();
  own()->blocked = 1;
  return STATUS_OK;
}

status_t guard_end(int error, const char *what)
{
  own()->blocked = 0;
  own()->moved = alarm_clock();
  return mpi_check(error, what);
}
