/* SPDX-License-Identifier: MIT */
#include "comm/ranks/watch.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/meta.h"
#include "comm/ranks/alarm.h"
#include "comm/ranks/mpi_check.h"

#define SERVE (ALARM_SECOND / 10000) /* minimum time between two checks for other ranks' reports */
/* age of this process's last heartbeat above which the process counts as suspended */
#define STALE (ALARM_SECOND / 2)

const char watch_agreement[] = "agreement";

/* Returns whether all ranks are on this host. Reads variables of the launcher, because the ranks
 * have not yet exchanged the names of their hosts. */
static int all_are_here(int ranks)
{
  static const char *const launcher_sizes[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  int here = 0;
  for (int t = 0; t < 2; t++) {
    const char *text = getenv(launcher_sizes[t]);
    here |= text && atoi(text) == ranks;
  }
  return here;
}

status_t watch_open(double seconds)
{
  struct alarm *const monitor = alarm_monitor();
  char mine[ALARM_HOST_MAX] = "";
  int ranks;
  monitor->seconds = seconds;
  MPI_Comm_rank(MPI_COMM_WORLD, &monitor->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (ranks < 2) return STATUS_OK;
  monitor->hosts = calloc((size_t)ranks, ALARM_HOST_MAX);
  if (!monitor->hosts) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the watchdog");
  RETURN_IF_FAILED(alarm_snapshot_open(&monitor->snapshot, ranks));
  meta_host(mine, sizeof mine);
  for (int r = 0; r < ranks; r++)
    if (r == monitor->rank || all_are_here(ranks)) memcpy(monitor->hosts[r], mine, sizeof mine);
  monitor->own->rank = monitor->rank;
  monitor->ranks = ranks;
  return STATUS_OK;
}

void watch_close(void)
{
  struct alarm *const monitor = alarm_monitor();
  alarm_snapshot_close(&monitor->snapshot);
  free(monitor->hosts);
  monitor->ranks = 0;
}

double watch_seconds(void)
{
  return alarm_monitor()->seconds;
}

void watch_sweep(long sweep)
{
  alarm_monitor()->sweep = sweep;
}

/* Returns \a clock less the time for which this process was suspended. */
static uint64_t watch_time(uint64_t clock)
{
  return clock - alarm_monitor()->paused;
}

void watch_begin(struct watch_wait *wait, MPI_Comm comm, const char *what, watch_describe *describe,
                 const void *of)
{
  uint64_t clock = alarm_clock();
  atomic_store_explicit(&alarm_monitor()->own->moved, clock, memory_order_relaxed);
  *wait = (struct watch_wait){.comm = comm, .what = what, .describe = describe, .of = of};
  wait->begin = wait->served = watch_time(clock);
}

status_t watch_expired(struct watch_wait *wait)
{
  return alarm_hang(wait);
}

status_t watch_serve(struct watch_wait *wait)
{
  struct alarm *const monitor = alarm_monitor();
  uint64_t clock = alarm_clock(), now = watch_time(clock);
  if (now < wait->served + SERVE) return STATUS_OK;
  wait->served = now;
  if (monitor->ranks < 2) return STATUS_OK;
  atomic_store_explicit(wait->what ? &monitor->own->polled : &monitor->own->device, clock,
                        memory_order_relaxed);
  if (monitor->hung || monitor->table->raised || alarm_reports_take()) return alarm_hang(wait);
  if (monitor->failed.failure > 0) alarm_failure_answer(wait);
  return STATUS_OK;
}

static int is_late(const struct watch_wait *wait, uint64_t now)
{
  return now > wait->begin && (double)(now - wait->begin) >= watch_seconds() * ALARM_SECOND;
}

/* Returns whether the deadline passed only because this process was suspended. The heartbeat thread
 * adds a suspension to `paused` before its next beat, so this function reads the beat first. An old
 * beat means that a suspension has not been added yet. */
static int is_paused(const struct watch_wait *wait)
{
  uint64_t beat = alarm_monitor()->own->beat, clock = alarm_clock();
  return (beat > 0 && clock > beat + STALE) || !is_late(wait, watch_time(clock));
}

status_t watch_poll(struct watch_wait *wait)
{
  RETURN_IF_FAILED(watch_serve(wait));
  if (!is_late(wait, wait->served) || is_paused(wait)) return STATUS_OK;
  return alarm_others_work(wait) ? STATUS_OK : watch_expired(wait);
}

static status_t request_await(struct watch_wait *wait, MPI_Request *request)
{
  int done = 0;
  for (;;) {
    RETURN_IF_FAILED(mpi_check(MPI_Test(request, &done, MPI_STATUS_IGNORE), wait->what));
    if (done) return STATUS_OK;
    RETURN_IF_FAILED(watch_poll(wait));
    sched_yield();
  }
}

status_t watch_request(MPI_Comm comm, MPI_Request *request, const char *what)
{
  struct watch_wait wait;
  watch_begin(&wait, comm, what, NULL, NULL);
  return request_await(&wait, request);
}

static void describe_one(const void *of, struct watch_targets *targets)
{
  targets->at[targets->n++].rank = *(const int *)of;
}

status_t watch_peer(MPI_Comm comm, MPI_Request *request, int peer, const char *what)
{
  struct watch_wait wait;
  watch_begin(&wait, comm, what, describe_one, &peer);
  return request_await(&wait, request);
}

status_t watch_patiently(MPI_Comm comm, const char *what)
{
  struct watch_wait wait;
  MPI_Request request;
  int done = 0;
  RETURN_IF_FAILED(mpi_check(MPI_Ibarrier(comm, &request), what));
  watch_begin(&wait, comm, what, NULL, NULL);
  for (;;) {
    RETURN_IF_FAILED(mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), what));
    if (done) return STATUS_OK;
    RETURN_IF_FAILED(watch_serve(&wait));
    sched_yield();
  }
}

status_t watch_barrier(MPI_Comm comm, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(mpi_check(MPI_Ibarrier(comm, &request), what));
  return watch_request(comm, &request, what);
}

status_t watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                         MPI_Op op, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(mpi_check(MPI_Iallreduce(send, receive, count, type, op, comm, &request), what));
  return watch_request(comm, &request, what);
}

status_t watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(mpi_check(
      MPI_Igather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, 0, comm, &request), what));
  return watch_request(comm, &request, what);
}

status_t watch_allgather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(mpi_check(
      MPI_Iallgather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, comm, &request), what));
  return watch_request(comm, &request, what);
}

status_t watch_bcast(MPI_Comm comm, void *buffer, int count, MPI_Datatype type, int root, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(mpi_check(MPI_Ibcast(buffer, count, type, root, comm, &request), what));
  return watch_request(comm, &request, what);
}
