# SPDX-License-Identifier: MIT
"""Stage pairs: exchanges between two hosts, each host with several partners. Slow pairs run again
by themselves. The stage decides whether a host or the path between two hosts is to blame."""

import collections
import os
import statistics

import stages
import wires
from noise import SIGMAS, noise_of, spread_of
from steps import hosts_of, write_document

# A slow pair's exchange exceeds the median by SIGMAS standard deviations and by this share.
LEAST = 0.25
LEAST_OF_FEW = 0.35  # minimum excess over the fastest pair, if there are few hosts
# Up to this number of hosts, one bad host is part of at least half of the pairs: no median is used.
FEW_HOSTS = 4
POLICY = "pairs of hosts"


def rounds_of(names, rounds):
    """Yield the pairs of each round by the circle method: each host has one partner per round, and
    no pair occurs twice."""
    ring = list(names) + ([None] if len(names) % 2 else [])
    for _ in range(min(rounds, len(ring) - 1)):
        half = len(ring) // 2
        yield [(a, b) for a, b in zip(ring[:half], reversed(ring[half:])) if a and b]
        ring = [ring[0], ring[-1], *ring[1:-1]]


def exchange_of(document):
    """Return the seconds per sweep in which the slowest rank packs, copies and sends, without
    waiting. None if the document lacks them. Phases are means over the blocks. They are scaled to
    the median block, so that one interrupted block does not count as a slow exchange."""
    phases = ("pack", "d2h", "transfer", "h2d", "unpack")
    try:
        samples = document["result"]["samples"]
        return (
            max(sum(rank["phases"][phase] for phase in phases) for rank in document["ranks"])
            * statistics.median(samples)
            / statistics.mean(samples)
        )
    except (KeyError, TypeError, ValueError):
        return None


def limit_of(times):
    middle, spread = spread_of(times)
    return middle + max(SIGMAS * spread, LEAST * middle)


def limit_of_few(run, times):
    """Return the limit relative to the fastest pair, with a margin for noise between blocks."""
    usual, spread = min(times.values()), 0
    for pair, time in times.items():
        series = run.document(pair_name(pair, "pair")).get("series") or {}
        spread = max(
            [
                spread,
                *(
                    time * (noise_of(samples) or 0)
                    for samples in series.get("exchange") or []
                    if any(samples)
                ),
            ]
        )
    return usual + max(SIGMAS * spread, LEAST_OF_FEW * usual)


def pair_name(pair, kind):
    return f"{kind}-{pair[0]}-{pair[1]}"


def pair_job(run, pair, kind):
    # The policy limits only noise: each host has passed by itself, and this stage tests the path.
    options = [
        *stages.sized(run),
        "-t",
        str(run.a.seconds),
        "--accept",
        pairs_policy(run),
        *run.a.options,
    ]
    return pair_name(pair, kind), list(pair), {"options": options}


def pairs_policy(run):
    """Return the path of a policy that refuses blocks too noisy to show a slow exchange."""
    path = os.path.join(run.a.folder, "pairs.json")
    limits = {"name": POLICY, "noise_max": LEAST, "unverified_passes": run.unverified_passes}
    write_document(path, limits)
    return path


def again_alone(run, slow, limit):
    """Return {pair: (seconds, step)} of the pairs that are slow even without concurrent pairs."""
    done = run.together("again", [pair_job(run, pair, "again") for pair in slow], width=1)
    kept = {}
    for pair in slow:
        step = done.get(pair_name(pair, "again"))
        time = exchange_of(run.document(step["name"])) if step else None
        if time is None or time <= limit or unjudged(run, pair, step):
            continue
        kept[pair] = (time, step)
    return kept


def unjudged(run, pair, step):
    """Return True, and report the step of two hosts, if the step is inconclusive."""
    if step["outcome"] not in ("noisy", "unverified"):
        return False
    run.find(
        step["outcome"], list(pair), f"with {pair[0]} and {pair[1]} together: {step['why']}", step
    )
    return True


def path_found(run, pair):
    """Return text, from comm-gpu, about the transport of two hosts, its rate and idle network
    cards."""
    if not run.has("comm-gpu"):
        return ""
    options = [
        "--parts",
        "pairs",
        "--samples",
        "3",
        "--min",
        "1M",
        "--max",
        "1M",
        *stages.backend_of(run.a.options),
    ]
    name = pair_name(pair, "path")
    run.together("path", [(name, list(pair), {"program": "comm-gpu", "options": options})], width=1)
    found = run.document(name) or {}
    if found:
        wires.noticed(run, run.done[name])
    host = hosts_of(run.done[name]) if found else []
    across = [
        one
        for one in found.get("pairs", [])
        if host[one["rank"]] != host[one["peer"]] and one["points"]
    ]
    if not across:
        return ""
    best = max(across, key=lambda one: one["points"][-1]["gbps"])
    idle = sorted({card["card"] for card in found.get("cards", []) if card.get("idle")})
    return (
        f"; comm-gpu measured {best['points'][-1]['gbps']:.3g} GB/s between {' and '.join(pair)} "
        f"({best['used']})"
    ) + (f", idle cards {', '.join(idle)}" if idle else "")


def accuse(run, slow, limit, usual, met):
    """Report a host if it is slow with several partners, otherwise the path of each slow pair."""
    partners = {}
    for a, b in slow:
        partners.setdefault(a, []).append(b)
        partners.setdefault(b, []).append(a)
    bad = {
        name for name, others in partners.items() if len(others) >= 2 and len(others) == met[name]
    }

    def figures(pair):
        return f"{slow[pair][0] * 1e6:.3g} us per sweep, limit {limit * 1e6:.3g} us"

    for name in sorted(bad):
        pair = next(pair for pair in slow if name in pair)
        run.find(
            "slow",
            [name],
            f"exchange is slow with all {met[name]} partners ({', '.join(partners[name])}): "
            f"{figures(pair)}{path_found(run, pair)}",
            slow[pair][1],
            checks=["exchange with other hosts"],
            value=slow[pair][0],
            limit=limit,
            usual=usual,
        )
    for pair, (time, step) in slow.items():
        if not bad.intersection(pair):
            run.find(
                "path",
                list(pair),
                f"the path between them is slow: {figures(pair)}; neither is slow "
                f"with its other partners{path_found(run, pair)}",
                step,
                value=time,
                limit=limit,
                usual=usual,
            )
    return bad


def broken(run, done, pairs_):
    """Report pairs whose step failed. A host in two or more of them is blamed, otherwise the path
    of each pair. If all of several pairs failed, the finding points to transport and network."""
    failed = {
        pair: done[pair_name(pair, "pair")] for pair in pairs_ if pair_name(pair, "pair") in done
    }
    failed = {
        pair: step
        for pair, step in failed.items()
        if step["outcome"] not in ("pass", "slow") and not unjudged(run, pair, step)
    }
    count = collections.Counter(name for pair in failed for name in pair)
    if len(failed) > 1 and len(failed) == len(done):
        pair, step = next(iter(failed.items()))
        run.find(
            step["outcome"],
            sorted(count),
            "no two hosts work together, check transport and network: "
            f"with {pair[0]} and {pair[1]}: {step['why']}",
            step,
            checks=[stages.EVERYONE],
        )
        return set(count)
    bad = {name for name, n in count.items() if n >= 2}
    for pair, step in failed.items():
        guilty = sorted(bad.intersection(pair))
        run.find(
            step["outcome"] if guilty else "path",
            guilty or list(pair),
            f"with {pair[0]} and {pair[1]} together: {step['outcome']}: {step['why']}",
            step,
        )
    return bad


def pairs(run, names):
    if len(names) < 2:
        return names
    times, done, everyone = {}, {}, []
    for number, matches in enumerate(rounds_of(names, run.a.rounds)):
        done.update(
            run.together(
                f"round {number + 1}",
                [pair_job(run, pair, "pair") for pair in matches],
                stage="pairs",
            )
        )
        everyone += matches
    for pair in everyone:
        step = done.get(pair_name(pair, "pair"))
        time = (
            exchange_of(run.document(step["name"])) if step and step["outcome"] == "pass" else None
        )
        if time is not None:
            times[pair] = time
    bad = broken(run, done, everyone)
    if len(times) > 1:
        limit = (
            limit_of_few(run, times) if len(names) <= FEW_HOSTS else limit_of(list(times.values()))
        )
        slow = again_alone(run, [pair for pair, time in times.items() if time > limit], limit)
        bad |= accuse(
            run,
            slow,
            limit,
            statistics.median(times.values()),
            collections.Counter(name for pair in times for name in pair),
        )
    else:
        run.notes.append(
            f"not judged: links between hosts ({len(names)} hosts, "
            f"{len(times)} pair{'s' * (len(times) != 1)} measured)"
        )
    return [name for name in names if name not in bad]
