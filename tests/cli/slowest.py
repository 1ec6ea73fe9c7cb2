# SPDX-License-Identifier: MIT
"""By how much the slowest of N devices delays a block of sweeps, by Monte Carlo. `slowest.py P Q R
SPREAD` prints the mean, the 5% and the 95% quantile of the delay per sweep if each device keeps its
speed, and the mean if each draws a new speed for each sweep. A rank's sweep begins when its own and
all its neighbours' last sweeps have ended (a max-plus recursion), neighbours over edges and corners
included. A sweep takes 1 + SPREAD * normal. The code is independent of himeno-predict."""

import random
import statistics
import sys

SWEEPS, BLOCKS = 60, 400


def latest(times, extents):
    """Return for each rank the latest end among itself and its neighbours, by one dimension after
    the other."""
    stride = 1
    for extent in reversed(extents):
        times = [
            max(
                times[rank + step * stride]
                for step in (-1, 0, 1)
                if 0 <= rank // stride % extent + step < extent
            )
            for rank in range(len(times))
        ]
        stride *= extent
    return times


def lateness(extents, spread, sweeps, keeps, draw):
    ranks = extents[0] * extents[1] * extents[2]
    seconds, times = [1 + spread * draw() for _ in range(ranks)], [0.0] * ranks
    for _ in range(sweeps):
        if not keeps:
            seconds = [1 + spread * draw() for _ in range(ranks)]
        times = [begin + took for begin, took in zip(latest(times, extents), seconds)]
    return max(times) / sweeps - 1


def main(p, q, r, spread):
    chance = random.Random(54)
    extents = int(p), int(q), int(r)
    kept = sorted(
        lateness(extents, float(spread), 3, True, lambda: chance.gauss(0, 1)) for _ in range(BLOCKS)
    )
    long = lateness(extents, float(spread), SWEEPS, True, lambda: chance.gauss(0, 1))
    assert kept[0] / 2 < long < 2 * kept[-1]  # sweeps add nothing
    drawn = [
        lateness(extents, float(spread), SWEEPS, False, lambda: chance.gauss(0, 1))
        for _ in range(BLOCKS // 20)
    ]
    print(statistics.mean(kept), kept[BLOCKS // 20], kept[-BLOCKS // 20], statistics.mean(drawn))


if __name__ == "__main__":
    main(*sys.argv[1:])
