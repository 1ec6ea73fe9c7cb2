/* SPDX-License-Identifier: MIT */
/** \file \brief Times of blocks on a simulated machine with equal devices and links, except for
 * noise and planted faults. The faults are below the code that detects them. */
#ifndef TESTS_UNIT_MACHINE_H
#define TESTS_UNIT_MACHINE_H

#include <math.h>

#include "base/hash.h"
#include "comm/halo/halo.h"
#include "himeno/problem.h"
#include "judge/straggler.h"

#define MACHINE_RANKS_MAX        512
#define MACHINE_BYTES_PER_SECOND 2e10 /* bandwidth of a device's memory, and of a link */
#define MACHINE_MESSAGE_SECONDS  1e-6
#define MACHINE_CEILING_SHARE    0.98 /* share of the ceiling that a sweep reaches */
#define MACHINE_NOISE            0.003

struct machine {
  uint64_t seed;
  double device[MACHINE_RANKS_MAX]; /**< factor by which each device is slower; 0 counts as 1 */
  int a, b;                         /**< the ranks at the ends of a slow link */
  double link;                      /**< times slower */
};

/** \brief Returns the noise of a part of a rank's block: nearly normal with mean 1, from a sum of
 * twelve uniform numbers. Parts are independent. */
static inline double machine_noise(uint64_t seed, int rank, long number, int part, double deviation)
{
  double sum = -6;
  const uint64_t state = hash_mix(seed) + (uint64_t)rank * 1000003u + (uint64_t)number * 101u;
  for (int n = 0; n < 12; n++)
    sum += (double)(hash_mix(state + (uint64_t)(part * 12 + n) * 7919u) >> 11) * 0x1p-53;
  return fmax(0.05, 1 + deviation * sum);
}

static inline double machine_device(const struct machine *machine, int rank)
{
  return machine->device[rank] > 0 ? machine->device[rank] : 1;
}

/** \brief Returns the seconds of a message of \a bytes from rank \a a to rank \a b. */
static inline double machine_message(const struct machine *machine, int a, int b, double bytes)
{
  const int is_slow = (a == machine->a && b == machine->b) || (a == machine->b && b == machine->a);
  return (MACHINE_MESSAGE_SECONDS + bytes / MACHINE_BYTES_PER_SECOND) *
         (is_slow && machine->link > 0 ? machine->link : 1);
}

/** \brief Returns the seconds per sweep of a rank's block: compute and exchange. */
static inline struct judge_block machine_block(const struct machine *machine, int rank, long number,
                                               double points, const struct halo_plan *plan)
{
  double exchange = 0;
  for (int m = 0; m < plan->n; m++)
    exchange += machine_message(machine, rank, plan->messages[m].peer,
                                (double)plan->messages[m].count * sizeof(float));
  return (struct judge_block){points * HIMENO_BYTES_PER_POINT / MACHINE_BYTES_PER_SECOND *
                                  machine_device(machine, rank) *
                                  machine_noise(machine->seed, rank, number, 0, MACHINE_NOISE),
                              exchange * machine_noise(machine->seed, rank, number, 1, MACHINE_NOISE)};
}

#endif
