/* SPDX-License-Identifier: MIT */
/* The CPU's ceilings: multiply-adds in registers, and reads of memory. */
#include "gemm/kernels/cpu/cpu_gemm.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/stats.h"
#include "gemm/kernels/cpu/micro.h"

#define SPIN_SECONDS    0.003
#define SPIN_ROUNDS     20
#define SPIN_ITERATIONS 5000
#define READ_FLOATS     ((int64_t)16 << 20)
#define READ_ROUNDS     3

/* Takes the best of several short rounds, because other programs occupy cores at times. */
static status_t spin_measure(enum gemm_type type, double *flops)
{
  const struct gemm_micro *micro;
  double best = 0;
  RETURN_IF_FAILED(gemm_micro_choose(type, &micro));
  for (int round = 0; round < SPIN_ROUNDS; round++) {
    double done = 0, begin = stats_now();
#pragma omp parallel reduction(+ : done)
    while (stats_now() - begin < SPIN_SECONDS) done += micro->spin(SPIN_ITERATIONS);
    best = fmax(best, done / (stats_now() - begin));
  }
  *flops = best;
  return STATUS_OK;
}

/* Each thread reads the part that it wrote, in memory of its NUMA node. This also measures OpenCL
 * devices that are CPUs, because OpenCL memory has no host address here. */
static status_t read_measure(struct gpu_device *device, double *bytes_per_second)
{
  void *memory;
  double best = INFINITY;
  int64_t total = 0;
  RETURN_IF_FAILED(gpu_alloc_host(device, (size_t)READ_FLOATS * sizeof(int), GPU_HOST_PAGEABLE, &memory));
  int *numbers = memory;
#pragma omp parallel for schedule(static)
  for (int64_t n = 0; n < READ_FLOATS; n++) numbers[n] = 1;
  for (int round = 0; round < READ_ROUNDS; round++) {
    int64_t sum = 0;
    double begin = stats_now();
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t n = 0; n < READ_FLOATS; n++) sum += numbers[n];
    best = fmin(best, stats_now() - begin);
    total += sum;
  }
  gpu_free_host(device, GPU_HOST_PAGEABLE, memory);
  if (total != READ_ROUNDS * READ_FLOATS)
    return log_fail(STATUS_FAULT, "host memory does not hold what was written");
  *bytes_per_second = (double)READ_FLOATS * sizeof *numbers / best;
  return STATUS_OK;
}

status_t gemm_cpu_ceilings(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                           struct gemm_ceilings *ceilings)
{
  struct gemm_ceilings found = {0};
  (void)queue;
  RETURN_IF_FAILED(spin_measure(type, &found.flops));
  RETURN_IF_FAILED(read_measure(device, &found.bytes_per_second));
  *ceilings = found;
  return STATUS_OK;
}
