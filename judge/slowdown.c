/* SPDX-License-Identifier: MIT */
#include "judge/slowdown.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"

#define DRAGGED 1.5 /* minimum excess slowness, as a multiple of that of a rank that waits */

/* One rank's times of computing or of exchange, per block. */
struct slowdown_series {
  const struct judge_block *blocks;
  const struct judge_end *ends;
  int n, rank;
  enum judge_of of;
  double typical, limit, alarms;
  char *beyond; /* per block: exceeds the limit and belongs to no slowdown yet */
  double *scratch;
};

static double slowdown_seconds(const struct slowdown_series *l, int block)
{
  return l->of == JUDGE_COMPUTE ? l->blocks[block].compute : l->blocks[block].exchange;
}

static void limit_set(struct slowdown_series *l)
{
  double least = l->of == JUDGE_COMPUTE ? STRAGGLER_LEAST_COMPUTE : STRAGGLER_LEAST_EXCHANGE;
  for (int b = 0; b < l->n; b++) l->scratch[b] = slowdown_seconds(l, b);
  struct stats_summary s = stats_summarise(l->scratch, (size_t)l->n);
  l->typical = s.median;
  l->limit = s.median * (1 + fmax(SLOWDOWN_SIGMAS * stats_noise(&s), least));
  for (int b = 0; b < l->n; b++) l->beyond[b] = l->typical > 0 && slowdown_seconds(l, b) > l->limit;
}

/* A range of blocks, both ends included; empty if last < first. */
struct stretch {
  int first, last;
};

static struct stretch stretch_longest(const struct slowdown_series *l)
{
  struct stretch longest = {0, -1}, now = {0, -3};
  for (int b = 0; b < l->n; b++) {
    if (!l->beyond[b]) continue;
    if (now.last < b - 2) now.first = b;
    now.last = b;
    if (now.last - now.first > longest.last - longest.first) longest = now;
  }
  return longest;
}

static int slowdown_beyond_count(const struct slowdown_series *l, struct stretch s)
{
  int n = 0;
  for (int b = s.first; b <= s.last; b++) n += l->beyond[b];
  return n;
}

/* Returns the probability that \a beyond blocks exceed the limit by chance. The probability for one
 * block is the share of blocks outside of the stretch that exceed it. */
static double chance(const struct slowdown_series *l, struct stretch s, int beyond)
{
  int outside = l->n - (s.last - s.first + 1);
  int others = slowdown_beyond_count(l, (struct stretch){0, l->n - 1}) - slowdown_beyond_count(l, s);
  double share = outside > 0 ? (double)others / outside : 0;
  return pow(fmax(SLOWDOWN_DISTURBED, share), beyond);
}

/* Returns the time at which a block began: the end of the previous block in the series. */
static double slowdown_begin(const struct slowdown_series *l, int block)
{
  return block > 0 ? l->ends[block - 1].end : 0;
}

/* Returns the stretch that begins (step 1) or ends (−1) with a block above the limit. */
static struct stretch stretch_from(const struct slowdown_series *l, int block, int step)
{
  int end = block;
  for (int b = block; b >= 0 && b < l->n && abs(b - end) <= 2; b += step)
    if (l->beyond[b]) end = b;
  return step > 0 ? (struct stretch){block, end} : (struct stretch){end, block};
}

static struct stretch stretch_both(struct stretch a, struct stretch b)
{
  return (struct stretch){a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
}

static double pause_between(const struct slowdown_series *l, struct stretch s, int block)
{
  return block > s.last ? slowdown_begin(l, block) - l->ends[s.last].end
                        : slowdown_begin(l, s.first) - l->ends[block].end;
}

/* Adds the later stretches (step 1) or the earlier ones (−1) if only short pauses are between. */
static struct stretch stretch_joined(const struct slowdown_series *l, struct stretch s, int step)
{
  int from = step > 0 ? s.last + 1 : s.first - 1;
  for (int b = from; b >= 0 && b < l->n && pause_between(l, s, b) < SLOWDOWN_PAUSE; b += step) {
    if (!l->beyond[b]) continue;
    struct stretch next = stretch_from(l, b, step), both = stretch_both(s, next);
    if (chance(l, both, slowdown_beyond_count(l, next)) <= SLOWDOWN_RETURN) s = both;
    b = step > 0 ? next.last : next.first;
  }
  return s;
}

static struct slowdown slowdown_of(const struct slowdown_series *l, struct stretch s, int beyond)
{
  int n = s.last - s.first + 1;
  for (int b = 0; b < n; b++) l->scratch[b] = slowdown_seconds(l, s.first + b);
  double median = stats_summarise(l->scratch, (size_t)n).median;
  return (struct slowdown){.rank = l->rank,
                           .of = l->of,
                           .slowness = median / l->typical,
                           .begin = slowdown_begin(l, s.first),
                           .end = l->ends[s.last].end,
                           .first = s.first > 0 ? l->ends[s.first - 1].block + 1 : 0,
                           .last = l->ends[s.last].block,
                           .beyond = beyond,
                           .blocks = n};
}

static int series_search(struct slowdown_series *l, struct slowdown *found, int capacity)
{
  int n = 0;
  limit_set(l);
  for (struct stretch s = stretch_longest(l); s.last > s.first; s = stretch_longest(l)) {
    if (chance(l, s, slowdown_beyond_count(l, s)) > l->alarms) break;
    s = stretch_joined(l, stretch_joined(l, s, 1), -1);
    struct slowdown e = slowdown_of(l, s, slowdown_beyond_count(l, s));
    if (e.end - e.begin >= SLOWDOWN_SECONDS) {
      if (n < capacity) found[n] = e;
      n++;
    }
    for (int b = s.first; b <= s.last; b++) l->beyond[b] = 0;
  }
  return n;
}

/* Returns whether rank e->rank only waited for another rank, which computed slowly for at least
 * half of the slowdown \a e: \a e is in exchange, or in computing and much smaller. */
static int is_dragged(const struct slowdown *e, const struct slowdown *by)
{
  double common = fmin(e->end, by->end) - fmax(e->begin, by->begin);
  if (by->rank == e->rank || by->of != JUDGE_COMPUTE || common < 0.5 * (e->end - e->begin)) return 0;
  return e->of == JUDGE_EXCHANGE || by->slowness - 1 > DRAGGED * (e->slowness - 1);
}

/* Removes slowdowns of ranks that only waited for a slow rank. Returns how many of \a n remain. */
static int dragged_drop(struct slowdown *found, int n)
{
  int left = 0;
  char dropped[n + 1];
  for (int e = 0; e < n; e++) {
    dropped[e] = 0;
    for (int by = 0; by < n; by++) dropped[e] |= is_dragged(&found[e], &found[by]);
  }
  for (int e = 0; e < n; e++)
    if (!dropped[e]) found[left++] = found[e];
  return left;
}

int slowdown_find(const struct slowdown_ranks *in, struct slowdown *found, int capacity)
{
  int n = 0;
  size_t blocks = (size_t)in->blocks;
  struct slowdown_series l = {.ends = in->ends, .n = in->blocks, .beyond = calloc(blocks + 1, 1)};
  l.alarms = SLOWDOWN_ALARMS / (JUDGE_KINDS * (double)in->ranks * fmax(in->blocks, 1));
  l.scratch = malloc(sizeof *l.scratch * (blocks + 1));
  for (int r = 0; l.beyond && l.scratch && r < in->ranks; r++)
    for (int of = 0; of < JUDGE_KINDS; of++) {
      l.blocks = in->times + (size_t)r * blocks;
      l.rank = r;
      l.of = (enum judge_of)of;
      n += series_search(&l, found + (n < capacity ? n : capacity), n < capacity ? capacity - n : 0);
    }
  if (n <= capacity) n = dragged_drop(found, n);
  if (!l.beyond || !l.scratch) n = -1;
  free(l.beyond);
  free(l.scratch);
  return n;
}
