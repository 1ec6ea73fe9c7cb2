/* SPDX-License-Identifier: MIT */
#include "suite/series.h"

void series_open(struct series *series, int ranks)
{
  int most = SERIES_ROWS_ALL / ranks & ~1;
  if (most > SERIES_ROWS_MAX) most = SERIES_ROWS_MAX;
  if (most < SERIES_ROWS_MIN) most = SERIES_ROWS_MIN;
  series->most = most;
  series->each = 1;
  series->blocks = 0;
}

int series_rows(const struct series *series)
{
  return (series->blocks + series->each - 1) / series->each;
}

static void series_least(int *value, int other)
{
  if (*value < 0 || (other >= 0 && other < *value)) *value = other;
}

void series_worst(struct telemetry_sample *worst, const struct telemetry_sample *other)
{
  if (other->watts > worst->watts) worst->watts = other->watts;
  if (other->celsius > worst->celsius) worst->celsius = other->celsius;
  series_least(&worst->sm_mhz, other->sm_mhz);
  series_least(&worst->memory_mhz, other->memory_mhz);
  if (worst->throttle < 0)
    worst->throttle = other->throttle;
  else if (other->throttle > 0)
    worst->throttle |= other->throttle;
}

static void fold(struct series *s)
{
  for (int r = 0; r < s->most / 2; r++) {
    s->rows[r] = s->rows[2 * r];
    series_worst(&s->rows[r], &s->rows[2 * r + 1]);
  }
  s->each *= 2;
}

void series_add(struct series *series, const struct telemetry_sample *sample)
{
  if (series->blocks == series->most * series->each) fold(series);
  struct telemetry_sample *row = &series->rows[series->blocks / series->each];
  if (series->blocks++ % series->each == 0)
    *row = *sample;
  else
    series_worst(row, sample);
}
