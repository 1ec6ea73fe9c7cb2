/* SPDX-License-Identifier: MIT */
/* Loaded into all processes of a test in place of sched_yield. Ranks that wait for each other poll
 * and yield. On a core that other processes keep busy, each yield takes as long as a time slice of
 * all of them (10 ms if there are six), and one exchange takes several yields. A short sleep ends
 * on time there, so a yield that was long is followed by sleeps. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONG_NANOSECONDS 1000000
#define NAP_NANOSECONDS  20000
#define NAPS             2000 /* until the next yield: a fifth of a second */

int sched_yield(void)
{
  static _Thread_local int naps;
  struct timespec begin, end;
  if (naps > 0) {
    naps--;
    return nanosleep(&(struct timespec){.tv_nsec = NAP_NANOSECONDS}, NULL);
  }
  clock_gettime(CLOCK_MONOTONIC, &begin);
  syscall(SYS_sched_yield);
  clock_gettime(CLOCK_MONOTONIC, &end);
  if ((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec > LONG_NANOSECONDS) naps = NAPS;
  return 0;
}
