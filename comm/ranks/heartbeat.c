/* SPDX-License-Identifier: MIT */
#include "comm/ranks/heartbeat.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stop.h"
#include "comm/ranks/alarm.h"
#include "gpu/host_share.h"

#define BEAT_SECONDS   0.2
#define SILENT_SECONDS 1.0 /* minimum silence that counts; beats may be late on a busy machine */
/* Delays in seconds from an alarm to this thread's report. The first host reports first. The others
 * report if the job still runs then, because the heartbeat threads of hosts cannot ask each other.
 * A rank whose main thread responds asks the other hosts, and reports before
 * REPORT_DELAY_RESPONSIVE. */
#define REPORT_DELAY_FIRST      0.7
#define REPORT_DELAY_RESPONSIVE 1.4
#define REPORT_DELAY_SECOND     1.5
/* delay of host h > 0: REPORT_DELAY_SECOND + REPORT_DELAY_LATER × log2(h) */
#define REPORT_DELAY_LATER 3.0
/* seconds from an alarm until this thread ends a process whose main thread reports */
#define END_SECONDS 3.5

static struct {
  struct alarm *monitor;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  int running, ending;
  struct alarm_snapshot snapshot;
  struct gpu_mem memory;   /* the table, if another rank created it */
  struct alarm_table *own; /* the table, if this rank created it */
  uint64_t last;           /* time of the last beat */
  int schedstat;           /* descriptor of the main thread's schedstat file; negative: none */
  uint64_t starved;        /* result of starved_read() at the last beat */
  /* when this thread first saw table->raised, less the time of suspensions; 0: not seen yet */
  uint64_t raised;
  double patience; /* seconds from `raised` to this thread's report */
  struct {
    uint64_t beat, since; /* last beat read, and when this beat was first read */
  } * heard;              /* indexed by slot */
} heartbeat = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int is_over(uint64_t now, uint64_t since, double seconds)
{
  return now > since && (double)(now - since) > seconds * ALARM_SECOND;
}

/* Returns the nanoseconds for which the main thread was ready but had no core; 0 if unknown. */
static uint64_t starved_read(void)
{
  char text[128];
  unsigned long long starved = 0;
  const ssize_t n = heartbeat.schedstat >= 0 ? pread(heartbeat.schedstat, text, sizeof text - 1, 0) : 0;
  text[n > 0 ? n : 0] = '\0';
  return sscanf(text, "%*u %llu", &starved) == 1 ? starved : 0;
}

/* Writes a beat. Discounts the time for which this process, or the whole job, was suspended,
 * because no rank was silent then. Also discounts the time for which the main thread waited for a
 * core. Returns the current time less all suspensions. */
static uint64_t beat(void)
{
  const uint64_t starved = starved_read();
  const uint64_t interval = (uint64_t)(BEAT_SECONDS * ALARM_SECOND);
  uint64_t clock = alarm_clock();
  if (clock - heartbeat.last > 3 * interval) {
    heartbeat.monitor->paused += clock - heartbeat.last - interval;
    heartbeat.monitor->own->moved += clock - heartbeat.last - interval;
  }
  if (starved > heartbeat.starved) heartbeat.monitor->own->moved += starved - heartbeat.starved;
  heartbeat.starved = starved;
  if (gpu_calls) heartbeat.monitor->own->device = clock;
  heartbeat.last = clock;
  heartbeat.monitor->own->beat = clock;
  if (stop_asked() && heartbeat.monitor->stopped == 0) heartbeat.monitor->stopped = clock;
  return clock - heartbeat.monitor->paused;
}

static int anyone_silent(uint64_t now)
{
  int any = 0;
  for (int s = 0; s < heartbeat.monitor->table->n; s++) {
    const struct alarm_slot *slot = &heartbeat.monitor->table->slot[s];
    uint64_t last = slot->beat;
    if (last != heartbeat.heard[s].beat || heartbeat.heard[s].since == 0) {
      heartbeat.heard[s].beat = last;
      heartbeat.heard[s].since = now;
    }
    any |= slot->state == ALARM_HERE &&
           is_over(now, heartbeat.heard[s].since, fmax(heartbeat.monitor->seconds, SILENT_SECONDS)) &&
           !alarm_starves(slot, alarm_clock());
  }
  return any;
}

static int is_stuck(void)
{
  return heartbeat.monitor->own->blocked &&
         is_over(heartbeat.last, heartbeat.monitor->own->moved, heartbeat.monitor->seconds);
}

static double patience_now(void)
{
  for (int s = 0; heartbeat.monitor->table->n < heartbeat.monitor->ranks && s < heartbeat.monitor->table->n;
       s++)
    if (heartbeat.monitor->table->slot[s].filled) return fmax(heartbeat.patience, REPORT_DELAY_RESPONSIVE);
  return heartbeat.patience;
}

/* Handles an alarm. If the program does not report in time, reports and ends the process. */
static void heed(uint64_t now)
{
  if (!heartbeat.monitor->table->raised || alarm_launcher_ends() > 0) return;
  if (heartbeat.raised == 0) heartbeat.raised = now;
  double patience = patience_now();
  if (!heartbeat.monitor->hung && is_over(now, heartbeat.raised, patience))
    alarm_report_for(&heartbeat.snapshot);
  if (is_over(now, heartbeat.raised, heartbeat.monitor->hung ? END_SECONDS : patience + BEAT_SECONDS))
    _exit(STATUS_HANG);
}

static void *heartbeat_run(void *unused)
{
  struct timespec until;
  (void)unused;
  heartbeat.monitor->own->thread = (int)syscall(SYS_gettid);
  pthread_mutex_lock(&heartbeat.lock);
  while (!heartbeat.ending) {
    uint64_t now = beat();
    if (anyone_silent(now) || is_stuck()) heartbeat.monitor->table->raised = 1;
    heed(now);
    uint64_t next = heartbeat.last + (uint64_t)(BEAT_SECONDS * ALARM_SECOND);
    until = (struct timespec){(time_t)(next / ALARM_SECOND), (long)(next % ALARM_SECOND)};
    pthread_cond_timedwait(&heartbeat.wake, &heartbeat.lock, &until);
  }
  pthread_mutex_unlock(&heartbeat.lock);
  return NULL;
}

/* Starts the thread with all signals blocked, because the main thread handles them. */
static status_t thread_start(void)
{
  sigset_t all, before;
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&heartbeat.wake, &clock);
  pthread_condattr_destroy(&clock);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  heartbeat.last = alarm_clock();
  heartbeat.schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
  heartbeat.starved = starved_read();
  heartbeat.running = pthread_create(&heartbeat.thread, NULL, heartbeat_run, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return heartbeat.running ? STATUS_OK
                           : log_fail(STATUS_ENVIRONMENT, "the watchdog's thread cannot be started");
}

/* Creates the table on the first rank of the host, and offers it to the host's other ranks. */
static void table_offer(int n, struct gpu_share *offer)
{
  size_t bytes = sizeof(struct alarm_table) + (size_t)n * sizeof(struct alarm_slot);
  heartbeat.own = host_share_alloc(bytes);
  if (!heartbeat.own) return;
  heartbeat.own->n = n;
  if (host_share_offer((struct gpu_mem){heartbeat.own, bytes}, offer) != STATUS_OK) offer->bytes = 0;
}

static struct alarm_table *table_find(const struct gpu_share *offer)
{
  char reason[GPU_TEXT_MAX];
  if (heartbeat.own) return offer->bytes > 0 ? heartbeat.own : NULL;
  if (offer->bytes == 0 || !host_share_attach(offer, &heartbeat.memory, reason)) return NULL;
  return heartbeat.memory.handle;
}

static void heartbeat_table_take(struct alarm_table *table, int slot)
{
  struct alarm_slot *own = &table->slot[slot];
  heartbeat.monitor->table = table;
  heartbeat.monitor->own = own;
  own->rank = heartbeat.monitor->rank;
  own->moved = own->polled = alarm_clock();
  own->state = ALARM_HERE;
}

/* slot: this rank's index among the host's ranks; n: number of the host's ranks; first: lowest rank
 * of the host; host: index of the host in the job. */
struct heartbeat_place {
  int slot, n, first, host;
};

static int heartbeat_same_host(int r, int s)
{
  return strcmp(heartbeat.monitor->hosts[r], heartbeat.monitor->hosts[s]) == 0;
}

static struct heartbeat_place place_find(void)
{
  struct heartbeat_place place = {.first = -1};
  for (int r = 0; r < heartbeat.monitor->ranks; r++) {
    if (heartbeat_same_host(r, heartbeat.monitor->rank)) {
      if (place.first < 0) place.first = r;
      place.slot += r < heartbeat.monitor->rank;
      place.n++;
    } else if (place.first < 0 && (r == 0 || !heartbeat_same_host(r, r - 1))) {
      place.host++;
    }
  }
  return place;
}

static double patience_of(const struct heartbeat_place *place)
{
  return place->host == 0 ? REPORT_DELAY_FIRST : REPORT_DELAY_SECOND + REPORT_DELAY_LATER * log2(place->host);
}

/* Shares the table. A slot counts after its rank has attached the table. If a rank cannot attach
 * it, the table is read as if that rank were absent. */
static status_t table_share(const struct heartbeat_place *place)
{
  struct gpu_share mine = {.bytes = 0}, *offers = calloc((size_t)heartbeat.monitor->ranks, sizeof mine);
  if (!offers) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the watchdog");
  if (place->first == heartbeat.monitor->rank) table_offer(place->n, &mine);
  status_t status = watch_allgather(MPI_COMM_WORLD, &mine, offers, sizeof mine, "the table of heartbeats");
  struct alarm_table *table = status == STATUS_OK ? table_find(&offers[place->first]) : NULL;
  if (table) heartbeat_table_take(table, place->slot);
  free(offers);
  return status == STATUS_OK ? watch_barrier(MPI_COMM_WORLD, "the table of heartbeats") : status;
}

status_t heartbeat_open(void)
{
  char host[ALARM_HOST_MAX];
  heartbeat.monitor = alarm_monitor();
  if (heartbeat.monitor->ranks < 2) return STATUS_OK;
  memcpy(host, heartbeat.monitor->hosts[heartbeat.monitor->rank], sizeof host);
  RETURN_IF_FAILED(
      watch_allgather(MPI_COMM_WORLD, host, heartbeat.monitor->hosts, sizeof host, "names of hosts"));
  struct heartbeat_place place = place_find();
  heartbeat.patience = patience_of(&place);
  RETURN_IF_FAILED(alarm_snapshot_open(&heartbeat.snapshot, heartbeat.monitor->ranks));
  if (!(heartbeat.heard = calloc((size_t)place.n, sizeof *heartbeat.heard)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the watchdog");
  RETURN_IF_FAILED(table_share(&place));
  return thread_start();
}

/* Waits until all ranks of the host have left. The heartbeat thread still runs, so that ranks that
 * hang meanwhile are noticed. */
static void others_await(void)
{
  const struct timespec pause = {0, 500000};
  heartbeat.monitor->own->state = ALARM_LEFT;
  for (int s = 0; s < heartbeat.monitor->table->n; s++)
    while (heartbeat.monitor->table->slot[s].state == ALARM_HERE) nanosleep(&pause, NULL);
}

void heartbeat_close(void)
{
  if (!heartbeat.running) return;
  others_await();
  pthread_mutex_lock(&heartbeat.lock);
  heartbeat.ending = 1;
  pthread_cond_signal(&heartbeat.wake);
  pthread_mutex_unlock(&heartbeat.lock);
  pthread_join(heartbeat.thread, NULL);
  if (heartbeat.schedstat >= 0) close(heartbeat.schedstat);
}
