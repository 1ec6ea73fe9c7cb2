/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "himeno/straggler.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"

#define ALIKE      0.05   /* relative difference of bytes */
#define NORMAL_MAD 1.4826 /* standard deviations in a MAD of normal values */

const char *straggler_of_name(enum straggler_of of)
{
  return of == STRAGGLER_COMPUTE ? "compute" : "exchange";
}

static double time_of(const struct straggler_ranks *in, enum straggler_of of, int rank, int block)
{
  const struct record_block *b = &in->times[(size_t)rank * (size_t)in->blocks + (size_t)block];
  return of == STRAGGLER_COMPUTE ? b->compute / in->work[rank].points : b->exchange;
}

/* Whether two ranks' sweeps should take the same time. */
static int alike(const struct straggler_work *a, const struct straggler_work *b)
{
  return a->neighbours == b->neighbours && fabs(a->bytes - b->bytes) <= ALIKE * fmax(a->bytes, b->bytes);
}

/* The first rank like \a rank, which stands for all of them. */
static int like_of(const struct straggler_ranks *in, int rank)
{
  int like = 0;
  while (!alike(&in->work[like], &in->work[rank])) like++;
  return like;
}

/* The usual time of \a rank and its like in a block. */
static double usual(const struct straggler_ranks *in, enum straggler_of of, int rank, int block,
                    double *scratch)
{
  int n = 0;
  for (int r = 0; r < in->ranks; r++)
    if (alike(&in->work[r], &in->work[rank])) scratch[n++] = time_of(in, of, r, block);
  if (n < STRAGGLER_ALIKE_MIN)
    for (n = 0; n < in->ranks; n++) scratch[n] = time_of(in, of, n, block);
  return stats_summarise(scratch, (size_t)n).median;
}

/* ratios: [rank · blocks + block]. */
static void ratios_fill(const struct straggler_ranks *in, enum straggler_of of, double *ratios,
                        double *scratch)
{
  double *median = scratch + in->ranks;
  for (int b = 0; b < in->blocks; b++) {
    for (int r = 0; r < in->ranks; r++) {
      int like = like_of(in, r);
      median[r] = like == r ? usual(in, of, r, b, scratch) : median[like];
      ratios[(size_t)r * (size_t)in->blocks + (size_t)b] =
          median[r] > 0 ? time_of(in, of, r, b) / median[r] : 1;
    }
  }
}

static int beyond_count(const double *ratios, int blocks, double limit)
{
  int n = 0;
  for (int b = 0; b < blocks; b++) n += ratios[b] > limit;
  return n;
}

static int find_kind(const struct straggler_ranks *in, enum straggler_of of, double *ratios, double *scratch,
                     struct straggler *found, int room)
{
  int n = 0;
  double least = of == STRAGGLER_COMPUTE ? STRAGGLER_LEAST_COMPUTE : STRAGGLER_LEAST_EXCHANGE;
  ratios_fill(in, of, ratios, scratch);
  for (int r = 0; r < in->ranks; r++)
    scratch[r] = stats_summarise(ratios + (size_t)r * (size_t)in->blocks, (size_t)in->blocks).median;
  struct stats_summary s = stats_summarise(scratch, (size_t)in->ranks);
  double limit = s.median + fmax(STRAGGLER_SIGMAS * NORMAL_MAD * s.mad, least * s.median);
  for (int r = 0; r < in->ranks; r++) {
    if (scratch[r] <= limit) continue;
    if (n < room)
      found[n] = (struct straggler){r, of, scratch[r], limit,
                                    beyond_count(ratios + (size_t)r * (size_t)in->blocks, in->blocks, limit)};
    n++;
  }
  return n;
}

static int slower(const void *a, const void *b)
{
  const struct straggler *s = a, *t = b;
  if (s->of != t->of) return s->of < t->of ? -1 : 1;
  return (s->slowness < t->slowness) - (s->slowness > t->slowness);
}

int straggler_find(const struct straggler_ranks *in, struct straggler *found, int room)
{
  int n = 0;
  if (in->ranks < STRAGGLER_RANKS_MIN || in->blocks < 1) return 0;
  double *ratios = malloc(sizeof *ratios * (size_t)in->ranks * (size_t)in->blocks);
  double *scratch = malloc(sizeof *scratch * 2 * (size_t)in->ranks);
  for (int of = 0; ratios && scratch && of < STRAGGLER_KINDS; of++)
    n += find_kind(in, (enum straggler_of)of, ratios, scratch, found + (n < room ? n : room),
                   n < room ? room - n : 0);
  if (!ratios || !scratch) n = -1;
  free(ratios);
  free(scratch);
  if (n > 0) qsort(found, (size_t)(n < room ? n : room), sizeof *found, slower);
  return n;
}
