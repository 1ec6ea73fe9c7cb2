/* SPDX-License-Identifier: MIT */
#include "judge/straggler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats.h"

#define SIMILAR       0.05   /* relative difference of bytes up to which ranks are similar */
#define NORMAL_MEDIAN 1.2533 /* standard deviation of the median of n values, times √n */

const char *const judge_of_names[] = {"compute", "exchange"};

static double straggler_time(const struct straggler_ranks *in, enum judge_of of, int rank, int block)
{
  const struct judge_block *b = &in->times[(size_t)rank * (size_t)in->blocks + (size_t)block];
  return of == JUDGE_COMPUTE ? b->compute / in->work[rank].points : b->exchange;
}

/* Returns whether two ranks' messages take the same paths; always 1 for computing. */
static int same_paths(enum judge_of of, const struct straggler_work *a, const struct straggler_work *b)
{
  return of == JUDGE_COMPUTE || (a->between == b->between && a->detours == b->detours);
}

/* Returns whether two ranks' sweeps should take the same time. */
static int straggler_similar(enum judge_of of, const struct straggler_work *a, const struct straggler_work *b)
{
  return same_paths(of, a, b) && a->neighbours == b->neighbours &&
         fabs(a->bytes - b->bytes) <= SIMILAR * fmax(a->bytes, b->bytes);
}

/* Returns the first rank similar to \a rank, which represents its group. */
static int first_similar(const struct straggler_ranks *in, enum judge_of of, int rank)
{
  int first = 0;
  while (!straggler_similar(of, &in->work[first], &in->work[rank])) first++;
  return first;
}

/* Returns the median time of \a rank and similar ranks in a block. If these are too few, all ranks
 * with the same paths count; 0 if even they are too few. */
static double straggler_typical(const struct straggler_ranks *in, enum judge_of of, int rank, int block,
                                double *scratch)
{
  int n = 0;
  const struct straggler_work *mine = &in->work[rank];
  for (int r = 0; r < in->ranks; r++)
    if (straggler_similar(of, &in->work[r], mine)) scratch[n++] = straggler_time(in, of, r, block);
  if (n < STRAGGLER_SIMILAR_MIN) {
    n = 0;
    for (int r = 0; r < in->ranks; r++)
      if (same_paths(of, &in->work[r], mine)) scratch[n++] = straggler_time(in, of, r, block);
  }
  return n < STRAGGLER_RANKS_MIN ? 0 : stats_summarise(scratch, (size_t)n).median;
}

/* Sets \a ratios [rank · blocks + block] to the rank's time relative to its group's median. */
static void ratios_fill(const struct straggler_ranks *in, enum judge_of of, double *ratios, double *scratch)
{
  double *median = scratch + in->ranks;
  for (int b = 0; b < in->blocks; b++) {
    for (int r = 0; r < in->ranks; r++) {
      int first = first_similar(in, of, r);
      median[r] = first == r ? straggler_typical(in, of, r, b, scratch) : median[first];
      ratios[(size_t)r * (size_t)in->blocks + (size_t)b] =
          median[r] > 0 ? straggler_time(in, of, r, b) / median[r] : 1;
    }
  }
}

/* `share` is the probability that a block exceeds the limit by chance, and `after` that for a block
 * after one that exceeds it: disturbances last. */
struct chance {
  double share, after;
};

static int straggler_beyond_count(const double *ratios, int blocks, double limit)
{
  int n = 0;
  for (int b = 0; b < blocks; b++) n += ratios[b] > limit;
  return n;
}

/* Estimates the probabilities from the blocks of ranks whose slowness is within the limit. */
static struct chance chance_of(const struct straggler_ranks *in, const double *ratios, const double *slowness,
                               double limit)
{
  double blocks = 0, beyond = 0, followed = 0, both = 0;
  for (int r = 0; r < in->ranks; r++) {
    const double *mine = ratios + (size_t)r * (size_t)in->blocks;
    if (slowness[r] > limit) continue;
    blocks += in->blocks;
    beyond += straggler_beyond_count(mine, in->blocks, limit);
    followed += straggler_beyond_count(mine, in->blocks - 1, limit);
    for (int b = 1; b < in->blocks; b++) both += mine[b - 1] > limit && mine[b] > limit;
  }
  double share = fmax(STRAGGLER_DISTURBED, beyond / blocks);
  return (struct chance){share, fmax(share, (both + share) / (followed + 1))};
}

/* Returns the probability that at least \a beyond of \a blocks blocks exceed the limit, by a Markov
 * chain of two states. p[at][n] is the probability that n blocks so far exceed it, and that the
 * last one does (at = 1) or does not (at = 0). */
static double probability(int beyond, int blocks, const struct chance *c)
{
  double p[2][blocks + 1], sum = 0;
  const double begins = c->share * (1 - c->after) / (1 - c->share);
  memset(p, 0, sizeof p);
  p[0][0] = 1 - c->share;
  p[1][1] = c->share;
  for (int b = 1; b < blocks; b++)
    for (int n = b + 1; n >= 0; n--) {
      double interpolated = p[0][n] * (1 - begins) + p[1][n] * (1 - c->after);
      p[1][n] = n > 0 ? p[0][n - 1] * begins + p[1][n - 1] * c->after : 0;
      p[0][n] = interpolated;
    }
  for (int n = beyond; n <= blocks; n++) sum += p[0][n] + p[1][n];
  return sum;
}

/* Returns the probability of a false alarm that each test of a run may have. */
static double alarms_each(int ranks)
{
  return STRAGGLER_ALARMS / (JUDGE_KINDS * (double)ranks);
}

int straggler_blocks_min(int ranks)
{
  return (int)ceil(log(alarms_each(ranks)) / log(STRAGGLER_DISTURBED));
}

/* Returns the standard deviation of a rank's slowness, the larger of two estimates: from the spread
 * between the ranks, and from a typical rank's noise, for a median over the blocks. */
static double deviation(const struct straggler_ranks *in, const double *ratios,
                        const struct stats_summary *slowness, double *scratch)
{
  for (int r = 0; r < in->ranks; r++)
    scratch[r] = stats_summarise(ratios + (size_t)r * (size_t)in->blocks, (size_t)in->blocks).mad;
  double within = stats_summarise(scratch, (size_t)in->ranks).median;
  return STATS_MAD_SIGMAS * fmax(slowness->mad, NORMAL_MEDIAN * within / sqrt(in->blocks));
}

static int find_kind(const struct straggler_ranks *in, enum judge_of of, double *ratios, double *scratch,
                     struct straggler *found, int capacity)
{
  int n = 0;
  double *slowness = scratch + in->ranks,
         least = of == JUDGE_COMPUTE ? STRAGGLER_LEAST_COMPUTE : STRAGGLER_LEAST_EXCHANGE;
  ratios_fill(in, of, ratios, scratch);
  for (int r = 0; r < in->ranks; r++)
    slowness[r] = stats_summarise(ratios + (size_t)r * (size_t)in->blocks, (size_t)in->blocks).median;
  struct stats_summary s = stats_summarise(slowness, (size_t)in->ranks);
  double limit = s.median + fmax(STRAGGLER_SIGMAS * deviation(in, ratios, &s, scratch), least * s.median);
  struct chance chance = chance_of(in, ratios, slowness, limit);
  for (int r = 0; r < in->ranks; r++) {
    int beyond = straggler_beyond_count(ratios + (size_t)r * (size_t)in->blocks, in->blocks, limit);
    if (slowness[r] <= limit || beyond < STRAGGLER_MOST * in->blocks) continue;
    if (probability(beyond, in->blocks, &chance) > alarms_each(in->ranks)) continue;
    if (n < capacity) found[n] = (struct straggler){r, of, slowness[r], limit, beyond};
    n++;
  }
  return n;
}

static int slower(const void *a, const void *b)
{
  const struct straggler *s = a, *t = b;
  if (s->of != t->of) return (int)s->of - (int)t->of;
  return (s->slowness < t->slowness) - (s->slowness > t->slowness);
}

int straggler_find(const struct straggler_ranks *in, struct straggler *found, int capacity)
{
  int n = 0;
  if (in->ranks < STRAGGLER_RANKS_MIN || in->blocks < straggler_blocks_min(in->ranks)) return 0;
  double *ratios = malloc(sizeof *ratios * (size_t)in->ranks * (size_t)in->blocks);
  double *scratch = malloc(sizeof *scratch * 2 * (size_t)in->ranks);
  for (int of = 0; ratios && scratch && of < JUDGE_KINDS; of++)
    n += find_kind(in, (enum judge_of)of, ratios, scratch, found + (n < capacity ? n : capacity),
                   n < capacity ? capacity - n : 0);
  if (!ratios || !scratch) n = -1;
  free(ratios);
  free(scratch);
  if (n > 0) qsort(found, (size_t)(n < capacity ? n : capacity), sizeof *found, slower);
  return n;
}
