/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "comm/guard.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/meta.h"
#include "comm/agree.h"

#define HEAD_START 3.0 /* seconds in which a launcher ends the others */

static double deadline;
static char message[400];

/* Nothing but what a signal handler may do. */
static void give_up(int number)
{
  (void)number;
  ssize_t written = write(STDERR_FILENO, message, strlen(message));
  (void)written;
  _exit(STATUS_HANG);
}

void guard_open(double seconds)
{
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = give_up;
  sigaction(SIGALRM, &action, NULL);
  deadline = seconds;
}

void guard_seconds(double seconds)
{
  if (deadline > 0) deadline = seconds;
}

static void timer_set(double seconds)
{
  struct itimerval timer = {
      .it_value = {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* The lowest ranks speak one after the other; the many behind them only where those are all missing. */
static double patience(int rank)
{
  return deadline + (rank > 0 ? HEAD_START * (1 + log2(rank)) : 0);
}

void guard_begin(const char *what)
{
  char host[64] = "";
  int rank = 0;
  if (deadline <= 0) return;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  meta_host(host, sizeof host);
  snprintf(message, sizeof message, "%s: rank %d on host %s waits for all ranks (%s), for over %g s\n",
           log_program(), rank, host, what, deadline);
  timer_set(patience(rank));
}

status_t guard_end(int error, const char *what)
{
  if (deadline > 0) timer_set(0);
  return agree_mpi(error, what);
}
