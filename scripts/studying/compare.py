# SPDX-License-Identifier: MIT
"""Two studies beside each other: what got slower, or faster, beyond the noise of both."""
import math
import statistics

# A difference counts when chance alone would make it less often than this, over all points that are compared.
CHANCE = 0.05
# Runs without repeats are taken to vary so much at least.
NOISE_LEAST = 0.002


def student(chance, freedom):
    """Two-sided quantile of Student's t: exact for 1 and 2 degrees of freedom, Cornish and Fisher's expansion from 3."""
    if freedom < 2:
        return math.tan(math.pi * (0.5 - chance / 2))
    if freedom < 3:
        return math.sqrt(2 / (chance * (2 - chance)) - 2)
    z = statistics.NormalDist().inv_cdf(1 - chance / 2)
    v = freedom
    return (z + (z**3 + z) / (4 * v) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3))


def key(row):
    return row["scaling"], row["size"], int(row["ranks"]), row["kernel"], row["transport"], row["procs"]


def grouped(rows):
    """Logarithms of the times by configuration."""
    found = {}
    for row in rows:
        found.setdefault(key(row), []).append(math.log(float(row["seconds_a_sweep"])))
    return found


def pooled(groups):
    """Standard deviation of one run about its configuration's mean, and its degrees of freedom."""
    freedom = sum(len(values) - 1 for values in groups.values())
    squares = sum((value - statistics.fmean(values)) ** 2 for values in groups.values() for value in values)
    return max(math.sqrt(squares / freedom), NOISE_LEAST) if freedom else NOISE_LEAST, freedom


def compare(before, after, least):
    """One entry a configuration that both have; `least` is the smallest difference that matters, as a share."""
    a, b = grouped(before), grouped(after)
    (noise_a, freedom_a), (noise_b, freedom_b) = pooled(a), pooled(b)
    both = [one for one in a if one in b]
    limit = student(CHANCE / max(len(both), 1), max(freedom_a + freedom_b, 1))
    entries = []
    for one in sorted(both):
        off = statistics.fmean(b[one]) - statistics.fmean(a[one])
        sure = limit * math.sqrt(noise_a**2 / len(a[one]) + noise_b**2 / len(b[one]))
        beyond = abs(off) > sure and abs(off) > math.log1p(least)
        entries.append({"key": one, "before": math.exp(statistics.fmean(a[one])), "after": math.exp(statistics.fmean(b[one])),
                        "change": math.expm1(off), "noise": math.expm1(sure),
                        "verdict": "same" if not beyond else "slower" if off > 0 else "faster"})
    return {"entries": entries, "noise": (noise_a, noise_b), "freedom": freedom_a + freedom_b,
            "only_before": sorted(set(a) - set(b)), "only_after": sorted(set(b) - set(a))}


def name_of(one):
    scaling, size, ranks, kernel, transport, procs = one
    return f"{scaling} {size}, {ranks} rank{'s' if ranks > 1 else ''}, {kernel}, {transport}, {procs}"


def show(found, least):
    entries = sorted(found["entries"], key=lambda entry: -entry["change"])
    width = max([len(name_of(entry["key"])) for entry in entries] + [8])
    print(f"{'':{width}}  {'before':>10}  {'after':>10}  {'change':>8}  {'noise':>7}")
    for entry in entries:
        print(f"{name_of(entry['key']):{width}}  {1e6 * entry['before']:>7.2f} us  {1e6 * entry['after']:>7.2f} us  "
              f"{100 * entry['change']:>+7.2f}%  {100 * entry['noise']:>6.2f}%  {'' if entry['verdict'] == 'same' else entry['verdict']}")
    for title, ones in (("only before", found["only_before"]), ("only after", found["only_after"])):
        for one in ones:
            print(f"{title}: {name_of(one)}")
    counts = {verdict: sum(entry["verdict"] == verdict for entry in entries) for verdict in ("slower", "faster", "same")}
    print(f"\n{counts['slower']} slower, {counts['faster']} faster, {counts['same']} the same within noise "
          f"(a run varies by {100 * found['noise'][0]:.2f}% and {100 * found['noise'][1]:.2f}%; a change counts from "
          f"{100 * least:g}% on, and where chance makes one such in all points less than 1 time in {1 / CHANCE:.0f})")
    return 5 if counts["slower"] else 0
