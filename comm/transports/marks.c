/* SPDX-License-Identifier: MIT */
/* The device's times of exchanges that pack halos and send them through the host. */
#include <string.h>

#include "comm/transports/buffered.h"

int buffered_is_marked(const struct halo_exchange *x, int mark)
{
  if (mark == MARK_HERE) return x->incoming.pieces > 1;
  return x->packed.n > 0 || (mark != MARK_PACKED && mark != MARK_READY && mark != MARK_UNPACKED);
}

/* HERE is recorded in the queue that is idle by then, and where one piece comes in BACK says it. */
static void stages_add(struct halo_exchange *x, const double at[MARKS])
{
  enum buffered_mark here = x->kind == BUFFERED_DEVICE || x->incoming.n == 0 ? MARK_IN
                            : x->incoming.pieces == 1                        ? MARK_BACK
                                                                             : MARK_HERE;
  const enum buffered_mark ends[HALO_STAGES] = {MARK_PACKED, MARK_OUT, here, MARK_IN, MARK_UNPACKED};
  double over = 0;
  for (int s = 0; s < HALO_STAGES; s++) {
    if (at[ends[s]] <= over) continue;
    x->times.stages[s] += at[ends[s]] - over;
    over = at[ends[s]];
  }
}

static status_t marks_query(struct halo_exchange *x, struct buffered_marks *marks)
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
    if (buffered_is_marked(x, m))
      RETURN_IF_FAILED(gpu_elapsed(marks->event[MARK_BEGIN], marks->event[m], &at[m]));
    else
      at[m] = m > MARK_IN ? at[m - 1] : 0;
  for (size_t s = 0; s < sizeof spans / sizeof spans[0]; s++)
    if (x->kind != BUFFERED_DEVICE || (spans[s].phase != HALO_D2H && spans[s].phase != HALO_H2D))
      x->times.seconds[spans[s].phase] += at[spans[s].end] - at[spans[s].begin];
  stages_add(x, at);
  x->timed_lately++;
  marks->used = 0;
  return STATUS_OK;
}

void buffered_marks_choose(struct halo_exchange *x)
{
  int timed = x->times.exchanges % BUFFERED_TIMED == 0;
  x->marks = timed ? &x->ring[x->timed++ % BUFFERED_EVENTS] : NULL;
}

status_t buffered_marks_renew(struct halo_exchange *x)
{
  return x->marks ? marks_query(x, &x->ring[x->timed % BUFFERED_EVENTS]) : STATUS_OK;
}

status_t buffered_mark(struct halo_exchange *x, enum buffered_mark mark, struct gpu_queue *queue)
{
  return x->marks ? gpu_record(x->marks->event[mark], queue) : STATUS_OK;
}

static int on_device(int phase)
{
  return phase != HALO_WAIT && phase != HALO_TRANSFER;
}

status_t buffered_times(struct halo_exchange *x, struct halo_times *times)
{
  for (int r = 0; r < BUFFERED_EVENTS; r++) RETURN_IF_FAILED(marks_query(x, &x->ring[r]));
  double scale = x->timed_lately > 0 ? (double)x->times.exchanges / (double)x->timed_lately : 0;
  for (int p = 0; p < HALO_PHASES; p++) times->seconds[p] += x->times.seconds[p] * (on_device(p) ? scale : 1);
  for (int s = 0; s < HALO_STAGES; s++) times->stages[s] += x->times.stages[s] * scale;
  times->exchanges += x->times.exchanges;
  x->timed_lately = 0;
  memset(&x->times, 0, sizeof x->times);
  return STATUS_OK;
}
