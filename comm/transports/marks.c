/* SPDX-License-Identifier: MIT */
/* Device times of exchanges that pack halos and send them through the host. */
#include <string.h>

#include "comm/transports/buffered.h"

int buffered_is_marked(const struct buffered_fixed *fixed, int mark)
{
  if (mark == MARK_HERE) return fixed->incoming.pieces > 1;
  return fixed->packed.n > 0 || (mark != MARK_PACKED && mark != MARK_READY && mark != MARK_UNPACKED);
}

/* Adds an exchange's times per stage. The handover ends at IN without copies to the device, at
 * BACK with one piece, and otherwise at HERE, which is recorded in the idle queue `out`. */
static void stages_add(const struct buffered_fixed *fixed, struct buffered_clock *clock,
                       const double at[MARKS])
{
  enum buffered_mark here = fixed->kind == BUFFERED_DEVICE || fixed->incoming.n == 0 ? MARK_IN
                            : fixed->incoming.pieces == 1                            ? MARK_BACK
                                                                                     : MARK_HERE;
  const enum buffered_mark ends[HALO_STAGES] = {MARK_PACKED, MARK_OUT, here, MARK_IN, MARK_UNPACKED};
  double over = 0;
  for (int s = 0; s < HALO_STAGES; s++) {
    if (at[ends[s]] <= over) continue;
    clock->times.stages[s] += at[ends[s]] - over;
    over = at[ends[s]];
  }
}

static status_t marks_query(const struct buffered_fixed *fixed, struct buffered_clock *clock,
                            struct buffered_marks *marks)
{
  static const struct {
    enum halo_phase phase;
    enum buffered_mark begin, end;
  } spans[] = {{HALO_PACK, MARK_BEGIN, MARK_PACKED},
               {HALO_D2H, MARK_PACKED, MARK_OUT},
               {HALO_H2D, MARK_BACK, MARK_IN},
               {HALO_UNPACK, MARK_READY, MARK_UNPACKED}};
  double at[MARKS] = {0};
  if (!marks->used) return STATUS_OK;
  for (int m = MARK_BEGIN + 1; m < MARKS; m++)
    if (buffered_is_marked(fixed, m))
      RETURN_IF_FAILED(gpu_elapsed(marks->event[MARK_BEGIN], marks->event[m], &at[m]));
    else
      at[m] = m > MARK_IN ? at[m - 1] : 0;
  for (size_t s = 0; s < sizeof spans / sizeof spans[0]; s++)
    if (fixed->kind != BUFFERED_DEVICE || (spans[s].phase != HALO_D2H && spans[s].phase != HALO_H2D))
      clock->times.seconds[spans[s].phase] += at[spans[s].end] - at[spans[s].begin];
  stages_add(fixed, clock, at);
  clock->timed_lately++;
  marks->used = 0;
  return STATUS_OK;
}

void buffered_marks_choose(struct buffered_clock *clock)
{
  int timed = clock->times.exchanges % BUFFERED_TIMED == 0;
  clock->marks = timed ? &clock->ring[clock->timed++ % BUFFERED_EVENTS] : NULL;
}

status_t buffered_marks_renew(const struct buffered_fixed *fixed, struct buffered_clock *clock)
{
  return clock->marks ? marks_query(fixed, clock, &clock->ring[clock->timed % BUFFERED_EVENTS]) : STATUS_OK;
}

status_t buffered_mark(struct buffered_clock *clock, enum buffered_mark mark, struct gpu_queue *queue)
{
  return clock->marks ? gpu_record(clock->marks->event[mark], queue) : STATUS_OK;
}

status_t buffered_times(struct halo_exchange *exchange, struct halo_times *times)
{
  struct buffered_exchange *x = (struct buffered_exchange *)exchange;
  for (int r = 0; r < BUFFERED_EVENTS; r++)
    RETURN_IF_FAILED(marks_query(&x->fixed, &x->clock, &x->clock.ring[r]));
  double scale =
      x->clock.timed_lately > 0 ? (double)x->clock.times.exchanges / (double)x->clock.timed_lately : 0;
  for (int p = 0; p < HALO_PHASES; p++)
    times->seconds[p] += x->clock.times.seconds[p] * (p != HALO_WAIT && p != HALO_TRANSFER ? scale : 1);
  for (int s = 0; s < HALO_STAGES; s++) times->stages[s] += x->clock.times.stages[s] * scale;
  times->exchanges += x->clock.times.exchanges;
  x->clock.timed_lately = 0;
  memset(&x->clock.times, 0, sizeof x->clock.times);
  return STATUS_OK;
}
