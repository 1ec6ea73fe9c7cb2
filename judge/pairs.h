/* SPDX-License-Identifier: MIT */
/** \file
 * \brief Exchanges between two ranks by themselves: the slowest, and the one that differs most from
 * similar ones. */
#ifndef JUDGE_PAIRS_H
#define JUDGE_PAIRS_H

#include "judge/view.h"

/** Fewer pairs on the same kind of path have no usual value. */
#define PAIRS_ALIKE_MIN 3

/** \brief Latency and rate of the slowest pair; \a check gets the suspected end, and the other one
 * in words. NAN if no pair was measured. */
double pairs_us(const struct judge_run *run, struct check *check);
double pairs_gbps(const struct judge_run *run, struct check *check);

/** \brief The same of the pair that is worst compared with the median of similar ones: of one
 * transport, within hosts or between them. Inapplicable if no kind has PAIRS_ALIKE_MIN pairs. */
double pairs_us_ratio(const struct judge_run *run, struct check *check);
double pairs_gbps_ratio(const struct judge_run *run, struct check *check);

#endif
