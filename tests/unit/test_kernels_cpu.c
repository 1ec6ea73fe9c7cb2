/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/log.h"
#include "base/openmp.h"
#include "himeno/kernels/cpu/cpu_sweep.h"
#include "tests/unit/kernel_checks.h"

#define SETTING "HIMENO_CPU_SIMD"
#define MAX     23

/* With PACED, the number of threads, thread 1 waits in the first row of a pass until thread 0 has
 * taken all other work. Thread 0 begins after thread 1. No row of a pass may be written twice. */
static struct cpu_simd paced;
static const struct cpu_simd *chosen;
static atomic_int begun, ended, fences, written[1 << 20];

static void row_pace(void)
{
  const int me = omp_get_thread_num(), some = omp_get_num_threads() > 1;
  if (me == 1) begun = 1;
  while (some && (me == 0 ? !begun : me == 1 && !ended)) sched_yield();
}

static double row_keep(const struct cpu_row *row)
{
  row_pace();
  return chosen->row_keep(row);
}

static double row_stream(const struct cpu_row *row)
{
  row_pace();
  return written[row->x]++ ? NAN : chosen->row_stream(row);
}

static void fence(void)
{
  chosen->fence();
  if (omp_get_thread_num() == 0) ended = 1;
  if (omp_get_thread_num() == 1) begun = 1;
  if (++fences < omp_get_num_threads()) return;
  memset(written, 0, sizeof written);
  begun = ended = fences = 0;
}

status_t __real_cpu_simd_choose(const struct cpu_simd **simd),
    __wrap_cpu_simd_choose(const struct cpu_simd **);
status_t __wrap_cpu_simd_choose(const struct cpu_simd **simd)
{
  static int usual;
  const char *threads = getenv("PACED");
  if (!usual) usual = omp_get_max_threads();
  omp_set_num_threads(threads ? atoi(threads) : usual);
  RETURN_IF_FAILED(__real_cpu_simd_choose(&chosen));
  paced = *chosen;
  paced.row_keep = row_keep;
  paced.row_stream = row_stream;
  paced.fence = fence;
  *simd = threads ? &paced : chosen;
  return STATUS_OK;
}

int main(void)
{
  struct kernel_subject subjects[MAX] = {{"cpu", "reference", NULL, NULL}};
  static const char *const wavefronts[] = {"wavefront", "wavefront3", "wavefront4"};
  const struct cpu_simd *simd;
  size_t n = 1;

  for (int level = 0; (simd = cpu_simd_at(level)); level++)
    if (simd->supported()) {
      subjects[n++] = (struct kernel_subject){"cpu", "stream", SETTING, simd->name};
      subjects[n++] = (struct kernel_subject){"cpu", "wavefront", SETTING, simd->name};
    }
  for (int fetch = 0; fetch < 2; fetch++) { /* without and with prefetches, as CPUs differ */
    const char *setting = fetch ? "1" : "0";
    subjects[n++] = (struct kernel_subject){"cpu", "stream", "HIMENO_CPU_FETCH", setting};
    subjects[n++] = (struct kernel_subject){"cpu", "wavefront3", "HIMENO_CPU_FETCH", setting};
  }
  for (int k = 0; k < 3; k++) {
    subjects[n++] = (struct kernel_subject){"cpu", wavefronts[k], NULL, NULL};
    /* many blocks */
    subjects[n++] = (struct kernel_subject){"cpu", wavefronts[k], "HIMENO_CPU_CACHE", "1"};
    subjects[n++] = (struct kernel_subject){"cpu", wavefronts[k], "PACED", "3"};
  }
  return kernels_run(subjects, n);
}
