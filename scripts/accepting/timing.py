# SPDX-License-Identifier: MIT
"""Duration of an acceptance: the estimate before it begins, and the remaining time later."""

import math
import time

START = 8  # seconds per step for start-up, choice of transports and verification
WIRES = 6  # duration of a step of stages wires and fabric, in multiples of --seconds
SWITCH_MIN = 2  # a switch is tested if it has more hosts than this


def text(seconds):
    """Return a duration as text: 40 s, 6 min, 2 h 10 min."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    hours = f"{minutes // 60} h" if minutes >= 60 else ""
    return f"{hours} {minutes % 60} min".strip() if minutes % 60 or not hours else hours


def stages(a):
    """Return {stage: (number of steps, seconds of all its steps)}. The stage devices is left out,
    because it tests only hosts that failed."""
    names, usual = len(a.names), a.seconds + START

    def waves(steps, rounds=1, each=usual):
        return steps * rounds, rounds * math.ceil(steps / a.parallel) * each

    rounds = min(a.rounds, names - 1 + names % 2)
    switches = sum(SWITCH_MIN < len(members) < names for members in a.leaves.values())
    every = {
        "alone": waves(names),
        "products": waves(names),
        "pairs": waves(names // 2, rounds),
        "wires": waves(names // 2, min(rounds, 1), WIRES * a.seconds + START),
        "fabric": waves(int(names > 1), 1, WIRES * a.seconds + START),
        "switches": (switches, switches * usual),
        "all": waves(int(names > 1)),
    }
    chosen = a.stages if a.level or not a.soak else []
    if a.soak:
        chosen = ["alone", *(name for name in chosen if name != "alone")]
    return {name: every[name] for name in chosen if name in every}


class Timing:
    """Estimates the remaining time from the pace so far. The duration of a soak is known."""

    def __init__(self, a):
        self.begin, self.soak, self.budget = time.time(), a.soak or 0, a.budget
        self.left = {name: list(pair) for name, pair in stages(a).items()}
        self.estimated = self.soaked = 0

    def expected(self):
        seconds = self.soak + sum(seconds for _, seconds in self.left.values())
        return seconds if self.budget is None else min(seconds, self.budget)

    def ended(self, stage, seconds, was_kept):
        """Count a finished step of a stage. `was_kept`: the step ran before this program began."""
        if stage == "soak":
            self.soaked += seconds
            return
        if stage in self.left:
            # Remove the estimates of earlier stages, which had fewer steps than planned.
            for earlier in list(self.left)[: list(self.left).index(stage)]:
                del self.left[earlier]
        left = self.left.get(stage)
        if not left or left[0] <= 0:
            return
        share = left[1] / left[0]
        left[:] = left[0] - 1, left[1] - share
        self.estimated += 0 if was_kept else share

    def remaining(self):
        """Return the estimated seconds until the end."""
        elapsed = time.time() - self.begin - self.soaked
        pace = elapsed / self.estimated if self.estimated else 1
        rest = pace * sum(seconds for _, seconds in self.left.values()) + max(
            0, self.soak - self.soaked
        )
        if self.budget is not None:
            rest = min(rest, self.begin + self.budget - time.time())
        return max(0, rest)
