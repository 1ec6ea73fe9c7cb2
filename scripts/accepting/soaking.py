# SPDX-License-Identifier: MIT
"""A soak tests all hosts for hours. Hosts that fail are dropped; the others continue."""

import math
import statistics

import stages
from files import read_document
from steps import device_of, hosts_of, say, say_wrapped

SHORTEST = 0.05  # minimum length of the last slice, as a share of a slice
STRESSED = 0.9  # minimum share of the power limit for a device under stress, as in suite/worth.h
BLOCKS = 20  # minimum blocks of products per slice
# Assumed number of kernels in a slice of products: ours and two libraries, each of which runs for
# gemm-gpu's --time. Later slices use the number found in the first slice.
KERNELS_MOST = 3


def soak(run):
    """Alternate memory-bound and compute-bound work, and return the hosts that passed.

    A faulty device may be wrong under only one of the loads."""
    length = run.a.soak / max(1, round(run.a.soak / run.a.slice))
    kinds = ["memory", "compute"] if run.has("gemm-gpu") else ["memory"]
    if len(kinds) == 1:
        say("gemm-gpu is not installed alongside himeno-gpu: the soak is memory-bound only")
    names, left, number = stages.alone(run, run.a.names), run.a.soak, 0
    clean, kernels = {kind: [] for kind in kinds}, KERNELS_MOST
    while names and left > SHORTEST * length:
        kind = kinds[number % len(kinds)]
        name = f"soak-{number:04d}-{kind}"
        seconds = min(length, left)
        step = run.together("soak", [(name, names, job(run, name, seconds, kernels))]).get(name)
        if not step:
            break
        document = run.document(name)
        for line in noticed(step, document):
            say_wrapped(f"  {name}: {line}")
        passed = step["outcome"] in ("pass", "slow")
        if passed and kind == "compute":
            planned, kernels = kernels, kernels_of(document) or kernels
            seconds *= kernels / planned
        left -= seconds if passed else min(seconds, step["seconds"])
        number += 1
        if passed:
            clean[kind].append(worth(document))
        else:
            names = after_failure(run, step, names)
    say(f"soaked for {run.a.soak - max(left, 0):.3g} of {run.a.soak:g} s")
    say_worth(clean)
    return names


def kernels_of(document):
    """Return the number of kernels in a slice of products: ours and libraries; 0 if unknown."""
    libraries = (document or {}).get("yardsticks")
    return 0 if libraries is None else 1 + sum(bool(one.get("samples")) for one in libraries)


def noticed(step, document):
    """Yield one line per transient slowdown, and per rank with errors, in a slice. No host is
    drained for them, because there is no limit for them in a run of hours."""
    ranks = (document or {}).get("ranks", [])
    for one in (document or {}).get("episodes", []):
        yield (
            f"SLOW ONCE  {place(step, ranks, one['rank'])}: {one['of']} was "
            f"{one['slowness']:.3g} times its usual "
            f"from second {one['begin']:.1f} to {one['end']:.1f}"
        )
    for at, rank in enumerate(ranks):
        counters = [
            f"{name} {count}" for name, count in (rank.get("counted") or {}).items() if count
        ]
        if counters:
            yield f"ERRORS     {place(step, ranks, at)}: {', '.join(counters)}"


def place(step, ranks, at):
    return f"rank {at} on {hosts_of(step)[at]}, {ranks[at].get('uuid') or 'device without a UUID'}"


def worth(document):
    """Return (device-days, share of the power limit or None) of a slice, from its document."""
    worth = (document or {}).get("worth") or (document or {}).get("result", {}).get("soak", {})
    return worth.get("device_days", 0), worth.get("power_share")


def say_worth(clean):
    """Print the limit on wrong blocks by the clean slices, and the work with the most power."""
    days = sum(days for slices in clean.values() for days, _ in slices)
    hard = {
        kind: statistics.median(share for _, share in slices)
        for kind, slices in clean.items()
        if slices and all(share is not None for _, share in slices)
    }
    if days > 0:
        say_wrapped(
            f"  confidence 95%: fewer than {-1000 * math.log(0.05) / days:.3g} wrong blocks "
            f"per 1000 device-days, from {days:.3g} device-days of clean slices"
        )
    if hard:
        kind = max(hard, key=hard.get)
        stress = ": NOT STRESSED" if hard[kind] < STRESSED else ""
        say(f"  load: {hard[kind]:.2f} of the power limit by {kind}{stress}")


def job(run, name, seconds, kernels):
    if name.endswith("compute"):
        # --accept also counts a wrong product of a library as the device's fault.
        each = seconds / kernels
        work = {
            "program": "gemm-gpu",
            "options": [
                "--accept",
                "-t",
                f"{each:g}",
                *hotter(run, each),
                *stages.backend_of(run.a.options),
                *run.a.gemm_options,
            ],
        }
    else:
        work = {
            "options": [
                *stages.sized(run),
                "--soak",
                f"{seconds:g}s",
                "--soak-log",
                run.path("soak", "jsonl"),
                *run.a.options,
            ]
        }
    return {**work, "limit": seconds + run.a.limit}


def hotter(run, seconds):
    """Return the options that --gemm-options lack: long blocks, which reach the power limit, and
    beta, which adds all products of a block to the C that is compared."""
    said = {word.split("=")[0] for word in run.a.gemm_options}
    return [
        word
        for option, value in (("--block", f"{min(1, seconds / BLOCKS):g}"), ("--beta", "1"))
        if option not in said
        for word in (option, value)
    ]


# ---- failures ----


def after_failure(run, step, names):
    """Report the hosts that failed in a slice, and return the others.

    If no host is found to blame, none is returned, because the next slice would fail too."""
    before = len(run.findings)
    for rank, device, why in culprits(read_document(run.path(step["name"], "doc"))):
        run.find("wrong", [hosts_of(step)[rank]], why, step, device=device)
    untested = len(run.left_out)
    if len(run.findings) == before:
        each_by_itself(run, step, names)
    if len(run.findings) == before:
        why = (
            "no time was left to find the cause"
            if len(run.left_out) > untested
            else "the host passes alone"
            if len(names) == 1
            else "each host passes alone: no host is to blame"
        )
        run.find(step["outcome"], names, f"the soak ended early, {why}: {step['why']}", step)
        return []
    blamed = {name for finding in run.findings[before:] for name in finding["hosts"]}
    kept = [name for name in names if name not in blamed]
    return kept if len(kept) < len(names) else []


def each_by_itself(run, step, names):
    """Repeat the stage `alone` and, if a slice of products failed, the products."""
    number = step["name"].split("-")[1]
    kept = stages.sort_out(run, "himeno-gpu", stages.by_themselves(run, names, f"alone-{number}"))
    if kept == names and step["name"].endswith("compute"):
        stages.products(run, kept, f"products-{number}")


def culprits(document):
    """Return [(rank, device, reason)] of the ranks with a wrong field or product."""
    ranks = (document or {}).get("ranks", [])
    found = (document or {}).get("result", {}).get("soak", {}).get("found", [])
    wrong = {
        one["rank"]: f"{one['array']} was wrong after sweep {one['sweep']} of block {one['block']}"
        for one in reversed(found)
    }
    wrong.update({rank["rank"]: rank["why"] for rank in ranks if rank.get("verdict") == "wrong"})
    return [
        (rank, device_of({"rank": rank, **ranks[rank]}), f"rank {rank}: {why}")
        for rank, why in sorted(wrong.items())
    ]
