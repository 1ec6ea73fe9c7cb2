# SPDX-License-Identifier: MIT
"""Computes the spread of values of several hosts, and the noise of the blocks of one host."""

import math
import statistics

SIGMAS = 5  # a value this many standard deviations from the median is an outlier
MEDIAN_MIN = 4  # minimum number of pairs for a meaningful median
BLOCKS_MIN = 3  # minimum number of blocks from which noise can be computed
NORMAL_MAD = 1.4826


def spread_of(values):
    """Return the median, and a robust standard deviation."""
    middle = statistics.median(values)
    return middle, NORMAL_MAD * statistics.median(abs(one - middle) for one in values)


def noise_of(samples):
    """Return an upper bound of blocks' relative noise at 99% confidence; None if it is unknown.

    It is that of stats_noise_max in base/stats.c."""
    n = len(samples)
    if n < BLOCKS_MIN:
        return None
    middle = statistics.median(samples)
    deviations = sorted(abs(one - middle) for one in samples)
    reached = min(n, math.ceil(n / 2 + 1.1632 * math.sqrt(n) + 0.5))
    return (
        NORMAL_MAD
        * {3: 5.1, 4: 2.5, 5: 1.62, 6: 1.3}.get(n, 1.06)
        * deviations[reached - 1]
        / middle
    )
