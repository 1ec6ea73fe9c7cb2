# SPDX-License-Identifier: MIT
"""Simulates streams of comm-gpu between hosts, and judges them by himeno-judge: which faults the
limits for network cards and fabric find, and how often these limits accuse a healthy cluster."""

import json
import pathlib
import random
import re
import subprocess

CONTENTION, SPREAD, WIRES = 1.3, 0.15, 0.05
POLICY = {
    "fabric_contention_max": CONTENTION,
    "fabric_spread_max": SPREAD,
    "wire_spread_max": WIRES,
    "devices_per_host": 1,  # always met; needed because one check of a policy must apply
}
# Relative standard deviations: PATHS between the paths of hosts, CARDS between cards, CARD_ERROR of
# a card's rate. CARD_ERROR is the largest with which comm-gpu judges a card.
PATHS, CARDS, CARD_ERROR = 0.03, 0.003, 0.0075
# Relative errors of the rates under load: the error that comm-gpu aims at; ALONE, up to which it
# judges any rate; and a larger one, with which it judges only rates that are at least CERTAIN
# errors below the isolated rate.
ERRORS = (0.02, 0.03, 0.1)
ALONE, CERTAIN = 0.03, 10  # as in tools/network/wires.c
SHIFTS_MAX = 8  # same as BENCH_SHIFTS of comm-gpu
BATCH = 500  # documents per call of himeno-judge
REPORT = re.compile(r"^\S+: comm-gpu, \d+ ranks", re.MULTILINE)


def flows(hosts, per_host, error, fault, factor, dice):
    """Return the rates of the streams to each rank. A faulty link, from the first host to the
    second, is slower only under load. A faulty host, the last one, is also slower when isolated."""
    step = -(-(hosts - 1) // SHIFTS_MAX)
    found = [[] for _ in range(hosts * per_host)]
    for shift in range(1, hosts, step):
        for sender in range(hosts):
            to = (sender + shift) % hosts
            path = 100 * (1 - PATHS * abs(dice.gauss(0, 1)))
            path /= factor if fault == "host" and hosts - 1 in (sender, to) else 1
            loaded = path / (factor if fault == "link" and (sender, to) == (0, 1) else 1)
            for place in range(per_host):
                alone = path * (1 + min(error, ALONE) * dice.gauss(0, 1))
                rate = loaded * (1 + error * dice.gauss(0, 1))
                is_known = error <= ALONE or rate * (1 + CERTAIN * error) < alone
                found[to * per_host + place].append(
                    {
                        "shift": shift,
                        "from": sender * per_host + place,
                        "alone": alone,
                        "all": rate if is_known else None,
                    }
                )
    return [{"fabric": each} for each in found]


def wires(per_host, fault, factor, dice):
    """Return the rate of each card of two hosts, relative to its port. If `fault` is "card", the
    first card of the first host is slow."""

    def wire(rank):
        slow = factor if fault == "card" and rank == 0 else 1
        rate = 0.96 / slow * (1 + CARDS * dice.gauss(0, 1))
        out, out_all = (rate * (1 + CARD_ERROR * dice.gauss(0, 1)) for _ in range(2))
        peer = (rank + per_host) % (2 * per_host)
        return {"card": f"mlx5_{rank % per_host}/1", "peer": peer, "out": out, "out_all": out_all}

    return [{"wire": wire(rank)} for rank in range(2 * per_host)]


def document(rows, per_host):
    for rank, row in enumerate(rows):
        host = rank // per_host
        row.update(rank=rank, host=f"n{host}", host_first=host * per_host, device_sharers=0)
    head = {"schema": "comm-gpu/1", "program": "comm-gpu", "result": {"verdict": "pass"}}
    return json.dumps({**head, "ranks": rows})


def judged(judge, folder, documents):
    """Return the failing checks of each document, as himeno-judge prints them."""
    policy, path = pathlib.Path(folder, "streams.json"), pathlib.Path(folder, "streams.jsonl")
    policy.write_text(json.dumps(POLICY))
    path.write_text("\n".join(documents))
    said = subprocess.run(
        [judge, "--policy", policy, path], stdout=subprocess.PIPE, text=True, check=False
    ).stdout
    reports = REPORT.split(said)[1:]
    assert len(reports) == len(documents), said
    return [re.findall(r"FAIL:?\n((?: {6}.*\n)+)", report) for report in reports]


def is_found(fault, hosts, per_host, failed):
    """Return True if exactly one check fails, and it names the fault."""
    if len(failed) != 1:
        return False
    words = " ".join(failed[0].split())
    if fault == "host":
        return f" on n{hosts - 1}" in words
    if fault == "card":
        return words.startswith("mlx5_0/1 ")
    ends = re.match(r"the fabric: rank (\d+) to rank (\d+), ", words)
    return bool(ends) and [int(end) // per_host for end in ends.groups()] == [0, 1]


def failures(judge, folder, runs, make):
    """Yield the failing checks of `runs` documents; `make` creates each from a generator."""
    for begin in range(0, runs, BATCH):
        seeds = range(begin, min(begin + BATCH, runs))
        yield from judged(judge, folder, [make(random.Random(seed)) for seed in seeds])
