/* SPDX-License-Identifier: MIT */
/** \file \brief Ranks that are slower than chance explains, compute and exchange separately.
 *
 * In each block, a rank's time is divided by the median over similar ranks, which send the same
 * number of messages and bytes, so that a common change such as a warming machine cancels. If fewer
 * than STRAGGLER_SIMILAR_MIN ranks are similar, all ranks are compared: both ends of a bad link are
 * slow. Exchanges are compared only between ranks whose messages take the same paths. A rank's
 * slowness is the median of these ratios over the blocks. Median and median absolute deviation
 * (MAD) of the ranks' slownesses give the usual slowness and its spread; a few slow ranks change
 * neither. A straggler exceeds the median by more than STRAGGLER_SIGMAS standard deviations, and by
 * more than a least share, below which no part would be replaced. The standard deviation is the
 * larger of two: 1.4826·MAD, and that of a median of the same number of blocks with a typical
 * rank's noise.
 *
 * It must also do so in more blocks than chance explains (a sign test). The probability that a
 * block exceeds the limit by chance is the share of such blocks of all other ranks, at least
 * STRAGGLER_DISTURBED; their blocks also give the probability after a block that exceeds it. The
 * probabilities of a false alarm, for all ranks, compute and exchange, add up to at most
 * STRAGGLER_ALARMS per run, so a rank cannot be accused by few blocks. A disturbance comes and
 * goes; a bad part does not, and has to show in STRAGGLER_MOST of the blocks. */
#ifndef JUDGE_STRAGGLER_H
#define JUDGE_STRAGGLER_H

#define STRAGGLER_RANKS_MIN      4 /**< minimum ranks: with fewer there is no usual time */
#define STRAGGLER_SIMILAR_MIN    5
#define STRAGGLER_SIGMAS         5.0
#define STRAGGLER_LEAST_COMPUTE  0.03
#define STRAGGLER_LEAST_EXCHANGE 0.25
#define STRAGGLER_DISTURBED      0.2
#define STRAGGLER_ALARMS         1e-3
#define STRAGGLER_MOST           0.8

enum judge_of { JUDGE_COMPUTE, JUDGE_EXCHANGE, JUDGE_KINDS };

/** Seconds per sweep of a rank in a block, without waiting for neighbours. */
struct judge_block {
  double compute, exchange;
};

/** A rank's work per sweep. */
struct straggler_work {
  double points;
  int neighbours;
  double bytes; /**< bytes that the rank sends to its neighbours */
  /** between: number of its messages to other hosts; detours: number of its messages that the run's
   * transport cannot carry. Exchanges of ranks are compared if both are equal. */
  int between, detours;
};

struct straggler_ranks {
  int ranks, blocks;
  const struct judge_block *times;   /**< [rank · blocks + block] */
  const struct straggler_work *work; /**< per rank */
};

struct straggler {
  int rank;
  enum judge_of of;
  double slowness; /**< 1.05: five percent slower than usual */
  double limit;
  int beyond; /**< number of blocks in which the rank exceeded the limit */
};

/** \brief Returns the minimum number of blocks per rank with which one of \a ranks ranks can be
 * found to be a straggler. */
int straggler_blocks_min(int ranks);

/** \brief Finds the stragglers, slowest first. Stores at most \a capacity of them. Returns how many
 * there are: 0 for too few ranks or blocks, −1 if memory ran out. */
int straggler_find(const struct straggler_ranks *ranks, struct straggler *found, int capacity);

extern const char *const judge_of_names[JUDGE_KINDS];

#endif
