# SPDX-License-Identifier: MIT
"""Stage wires: comm-gpu compares each network card between two hosts to its port's rate."""

import re

import pairs
import stages
import timing
from hosts import fold
from steps import UNJUDGED, failed_checks, rows_by_host

UP = ("active", "up")
PATH = "path of the bytes"
OVER_TCP = re.compile(r" left (\S+) over TCP while ")


def cards_of(host):
    """Return the number of cards to which comm-gpu binds ranks: those that are up, and have at
    least half the rate of the fastest."""
    rates = [
        card.get("rate_gbps", 0) for card in host.get("network", ()) if card.get("state") in UP
    ]
    return sum(0 < max(rates) <= 2 * rate for rate in rates)


def cards_of_hosts(run, names):
    """Return {host: number of its cards} from the inventories."""
    if "--stages" in getattr(run.a, "given", {}) and not any(
        run.document(f"inventory-{name}") for name in names
    ):
        stages.inventories(run)  # take the inventories, which are not known yet
    return {name: cards_of(run.document(f"inventory-{name}") or {}) for name in names}


def wires(run, names):
    """Return the hosts whose cards reach the policy's limits, both isolated and concurrently."""
    if len(names) < 2 or not run.has("comm-gpu"):
        return names
    cards = cards_of_hosts(run, names)
    known = [name for name in names if cards[name]]
    if len(known) < 2:
        return names
    matches = next(pairs.rounds_of(known, 1))
    done = measured(run, matches, cards)
    if len(known) % 2:
        met = {name for pair in matches for name in pair}
        done.update(
            measured(run, [(name, matches[0][0]) for name in known if name not in met], cards)
        )
    unjudged = {}
    for pair, step in done.items():
        if step["outcome"] in UNJUDGED:
            unjudged.setdefault(step["why"], []).extend(pair)
        elif step["outcome"] not in ("pass", "slow"):
            run.find(step["outcome"], list(pair), step["why"], step)
    run.notes += [
        f"not judged: network cards of {fold(dict.fromkeys(hosts))} ({why})"
        for why, hosts in unjudged.items()
    ]
    bad = slow_cards(run, done, cards)
    return [name for name in names if name not in bad]


def measured(run, matches, cards):
    """Run comm-gpu on pairs of hosts; return {pair: step} of the steps that had time to run."""
    options = ["--parts", "wires", "-t", f"{timing.WIRES * run.a.seconds:g}"]
    options += stages.backend_of(run.a.options)
    jobs = [
        (
            pairs.pair_name(pair, "wires"),
            list(pair),
            {"program": "comm-gpu", "per_host": min(map(cards.get, pair)), "options": options},
        )
        for pair in matches
    ]
    done = run.together("wires", jobs)
    for step in done.values():
        noticed(run, step)
    return {
        pair: done[name] for pair in matches if (name := pairs.pair_name(pair, "wires")) in done
    }


def slow_cards(run, done, cards):
    """Report hosts whose card is slow with a second host, too. One slow wire does not show which of
    its ends is slow."""
    good = [name for pair, step in done.items() if step["outcome"] == "pass" for name in pair]
    bad = set()
    for pair in [pair for pair, step in done.items() if step["outcome"] == "slow"]:
        again = measured(run, list(zip(pair, good)), cards)
        guilty = {one[0]: step for one, step in again.items() if step["outcome"] == "slow"}
        for name, step in guilty.items() or [(None, done[pair])]:
            document = run.document(step["name"])
            wires_ = [row["wire"] for row in document["ranks"] if row["wire"]["share"] is not None]
            run.find(
                "slow" if name else "path",
                [name] if name else list(pair),
                step["why"],
                step,
                device=min(wires_, key=lambda wire: wire["share"])["card"],
                checks=failed_checks(document),
            )
        bad.update(guilty)
    return bad


def noticed(run, step):
    """Report faults that comm-gpu's counters prove: bytes sent by TCP despite a faster port."""
    document = run.document(step["name"]) or {}
    for text in document.get("findings", ()):
        own = OVER_TCP.search(text)
        hosts = [
            name
            for name, rows in rows_by_host(step, document).items()
            if own and rows[0]["host"] == own[1]
        ]
        if not any(one["checks"] == [PATH] and one["hosts"] == hosts for one in run.findings):
            run.find("path", hosts or step["hosts"], text, step, checks=[PATH])
