/* SPDX-License-Identifier: MIT */
/* Himeno's kernels by the virtual clock. The words: nanoseconds per point of a `sweep`, per float
 * of a `ceiling` pass, per `fill`, `checksum` and start of a `block`; by how many times a `device`
 * is slower; the standard deviation of blocks as a share (`noise`), by the random numbers of a
 * `seed`; how many times longer sweeps take from the second `from` `to` another when `slow`; the
 * watts of an `idle` device, those that a `load` adds, and the energy counter's `step`, how long a
 * `poll` of it takes, and the time constant of the load's part in it (`lag`). */
#include <math.h>

#include "clock.h"
#include "gpu/telemetry.h"
#include "himeno/kernels/kernels.h"
#include "tests/unit/machine.h"

extern const struct himeno_kernel_set __real_himeno_kernels_cpu;
struct himeno_kernel_set __wrap_himeno_kernels_cpu;

static double floats;     /* of an array */
static double swept;      /* nanoseconds in sweeps */
static int filled;        /* with which data */
static int blocks, begun; /* fields filled; 1 after a ceiling pass, 2 after a sweep behind it */

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

/* Blocks differ by `jitter` with a period of five: whichever of them are timed, five in a row are
 * these. */
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

/* Memory is slower by `worn` once there was a sweep. */
static status_t ceiling(struct himeno_exec *exec, struct gpu_queue *queue)
{
  if (begun == 0) begun = 1;
  clock_work("ceiling", floats * clock_word("device", 1) * (begun == 2 ? clock_word("worn", 1) : 1) *
                            (filled == HIMENO_DENSE ? clock_word("dense", 1) : 1));
  static unsigned passes; /* few are real, so that a field is spoiled as by all of them */
  return passes++ % 16 ? STATUS_OK : __real_himeno_kernels_cpu.ceiling(exec, queue);
}

/* Sweep time that the counter shows so far, delayed by `lag`; none at the first poll. */
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

/* The counter changes once per `step`: it shows the value of the first poll in the step. */
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
