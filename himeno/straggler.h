/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Ranks that are slower than the others do not explain by chance.
 *
 * A rank's time is the median over its blocks, so that one interrupted block accuses nobody. Among the ranks' times the
 * median and the median absolute deviation (MAD) stand for the usual and its spread: a few slow ranks move neither. A
 * rank is a straggler when it lies above the median by more than STRAGGLER_SIGMAS times 1.4826·MAD (that many standard
 * deviations, were the times normal) and by more than STRAGGLER_LEAST of the median, below which nobody would change a part. */
#ifndef HIMENO_STRAGGLER_H
#define HIMENO_STRAGGLER_H

#define STRAGGLER_RANKS_MIN 4    /**< with fewer there is no usual */
#define STRAGGLER_SIGMAS    5.0
#define STRAGGLER_LEAST     0.03

struct straggler_scale {
  double median, mad;
  double limit; /**< times above it are a straggler's; 0 where there are too few ranks to say */
};

/** \brief The scale of \a n ranks' times. */
struct straggler_scale straggler_scale(const double *times, int n);

/** \brief Whether a rank's time is beyond the limit. */
int straggler_is(const struct straggler_scale *scale, double time);

#endif
