# SPDX-License-Identifier: MIT
"""Stage fabric: streams between all hosts by comm-gpu, one host at a time and all at once."""

import stages
import timing
import wires
from hosts import fold
from steps import UNJUDGED, checks_of, hosts_of

CONTENTION, SPREAD = "contention of fabric", "spread of hosts"  # checks of himeno-judge
SHOWN_MAX = 3  # maximum number of pairs in the text of a finding


def fabric(run, names):
    """Return the hosts whose paths are fast while all other hosts are idle. A path that is slow
    only under load accuses no host."""
    if len(names) < 2 or not run.has("comm-gpu"):
        return names
    known = [name for name, cards in wires.cards_of_hosts(run, names).items() if cards]
    if len(known) < 2:
        return names
    options = ["--parts", "fabric", "-t", f"{timing.WIRES * run.a.seconds:g}"]
    job = {
        "program": "comm-gpu",
        "per_host": min(run.a.devices[name] for name in known),
        "options": options + stages.backend_of(run.a.options),
    }
    step = run.together("fabric", [("fabric", known, job)]).get("fabric")
    if not step:
        return names
    if step["outcome"] in UNJUDGED:
        run.notes.append(f"not judged: fabric of {fold(known)} ({step['why']})")
        return names
    if step["outcome"] not in ("pass", "slow"):
        run.find(step["outcome"], known, step["why"], step)
        return names
    bad = accuse(run, step)
    return [name for name in names if name not in bad]


def accuse(run, step):
    """Report the checks that failed; return the hosts to blame."""
    failed = {
        check["check"]: check
        for check in checks_of(run.document("fabric"))
        if check["outcome"] == "fail"
    }
    slow, spread, bad = failed.get(CONTENTION), failed.get(SPREAD), set()
    if slow:
        pairs = contended(run.document("fabric")["ranks"], hosts_of(step), slow["limit"])
        why = blame(pairs, run.a.leaves, slow["limit"])
        compared = {"value": slow["value"], "limit": slow["limit"]}
        run.find("fabric", [], why, step, checks=[CONTENTION], **compared)
    if spread:
        bad = {hosts_of(step)[spread["rank"]]}
        why = (
            f"its fastest stream is {spread['value']:.0%} below the median of the hosts, measured "
            f"while the others are idle; limit {spread['limit']:.0%}"
        )
        compared = {"value": spread["value"], "limit": spread["limit"]}
        run.find("slow", list(bad), why, step, checks=[SPREAD], **compared)
    if failed and not slow and not spread:
        run.find("path", step["hosts"], step["why"], step, checks=list(failed))
    return bad


def contended(rows, hosts, limit):
    """Return {(sender, receiver): factor} of the pairs of hosts that are slower under load by more
    than `limit`, the slowest first."""
    found = {}
    for row in rows:
        for flow in row.get("fabric", ()):
            if flow["alone"] and flow["all"] and flow["alone"] / flow["all"] > limit:
                pair = hosts[flow["from"]], hosts[row["rank"]]
                found[pair] = max(flow["alone"] / flow["all"], found.get(pair, 0))
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def blame(slow, leaves, limit):
    """Describe the slow pairs, and name the leaf switches that all of them have in common."""
    leaf = {name: switch for switch, names in leaves.items() for name in names}
    paths = [{leaf.get(name) for name in pair} for pair in slow]
    common = set.intersection(*paths)
    where = (
        "leaf switches unknown, see --topology"
        if None in set.union(*paths)
        else f"leaf switch{'es' * (len(common) > 1)} {fold(common)}"
        if common
        else "no leaf switch in common"
    )
    pairs = ", ".join(
        f"{a} to {b} {factor:.2f}" for (a, b), factor in list(slow.items())[:SHOWN_MAX]
    )
    more = f" and {len(slow) - SHOWN_MAX} more" if len(slow) > SHOWN_MAX else ""
    return (
        f"the fabric is slow while all hosts send ({where}): rate alone over rate under load "
        f"{pairs}{more}, limit {limit:g}"
    )
