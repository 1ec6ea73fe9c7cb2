/* SPDX-License-Identifier: MIT */
/** \file \brief Transient slowdowns of a rank, compute and exchange separately.
 *
 * A rank's usual time is its own median over the run, so a slowdown that takes less than half of
 * the run shows; a rank that is always slow is a straggler (straggler.h). A block exceeds the limit
 * if it takes longer than usual by more than SLOWDOWN_SIGMAS times 1.4826·MAD and by more than the
 * least share that stragglers need. A slowdown begins and ends with such a block, and nowhere do
 * two blocks in a row stay below the limit, except in pauses shorter than SLOWDOWN_PAUSE that are
 * followed by more blocks above it than chance explains (SLOWDOWN_RETURN).
 *
 * A slowdown lasts at least SLOWDOWN_SECONDS, and has more blocks above the limit than chance
 * explains: the probability for one block is the share of blocks outside of the slowdown that
 * exceed it, but at least SLOWDOWN_DISTURBED. Over all blocks, ranks and both kinds these chances
 * add up to at most SLOWDOWN_ALARMS per run.
 *
 * A rank that only waits for a slow one is not named. A slowdown in exchange is left out if another
 * rank computes slowly for at least half of its time. So is a slowdown in computing that is much
 * smaller than the other rank's. */
#ifndef JUDGE_SLOWDOWN_H
#define JUDGE_SLOWDOWN_H

#include "judge/straggler.h"

#define SLOWDOWN_SIGMAS    5.0
#define SLOWDOWN_SECONDS   5.0
#define SLOWDOWN_SPAN      10.0 /**< minimum seconds of a run in which slowdowns can be found */
#define SLOWDOWN_DISTURBED 0.02
#define SLOWDOWN_ALARMS    1e-4
#define SLOWDOWN_PAUSE     5.0
#define SLOWDOWN_RETURN    1e-2

struct slowdown {
  int rank;
  enum judge_of of;
  double slowness;    /**< slowness of its median block; 1.05: five percent slower than usual */
  double begin, end;  /**< start and end, in seconds since the first timed block began */
  int first, last;    /**< first and last timed block, counted from 0 */
  int beyond, blocks; /**< number of blocks in the series: above the limit, and all */
};

/** The end of a block in the series; all ranks' blocks begin and end together. */
struct judge_end {
  double end; /**< seconds since the first timed block began */
  int block;  /**< index among the timed blocks, from 0 */
};

struct slowdown_ranks {
  int ranks, blocks;
  const struct judge_block *times; /**< [rank · blocks + block] */
  const struct judge_end *ends;    /**< per block */
};

/** \brief Finds slowdowns rank by rank, the longest of a rank first. Stores at most \a capacity of
 * them. Returns how many there are, −1 if memory ran out. */
int slowdown_find(const struct slowdown_ranks *in, struct slowdown *found, int capacity);

#endif
