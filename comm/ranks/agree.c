/* SPDX-License-Identifier: MIT */
#include "comm/ranks/agree.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "comm/ranks/alarm.h"
#include "comm/ranks/mpi_check.h"
#include "comm/ranks/watch.h"

#define TEXT_MAX    2048
#define WHO_MAX     256
#define RANKS_NAMED 8
#define AGREE_TAG   32001 /* MPI tag of agreements, larger than the tags of halos */
#define TEXT_TAG    32002
#define PATIENCE    0.5 /* seconds after which a failed rank notifies the others */

struct verdict {
  int status, local; /* local: 1 if the message must name the rank */
  char who[WHO_MAX];
  char text[TEXT_MAX];
};

static void verdict_fill(struct verdict *verdict, status_t status)
{
  memset(verdict, 0, sizeof *verdict);
  verdict->status = (int)status;
  verdict->local = log_held_local() || status == STATUS_FAULT;
  snprintf(verdict->who, sizeof verdict->who, "%s", log_identity());
  snprintf(verdict->text, sizeof verdict->text, "%s", log_held());
}

/* Prints the error text of rank r, unless a lower rank has the same text. Names all ranks with this
 * text, unless every rank has it and `local` is 0. */
static void print_once(const struct verdict *all, int n, int r)
{
  int equal = 0, named = 0;
  char who[RANKS_NAMED * WHO_MAX] = "";
  for (int s = 0; s < n; s++) {
    if (strcmp(all[s].text, all[r].text) != 0) continue;
    if (s < r) return;
    size_t used = strlen(who);
    if (named++ < RANKS_NAMED) snprintf(who + used, sizeof who - used, "%s%s", used ? "; " : "", all[s].who);
    equal++;
  }
  size_t used = strlen(who);
  if (equal > RANKS_NAMED) snprintf(who + used, sizeof who - used, "; and %d more", equal - RANKS_NAMED);
  if (all[r].text[0]) log_print(equal == n && !all[r].local ? "" : who, all[r].text);
}

/* Sends and receives one message of an agreement. If this rank failed, other ranks may wait for it
 * in another call and never come here. This rank then notifies them, and ends the job when one of
 * them confirms that it waits elsewhere. */
static status_t agree_exchange(MPI_Comm comm, status_t status, int to, int from, const int *mine, int *theirs)
{
  MPI_Request requests[2];
  struct watch_wait wait;
  int done, notified = status == STATUS_OK;
  const uint64_t begin = alarm_clock();
  const double patience = ALARM_SECOND * fmin(PATIENCE, watch_seconds() / 8);
  RETURN_IF_FAILED(
      mpi_check(MPI_Irecv(theirs, 1, MPI_INT, from, AGREE_TAG, comm, &requests[0]), watch_agreement));
  RETURN_IF_FAILED(
      mpi_check(MPI_Isend(mine, 1, MPI_INT, to, AGREE_TAG, comm, &requests[1]), watch_agreement));
  watch_begin(&wait, comm, watch_agreement, NULL, NULL);
  for (;;) {
    RETURN_IF_FAILED(mpi_check(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE), watch_agreement));
    if (done) return STATUS_OK;
    if (!notified && (double)(alarm_clock() - begin) > patience) {
      alarm_failure_notify(comm);
      notified = 1;
    }
    RETURN_IF_FAILED(watch_poll(&wait));
    if (status != STATUS_OK && alarm_is_stuck()) return status;
    sched_yield();
  }
}

static status_t texts_print(MPI_Comm comm, status_t status)
{
  int rank, n;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  struct verdict mine, *all = rank == 0 ? calloc((size_t)n, sizeof *all) : &mine;
  if (!all) return log_fail(STATUS_ENVIRONMENT, "out of host memory for verdicts");
  verdict_fill(&mine, status);
  if (rank == 0) all[0] = mine;
  status_t printed = STATUS_OK;
  for (int r = 1; printed == STATUS_OK && r < n; r++) {
    MPI_Request request;
    const int peer = rank == 0 ? r : 0;
    if (rank != 0 && rank != r) continue;
    printed = mpi_check(peer ? MPI_Irecv(&all[r], sizeof mine, MPI_BYTE, peer, TEXT_TAG, comm, &request)
                             : MPI_Isend(&mine, sizeof mine, MPI_BYTE, peer, TEXT_TAG, comm, &request),
                        "what went wrong");
    if (printed == STATUS_OK) printed = watch_peer(comm, &request, peer, "what went wrong");
  }
  for (int r = 0; rank == 0 && printed == STATUS_OK && r < n; r++) print_once(all, n, r);
  if (rank == 0) free(all);
  return printed;
}

/* Dissemination algorithm: in the round with distance d, each rank receives the worst status that
 * the rank with a number lower by d (modulo n) knows. Source: Hensgen, Finkel and Manber, "Two
 * algorithms for barrier synchronization", 1988. Ranks send messages instead of calling an MPI
 * collective, because messages cannot match a collective in which another rank is. */
status_t agree_status(MPI_Comm comm, status_t status)
{
  int rank, n, worst = (int)status;
  alarm_monitor()->failure++;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &n);
  for (int d = 1; d < n && worst != STATUS_HANG; d *= 2) {
    int theirs = STATUS_OK, mine = worst;
    status_t met = agree_exchange(comm, status, (rank + d) % n, (rank + n - d) % n, &mine, &theirs);
    if (met != STATUS_OK) agree_abort(status != STATUS_OK ? status : met);
    worst = (int)status_worst((status_t)worst, (status_t)theirs);
  }
  if (worst == STATUS_HANG) agree_abort(STATUS_HANG);
  if (worst == STATUS_OK) return STATUS_OK;
  status_t printed = texts_print(comm, status);
  if (printed != STATUS_OK) agree_abort(status != STATUS_OK ? status : printed);
  log_drop();
  return (status_t)worst;
}

void agree_abort(status_t status)
{
  log_hold(0);
  fflush(NULL);
  MPI_Abort(MPI_COMM_WORLD, (int)status);
  abort();
}
