/* SPDX-License-Identifier: MIT */
/* Himeno's kernels with the virtual clock. Words in nanoseconds: `sweep` per point, `ceiling` per
 * float of a pass, `fill` and `checksum` per call, `block` per start of a block. Other words:
 * `device`, the factor by which a device is slower; `noise`, the relative standard deviation of
 * blocks, with the random numbers of a `seed`; `slow`, the factor of sweeps between the seconds
 * `from` and `to`. Power: watts of an `idle` device, and those that a `load` adds. Energy counter,
 * in nanoseconds: its `step`, the time that a `poll` takes, and the time constant of the load's
 * part (`lag`). */
#include <math.h>

#include "clock.h"
#include "gpu/telemetry.h"
#include "himeno/kernels/kernels.h"
#include "tests/unit/machine.h"

extern const struct himeno_kernel_set __real_himeno_kernels_cpu;
struct himeno_kernel_set __wrap_himeno_kernels_cpu;

static double floats;     /* floats per array */
static double swept;      /* nanoseconds in sweeps */
static int filled;        /* data of the last fill */
static int blocks, begun; /* fills so far; begun: 1 after a ceiling pass, 2 after a sweep */

static status_t open(struct gpu_device *device, const struct himeno_fields *fields,
                     const struct himeno_kernel *kernel, struct himeno_exec **exec)
{
  floats = (double)layout_floats(&fields->layout);
  return __real_himeno_kernels_cpu.open(device, fields, kernel, exec);
}

static status_t fill(struct himeno_exec *exec, struct gpu_queue *queue, enum himeno_array array,
                     enum himeno_data data)
{
  if (array == HIMENO_P) {
    blocks++;
    clock_work("block", 1);
  }
  filled = (int)data;
  clock_work("fill", 1);
  return __real_himeno_kernels_cpu.fill(exec, queue, array, data);
}

/* Blocks vary by `jitter` with a period of five, so that any five consecutive blocks have these
 * times. */
static status_t sweep(struct himeno_exec *exec, struct gpu_queue *queue, const struct himeno_sweep *sweep)
{
  static const int jitter[] = {0, 1, -1, 3, -2};
  if (begun == 1) begun = 2;
  const int64_t before = clock_now();
  const double second = 1e-9 * (double)before;
  const int slow = second >= clock_word("from", 0) && second < clock_word("to", 0);
  const double cost =
      box_points(&sweep->box) * clock_word("sweep", 0) * (slow ? clock_word("slow", 1) : 1) *
      (1 + clock_word("jitter", 0) * jitter[blocks % 5]) * clock_word("device", 1) *
      machine_noise((uint64_t)clock_word("seed", 1), clock_rank(), blocks, 0, clock_word("noise", 0));
  clock_spend(fmax(0, cost - clock_hidden));
  clock_hidden = 0;
  swept += (double)(clock_now() - before);
  return __real_himeno_kernels_cpu.sweep(exec, queue, sweep);
}

/* The ceiling is slower by the factor `worn` after a first sweep. */
static status_t ceiling(struct himeno_exec *exec, struct gpu_queue *queue)
{
  if (begun == 0) begun = 1;
  clock_work("ceiling", floats * clock_word("device", 1) * (begun == 2 ? clock_word("worn", 1) : 1) *
                            (filled == HIMENO_DENSE ? clock_word("dense", 1) : 1));
  static unsigned passes; /* only every 16th pass runs: enough to spoil a field */
  return passes++ % 16 ? STATUS_OK : __real_himeno_kernels_cpu.ceiling(exec, queue);
}

/* Returns the nanoseconds of sweeps that the counter includes; `lag` delays it, from 0 at first. */
static double swept_seen(int64_t now)
{
  static double seen;
  static int64_t last = -1;
  if (last < 0) last = now;
  const double lag = clock_word("lag", 0);
  seen += (swept - seen) * (lag > 0 ? 1 - exp(-(double)(now - last) / lag) : 1);
  last = now;
  return seen;
}

/* The energy counter changes once per `step`, to its value at the first poll in that step. */
const char *__real_telemetry_joules(struct telemetry *telemetry, double *joules);
const char *__wrap_telemetry_joules(struct telemetry *telemetry, double *joules);
const char *__wrap_telemetry_joules(struct telemetry *telemetry, double *joules)
{
  static double shown;
  static int64_t at = -1;
  const double step = clock_word("step", 0);
  if (!(step > 0)) return __real_telemetry_joules(telemetry, joules);
  clock_spend(clock_word("poll", 0));
  const int64_t now = (int64_t)((double)clock_now() / step);
  const double seen = swept_seen(clock_now());
  if (now != at) shown = 1e-9 * (clock_word("idle", 0) * (double)clock_now() + clock_word("load", 0) * seen);
  at = now;
  *joules = shown;
  return "a device by the clock";
}

static status_t checksum(struct himeno_exec *exec, struct gpu_queue *queue, const struct gpu_mem *arrays,
                         int n, const struct box *box, uint64_t *sum)
{
  clock_work("checksum", 1);
  return __real_himeno_kernels_cpu.checksum(exec, queue, arrays, n, box, sum);
}

__attribute__((constructor)) static void kernels_wrap(void)
{
  __wrap_himeno_kernels_cpu = __real_himeno_kernels_cpu;
  __wrap_himeno_kernels_cpu.open = open;
  __wrap_himeno_kernels_cpu.fill = fill;
  __wrap_himeno_kernels_cpu.sweep = sweep;
  __wrap_himeno_kernels_cpu.ceiling = ceiling;
  __wrap_himeno_kernels_cpu.checksum = checksum;
}
