/* SPDX-License-Identifier: MIT */
/* Replaces sched_yield in all processes of a test. Ranks that wait for each other poll and yield,
 * which uses a whole core. A rank that has only polled for 50 ms sleeps between two polls. So does
 * a rank whose yield was long: on a core that other processes use, a yield lasts for a time slice
 * of each (10 ms if there are six), and one exchange takes several yields. A short sleep ends on
 * time even there. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONG_NANOSECONDS    1000000
#define WORK_NANOSECONDS    20000 /* between two yields: the rank has worked */
#define PATIENT_NANOSECONDS 50000000
#define NAP_NANOSECONDS     20000
#define LONG_NAP            300000 /* after PATIENT_NANOSECONDS of polls */
#define NAPS                2000   /* number of sleeps after a long yield */

static long long now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int sched_yield(void)
{
  static _Thread_local int naps;
  static _Thread_local long long since, ended;
  const long long begin = now();
  if (begin - ended > WORK_NANOSECONDS) since = begin;
  const int patient = begin - since > PATIENT_NANOSECONDS;
  if (naps > 0 || patient) {
    if (naps > 0) naps--;
    nanosleep(&(struct timespec){.tv_nsec = patient ? LONG_NAP : NAP_NANOSECONDS}, NULL);
  } else {
    syscall(SYS_sched_yield);
    if (now() - begin > LONG_NANOSECONDS) naps = NAPS;
  }
  ended = now();
  return 0;
}
