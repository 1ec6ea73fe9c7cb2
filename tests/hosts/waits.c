/* SPDX-License-Identifier: MIT */
/* himeno-gpu with null devices whose sweeps take a given time: NULL_SWEEP=LAUNCH,POINT has the
 * nanoseconds per launch and per point. The CPU computes the sweep, and then waits without using a
 * core, so that one machine can have many such devices. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "himeno/kernels/kernels.h"

extern const struct himeno_kernel_set __real_himeno_kernels_null;
struct himeno_kernel_set __wrap_himeno_kernels_null;

static double launch, point;

static status_t sweep(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_sweep *sweep)
{
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  const long nanoseconds = end.tv_nsec + (long)(launch + point * (double)box_points(&sweep->box));
  end = (struct timespec){end.tv_sec + nanoseconds / 1000000000, nanoseconds % 1000000000};
  const status_t status = __real_himeno_kernels_null.sweep(exec, queue, sweep);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) != 0) continue;
  return status;
}

__attribute__((constructor)) static void kernels_wrap(void)
{
  const char *text = getenv("NULL_SWEEP");
  __wrap_himeno_kernels_null = __real_himeno_kernels_null;
  if (text && sscanf(text, "%lf,%lf", &launch, &point) == 2) __wrap_himeno_kernels_null.sweep = sweep;
}
