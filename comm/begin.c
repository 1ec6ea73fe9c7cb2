/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "comm/begin.h"

#include <mpi.h>
#include <signal.h>
#include <string.h>

#include "base/log.h"
#include "base/stop.h"

/* Seconds in which a start that works has ended after someone wished for the end. */
#define START_SECONDS 10

static void go_on(int number)
{
  (void)number;
}

status_t begin_mpi(int *argc, char ***argv)
{
  stop_within(START_SECONDS);
  int error = MPI_Init(argc, argv);
  stop_within(0);
  if (error != MPI_SUCCESS) return log_fail(STATUS_ENVIRONMENT, "MPI does not start");

  struct sigaction action; /* only now: MPI's daemons wait for ever for one that could not write */
  memset(&action, 0, sizeof action);
  action.sa_handler = go_on;
  action.sa_flags = SA_RESTART;
  sigaction(SIGXFSZ, &action, NULL);
  return STATUS_OK;
}
