/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Ranks that are slower than chance explains, compute and exchange apart.
 *
 * In each block a rank's time is divided by the median over the ranks like it, which send as many
 * messages and bytes (over all ranks where fewer than STRAGGLER_ALIKE_MIN do: a bad link has two
 * ends; of exchanges over those alone whose messages go by the same ways), so that what all share
 * cancels, a warming machine, say. The median of these ratios over the blocks is the rank's
 * slowness. Among the ranks' slownesses the median and the median absolute deviation (MAD) stand
 * for the usual and its spread; a few slow ranks move neither. A straggler lies above the median
 * by more than STRAGGLER_SIGMAS times 1.4826·MAD (so many standard deviations, were they normal),
 * by more than as many of a median of blocks as noisy as the usual rank's, and by more than a
 * least share, below which nobody would change a part.
 *
 * And it does so in more blocks than chance explains (a sign test): any rank's block may be beyond
 * the limit as often as those of the usual ranks are, and at least as STRAGGLER_DISTURBED says, and
 * be followed by another as often as theirs are. Over all ranks and both kinds such chances may add
 * up to STRAGGLER_ALARMS a run, so with few blocks nobody is accused. What disturbs some ranks more
 * than others comes and goes; a bad part does not, and so it has to be seen in STRAGGLER_MOST of
 * the blocks. */
#ifndef HIMENO_ACCEPT_STRAGGLER_H
#define HIMENO_ACCEPT_STRAGGLER_H

#include "himeno/record.h"

#define STRAGGLER_RANKS_MIN      4 /**< with fewer there is no usual */
#define STRAGGLER_ALIKE_MIN      5
#define STRAGGLER_SIGMAS         5.0
#define STRAGGLER_LEAST_COMPUTE  0.03
#define STRAGGLER_LEAST_EXCHANGE 0.25
#define STRAGGLER_DISTURBED      0.2
#define STRAGGLER_ALARMS         1e-3
#define STRAGGLER_MOST           0.8

enum straggler_of { STRAGGLER_COMPUTE, STRAGGLER_EXCHANGE, STRAGGLER_KINDS };

/** What a rank has to do in a sweep. */
struct straggler_work {
  double points;
  int neighbours;
  double bytes; /**< that it sends them */
  /** of its messages, those to other hosts, and those that the run's transport does not carry: of
   * exchanges only ranks with as many are compared */
  int between, detours;
};

/** What is compared. */
struct straggler_ranks {
  int ranks, blocks;
  const struct record_block *times;  /**< [rank · blocks + block] */
  const struct straggler_work *work; /**< of each rank */
};

struct straggler {
  int rank;
  enum straggler_of of;
  double slowness; /**< 1.05: five percent slower than the usual */
  double limit;
  int beyond; /**< of its blocks, those in which it was slower than the limit */
};

/** \brief Blocks of each of \a ranks ranks with fewer of which nobody is accused. */
int straggler_blocks_min(int ranks);

/** \brief Finds the stragglers, slowest first; at most \a room. Returns how many there are; 0 with
 * too few ranks or blocks, −1 when memory ran out. */
int straggler_find(const struct straggler_ranks *ranks, struct straggler *found, int room);

/** \brief "compute" or "exchange". */
const char *straggler_of_name(enum straggler_of of);
extern const char *const straggler_of_names[STRAGGLER_KINDS];

#endif
