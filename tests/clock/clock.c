/* SPDX-License-Identifier: MIT */
/* The clock, and the device whose work moves it: copies, packing, and links between devices. */
#include "clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/gpu.h"
#include "gpu/null/null_device.h"

static int64_t expected = INT64_MAX;

/* ---- the machine ---- */

static const char *rank_text(void)
{
  const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (int n = 0; n < 3; n++)
    if (getenv(names[n])) return getenv(names[n]);
  return "0";
}

static const char *word_find(const char *word)
{
  const char *words = getenv("CLOCK_MACHINE");
  size_t length = strlen(word);
  for (const char *at = words; at && (at = strstr(at, word)); at += length)
    if (at == words || at[-1] == ' ') return at + length;
  return NULL;
}

double clock_word(const char *name, double missing)
{
  char own[64], all[64];
  snprintf(own, sizeof own, "%s@%s=", name, rank_text());
  snprintf(all, sizeof all, "%s=", name);
  const char *value = word_find(own);
  if (!value) value = word_find(all);
  return value ? strtod(value, NULL) : missing;
}

/* ---- the clock ---- */

int64_t clock_now(void)
{
  return null_clock_now();
}

/* The word `stop` is when the user loses patience. */
void clock_spend(double nanoseconds)
{
  const double stop = clock_word("stop", 0);
  const int64_t before = clock_now();
  null_clock_spend((int64_t)(nanoseconds + 0.5));
  if (stop > 0 && (double)before < stop && (double)clock_now() >= stop) raise(SIGTERM);
}

void clock_work(const char *name, double amount)
{
  clock_spend(amount * clock_word(name, 0));
}

void clock_expect(int64_t time)
{
  if (time < expected) expected = time;
}

/* This clock knows no cores, and nothing is read from the kernel: the word is the share of the time
 * that a rank waits for a core. */
void *__wrap_starvation_begin(void);
void *__wrap_starvation_begin(void)
{
  static int begun;
  return &begun;
}

double __wrap_starvation_share(const void *begin);
double __wrap_starvation_share(const void *begin)
{
  return begin ? clock_word("starved", 0) : -1;
}

void __wrap_starvation_end(void *begin);
void __wrap_starvation_end(void *begin)
{
  (void)begin;
}

/* The calendar goes three times as fast: whoever takes it for a stop watch is found out. */
int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
  const int64_t at = id == CLOCK_MONOTONIC ? clock_now() : 1000000000000 + 3 * clock_now();
  *time = (struct timespec){at / 1000000000, at % 1000000000};
  return 0;
}

int __real_sched_yield(void);
int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
  if (clock_flags) clock_flags();
  if (expected != INT64_MAX && expected > clock_now()) null_clock_spend(expected - clock_now());
  expected = INT64_MAX;
  return __real_sched_yield();
}

/* Whoever sleeps until then has no work to spend: it looks again soon by the world's clock, and
 * burns no core in between. */
int __real_pthread_cond_timedwait(pthread_cond_t *wake, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *wake, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *wake, pthread_mutex_t *lock, const struct timespec *until)
{
  struct timespec soon;
  (void)until;
  __real_clock_gettime(CLOCK_MONOTONIC, &soon);
  soon.tv_nsec += 100000000;
  soon.tv_sec += soon.tv_nsec / 1000000000;
  soon.tv_nsec %= 1000000000;
  return __real_pthread_cond_timedwait(wake, lock, &soon);
}

/* ---- copies of the CPU's device layer, which the null backend forwards to ---- */

extern const struct gpu_backend __real_gpu_backend_cpu;
struct gpu_backend __wrap_gpu_backend_cpu;

static status_t copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                        size_t bytes)
{
  clock_spend(clock_word("copy", 0) + (double)bytes * clock_word("in", 0));
  return __real_gpu_backend_cpu.copy_in(queue, mem, offset, host, bytes);
}

static status_t copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset, size_t bytes)
{
  clock_spend(clock_word("copy", 0) + (double)bytes * clock_word("out", 0));
  return __real_gpu_backend_cpu.copy_out(queue, host, mem, offset, bytes);
}

static status_t copy(struct gpu_queue *queue, struct gpu_mem to, size_t to_offset, struct gpu_mem from,
                     size_t from_offset, size_t bytes)
{
  clock_spend(clock_word("copy", 0) + (double)bytes * clock_word("peer", 0));
  return __real_gpu_backend_cpu.sharing.copy(queue, to, to_offset, from, from_offset, bytes);
}

__attribute__((constructor)) static void backend_wrap(void)
{
  __wrap_gpu_backend_cpu = __real_gpu_backend_cpu;
  __wrap_gpu_backend_cpu.copy_in = copy_in;
  __wrap_gpu_backend_cpu.copy_out = copy_out;
  __wrap_gpu_backend_cpu.sharing.copy = copy;
}
