/* SPDX-License-Identifier: MIT */
#include "himeno/accept/episode.h"

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"

#define DRAGGED 1.5 /* so many times slower is who drags another along */

/* What is looked at: one rank's blocks, of one kind. */
struct looked {
  const struct record_block *blocks;
  const struct record_when *when;
  int n, rank;
  enum straggler_of of;
  double usual, limit, alarms;
  char *beyond; /* each block: beyond the limit, and in no episode yet */
  double *scratch;
};

static double seconds_of(const struct looked *l, int block)
{
  return l->of == STRAGGLER_COMPUTE ? l->blocks[block].compute : l->blocks[block].exchange;
}

static void limit_set(struct looked *l)
{
  double least = l->of == STRAGGLER_COMPUTE ? STRAGGLER_LEAST_COMPUTE : STRAGGLER_LEAST_EXCHANGE;
  for (int b = 0; b < l->n; b++) l->scratch[b] = seconds_of(l, b);
  struct stats_summary s = stats_summarise(l->scratch, (size_t)l->n);
  l->usual = s.median;
  l->limit = s.median * (1 + fmax(EPISODE_SIGMAS * stats_noise(&s), least));
  for (int b = 0; b < l->n; b++) l->beyond[b] = l->usual > 0 && seconds_of(l, b) > l->limit;
}

/* A stretch of blocks, both ends in it; empty while last < first. */
struct stretch {
  int first, last;
};

static struct stretch stretch_longest(const struct looked *l)
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

static int beyond_count(const struct looked *l, struct stretch s)
{
  int n = 0;
  for (int b = s.first; b <= s.last; b++) n += l->beyond[b];
  return n;
}

/* Of so many blocks in a row beyond the limit, by how many there are outside of the stretch. */
static double chance(const struct looked *l, struct stretch s, int beyond)
{
  int outside = l->n - (s.last - s.first + 1);
  int others = beyond_count(l, (struct stretch){0, l->n - 1}) - beyond_count(l, s);
  double share = outside > 0 ? (double)others / outside : 0;
  return pow(fmax(EPISODE_DISTURBED, share), beyond);
}

/* A block began where the kept one before it ended, or later. */
static double begin_of(const struct looked *l, int block)
{
  return block > 0 ? l->when[block - 1].end : 0;
}

/* The stretch that begins at a block and goes forwards (step 1) or backwards (−1). */
static struct stretch stretch_from(const struct looked *l, int block, int step)
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

static double pause_between(const struct looked *l, struct stretch s, int block)
{
  return block > s.last ? begin_of(l, block) - l->when[s.last].end
                        : begin_of(l, s.first) - l->when[block].end;
}

/* With what is slow again, or was before, but for a pause. */
static struct stretch stretch_joined(const struct looked *l, struct stretch s, int step)
{
  int from = step > 0 ? s.last + 1 : s.first - 1;
  for (int b = from; b >= 0 && b < l->n && pause_between(l, s, b) < EPISODE_PAUSE; b += step) {
    if (!l->beyond[b]) continue;
    struct stretch next = stretch_from(l, b, step), both = stretch_both(s, next);
    if (chance(l, both, beyond_count(l, next)) <= EPISODE_RETURN) s = both;
    b = step > 0 ? next.last : next.first;
  }
  return s;
}

static struct episode episode_of(const struct looked *l, struct stretch s, int beyond)
{
  int n = s.last - s.first + 1;
  for (int b = 0; b < n; b++) l->scratch[b] = seconds_of(l, s.first + b);
  double median = stats_summarise(l->scratch, (size_t)n).median;
  return (struct episode){.rank = l->rank,
                          .of = l->of,
                          .slowness = median / l->usual,
                          .begin = begin_of(l, s.first),
                          .end = l->when[s.last].end,
                          .first = s.first > 0 ? l->when[s.first - 1].block + 1 : 0,
                          .last = l->when[s.last].block,
                          .beyond = beyond,
                          .blocks = n};
}

static int look(struct looked *l, struct episode *found, int room)
{
  int n = 0;
  limit_set(l);
  for (struct stretch s = stretch_longest(l); s.last > s.first; s = stretch_longest(l)) {
    if (chance(l, s, beyond_count(l, s)) > l->alarms) break;
    s = stretch_joined(l, stretch_joined(l, s, 1), -1);
    struct episode e = episode_of(l, s, beyond_count(l, s));
    if (e.end - e.begin >= EPISODE_SECONDS) {
      if (n < room) found[n] = e;
      n++;
    }
    for (int b = s.first; b <= s.last; b++) l->beyond[b] = 0;
  }
  return n;
}

/* Whether most of an episode is another rank's slow computing, which it has to wait for. */
static int is_dragged(const struct episode *e, const struct episode *by)
{
  double common = fmin(e->end, by->end) - fmax(e->begin, by->begin);
  if (by->rank == e->rank || by->of != STRAGGLER_COMPUTE || common < 0.5 * (e->end - e->begin)) return 0;
  return e->of == STRAGGLER_EXCHANGE || by->slowness - 1 > DRAGGED * (e->slowness - 1);
}

/* Leaves those out, and returns how many of \a n there are left. */
static int dragged_drop(struct episode *found, int n)
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

int episode_find(const struct episode_ranks *in, struct episode *found, int room)
{
  int n = 0;
  size_t blocks = (size_t)in->blocks;
  struct looked l = {.when = in->when, .n = in->blocks, .beyond = calloc(blocks + 1, 1)};
  l.alarms = EPISODE_ALARMS / (STRAGGLER_KINDS * (double)in->ranks * fmax(in->blocks, 1));
  l.scratch = malloc(sizeof *l.scratch * (blocks + 1));
  for (int r = 0; l.beyond && l.scratch && r < in->ranks; r++)
    for (int of = 0; of < STRAGGLER_KINDS; of++) {
      l.blocks = in->times + (size_t)r * blocks;
      l.rank = r;
      l.of = (enum straggler_of)of;
      n += look(&l, found + (n < room ? n : room), n < room ? room - n : 0);
    }
  if (n > 0 && n <= room) n = dragged_drop(found, n);
  if (!l.beyond || !l.scratch) n = -1;
  free(l.beyond);
  free(l.scratch);
  return n;
}
