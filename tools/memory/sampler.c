/* SPDX-License-Identifier: MIT */
#include "tools/memory/sampler.h"
#include "suite/progress.h"

#include <math.h>

#define GPU_SAMPLE_SECONDS 1e-3
#define CPU_SAMPLE_SECONDS 2e-3
#define REPEATS_MAX        1000
/** Share of the time in which a device warms up before samples count. In this time its clocks rise,
 * and the driver clears freed memory. */
#define SETTLE_SHARE 0.02
#define SETTLE_AGREE 0.01
#define SETTLE_LAST  3

status_t sampler_open(struct gpu_device *device, struct sampler *sampler)
{
  status_t status;
  struct sampler s = {.sample_seconds = device->info.is_cpu ? CPU_SAMPLE_SECONDS : GPU_SAMPLE_SECONDS};
  TRY(gpu_queue_create(device, GPU_NORMAL, &s.queue), fail);
  TRY(gpu_event_create(device, &s.begin), fail);
  TRY(gpu_event_create(device, &s.end), fail);
  *sampler = s;
  return STATUS_OK;
fail:
  sampler_close(&s);
  return status;
}

void sampler_close(struct sampler *sampler)
{
  gpu_event_destroy(sampler->end);
  gpu_event_destroy(sampler->begin);
  gpu_queue_destroy(sampler->queue);
}

static status_t sampler_timed(struct sampler *s, struct sampler_item *item, int repeats, double *seconds)
{
  RETURN_IF_FAILED(gpu_record(s->begin, s->queue));
  for (int r = 0; r < repeats; r++) RETURN_IF_FAILED(item->run(item->context));
  RETURN_IF_FAILED(gpu_record(s->end, s->queue));
  RETURN_IF_FAILED(gpu_sync(s->queue));
  return gpu_elapsed(s->begin, s->end, seconds);
}

/* Warms an item up and sets its repeats. A time of 0, below a clock's tick, counts as 1 us. */
static status_t sampler_prepare(struct sampler *s, struct sampler_item *item)
{
  double seconds;
  item->n = 0;
  item->quiet = 0;
  RETURN_IF_FAILED(sampler_timed(s, item, 1, &seconds));
  if (item->repeats) return STATUS_OK;
  if (seconds < s->sample_seconds) RETURN_IF_FAILED(sampler_timed(s, item, 2, &seconds));
  double wanted = ceil(s->sample_seconds / fmax(seconds / 2, 1e-6));
  item->repeats = (int)fmin(fmax(wanted, 1), REPEATS_MAX);
  return STATUS_OK;
}

static status_t sample(struct sampler *s, struct sampler_item *item)
{
  double seconds;
  RETURN_IF_FAILED(sampler_timed(s, item, item->repeats, &seconds));
  item->samples[item->n++] = item->work * item->repeats / fmax(seconds, 1e-9);
  item->rate = stats_summarise(item->samples, (size_t)item->n);
  /* The relative standard error of the median; stats_noise estimates σ. */
  const double error = 1.2533 * stats_noise(&item->rate) / sqrt(item->n);
  item->quiet = item->n >= SAMPLES_MIN && error < SAMPLER_QUIET;
  return STATUS_OK;
}

/* Runs one item for at least \a seconds, until its samples agree or 4 × \a seconds are over. */
static status_t sampler_settle(struct sampler *s, struct sampler_item *item, double seconds)
{
  double last[SETTLE_LAST] = {0}, begin = stats_now(), past = 0;
  for (int n = 0; past < 4 * seconds; n++) {
    RETURN_IF_FAILED(sampler_timed(s, item, item->repeats, &last[n % SETTLE_LAST]));
    past = stats_now() - begin;
    struct stats_summary agree = stats_summarise(last, SETTLE_LAST);
    if (n >= SETTLE_LAST && past > seconds && agree.max < agree.min * (1 + SETTLE_AGREE)) break;
  }
  return STATUS_OK;
}

status_t sampler_run(struct sampler *sampler, struct sampler_item *items, int n, double seconds)
{
  double begin = stats_now();
  for (int i = 0; i < n; i++) {
    RETURN_IF_FAILED(sampler_prepare(sampler, &items[i]));
    progress_tick();
  }
  if (n > 0) RETURN_IF_FAILED(sampler_settle(sampler, &items[0], SETTLE_SHARE * seconds));
  for (int round = 0; round < SAMPLES_MAX; round++) {
    int left = 0;
    if (round >= SAMPLES_MIN && stats_now() - begin > seconds) break;
    for (int i = 0; i < n; i++) {
      struct sampler_item *item = &items[(i + round) % n];
      if (item->quiet) continue;
      RETURN_IF_FAILED(sample(sampler, item));
      left += !item->quiet;
      progress_tick();
    }
    if (!left) break;
  }
  return STATUS_OK;
}
