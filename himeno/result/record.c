/* SPDX-License-Identifier: MIT */
#include "himeno/result/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/stats.h"

/* Maximum share of the time for reading the device's state. */
#define READ_SHARE 0.05

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

/* Reads the cards' errors. A card that was not there before counts from zero; cards without a PCI
 * address are software devices and are skipped. */
static void card_errors_read(struct record *r, const struct telemetry_state *before,
                             struct telemetry_state *state)
{
  struct cards now;
  int64_t most = 0;
  cards_read("", &now);
  state->card_errors = before->card_errors;
  memcpy(state->card, before->card, sizeof state->card);
  for (int n = 0; n < now.n; n++) {
    const struct card *card = &now.card[n], *was = cards_find(r->cards, card->name);
    const int64_t rise = was ? card->errors - was->errors : 0;
    if (!card->pci[0]) continue;
    state->card_errors = (state->card_errors < 0 ? 0 : state->card_errors) + (rise > 0 ? rise : 0);
    if (rise <= most) continue;
    most = rise;
    snprintf(state->card, sizeof state->card, "%s", card->name);
  }
  *r->cards = now;
}

static double state_read(struct record *r, struct telemetry_state *state)
{
  const struct telemetry_state before = *state;
  double begin = stats_now();
  telemetry_state(r->device, state);
  if (r->cards) card_errors_read(r, &before, state);
  r->telemetry.starved = starvation_share(r->starvation);
  r->read_at = stats_now();
  return r->read_at - begin;
}

status_t record_open(const struct placement *placement, struct record **record)
{
  struct record *r = calloc(1, sizeof *r);
  const int with_cards = placement->host_rank == 0;
  if (r) r->device = telemetry_open(placement->info.pci);
  if (r && with_cards) r->cards = calloc(1, sizeof *r->cards);
  if (!r || !r->device || (with_cards && !r->cards)) {
    record_close(r);
    return log_fail(STATUS_ENVIRONMENT, "out of host memory for records of blocks");
  }
  for (r->most = RECORDS_MAX; r->most > RECORDS_MIN && r->most * placement->ranks > RECORDS_ALL;)
    r->most /= 2;
  r->stride = 1;
  snprintf(r->telemetry.source, sizeof r->telemetry.source, "%s", telemetry_source(r->device));
  r->telemetry.before.card_errors = TELEMETRY_UNKNOWN;
  r->read_seconds = state_read(r, &r->telemetry.before);
  r->telemetry.after = r->telemetry.before;
  r->telemetry.crc_rate = TELEMETRY_UNKNOWN;
  r->before_last = r->last = (struct record_crc){r->read_at, r->telemetry.before.nvlink_crc};
  series_open(&r->series, placement->ranks);
  *record = r;
  return STATUS_OK;
}

void record_begin(struct record *record)
{
  starvation_end(record->starvation);
  record->starvation = starvation_begin();
}

void record_close(struct record *record)
{
  if (!record) return;
  starvation_end(record->starvation);
  telemetry_close(record->device);
  free(record->throttled);
  free(record->cards);
  free(record);
}

static void widen(double value, double *low, double *high)
{
  if (value < 0) return;
  if (*low < 0 || value < *low) *low = value;
  if (value > *high) *high = value;
}

static void widen_int(int value, int *low, int *high)
{
  double l = *low, h = *high;
  widen(value, &l, &h);
  *low = (int)l, *high = (int)h;
}

static void range_widen(struct record_telemetry *t, const struct telemetry_sample *by)
{
  widen(by->watts, &t->low.watts, &t->high.watts);
  widen_int(by->sm_mhz, &t->low.sm_mhz, &t->high.sm_mhz);
  widen_int(by->memory_mhz, &t->low.memory_mhz, &t->high.memory_mhz);
  widen_int(by->celsius, &t->low.celsius, &t->high.celsius);
}

static void telemetry_add(struct record_telemetry *t, const struct telemetry_sample *now)
{
  if (now->watts < 0 && now->sm_mhz < 0 && now->celsius < 0 && now->throttle < 0) return;
  if (t->samples++ == 0) t->low = t->high = *now;
  range_widen(t, now);
  if (now->throttle <= 0) return;
  t->throttled++;
  for (int b = 0; b < THROTTLE_BITS; b++) t->by_reason[b] += now->throttle >> b & 1;
}

static void record_block_add(struct record *r, const struct solver_block *block)
{
  const double *p = block->phases;
  const double now = stats_now();
  if (r->n_throttled == 0) r->began = now - block->seconds;
  if (++r->skipped < r->stride) return;
  r->skipped = 0;
  if (r->n == r->most) {
    for (int b = 0; b < r->most / 2; b++) {
      r->blocks[b] = r->blocks[2 * b + 1];
      r->when[b] = r->when[2 * b + 1];
    }
    r->n = r->most / 2;
    r->stride *= 2;
  }
  r->when[r->n] = (struct record_when){now - r->began, r->n_throttled};
  r->blocks[r->n++] = (struct record_block){
      p[PHASE_INTERIOR] + p[PHASE_BOUNDARY],
      p[PHASE_PACK] + p[PHASE_D2H] + p[PHASE_TRANSFER] + p[PHASE_H2D] + p[PHASE_UNPACK], block->waited};
}

static void record_poll(struct record *r)
{
  struct record_telemetry *t = &r->telemetry;
  struct telemetry_state before = t->after;
  r->read_seconds = state_read(r, &t->after);
  for (enum telemetry_fact f = 0; f < TELEMETRY_FACTS; f++) {
    int64_t from = telemetry_fact(&before, f), to = telemetry_fact(&t->after, f);
    int block = r->series.blocks > 0 ? r->series.blocks - 1 : 0;
    struct record_change change = {block, f, from, to, ""};
    telemetry_fact_detail(&t->after, f, change.detail);
    if (from != to && t->n_changes++ < RECORD_CHANGES_MAX) r->changes[t->n_changes - 1] = change;
  }
}

static void rate_add(struct record *r, const struct record_crc *since)
{
  const double seconds = fmax(RECORD_RATE_SECONDS, r->read_at - since->when);
  const int64_t errors = r->telemetry.after.nvlink_crc;
  if (since->errors < 0 || errors < since->errors) return;
  r->telemetry.crc_rate = fmax(r->telemetry.crc_rate, (double)(errors - since->errors) / seconds);
}

status_t record_add(struct record *r, const struct solver_block *block)
{
  telemetry_read(r->device, &r->now);
  telemetry_add(&r->telemetry, &r->now);
  series_add(&r->series, &r->now);
  if ((stats_now() - r->read_at) * READ_SHARE >= r->read_seconds) {
    record_poll(r);
    /* A period of the error rate lasts RECORD_RATE_SECONDS, and ends at the next reading. */
    if (r->read_at - r->last.when >= RECORD_RATE_SECONDS) {
      rate_add(r, &r->last);
      r->before_last = r->last;
      r->last = (struct record_crc){r->read_at, r->telemetry.after.nvlink_crc};
    }
  }
  record_block_add(r, block);
  return stats_add(&r->throttled, &r->n_throttled, r->now.throttle > 0);
}

/* The rest of a run is too short for an error rate of its own: add the last whole period to it. */
void record_finish(struct record *record)
{
  record_poll(record);
  rate_add(record, &record->before_last);
  record->telemetry.each = record->series.each;
  record->telemetry.rows = series_rows(&record->series);
}

void record_merge(struct record_telemetry *all, const struct record_telemetry *other)
{
  if (other->samples == 0) return;
  if (all->samples == 0) *all = *other;
  all->samples += other->samples;
  range_widen(all, &other->low);
  range_widen(all, &other->high);
}

int64_t record_rise(const struct record_telemetry *telemetry, enum telemetry_fact counter)
{
  const int64_t from = telemetry_fact(&telemetry->before, counter),
                to = telemetry_fact(&telemetry->after, counter);
  return from < 0 || to < 0 ? TELEMETRY_UNKNOWN : to > from ? to - from : 0;
}

int record_reasons(const struct record_telemetry *telemetry)
{
  int reasons = 0;
  for (int b = 0; b < THROTTLE_BITS; b++)
    if (telemetry->by_reason[b]) reasons |= 1 << b;
  return reasons;
}
