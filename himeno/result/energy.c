/* SPDX-License-Identifier: MIT */
/* The energy of a device's sweeps, by its counter. The counter advances in steps, so a window
 * begins and ends directly after a step. Idle power is measured before the window, and subtracted
 * for the part of the window without sweeps. */
#include "himeno/result/ranks.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/stats.h"

/* Idle power is measured in windows until two consecutive ones agree, because a counter may lag;
 * otherwise the last one is used. A window is at least one step of NVML's counter, a tenth of a
 * second. */
#define IDLE_SECONDS     0.08
#define IDLE_SECONDS_MAX 1.0
#define IDLE_AGREES      0.04
/* A counter that does not change in this many reads, a second or more, is not used. */
#define READS        1000
#define READ_SECONDS 1e-3

/* Waits for the counter's next step and sets its value and time. Returns 0 if there is no step. */
static int step_await(struct telemetry *telemetry, double *joules, double *when)
{
  const struct timespec pause = {.tv_nsec = (long)(1e9 * READ_SECONDS)};
  double before, now;
  if (!telemetry_joules(telemetry, &before)) return 0;
  for (int read = 0; read < READS; read++) {
    nanosleep(&pause, NULL);
    if (!telemetry_joules(telemetry, &now)) return 0;
    if (now == before) continue;
    *joules = now;
    *when = stats_now();
    return 1;
  }
  return 0;
}

/* Measures idle power, from one step to another. The window of the sweeps begins at the last step.
 * Returns 0 if the counter fails. */
static int idle_measure(struct telemetry *telemetry, struct energy *e, double *joules, double *when)
{
  const double end = *when + IDLE_SECONDS_MAX;
  double before = -1, watts = -1;
  for (int agree = 0; !agree && *when < end; before = watts) {
    const double first = *joules, begin = *when;
    while (*when - begin < IDLE_SECONDS)
      if (!step_await(telemetry, joules, when)) return 0;
    watts = (*joules - first) / (*when - begin);
    agree = fabs(watts - before) <= IDLE_AGREES * before;
    e->idle_watts = agree ? (watts + before) / 2 : watts;
  }
  return 1;
}

void energy_begin(struct telemetry *telemetry, double wanted, struct energy *energy)
{
  struct energy e = {.idle_watts = -1, .counted = -1};
  double joules = 0;
  const char *scope = telemetry_joules(telemetry, &joules);
  if (scope) snprintf(e.scope, sizeof e.scope, "%s", scope);
  e.begin = stats_now();
  if (scope && (wanted < 0 || wanted >= ENERGY_SECONDS_MIN)) {
    int steps = step_await(telemetry, &joules, &e.begin);
    if (steps && wanted >= 0) steps = idle_measure(telemetry, &e, &joules, &e.begin);
    if (!steps) e.scope[0] = 0;
    e.counted = joules;
  }
  *energy = e;
}

void energy_add(struct energy *energy, const struct solver_block *block)
{
  energy->sweeping += block->seconds;
  energy->sweeps += block->sweeps;
}

void energy_end(struct telemetry *telemetry, struct energy *e)
{
  double joules = 0, when = stats_now();
  const int counted = e->scope[0] && e->counted >= 0;
  if (counted && !step_await(telemetry, &joules, &when)) e->scope[0] = 0;
  e->joules = counted && e->scope[0] ? joules - e->counted : 0;
  e->seconds = when - e->begin;
}
