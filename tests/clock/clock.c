/* SPDX-License-Identifier: MIT */
/* The virtual clock, and the null device's copies, packing and links, which advance it. */
#include "clock.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"

static int64_t now, expected = INT64_MAX;
double clock_hidden;

/* ---- the machine ---- */

/* Costs of a usual machine: 20 GB/s of memory, blocks 5 ms apart. Exchanges are so short that the
 * program cannot distinguish them from computation if no sweep hides them. */
static const char usual[] = "sweep=2.8 ceiling=2.744 block=5000000 noise=0.003 product=4 post=10 peer=0.005 "
                            "link=0.05 reduce=1000";

int clock_rank(void)
{
  const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  for (int n = 0; n < 3; n++)
    if (getenv(names[n])) return atoi(getenv(names[n]));
  return 0;
}

static const char *word_find(const char *words, const char *word)
{
  size_t length = strlen(word);
  for (const char *at = words; at && (at = strstr(at, word)); at += length)
    if (at == words || at[-1] == ' ') return at + length;
  return NULL;
}

/* Returns the value of a word in CLOCK_MACHINE, or NAN if the machine does not have it. */
static double word_read(const char *name)
{
  char own[64], all[64];
  snprintf(own, sizeof own, "%s@%d=", name, clock_rank());
  snprintf(all, sizeof all, "%s=", name);
  const char *words = getenv("CLOCK_MACHINE"), *value = word_find(words, own);
  if (!value) value = word_find(words, all);
  if (!value && (!words || word_find(words, "usual"))) value = word_find(usual, all);
  return value ? strtod(value, NULL) : NAN;
}

double clock_word(const char *name, double missing)
{
  static struct {
    char name[24];
    double value;
  } known[64];
  static int n;
  int at = 0;
  while (at < n && strcmp(known[at].name, name) != 0) at++;
  const double value = at < n ? known[at].value : word_read(name);
  if (at == n && n < 64 && strlen(name) < sizeof known->name) {
    strcpy(known[n].name, name);
    known[n++].value = value;
  }
  return isnan(value) ? missing : value;
}

/* ---- the clock ---- */

int64_t clock_now(void)
{
  return now;
}

/* The word `stop` is the time in ns at which the program gets SIGTERM. */
void clock_spend(double nanoseconds)
{
  const double stop = clock_word("stop", 0);
  const int64_t before = now;
  now += (int64_t)(nanoseconds + 0.5);
  if (stop > 0 && (double)before < stop && (double)now >= stop) raise(SIGTERM);
}

/* Returns the factor on the cost of work and copies, which repeats after eleven calls. */
static double unsteady(void)
{
  static const int shares[] = {0, 3, -1, 2, -5, 1, 4, -3, 6, -2, 5};
  static int calls;
  return 1 + clock_word("unsteady", 0) * shares[calls++ % 11];
}

void clock_work(const char *name, double amount)
{
  clock_spend(amount * clock_word(name, 0) * unsteady());
}

void clock_expect(int64_t time)
{
  if (time < expected) expected = time;
}

/* The word `starved` is the share of the time that a rank waits for a core. It replaces the
 * kernel's statistics, because this clock has no cores. */
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

/* The word `begin` is the program's time at its start in seconds. */
double __wrap_stats_now(void);
double __wrap_stats_now(void)
{
  return clock_word("begin", 0) + 1e-9 * (double)now;
}

int __real_sched_yield(void);
int __wrap_sched_yield(void);
int __wrap_sched_yield(void)
{
  if (clock_flags) clock_flags();
  if (expected != INT64_MAX && expected > now) now = expected;
  expected = INT64_MAX;
  return __real_sched_yield();
}

/* ---- copies by the CPU's device layer, to which the null backend forwards ---- */

extern const struct gpu_backend __real_gpu_backend_cpu;
struct gpu_backend __wrap_gpu_backend_cpu;

static status_t copy_in(struct gpu_queue *queue, struct gpu_mem mem, size_t offset, const void *host,
                        size_t bytes)
{
  clock_spend((clock_word("copy", 0) + (double)bytes * clock_word("in", 0)) * unsteady());
  return __real_gpu_backend_cpu.copy_in(queue, mem, offset, host, bytes);
}

static status_t copy_out(struct gpu_queue *queue, void *host, struct gpu_mem mem, size_t offset, size_t bytes)
{
  clock_spend((clock_word("copy", 0) + (double)bytes * clock_word("out", 0)) * unsteady());
  return __real_gpu_backend_cpu.copy_out(queue, host, mem, offset, bytes);
}

static status_t copy(struct gpu_queue *queue, struct gpu_mem to, size_t to_offset, struct gpu_mem from,
                     size_t from_offset, size_t bytes)
{
  clock_spend((clock_word("copy", 0) + (double)bytes * clock_word("peer", 0)) * unsteady());
  return __real_gpu_backend_cpu.sharing.copy(queue, to, to_offset, from, from_offset, bytes);
}

static status_t queue_sync(struct gpu_queue *queue)
{
  clock_spend(clock_word("sync", 0));
  return __real_gpu_backend_cpu.sync(queue);
}

__attribute__((constructor)) static void backend_wrap(void)
{
  __wrap_gpu_backend_cpu = __real_gpu_backend_cpu;
  __wrap_gpu_backend_cpu.copy_in = copy_in;
  __wrap_gpu_backend_cpu.copy_out = copy_out;
  __wrap_gpu_backend_cpu.sync = queue_sync;
  __wrap_gpu_backend_cpu.sharing.copy = copy;
}
