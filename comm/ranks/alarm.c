/* SPDX-License-Identifier: MIT */
/* When a wait passes its deadline, the rank reports what it waits for. The report goes to the ranks
 * of its host in the shared table, and by messages to the ranks that may print. Every rank that
 * learns of the report during a wait reports, too. After a grace time the lowest rank that has
 * reported prints the message. Ranks that are stopped, dead or disconnected have not reported, so
 * the message names them as silent. */
#include "comm/ranks/alarm.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/meta.h"
#include "base/stop.h"

#define MESSAGE_MAX   900
#define REPORTERS_MAX 64  /* maximum number of ranks that receive reports as messages */
#define OTHERS_NAMED  8   /* maximum number of other ranks whose waits are printed */
#define GRACE_HERE    0.3 /* seconds for reports to arrive in the table */
#define GRACE         1.0 /* seconds for reports to arrive as messages */
#define GRACE_QUIET   0.6 /* further seconds before a rank that receives no messages prints */
#define ABORT         5.0 /* seconds for the printing rank to end the job */
/* maximum age of the last heartbeat of a rank that counts as alive */
#define ALIVE ALARM_SECOND
#define LATE  (ALARM_SECOND * 3 / 5) /* age above which a heartbeat is overdue */
/* maximum age of the last poll of a rank that counts as waiting */
#define WAITING  (ALARM_SECOND / 2)
#define STUCK    2.0 /* seconds in a wait outside agree_status before a rank sends ALARM_STUCK */
#define LAUNCHER 1.2 /* seconds from a launcher's SIGTERM to its SIGKILL */
#define WORK     10  /* maximum time between two waits of a busy rank, in deadlines */
/* MPI tag of reports, in MPI_COMM_WORLD */
#define REPORT_TAG 32000

static union {
  struct alarm_table table;
  char bytes[sizeof(struct alarm_table) + sizeof(struct alarm_slot)];
} alone = {.table = {.n = 1}};

static struct alarm monitor = {.seconds = WATCH_SECONDS, .table = &alone.table, .own = alone.table.slot};

struct alarm *alarm_monitor(void)
{
  return &monitor;
}

uint64_t alarm_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * ALARM_SECOND + (uint64_t)now.tv_nsec;
}

status_t alarm_snapshot_open(struct alarm_snapshot *snapshot, int ranks)
{
  snapshot->reports = calloc((size_t)ranks, sizeof *snapshot->reports);
  snapshot->heard = calloc((size_t)ranks, 1);
  if (snapshot->reports && snapshot->heard) return STATUS_OK;
  return log_fail(STATUS_ENVIRONMENT, "out of host memory for the watchdog");
}

void alarm_snapshot_close(struct alarm_snapshot *snapshot)
{
  free(snapshot->reports);
  free(snapshot->heard);
}

static int is_alive(const struct alarm_slot *slot, uint64_t now)
{
  uint64_t beat = slot->beat;
  return beat > 0 && (now < beat || now - beat < ALIVE);
}

int alarm_starves(const struct alarm_slot *slot, uint64_t now)
{
  char path[64], state = 0;
  if (slot->thread == 0 || now < slot->beat || now - slot->beat < LATE) return 0;
  snprintf(path, sizeof path, "/proc/%d/stat", slot->thread);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  const int known = fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  fclose(file);
  return known && state == 'R';
}

/* Returns whether the rank has only waited for its own device for at least half a deadline. */
static int is_at_device(const struct alarm_slot *slot, uint64_t now)
{
  return now - slot->device < WAITING &&
         (double)(int64_t)(now - slot->moved) >= monitor.seconds / 2 * ALARM_SECOND;
}

/* Copies a slot to the snapshot. A rank that is alive but has no report computes or is blocked. */
static void slot_read(const struct alarm_slot *slot, uint64_t now, struct alarm_snapshot *snapshot)
{
  char *heard = &snapshot->heard[slot->rank];
  struct alarm_report *report = &snapshot->reports[slot->rank];
  if (slot->state == ALARM_AWAY || *heard == ALARM_REPORTED) return;
  if (slot->filled) {
    *heard = ALARM_REPORTED;
    *report = slot->report;
    return;
  }
  *heard = slot->state == ALARM_LEFT                         ? ALARM_UNKNOWN
           : is_alive(slot, now) || alarm_starves(slot, now) ? ALARM_ALIVE
                                                             : ALARM_SILENT;
  *report = (struct alarm_report){
      .rank = slot->rank, .computing = !slot->blocked, .device = is_at_device(slot, now)};
  if (slot->blocked) snprintf(report->what, sizeof report->what, "%s", slot->call);
}

static void table_read(struct alarm_snapshot *snapshot)
{
  uint64_t now = alarm_clock();
  for (int s = 0; monitor.ranks > 1 && s < monitor.table->n; s++)
    slot_read(&monitor.table->slot[s], now, snapshot);
}

/* Translates the targets' ranks in comm to ranks in MPI_COMM_WORLD. */
static void targets_name(MPI_Comm comm, struct watch_targets *targets)
{
  MPI_Group own, all;
  MPI_Comm_group(comm, &own);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int t = 0; t < targets->n; t++) {
    int rank = targets->at[t].rank;
    MPI_Group_translate_ranks(own, 1, &rank, all, &targets->at[t].rank);
  }
  MPI_Group_free(&own);
  MPI_Group_free(&all);
}

const char *watch_rank_name(MPI_Comm comm, int rank, char text[WATCH_NAME_MAX])
{
  struct watch_targets one = {.n = 1, .at[0].rank = rank};
  targets_name(comm, &one);
  rank = one.at[0].rank;
  const char *host = monitor.hosts && rank >= 0 ? monitor.hosts[rank] : "";
  snprintf(text, WATCH_NAME_MAX, "rank %d%s%s", rank, host[0] ? " on host " : "", host);
  return text;
}

static int is_target(const struct watch_targets *targets, int rank)
{
  for (int t = 0; t < targets->n; t++)
    if (targets->at[t].rank == rank) return 1;
  return 0;
}

int alarm_others_work(const struct watch_wait *wait)
{
  uint64_t now = alarm_clock();
  struct watch_targets targets = {.n = 0};
  if (wait->describe) wait->describe(wait->of, &targets);
  targets_name(wait->comm, &targets);
  for (int s = 0; s < monitor.table->n; s++) {
    const struct alarm_slot *slot = &monitor.table->slot[s];
    if (slot == monitor.own || slot->state != ALARM_HERE) continue;
    int waits = slot->blocked || now - slot->polled < WAITING;
    if (wait->describe && !is_target(&targets, slot->rank)) continue;
    if (alarm_starves(slot, now)) return 1;
    const double deadlines = waits || wait->describe ? 1 : WORK;
    if ((double)(int64_t)(now - slot->moved) < monitor.seconds * deadlines * ALARM_SECOND) return 1;
  }
  return 0;
}

static void report_fill(const struct watch_wait *wait, struct alarm_report *report)
{
  memset(report, 0, sizeof *report);
  report->rank = monitor.rank;
  report->sweep = monitor.sweep;
  meta_host(report->host, sizeof report->host);
  snprintf(report->what, sizeof report->what, "%s", wait->what ? wait->what : "");
  if (wait->describe) wait->describe(wait->of, &report->targets);
  targets_name(wait->comm, &report->targets);
  if (report->targets.sweep > 0) report->sweep = report->targets.sweep;
  report->computing = wait->what == NULL && report->targets.n == 0;
  report->device = report->computing && is_at_device(monitor.own, alarm_clock());
}

static void report_keep(const struct alarm_report *report)
{
  monitor.snapshot.reports[report->rank] = *report;
  monitor.snapshot.heard[report->rank] = ALARM_REPORTED;
  if (monitor.hosts[report->rank][0] == '\0')
    memcpy(monitor.hosts[report->rank], report->host, ALARM_HOST_MAX);
}

/* Returns whether the rank may print. Such ranks are evenly spaced, so that not all of them are on
 * one disconnected host. */
static int may_report(int rank)
{
  int stride = (monitor.ranks + REPORTERS_MAX - 1) / REPORTERS_MAX;
  return rank % stride == 0;
}

/* Sends this rank's report without waiting for completion, because the job ends anyway. */
static void raise_all(const struct watch_wait *wait)
{
  struct alarm_report *mine = &monitor.own->report;
  report_fill(wait, mine);
  report_keep(mine);
  monitor.own->filled = 1;
  monitor.table->raised = 1;
  for (int r = 0; r < monitor.ranks; r++) {
    MPI_Request request;
    if (r == monitor.rank || !may_report(r)) continue;
    if (MPI_Isend(mine, (int)sizeof *mine, MPI_BYTE, r, REPORT_TAG, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
      MPI_Request_free(&request);
  }
}

int alarm_reports_take(void)
{
  int any = 0;
  for (;;) {
    struct alarm_report report;
    int here = 0;
    if (MPI_Iprobe(MPI_ANY_SOURCE, REPORT_TAG, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        !here)
      return any;
    if (MPI_Recv(&report, (int)sizeof report, MPI_BYTE, MPI_ANY_SOURCE, REPORT_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return any;
    if (report.kind == ALARM_FAILED) {
      monitor.failed = report;
      monitor.failed_at = alarm_clock();
    } else if (report.kind == ALARM_STUCK) {
      monitor.stuck = report.failure;
    } else {
      report_keep(&report);
      any = 1;
    }
  }
}

static void note_send(const struct alarm_report *note, int rank)
{
  MPI_Request request;
  if (MPI_Isend(note, (int)sizeof *note, MPI_BYTE, rank, REPORT_TAG, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
    MPI_Request_free(&request);
}

void alarm_failure_notify(MPI_Comm comm)
{
  static struct alarm_report note;
  int n;
  MPI_Comm_size(comm, &n);
  note = (struct alarm_report){.kind = ALARM_FAILED, .failure = monitor.failure, .rank = monitor.rank};
  for (int r = 0; r < n; r++) {
    struct watch_targets one = {.n = 1, .at[0].rank = r};
    targets_name(comm, &one);
    if (one.at[0].rank != monitor.rank) note_send(&note, one.at[0].rank);
  }
}

int alarm_is_stuck(void)
{
  return monitor.stuck == monitor.failure;
}

void alarm_failure_answer(const struct watch_wait *wait)
{
  static struct alarm_report note;
  const double seconds = fmin(STUCK, monitor.seconds / 4);
  const uint64_t begin = wait->begin + monitor.paused,
                 since = begin > monitor.failed_at ? begin : monitor.failed_at;
  if (!wait->what || wait->what == watch_agreement) return;
  if ((double)alarm_clock() < (double)since + seconds * ALARM_SECOND) return;
  note = (struct alarm_report){.kind = ALARM_STUCK, .failure = monitor.failed.failure, .rank = monitor.rank};
  note_send(&note, monitor.failed.rank);
  monitor.failed.failure = 0;
}

static void reports_await(double seconds)
{
  const struct timespec pause = {0, 1000000};
  uint64_t end = alarm_clock() + (uint64_t)(seconds * ALARM_SECOND);
  while (alarm_clock() < end) {
    alarm_reports_take();
    nanosleep(&pause, NULL);
  }
}

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

static void add_rank(struct text *text, int rank)
{
  add(text, "rank %d", rank);
  if (monitor.hosts[rank][0]) add(text, " on host %s", monitor.hosts[rank]);
}

static int alarm_is_silent(const struct alarm_snapshot *snapshot, int rank)
{
  return snapshot->heard[rank] == ALARM_SILENT;
}

static int is_heard(const struct alarm_snapshot *snapshot, int rank)
{
  return snapshot->heard[rank] == ALARM_ALIVE || snapshot->heard[rank] == ALARM_REPORTED;
}

/* Returns the index of the target to name first: the first silent one, otherwise 0. */
static int target_choose(const struct alarm_snapshot *snapshot, const struct alarm_report *report)
{
  for (int t = 0; t < report->targets.n; t++)
    if (alarm_is_silent(snapshot, report->targets.at[t].rank)) return t;
  return 0;
}

/* Returns how close a rank is to the cause: 3 if it waits for a silent rank, 2 if it waits for
 * certain ranks, none of them silent, 1 if it waits for all ranks, 0 otherwise. */
static int nearness(const struct alarm_snapshot *snapshot, const struct alarm_report *report)
{
  if (report->computing) return 0;
  if (report->targets.n == 0) return 1;
  return alarm_is_silent(snapshot, report->targets.at[target_choose(snapshot, report)].rank) ? 3 : 2;
}

static void add_wait(struct text *text, const struct alarm_snapshot *snapshot,
                     const struct alarm_report *report)
{
  add_rank(text, report->rank);
  add(text, !report->computing ? " waits" : report->device ? " waits for its own device" : " computes");
  if (report->sweep > 0) add(text, " in sweep %ld", report->sweep);
  if (report->computing) return;
  if (report->targets.n == 0) {
    add(text, " for all ranks (%s)", report->what);
    return;
  }
  int first = target_choose(snapshot, report);
  add(text, " for ");
  add_rank(text, report->targets.at[first].rank);
  if (report->targets.at[first].face[0]) add(text, ", halo of face %s", report->targets.at[first].face);
  for (int t = 0; t < report->targets.n; t++)
    if (t != first) {
      add(text, ", rank %d", report->targets.at[t].rank);
      if (report->targets.at[t].face[0]) add(text, " face %s", report->targets.at[t].face);
    }
}

/* If \a report comes from a computing rank, adds the first silent rank to \a text, because the job
 * waits for it. */
static void add_answer(struct text *text, const struct alarm_snapshot *snapshot,
                       const struct alarm_report *report)
{
  for (int r = 0; report->computing && r < monitor.ranks; r++) {
    if (!alarm_is_silent(snapshot, r)) continue;
    add(text, ", and waits for ");
    add_rank(text, r);
    add(text, " to answer");
    return;
  }
}

static void add_silent(struct text *text, const struct alarm_snapshot *snapshot)
{
  int n = 0;
  for (int r = 0; r < monitor.ranks; r++) {
    if (!alarm_is_silent(snapshot, r) || n++ >= OTHERS_NAMED) continue;
    add(text, n > 1 ? ", " : "; silent: ");
    add_rank(text, r);
  }
  if (n > OTHERS_NAMED) add(text, " and %d more", n - OTHERS_NAMED);
}

static void add_others(struct text *text, const struct alarm_snapshot *snapshot, int first)
{
  int n = 0;
  for (int r = 0; r < monitor.ranks; r++) {
    if (r == first || !is_heard(snapshot, r) || n++ >= OTHERS_NAMED) continue;
    add(text, n > 1 ? "; " : "; also ");
    add_wait(text, snapshot, &snapshot->reports[r]);
  }
  if (n > OTHERS_NAMED) add(text, "; and %d more", n - OTHERS_NAMED);
}

/* Prints the message about waits and silent ranks, unless a rank of this host has printed it. */
static void report_print(const struct alarm_snapshot *snapshot)
{
  struct text text = {"", 0};
  int first = monitor.rank;
  if (atomic_exchange(&monitor.table->reported, 1)) return;
  for (int r = 0; r < monitor.ranks; r++)
    if (is_heard(snapshot, r) &&
        nearness(snapshot, &snapshot->reports[r]) > nearness(snapshot, &snapshot->reports[first]))
      first = r;
  add_wait(&text, snapshot, &snapshot->reports[first]);
  add_answer(&text, snapshot, &snapshot->reports[first]);
  add(&text, ", for over %g s", monitor.seconds);
  add_silent(&text, snapshot);
  add_others(&text, snapshot, first);
  log_print("", text.at);
}

void alarm_report_for(struct alarm_snapshot *snapshot)
{
  memset(snapshot->heard, ALARM_UNKNOWN, (size_t)monitor.ranks);
  table_read(snapshot);
  report_print(snapshot);
}

/* Returns the lowest rank that has reported, as far as this rank knows. */
static int reporter(void)
{
  for (int r = 0; r < monitor.ranks; r++)
    if (monitor.snapshot.heard[r] == ALARM_REPORTED) return r;
  return monitor.rank;
}

double alarm_launcher_ends(void)
{
  const uint64_t stopped = monitor.stopped;
  const double since = stopped ? (double)(alarm_clock() - stopped) / ALARM_SECOND : 0;
  return stop_asked() ? fmax(LAUNCHER - since, 0) : 0;
}

/* Logs the message without asking other ranks: none exist, or watch_open was not called. */
static status_t hang_single(const struct watch_wait *wait)
{
  int rank = 0;
  struct watch_targets targets = {.n = 0};
  MPI_Comm_rank(wait->comm, &rank);
  if (wait->describe) wait->describe(wait->of, &targets);
  if (targets.n == 0)
    return log_fail(STATUS_HANG, "rank %d waits for all ranks (%s), for over %g s", rank, wait->what,
                    monitor.seconds);
  return log_fail(STATUS_HANG, "rank %d waits for rank %d, halo of face %s, for over %g s", rank,
                  targets.at[0].rank, targets.at[0].face, monitor.seconds);
}

status_t alarm_hang(const struct watch_wait *wait)
{
  if (monitor.ranks < 2) return hang_single(wait);
  if (atomic_exchange(&monitor.hung, 1)) return STATUS_HANG;
  raise_all(wait);
  reports_await(monitor.table->n == monitor.ranks ? GRACE_HERE : GRACE);
  reports_await(alarm_launcher_ends());
  table_read(&monitor.snapshot);
  if (!may_report(monitor.rank) && monitor.table->n < monitor.ranks && reporter() == monitor.rank)
    reports_await(GRACE_QUIET);
  if (reporter() == monitor.rank)
    report_print(&monitor.snapshot);
  else
    reports_await(ABORT);
  return STATUS_HANG;
}
