/* SPDX-License-Identifier: MIT */
#include "base/starvation.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/stats.h"

#define BUSY 0.5 /* minimum share of the time that a computing thread runs or is ready to run */

/* Seconds for which a thread ran, and for which it waited for a core. */
struct thread {
  int id;
  double ran, waited;
};

struct starvation {
  double when;
  int n;
  struct thread *threads;
  double stolen[CPU_SETSIZE]; /* seconds, per CPU */
};

static int thread_read(int id, struct thread *thread)
{
  char path[64];
  unsigned long long ran, waited;
  snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", id);
  FILE *file = fopen(path, "re");
  const int whole = file && fscanf(file, "%llu %llu", &ran, &waited) == 2;
  if (file) fclose(file);
  if (whole) *thread = (struct thread){id, 1e-9 * (double)ran, 1e-9 * (double)waited};
  return whole;
}

static void threads_read(struct starvation *s)
{
  DIR *folder = opendir("/proc/self/task");
  struct thread thread;
  for (const struct dirent *entry; folder && (entry = readdir(folder));) {
    if (!thread_read(atoi(entry->d_name), &thread)) continue;
    struct thread *longer = realloc(s->threads, (size_t)(s->n + 1) * sizeof *longer);
    if (!longer) break;
    longer[s->n++] = thread;
    s->threads = longer;
  }
  if (folder) closedir(folder);
}

/* Reads the stolen time of the CPUs that this process may use. */
static void stolen_read(struct starvation *s)
{
  char line[512];
  int cpu;
  unsigned long long stolen;
  cpu_set_t allowed = {{0}};
  FILE *file = fopen("/proc/stat", "re");
  sched_getaffinity(0, sizeof allowed, &allowed);
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "cpu%d %*u %*u %*u %*u %*u %*u %*u %llu", &cpu, &stolen) == 2 &&
        CPU_ISSET(cpu, &allowed))
      s->stolen[cpu] = (double)stolen / (double)sysconf(_SC_CLK_TCK);
  if (file) fclose(file);
}

struct starvation *starvation_begin(void)
{
  struct starvation *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  threads_read(s);
  stolen_read(s);
  s->when = stats_now();
  if (s->n > 0) return s;
  starvation_end(s);
  return NULL;
}

/* Returns the times of thread \a id at the start of the measurement; zeros if it started later. */
static struct thread thread_at(const struct starvation *s, int id)
{
  for (int t = 0; t < s->n; t++)
    if (s->threads[t].id == id) return s->threads[t];
  return (struct thread){.id = id};
}

double starvation_share(const struct starvation *begin)
{
  struct starvation *now = begin ? starvation_begin() : NULL;
  const double seconds = now ? now->when - begin->when : 0;
  double most = 0;
  for (int t = 0; now && t < now->n; t++) {
    const struct thread was = thread_at(begin, now->threads[t].id);
    const double ran = now->threads[t].ran - was.ran, waited = now->threads[t].waited - was.waited;
    if (ran + waited >= BUSY * seconds) most = fmax(most, waited);
  }
  for (int c = 0; now && c < CPU_SETSIZE; c++) most = fmax(most, now->stolen[c] - begin->stolen[c]);
  starvation_end(now);
  return seconds > 0 ? fmin(1, most / seconds) : -1;
}

void starvation_end(struct starvation *begin)
{
  if (begin) free(begin->threads);
  free(begin);
}
