# SPDX-License-Identifier: MIT
"""Compares two studies: the points that changed by more than the noise of both studies."""

import functools
import math
import statistics

# Over all compared points, the probability of a difference by chance alone is at most this.
CHANCE = 0.05
# A change of the printed size would be found with this probability.
POWER = 0.9
# Assumed minimum variation of a run, as a share, even if few repeats vary less.
NOISE_LEAST = 0.002
# Index of the transport in a configuration's key.
TRANSPORT = 4


def tail(angle, freedom):
    """Return the probability that Student's t exceeds sqrt(freedom) / tan(angle). It is the
    integral of the density, which is proportional to sin(angle) ** (freedom - 1)."""
    steps = 400
    heights = [math.sin(angle * step / steps) ** (freedom - 1) for step in range(steps + 1)]
    simpson = (
        (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))
        * angle
        / steps
        / 3
    )
    return (
        simpson
        / math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2))
        / math.sqrt(math.pi)
    )


@functools.lru_cache(maxsize=None)  # the points of a study share few degrees of freedom
def student(chance, freedom):
    """Return the two-sided quantile of Student's t, found by bisection of the angle."""
    low, high = 0, math.pi / 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if tail(middle, freedom) > chance / 2 else (middle, high)
    return math.sqrt(freedom) / math.tan(high)


def key(row):
    return (
        row["scaling"],
        row["size"],
        int(row["ranks"]),
        row["kernel"],
        row["transport"],
        row["procs"],
    )


def grouped(rows):
    """Return {configuration: logarithms of its times}."""
    found = {}
    for row in rows:
        found.setdefault(key(row), []).append(math.log(float(row["seconds_a_sweep"])))
    return found


def pooled(groups, transport):
    """Return the standard deviation of a transport's runs from the means of their configurations
    (None without repeats), and its degrees of freedom."""
    mine = [values for one, values in groups.items() if one[TRANSPORT] == transport]
    freedom = sum(len(values) - 1 for values in mine)
    squares = sum((value - statistics.fmean(values)) ** 2 for values in mine for value in values)
    return (math.sqrt(squares / freedom) if freedom else None), freedom


def noise_of(a, b, transport):
    """Return the variation of a run in both studies. A study without repeats gets the other's; None
    if neither has repeats."""
    (noise_a, freedom_a), (noise_b, freedom_b) = pooled(a, transport), pooled(b, transport)
    if not freedom_a and not freedom_b:
        return None
    return {
        "measured": (noise_a, noise_b),
        "freedom": (freedom_a or freedom_b, freedom_b or freedom_a),
        "taken": [
            max(noise_b if one is None else one, NOISE_LEAST)
            for one in (noise_a, noise_b or noise_a)
        ],
    }


def uncertainty(noise, n_a, n_b):
    """Return the standard error of a difference of means, and its degrees of freedom
    (Welch-Satterthwaite)."""
    shares = [taken**2 / n for taken, n in zip(noise["taken"], (n_a, n_b))]
    return math.sqrt(sum(shares)), sum(shares) ** 2 / sum(
        share**2 / freedom for share, freedom in zip(shares, noise["freedom"])
    )


def compare(before, after, least):
    """Compare the configurations that both studies have. `least` is the smallest relevant
    difference, as a share."""
    a, b = grouped(before), grouped(after)
    both = [one for one in a if one in b]
    noises = {
        transport: noise_of(a, b, transport)
        for transport in sorted({one[TRANSPORT] for one in both})
    }
    judged = sum(noises[one[TRANSPORT]] is not None for one in both)
    entries = []
    for one in sorted(both):
        noise, off = noises[one[TRANSPORT]], statistics.fmean(b[one]) - statistics.fmean(a[one])
        entry = {
            "key": one,
            "before": math.exp(statistics.fmean(a[one])),
            "after": math.exp(statistics.fmean(b[one])),
            "change": math.expm1(off),
            "noise": None,
            "found": None,
            "verdict": "not judged",
        }
        entries.append(entry)
        if not noise:
            continue
        error, freedom = uncertainty(noise, len(a[one]), len(b[one]))
        sure = error * student(CHANCE / judged, freedom)
        beyond = abs(off) > sure and abs(off) > math.log1p(least)
        entry.update(
            noise=math.expm1(sure),
            found=math.expm1(
                max(sure, math.log1p(least)) + error * student(2 * (1 - POWER), freedom)
            ),
            verdict="same" if not beyond else "slower" if off > 0 else "faster",
        )
    return {
        "entries": entries,
        "noises": noises,
        "only_before": sorted(set(a) - set(b)),
        "only_after": sorted(set(b) - set(a)),
    }


def name_of(one):
    scaling, size, ranks, kernel, transport, procs = one
    return (
        f"{scaling} {size}, {ranks} rank{'s' if ranks > 1 else ''}, {kernel}, {transport}, {procs}"
    )


def size_of(share):
    return f"{100 * share:.1f}%" if share < 1 else f"×{1 + share:.3g}"


def noise_text(transport, noise, entries):
    """Return a text about the variation of a transport's runs, and the change that would be
    found."""
    mine = [
        entry["found"]
        for entry in entries
        if entry["key"][TRANSPORT] == transport and entry["found"] is not None
    ]
    where = f"by {transport}" if transport != "none" else "on one rank"
    if not noise:
        return (
            f"{where} no configuration was repeated: the noise is unknown and nothing is judged; "
            "use --repeat"
        )
    varies = " and ".join(
        "unknown" if one is None else f"{100 * one:.2f}%" for one in noise["measured"]
    )
    floor = (
        f", taken as at least {100 * NOISE_LEAST:g}%"
        if min(one or 0 for one in noise["measured"]) < NOISE_LEAST
        else ""
    )
    return (
        f"{where} runs vary by {varies} "
        f"({'repeats' if None in noise['measured'] else 'before and after'}{floor}); changes of "
        f"{size_of(min(mine))} to {size_of(max(mine))}, depending on the repeats, would be found "
        f"with {100 * POWER:g}% probability"
    )


def show(found, least):
    entries = sorted(found["entries"], key=lambda entry: -entry["change"])
    width = max([len(name_of(entry["key"])) for entry in entries] + [8])
    print(f"{'':{width}}  {'before':>10}  {'after':>10}  {'change':>8}  {'noise':>7}")
    for entry in entries:
        noise = "?" if entry["noise"] is None else f"{100 * entry['noise']:.2f}%"
        print(
            f"{name_of(entry['key']):{width}}  {1e6 * entry['before']:>7.2f} us  "
            f"{1e6 * entry['after']:>7.2f} us  "
            f"{100 * entry['change']:>+7.2f}%  {noise:>7}  "
            f"{'' if entry['verdict'] == 'same' else entry['verdict']}"
        )
    for title, ones in (("only before", found["only_before"]), ("only after", found["only_after"])):
        for one in ones:
            print(f"{title}: {name_of(one)}")
    print()
    for transport, noise in found["noises"].items():
        print(noise_text(transport, noise, entries))
    counts = {
        verdict: sum(entry["verdict"] == verdict for entry in entries)
        for verdict in ("slower", "faster", "same", "not judged")
    }
    print(
        f"{counts['slower']} slower, {counts['faster']} faster, {counts['same']} the same within "
        "noise"
        f"{', ' + str(counts['not judged']) + ' not judged' if counts['not judged'] else ''} (a "
        "change counts if it is "
        f"at least {100 * least:g}% and the chance of one false finding among all points is below "
        f"{100 * CHANCE:g}%)"
    )
    return 5 if counts["slower"] else 0
