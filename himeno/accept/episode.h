/* SPDX-License-Identifier: MIT */
/** \file
 * \brief When a rank was slow for a while, compute and exchange apart.
 *
 * A rank's usual time is its own median over the run, so what is slow for less than half of it
 * stands out; who is slow all the time is a straggler (straggler.h). A block is beyond the limit
 * when it takes longer than usual by more than EPISODE_SIGMAS times 1.4826·MAD and by more than the
 * least share that stragglers need. An episode begins and ends with such a block and holds no two
 * in a row that are none, but for pauses shorter than EPISODE_PAUSE, behind which there are more
 * such blocks than chance explains (EPISODE_RETURN).
 *
 * It lasts EPISODE_SECONDS at least, and has more blocks than chance explains, which puts any
 * beyond the limit as often as those outside of it are, and at least as EPISODE_DISTURBED says.
 * Over all blocks, ranks and both kinds such chances add up to at most EPISODE_ALARMS a run.
 *
 * A rank that waits for a slow one is not named for it: an episode of exchange that another rank's
 * computing shares for half of its time or more, or one of computing that is much less slow, is
 * left out. */
#ifndef HIMENO_ACCEPT_EPISODE_H
#define HIMENO_ACCEPT_EPISODE_H

#include "himeno/accept/straggler.h"

#define EPISODE_SIGMAS    5.0
#define EPISODE_SECONDS   5.0
#define EPISODE_SPAN      10.0 /**< seconds of a run with fewer of which no episode can be found */
#define EPISODE_DISTURBED 0.02
#define EPISODE_ALARMS    1e-4
#define EPISODE_PAUSE     5.0
#define EPISODE_RETURN    1e-2

struct episode {
  int rank;
  enum straggler_of of;
  double slowness;    /**< its median block's: 1.05 is five percent slower than usual */
  double begin, end;  /**< seconds since the first timed block began */
  int first, last;    /**< timed blocks, from 0 */
  int beyond, blocks; /**< kept ones beyond the limit, of those that are in it */
};

/** What is looked through; all ranks' blocks begin and end together. */
struct episode_ranks {
  int ranks, blocks;
  const struct record_block *times; /**< [rank · blocks + block] */
  const struct record_when *when;   /**< of each kept block */
};

/** \brief Finds episodes, rank by rank, the longest of a rank first; at most \a room. Returns how
 * many there are, −1 when memory ran out. */
int episode_find(const struct episode_ranks *in, struct episode *found, int room);

#endif
