/* SPDX-License-Identifier: MIT */
/* When a wait passes its deadline, the rank sends what it waits for to the ranks that may speak, and so does every rank that
 * hears of it while it waits or computes. After a grace time the lowest rank that was heard of composes the message. A rank
 * that is stopped, dead or cut off is not heard of, and that is what the message says. */
#include "config.h"

#include "comm/watch.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/meta.h"
#include "base/stats.h"
#include "base/stop.h"
#include "comm/agree.h"
#include "comm/guard.h"

#define HOST_MAX      64
#define WHAT_MAX      48
#define MESSAGE_MAX   900
#define SPEAKERS_MAX  64   /* ranks that may speak, at most */
#define OTHERS_NAMED  8    /* further waits in the message */
#define SERVE_SECONDS 1e-4 /* between two looks for other ranks' reports */
#define GRACE_SECONDS 1.0  /* for reports to arrive */
#define ABORT_SECONDS 5.0  /* for the speaker to end the job */
#define REPORT_TAG    1

/* What a rank tells the others. */
struct report {
  int rank;
  int computing; /* waits for its own device only */
  long sweep;
  char what[WHAT_MAX];
  struct watch_targets targets;
};

struct watch {
  MPI_Comm comm; /* for reports alone */
  double seconds;
  int rank, ranks;
  long sweep;
  char (*hosts)[HOST_MAX];
  int *names; /* numbers of the ranks in the whole job: what messages call them */
  struct report mine;
  struct report *reports; /* of those heard of, by rank; NULL before an alarm */
  char *heard;
};

static int keyval = MPI_KEYVAL_INVALID;

static struct watch *watch_of(MPI_Comm comm)
{
  struct watch *watch = NULL;
  int found = 0;
  if (keyval == MPI_KEYVAL_INVALID) return NULL;
  if (MPI_Comm_get_attr(comm, keyval, &watch, &found) != MPI_SUCCESS || !found) return NULL;
  return watch;
}

/* ---- open and close ---- */

static void watch_free(struct watch *watch)
{
  if (watch->comm != MPI_COMM_NULL) MPI_Comm_free(&watch->comm);
  free(watch->hosts);
  free(watch->names);
  free(watch->reports);
  free(watch->heard);
  free(watch);
}

static int attribute_delete(MPI_Comm comm, int key, void *value, void *extra)
{
  (void)comm, (void)key, (void)extra;
  watch_free(value);
  return MPI_SUCCESS;
}

static status_t hosts_gather(struct watch *watch, MPI_Comm comm)
{
  char mine[HOST_MAX] = "";
  meta_host(mine, sizeof mine);
  return watch_allgather(comm, mine, watch->hosts, HOST_MAX, "names of hosts");
}

static void names_fill(struct watch *watch, MPI_Comm comm)
{
  MPI_Group own, all;
  MPI_Comm_group(comm, &own);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int r = 0; r < watch->ranks; r++) MPI_Group_translate_ranks(own, 1, &r, all, &watch->names[r]);
  MPI_Group_free(&own);
  MPI_Group_free(&all);
}

status_t watch_open(MPI_Comm comm, double seconds)
{
  status_t status;
  struct watch *watch = calloc(1, sizeof *watch);
  if (!watch) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the watchdog");
  watch->comm = MPI_COMM_NULL;
  watch->seconds = seconds;
  MPI_Comm_rank(comm, &watch->rank);
  MPI_Comm_size(comm, &watch->ranks);
  watch->hosts = calloc((size_t)watch->ranks, HOST_MAX);
  watch->reports = calloc((size_t)watch->ranks, sizeof *watch->reports);
  watch->heard = calloc((size_t)watch->ranks, 1);
  watch->names = calloc((size_t)watch->ranks, sizeof *watch->names);
  if (!watch->hosts || !watch->names || !watch->reports || !watch->heard) {
    status = log_fail(STATUS_ENVIRONMENT, "out of host memory for the watchdog");
    goto fail;
  }
  if (keyval == MPI_KEYVAL_INVALID)
    TRY(agree_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_delete, &keyval, NULL),
                  "MPI_Comm_create_keyval"),
        fail);
  names_fill(watch, comm);
  guard_seconds(seconds);
  TRY(guard_mpi(MPI_Comm_dup(comm, &watch->comm), "MPI_Comm_dup"), fail);
  TRY(hosts_gather(watch, comm), fail);
  TRY(agree_mpi(MPI_Comm_set_attr(comm, keyval, watch), "MPI_Comm_set_attr"), fail);
  return STATUS_OK;
fail:
  watch_free(watch);
  return status;
}

void watch_close(MPI_Comm comm)
{
  if (watch_of(comm)) MPI_Comm_delete_attr(comm, keyval);
}

double watch_seconds(MPI_Comm comm)
{
  struct watch *watch = watch_of(comm);
  return watch ? watch->seconds : WATCH_SECONDS;
}

const char *watch_host(MPI_Comm comm, int rank)
{
  struct watch *watch = watch_of(comm);
  return watch ? watch->hosts[rank] : "";
}

void watch_sweep(MPI_Comm comm, long sweep)
{
  struct watch *watch = watch_of(comm);
  if (watch) watch->sweep = sweep;
}

/* ---- reports ---- */

static void report_fill(const struct watch_wait *wait, int rank, long sweep, struct report *report)
{
  memset(report, 0, sizeof *report);
  report->rank = rank;
  report->sweep = sweep;
  snprintf(report->what, sizeof report->what, "%s", wait->what ? wait->what : "");
  if (wait->describe) wait->describe(wait->of, &report->targets);
  if (report->targets.sweep > 0) report->sweep = report->targets.sweep;
  report->computing = wait->what == NULL && report->targets.n == 0;
}

static void report_keep(struct watch *watch, const struct report *report)
{
  watch->reports[report->rank] = *report;
  watch->heard[report->rank] = 1;
}

/* Evenly spaced, so that a host that is cut off does not take all of them. */
static int may_speak(const struct watch *watch, int rank)
{
  int stride = (watch->ranks + SPEAKERS_MAX - 1) / SPEAKERS_MAX;
  return rank % stride == 0;
}

/* Tells those that may speak. Nobody waits for these messages: the job ends anyway. */
static void alarm_raise(struct watch *watch, const struct watch_wait *wait)
{
  report_fill(wait, watch->rank, watch->sweep, &watch->mine);
  report_keep(watch, &watch->mine);
  for (int r = 0; r < watch->ranks; r++) {
    MPI_Request request;
    if (r == watch->rank || !may_speak(watch, r)) continue;
    if (MPI_Isend(&watch->mine, (int)sizeof watch->mine, MPI_BYTE, r, REPORT_TAG, watch->comm, &request) ==
        MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

/* Takes in what has arrived; whether there was any. */
static int reports_take(struct watch *watch)
{
  int any = 0;
  for (;;) {
    struct report report;
    int here = 0;
    if (MPI_Iprobe(MPI_ANY_SOURCE, REPORT_TAG, watch->comm, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS || !here)
      return any;
    if (MPI_Recv(&report, (int)sizeof report, MPI_BYTE, MPI_ANY_SOURCE, REPORT_TAG, watch->comm,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return any;
    report_keep(watch, &report);
    any = 1;
  }
}

static void reports_await(struct watch *watch, double seconds)
{
  const struct timespec pause = {0, 1000000};
  double end = stats_now() + seconds;
  while (stats_now() < end) {
    reports_take(watch);
    nanosleep(&pause, NULL);
  }
}

/* ---- the message ---- */

struct text {
  char at[MESSAGE_MAX];
  size_t used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int n = vsnprintf(text->at + text->used, MESSAGE_MAX - text->used, format, arguments);
  va_end(arguments);
  text->used += (size_t)n < MESSAGE_MAX - text->used ? (size_t)n : MESSAGE_MAX - text->used - 1;
}

static int is_silent(const struct watch *watch, int rank)
{
  return !watch->heard[rank];
}

/* The target to name first: one that is silent, if there is any. */
static int target_choose(const struct watch *watch, const struct report *report)
{
  for (int t = 0; t < report->targets.n; t++)
    if (is_silent(watch, report->targets.at[t].rank)) return t;
  return 0;
}

/* How near a wait is to the cause: a silent neighbour, a neighbour, all ranks, its own device. */
static int nearness(const struct watch *watch, const struct report *report)
{
  if (report->computing) return 0;
  if (report->targets.n == 0) return 1;
  return is_silent(watch, report->targets.at[target_choose(watch, report)].rank) ? 3 : 2;
}

static void add_wait(struct text *text, const struct watch *watch, const struct report *report)
{
  add(text, "rank %d on host %s ", watch->names[report->rank], watch->hosts[report->rank]);
  add(text, report->computing ? "computes" : "waits");
  if (report->sweep > 0) add(text, " in sweep %ld", report->sweep);
  if (report->computing) return;
  if (report->targets.n == 0) {
    add(text, " for all ranks (%s)", report->what);
    return;
  }
  int first = target_choose(watch, report), rank = report->targets.at[first].rank;
  add(text, " for rank %d on host %s, face %s", watch->names[rank], watch->hosts[rank],
      report->targets.at[first].face);
  for (int t = 0; t < report->targets.n; t++)
    if (t != first)
      add(text, ", rank %d face %s", watch->names[report->targets.at[t].rank], report->targets.at[t].face);
}

static void add_silent(struct text *text, const struct watch *watch)
{
  int n = 0;
  for (int r = 0; r < watch->ranks; r++) {
    if (!is_silent(watch, r)) continue;
    if (n++ < OTHERS_NAMED)
      add(text, "%s rank %d on host %s", n > 1 ? "," : "; silent:", watch->names[r], watch->hosts[r]);
  }
  if (n > OTHERS_NAMED) add(text, " and %d more", n - OTHERS_NAMED);
}

static void add_others(struct text *text, const struct watch *watch, int first)
{
  int n = 0;
  for (int r = 0; r < watch->ranks; r++) {
    if (r == first || is_silent(watch, r)) continue;
    if (n++ >= OTHERS_NAMED) continue;
    add(text, n > 1 ? "; " : "; also ");
    add_wait(text, watch, &watch->reports[r]);
  }
  if (n > OTHERS_NAMED) add(text, "; and %d more", n - OTHERS_NAMED);
}

static status_t speak(const struct watch *watch)
{
  struct text text = {"", 0};
  int first = watch->rank;
  if (stop_asked()) return STATUS_HANG; /* the job is being ended already: who did that has said why */
  for (int r = 0; r < watch->ranks; r++)
    if (!is_silent(watch, r) && nearness(watch, &watch->reports[r]) > nearness(watch, &watch->reports[first]))
      first = r;
  add_wait(&text, watch, &watch->reports[first]);
  add(&text, ", for over %g s", watch->seconds);
  add_silent(&text, watch);
  add_others(&text, watch, first);
  log_print("", text.at);
  return STATUS_HANG;
}

static int lowest_heard(const struct watch *watch)
{
  for (int r = 0; r < watch->ranks; r++)
    if (watch->heard[r] && may_speak(watch, r)) return r;
  return watch->rank;
}

/* Does not come back before all ranks that can have reported. */
static status_t hang(struct watch *watch, const struct watch_wait *wait)
{
  alarm_raise(watch, wait);
  reports_await(watch, GRACE_SECONDS);
  if (lowest_heard(watch) == watch->rank) return speak(watch);
  reports_await(watch, ABORT_SECONDS);
  return STATUS_HANG;
}

/* Without a watch there is nobody to ask. */
static status_t hang_alone(const struct watch_wait *wait)
{
  int rank = 0;
  struct watch_targets targets = {.n = 0};
  MPI_Comm_rank(wait->comm, &rank);
  if (wait->describe) wait->describe(wait->of, &targets);
  if (targets.n == 0)
    return log_fail(STATUS_HANG, "rank %d waits for all ranks (%s), for over %g s", rank, wait->what,
                    WATCH_SECONDS);
  return log_fail(STATUS_HANG, "rank %d waits for rank %d, face %s, for over %g s", rank, targets.at[0].rank,
                  targets.at[0].face, WATCH_SECONDS);
}

/* ---- waits ---- */

void watch_begin(struct watch_wait *wait, MPI_Comm comm, const char *what, watch_describe *describe,
                 const void *of)
{
  *wait = (struct watch_wait){.comm = comm, .what = what, .describe = describe, .of = of};
  wait->begin = wait->served = stats_now();
}

status_t watch_expired(struct watch_wait *wait)
{
  struct watch *watch = watch_of(wait->comm);
  return watch ? hang(watch, wait) : hang_alone(wait);
}

status_t watch_serve(struct watch_wait *wait)
{
  double now = stats_now();
  if (now < wait->served + SERVE_SECONDS) return STATUS_OK;
  wait->served = now;
  struct watch *watch = watch_of(wait->comm);
  return watch && reports_take(watch) ? hang(watch, wait) : STATUS_OK;
}

status_t watch_look(struct watch_wait *wait)
{
  RETURN_IF_FAILED(watch_serve(wait));
  if (wait->served < wait->begin + watch_seconds(wait->comm)) return STATUS_OK;
  return watch_expired(wait);
}

status_t watch_request(MPI_Comm comm, MPI_Request *request, const char *what)
{
  struct watch_wait wait;
  int done = 0;
  watch_begin(&wait, comm, what, NULL, NULL);
  for (;;) {
    RETURN_IF_FAILED(agree_mpi(MPI_Test(request, &done, MPI_STATUS_IGNORE), what));
    if (done) return STATUS_OK;
    RETURN_IF_FAILED(watch_look(&wait));
    sched_yield();
  }
}

status_t watch_patiently(MPI_Comm comm)
{
  struct watch_wait wait;
  MPI_Request request;
  int done = 0;
  RETURN_IF_FAILED(agree_mpi(MPI_Ibarrier(comm, &request), "MPI_Ibarrier"));
  watch_begin(&wait, comm, NULL, NULL, NULL);
  for (;;) {
    RETURN_IF_FAILED(agree_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test"));
    if (done) return STATUS_OK;
    RETURN_IF_FAILED(watch_serve(&wait));
    sched_yield();
  }
}

status_t watch_barrier(MPI_Comm comm, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(agree_mpi(MPI_Ibarrier(comm, &request), what));
  return watch_request(comm, &request, what);
}

status_t watch_allreduce(MPI_Comm comm, const void *send, void *receive, int count, MPI_Datatype type,
                         MPI_Op op, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(agree_mpi(MPI_Iallreduce(send, receive, count, type, op, comm, &request), what));
  return watch_request(comm, &request, what);
}

status_t watch_gather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(agree_mpi(
      MPI_Igather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, 0, comm, &request), what));
  return watch_request(comm, &request, what);
}

status_t watch_allgather(MPI_Comm comm, const void *send, void *receive, size_t bytes, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(agree_mpi(
      MPI_Iallgather(send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, comm, &request), what));
  return watch_request(comm, &request, what);
}

status_t watch_bcast(MPI_Comm comm, void *buffer, int count, MPI_Datatype type, int root, const char *what)
{
  MPI_Request request;
  RETURN_IF_FAILED(agree_mpi(MPI_Ibcast(buffer, count, type, root, comm, &request), what));
  return watch_request(comm, &request, what);
}
