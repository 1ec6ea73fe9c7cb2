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
#define SILENT_SECONDS 1.0 /* at least: a busy machine may be late by some beats */
/* After an alarm: the first host, and others if that does not end the job; they cannot ask each
 * other. A program that answers asks other hosts, and speaks sooner than SPEAK_ASKED. */
#define SPEAK_FIRST  0.7
#define SPEAK_ASKED  1.4
#define SPEAK_SECOND 1.5
#define SPEAK_LATER  3.0 /* more for hosts behind those, the longer the further */
#define END_SECONDS  3.5 /* after an alarm, for the job to end */

static struct {
  struct alarm *monitor;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  int running, ending;
  struct alarm_picture picture;
  struct gpu_mem memory;   /* the table, where another rank made it */
  struct alarm_table *own; /* where this one did */
  uint64_t last;           /* beat */
  int schedstat;           /* file of the main thread's times; negative: none */
  uint64_t starved;        /* as of the last beat */
  /* when the alarm was seen; 0: none. Here and below in time that this process ran */
  uint64_t raised;
  double patience; /* from the alarm to this thread's word */
  struct {
    uint64_t beat, since; /* the last one, and when it was new */
  } * heard;              /* by slot */
} h = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the thread ---- */

static int is_over(uint64_t now, uint64_t since, double seconds)
{
  return now > since && (double)(now - since) > seconds * ALARM_SECOND;
}

/* For how long the main thread was ready to run and had no processor, in ns; 0 if the kernel does
 * not report it. */
static uint64_t starved_read(void)
{
  char text[128];
  unsigned long long starved = 0;
  const ssize_t n = h.schedstat >= 0 ? pread(h.schedstat, text, sizeof text - 1, 0) : 0;
  text[n > 0 ? n : 0] = '\0';
  return sscanf(text, "%*u %llu", &starved) == 1 ? starved : 0;
}

/* Discounts the time during which this process, or all of the job, was suspended: no rank was
 * silent then. The time that the main thread waited for a processor does not count either. */
static uint64_t beat(void)
{
  const uint64_t starved = starved_read();
  const uint64_t interval = (uint64_t)(BEAT_SECONDS * ALARM_SECOND);
  uint64_t clock = alarm_clock();
  if (clock - h.last > 3 * interval) {
    h.monitor->paused += clock - h.last - interval;
    h.monitor->own->moved += clock - h.last - interval;
  }
  if (starved > h.starved) h.monitor->own->moved += starved - h.starved;
  h.starved = starved;
  if (gpu_calls) h.monitor->own->device = clock;
  h.last = clock;
  h.monitor->own->beat = clock;
  if (stop_asked() && h.monitor->stopped == 0) h.monitor->stopped = clock;
  return clock - h.monitor->paused;
}

static int anyone_silent(uint64_t now)
{
  int any = 0;
  for (int s = 0; s < h.monitor->table->n; s++) {
    const struct alarm_slot *slot = &h.monitor->table->slot[s];
    uint64_t last = slot->beat;
    if (last != h.heard[s].beat || h.heard[s].since == 0) {
      h.heard[s].beat = last;
      h.heard[s].since = now;
    }
    any |= slot->state == ALARM_HERE &&
           is_over(now, h.heard[s].since, fmax(h.monitor->seconds, SILENT_SECONDS)) &&
           !alarm_starves(slot, alarm_clock());
  }
  return any;
}

static int is_stuck(void)
{
  return h.monitor->own->blocked && is_over(h.last, h.monitor->own->moved, h.monitor->seconds);
}

static double patience_now(void)
{
  for (int s = 0; h.monitor->table->n < h.monitor->ranks && s < h.monitor->table->n; s++)
    if (h.monitor->table->slot[s].told) return fmax(h.patience, SPEAK_ASKED);
  return h.patience;
}

/* Whose program answers leaves the word to it, and the end too, for a while. */
static void heed(uint64_t now)
{
  if (!h.monitor->table->raised || alarm_launcher_ends() > 0) return;
  if (h.raised == 0) h.raised = now;
  double patience = patience_now();
  if (!h.monitor->hung && is_over(now, h.raised, patience)) alarm_speak_for(&h.picture);
  if (is_over(now, h.raised, h.monitor->hung ? END_SECONDS : patience + BEAT_SECONDS)) _exit(STATUS_HANG);
}

static void *heartbeat_run(void *unused)
{
  struct timespec until;
  (void)unused;
  h.monitor->own->thread = (int)syscall(SYS_gettid);
  pthread_mutex_lock(&h.lock);
  while (!h.ending) {
    uint64_t now = beat();
    if (anyone_silent(now) || is_stuck()) h.monitor->table->raised = 1;
    heed(now);
    uint64_t next = h.last + (uint64_t)(BEAT_SECONDS * ALARM_SECOND);
    until = (struct timespec){(time_t)(next / ALARM_SECOND), (long)(next % ALARM_SECOND)};
    pthread_cond_timedwait(&h.wake, &h.lock, &until);
  }
  pthread_mutex_unlock(&h.lock);
  return NULL;
}

/* Signals are the program's affair. */
static status_t thread_start(void)
{
  sigset_t all, before;
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&h.wake, &clock);
  pthread_condattr_destroy(&clock);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  h.last = alarm_clock();
  h.schedstat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
  h.starved = starved_read();
  h.running = pthread_create(&h.thread, NULL, heartbeat_run, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return h.running ? STATUS_OK : log_fail(STATUS_ENVIRONMENT, "the watchdog's thread cannot be started");
}

/* ---- the table ---- */

/* The first rank of the host makes it. */
static void table_offer(int n, struct gpu_share *offer)
{
  size_t bytes = sizeof(struct alarm_table) + (size_t)n * sizeof(struct alarm_slot);
  h.own = host_share_alloc(bytes);
  if (!h.own) return;
  h.own->n = n;
  if (host_share_tell((struct gpu_mem){h.own, bytes}, offer) != STATUS_OK) offer->bytes = 0;
}

static struct alarm_table *table_find(const struct gpu_share *offer)
{
  char reason[GPU_TEXT_MAX];
  if (h.own) return offer->bytes > 0 ? h.own : NULL;
  if (offer->bytes == 0 || !host_share_attach(offer, &h.memory, reason)) return NULL;
  return h.memory.handle;
}

static void heartbeat_table_take(struct alarm_table *table, int slot)
{
  struct alarm_slot *own = &table->slot[slot];
  h.monitor->table = table;
  h.monitor->own = own;
  own->rank = h.monitor->rank;
  own->moved = own->looked = alarm_clock();
  own->state = ALARM_HERE;
}

/* Where this rank stands among those of its host, how many they are, who is the first, and which
 * host in the job it is. */
struct heartbeat_place {
  int slot, n, first, host;
};

static int heartbeat_same_host(int r, int s)
{
  return strcmp(h.monitor->hosts[r], h.monitor->hosts[s]) == 0;
}

static struct heartbeat_place place_find(void)
{
  struct heartbeat_place place = {.first = -1};
  for (int r = 0; r < h.monitor->ranks; r++) {
    if (heartbeat_same_host(r, h.monitor->rank)) {
      if (place.first < 0) place.first = r;
      place.slot += r < h.monitor->rank;
      place.n++;
    } else if (place.first < 0 && (r == 0 || !heartbeat_same_host(r, r - 1))) {
      place.host++;
    }
  }
  return place;
}

static double patience_of(const struct heartbeat_place *place)
{
  return place->host == 0 ? SPEAK_FIRST : SPEAK_SECOND + SPEAK_LATER * log2(place->host);
}

/* A slot counts only once its rank has come: so nobody waits for one that cannot. */
static status_t table_share(const struct heartbeat_place *place)
{
  struct gpu_share mine = {.bytes = 0}, *offers = calloc((size_t)h.monitor->ranks, sizeof mine);
  if (!offers) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the watchdog");
  if (place->first == h.monitor->rank) table_offer(place->n, &mine);
  status_t status = watch_allgather(MPI_COMM_WORLD, &mine, offers, sizeof mine, "the table of heartbeats");
  struct alarm_table *table = status == STATUS_OK ? table_find(&offers[place->first]) : NULL;
  if (table) heartbeat_table_take(table, place->slot);
  free(offers);
  return status == STATUS_OK ? watch_barrier(MPI_COMM_WORLD, "the table of heartbeats") : status;
}

status_t heartbeat_open(void)
{
  char host[ALARM_HOST_MAX];
  h.monitor = alarm_monitor();
  if (h.monitor->ranks < 2) return STATUS_OK;
  memcpy(host, h.monitor->hosts[h.monitor->rank], sizeof host);
  RETURN_IF_FAILED(watch_allgather(MPI_COMM_WORLD, host, h.monitor->hosts, sizeof host, "names of hosts"));
  struct heartbeat_place place = place_find();
  h.patience = patience_of(&place);
  RETURN_IF_FAILED(alarm_picture_open(&h.picture, h.monitor->ranks));
  if (!(h.heard = calloc((size_t)place.n, sizeof *h.heard)))
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for the watchdog");
  RETURN_IF_FAILED(table_share(&place));
  return thread_start();
}

/* The thread lives until all have come: until then one that stops on its way is missed. */
static void others_await(void)
{
  const struct timespec pause = {0, 500000};
  h.monitor->own->state = ALARM_LEFT;
  for (int s = 0; s < h.monitor->table->n; s++)
    while (h.monitor->table->slot[s].state == ALARM_HERE) nanosleep(&pause, NULL);
}

void heartbeat_close(void)
{
  if (!h.running) return;
  others_await();
  pthread_mutex_lock(&h.lock);
  h.ending = 1;
  pthread_cond_signal(&h.wake);
  pthread_mutex_unlock(&h.lock);
  pthread_join(h.thread, NULL);
  if (h.schedstat >= 0) close(h.schedstat);
}
