/* SPDX-License-Identifier: MIT */
/* Waiting, in place of comm/ranks/watch.c and agree.c: simulated ranks need no deadline, and one
 * that fails ends all. */
#include "comm/ranks/watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "comm/ranks/agree.h"
#include "tools/sim/device.h"

void watch_begin(struct watch_wait *wait, MPI_Comm comm, const char *what, watch_describe *describe,
                 const void *of)
{
  *wait = (struct watch_wait){.comm = comm, .what = what, .describe = describe, .of = of};
}

status_t watch_serve(struct watch_wait *wait)
{
  (void)wait;
  return STATUS_OK;
}

status_t watch_poll(struct watch_wait *wait)
{
  return watch_serve(wait);
}

status_t watch_expired(struct watch_wait *wait)
{
  return log_fail(STATUS_HANG, "a simulated device waits for %s", wait->what);
}

double watch_seconds(void)
{
  return 0;
}

const char *watch_rank_name(MPI_Comm comm, int rank, char text[WATCH_NAME_MAX])
{
  (void)comm;
  snprintf(text, WATCH_NAME_MAX, "rank %d", rank);
  return text;
}

void watch_sweep(long sweep)
{
  (void)sweep;
}

status_t watch_request(MPI_Comm comm, MPI_Request *request, const char *what)
{
  (void)comm, (void)what;
  int done, index;
  MPI_Status status;
  while (sim_testsome(1, request, &done, &index, &status), *request != MPI_REQUEST_NULL) sim_yield();
  return STATUS_OK;
}

status_t watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                         MPI_Op op, const char *what)
{
  MPI_Request request;
  if (sim_iallreduce(send, receive, count, type, op, comm, &request) != MPI_SUCCESS)
    return log_fail(STATUS_FAULT, "%s cannot be simulated", what);
  return watch_request(comm, &request, what);
}

status_t watch_barrier(MPI_Comm comm, const char *what)
{
  int none = 0, all;
  return watch_allreduce(comm, &none, &all, 1, MPI_INT, MPI_MAX, what);
}

void agree_abort(status_t status)
{
  _Exit((int)status);
}

status_t agree_status(MPI_Comm comm, status_t status)
{
  if (status != STATUS_OK) agree_abort(status);
  return status;
}
