# SPDX-License-Identifier: MIT
"""The stages: alone, products, pairs, switches, all, devices."""

import argparse
import collections
import math
import os
import re
import statistics

import counts
import inventory
from endings import Trouble
from files import read_document
from hosts import fold
from steps import checks_of, device_of, failed_checks, hosts_of, rows_by_host, say, write_document

# A pair is slow beyond so many standard deviations, and beyond this share, of the pairs' usual exchange.
SIGMAS = 5
LEAST = 0.25
PAIRS_MIN = 4  # with fewer there is no usual
LEAST_OF_FEW = 0.5  # over the fastest pair of few hosts
FEW_HOSTS = (
    4  # of which a bad one has half of the pairs or more, so that the median is no usual one
)
INVENTORY_SECONDS = 20
INVENTORY_SHARE = 0.15  # of the budget
SUSPECT = 0.10  # a host this much slower than the fastest, although nothing else is wrong
SUSPECT_IN_SLOW = 0.03  # in a job that is slow
PAIRS_POLICY = "pairs of hosts"
TENSOR_TYPE = "bf16"  # of a second step of products, if the devices have it
NO_TYPE = "does not take type"  # as gemm-gpu prints
PRODUCTS_LEAST = 0.05  # a device this much below the usual is slow at arithmetic
BLOCKS_MIN = 3  # with fewer there is no noise
NORMAL_MAD = 1.4826
EVERYONE = "every host"  # failed together, so that none of them is to blame
NO_DEVICE = re.compile(
    r"\bbackend \w+: (?!too little host memory)"
)  # the program's reason for having none
NOT_BEGUN = {"not started", "partial", "environment", "usage", "unverified", "duplicate"}


NAMES = ["alone", "products", "pairs", "switches", "all", "devices"]


def chosen(text):
    """The stages of a list, in their order."""
    words = text.split(",")
    for word in words:
        if word not in NAMES:
            raise argparse.ArgumentTypeError(f"{word}: must be one of {', '.join(NAMES)}")
    return [name for name in NAMES if name in words]


def all_of_them(run, soaked=None):
    """Each stage gets what the ones before it left. A soak had the stage alone, and left the hosts `soaked`."""
    work = {
        "alone": alone,
        "products": products,
        "pairs": pairs,
        "switches": switches,
        "all": everything,
        "devices": devices,
    }
    left = soaked
    if soaked is None:
        left = run.tested = run.a.names
    for name in run.a.stages:
        if soaked is None or name != "alone":
            left = work[name](run, left)


def sized(run):
    """Each rank's problem; himeno-gpu chooses by the kind of device where nothing was asked for."""
    more = [
        word
        for name in ("block", "timeout")
        if getattr(run.a, name) and not any(one.startswith(f"--{name}") for one in run.a.options)
        for word in (f"--{name}", str(getattr(run.a, name)))
    ]
    return [*(["-s", run.a.size] if run.a.size else []), "-w", *more]


def accepted_by(run, *more):
    return [*sized(run), "-t", str(run.a.seconds), "--accept", run.a.policy, *more, *run.a.options]


# ---- what each host has ----


def inventories(run):
    """{host: what it has}, and the {host: step} that asked it"""
    steps = by_themselves(
        run,
        run.a.names,
        "inventory",
        program="/usr/bin/env",
        options=["python3", "-B", inventory.__file__],
        per_host=1,
        limit=min(run.a.limit, INVENTORY_SECONDS, INVENTORY_SHARE * run.time_left()),
    )
    found = {
        name: run.document(step["name"])
        for name, step in steps.items()
        if step["outcome"] == "pass"
    }
    return {name: host for name, host in found.items() if host}, steps


def write_inventory(run):
    found, steps = inventories(run)
    for name in run.a.names:
        if name not in found:
            raise Trouble(
                f"{name}: no inventory: {steps[name]['why'] if name in steps else 'out of time'}"
            )
    inventory.write(run.a.write_inventory, found, fold)
    say(f"\n  {run.a.write_inventory}: what {fold(found)} {'has' if len(found) == 1 else 'have'}")


def compare_inventories(run):
    """Names what hosts have otherwise than --inventory and than each other. A GPU less than the file lists is lost."""
    if not run.a.inventory and (len(run.a.names) < 2 or "--stages" in getattr(run.a, "given", {})):
        return
    found, steps = inventories(run)
    unknown = [name for name in run.a.names if name not in found]
    unlisted = [name for name in found if run.a.inventory and not run.a.expected[name]]
    for name in unknown if run.a.inventory else ():
        if name in steps:  # asked, and nobody knows whether it has what the file lists
            run.find(
                "unverified",
                [name],
                f"inventory unknown: {steps[name]['why']}",
                steps[name],
                checks=["inventory"],
            )
    run.notes += [
        *([f"inventory unknown: {fold(unknown)}"] if unknown else []),
        *([f"not in the inventory: {fold(unlisted)}"] if unlisted else []),
    ]
    for name, host in found.items():
        for title, text in inventory.differences(run.a.expected[name], host):
            say(f"  {name}: {text}")
            lost = title == "GPUs" and len(host["gpus"]) < inventory.number_in(
                run.a.expected[name]["gpus"]
            )
            run.find(
                "lost" if lost else "suspect",
                [name],
                text,
                steps[name],
                checks=[f"inventory: {title}"],
            )
    for alike in inventory.of_one_type(found):
        for title, names, text in inventory.unlike(alike, fold):
            if not all(title in inventory.summary(run.a.expected[name]) for name in alike):
                say(f"  {text}")
                if names and not inventory.is_software(title):
                    run.find(
                        "suspect", names, text, steps[names[0]], checks=[f"inventory: {title}"]
                    )
                else:
                    run.notes.append(text)


# ---- each host by itself ----


def alone(run, names):
    steps = by_themselves(run, names, "alone")
    run.tested = list(steps)
    good = sort_out(run, "himeno-gpu", steps)
    documents = {name: run.document(steps[name]["name"]) for name in good}
    suspects(
        run,
        {name: document["ranks"] for name, document in documents.items() if document},
        steps,
        SUSPECT,
    )
    for name, why in counts.differing(run.a.devices).items():
        if run.a.asked and name in steps:
            run.find("suspect", [name], why, steps[name], checks=["devices"])
        elif not run.a.asked:
            run.notes.append(f"{name} {why}")
    for name, why in counts.short(run, steps).items():
        run.find("suspect" if run.a.asked else "lost", [name], why, steps[name], checks=["devices"])
        good = [one for one in good if one != name or run.a.asked]
    again = duplicates(run, steps)
    return [name for name in good if name not in again]


def count(run):
    """If nothing says how many devices the hosts have, each is asked by a step of one rank. A host that does not answer gets as many as most."""
    run.a.asked = not run.a.devices
    if run.a.asked:
        run.a.devices = dict.fromkeys(run.a.names, 1)
        steps = by_themselves(
            run, run.a.names, "count", options=["-s", "XS", "-n", "1", *backend_of(run.a.options)]
        )
        seen = {
            name: counts.seen_by(run.document(step["name"]))
            for name, step in steps.items()
            if step["outcome"] == "pass"
        }
        if seen:
            run.a.devices = {
                name: seen.get(name, counts.most_common(seen.values())) for name in run.a.names
            }
        if len(run.a.names) == 1 and run.a.backend not in ("cpu", "qpu"):
            run.notes.append(
                "the number of devices is what the host itself reports: give --per-host or --inventory"
            )


def suspects(run, rows, steps, least):
    """Reports hosts whose slowest device is slower than the fastest host's, of the same type, by more than `least`. It may be half of the hosts: nobody
    is drained for it. A host whose ranks waited for a core for that share of the time is left out. Returns whether there are any."""
    rates, found = {}, False
    for name, ranks in rows.items():
        if all(
            rank.get("gflops")
            and not rank.get("device_shared")
            and (rank.get("starved") or 0) <= least
            for rank in ranks
        ):
            rates.setdefault(re.sub(r"^(Null device) .*", r"\1", ranks[0].get("device") or ""), {})[
                name
            ] = min(rank["gflops"] for rank in ranks)
    known = {name for finding in run.findings for name in finding["hosts"]}
    for group in rates.values():
        slower = [name for name, rate in group.items() if rate < (1 - least) * max(group.values())]
        if not slower:
            continue
        found = True
        usual = statistics.median(rate for name, rate in group.items() if name not in slower)
        percent = 100 * (1 - statistics.median(group[name] for name in slower) / usual)
        if not known >= set(slower):
            run.find(
                "suspect",
                slower,
                f"{percent:.0f}% slower than the other host{'s' * (len(group) - len(slower) != 1)}",
                steps[slower[0]],
            )
    return found


def duplicates(run, steps):
    """Names of hosts that were given by another name before; devices tell hosts apart that call themselves alike."""
    first, again = {}, set()
    for name, step in steps.items():
        rows = rows_by_host(step, run.document(step["name"])).get(name)
        if not rows:
            continue
        devices = {row.get("uuid") for row in rows}
        other, others = first.setdefault(rows[0]["host"], (name, devices))
        if other != name and (others & devices or None in others | devices):
            run.find(
                "duplicate",
                [other, name],
                f"{other} and {name} are one host, {rows[0]['host']}",
                step,
            )
            again.add(name)
    return again


def by_themselves(run, names, prefix, **job):
    """{host: step} of those that had the time; the prefix keeps steps apart that are run more than once."""
    done = run.together(
        prefix,
        [(f"{prefix}-{name}", [name], job or {"options": accepted_by(run)}) for name in names],
    )
    return {name: done[f"{prefix}-{name}"] for name in names if f"{prefix}-{name}" in done}


def sort_out(run, program, steps):
    """Reports the hosts whose {host: step} failed, and returns the others. What no host at all can begin is no host's fault."""
    bad = [name for name, step in steps.items() if step["outcome"] != "pass"]
    kinds = {steps[name]["outcome"] for name in bad}
    if (
        len(kinds) == 1
        and kinds <= NOT_BEGUN
        and len(bad) == len(steps)
        and (len(bad) > 1 or kinds == {"usage"})
    ):
        first = steps[bad[0]]
        run.find(
            first["outcome"],
            bad,
            f"no host can start, check launcher, program and options: {program}: {first['why']}",
            first,
            checks=[EVERYONE],
        )
    else:
        prefix = "" if program == "himeno-gpu" else f"{program}: "
        for name in bad:
            why, is_listed = (
                steps[name]["why"],
                len(bad) < len(steps) or run.a.are_gpus and name in run.a.listed,
            )
            if NO_DEVICE.search(why) and is_listed:
                steps[name]["outcome"] = "lost"
            run.find(
                steps[name]["outcome"],
                [name],
                prefix + steps[name]["why"],
                steps[name],
                checks=[
                    prefix + check
                    for check in failed_checks(run.document(steps[name]["name"]))
                    or [steps[name]["outcome"]]
                ],
            )
    return [name for name in steps if name not in bad]


def shared_checks(run):
    """Checks that every host fails of which they could be told, two at least: policy or set-up is to blame, and no host."""
    checked, failed = {}, {}
    for finding in run.findings:
        if len(finding["hosts"]) == 1 and finding["kind"] not in NOT_BEGUN | {"noisy"}:
            for check in finding["checks"]:
                failed.setdefault(check, set()).update(finding["hosts"])
    for name, step in list(run.done.items()):
        for check in checks_of(run.document(name)):
            if len(step["hosts"]) == 1 and check["outcome"] in ("pass", "fail"):
                checked.setdefault(check["check"], set()).update(step["hosts"])
    begun = set(run.tested) - {
        name
        for finding in run.findings
        if finding["kind"] in NOT_BEGUN | {"noisy"}
        for name in finding["hosts"]
    }
    return {
        check
        for check, hosts in failed.items()
        if len(hosts) > 1 and hosts >= checked.get(check, begun)
    }


def is_set_up(finding, shared):
    return (
        EVERYONE in finding["checks"]
        or len(finding["hosts"]) == 1
        and set(finding["checks"]) <= shared
    )


# ---- noise ----


def spread_of(values):
    """Median, and what a standard deviation is where most values are the usual ones."""
    middle = statistics.median(values)
    return middle, NORMAL_MAD * statistics.median(abs(one - middle) for one in values)


def noise_of(samples):
    """Upper bound at 99% of the relative noise of blocks' times, as stats_noise_max of base/stats.c; None if there are too few."""
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


# ---- arithmetic ----


def backend_of(options):
    """-b and what the options say of it, or nothing."""
    for word, after in zip(options, [*options[1:], ""]):
        found = re.fullmatch(r"(?:-b|--backend=)(.+)", word)
        if found or word in ("-b", "--backend"):
            return ["-b", found[1] if found else after]
    return []


def products(run, names, prefix="products"):
    """Where gemm-gpu is built: right products on each host, and devices no slower than the others'."""
    if not run.has("gemm-gpu"):
        return names
    options = [
        "--accept",
        "-t",
        str(run.a.seconds),
        "--no-reference",
        *backend_of(run.a.options),
        *run.a.gemm_options,
    ]
    left = products_of(run, names, prefix, options)
    if any(re.match("--type(=|$)", word) for word in run.a.gemm_options):
        return left
    # Tensor cores draw more power than the other units, and they fail alone.
    found = {name: run.document(f"{prefix}-{name}") or {} for name in left}
    tensor = [name for name in left if found[name].get("config", {}).get("backend") == "cuda"]
    passed = products_of(
        run, tensor, f"{prefix}-{TENSOR_TYPE}", [*options, "--type", TENSOR_TYPE], f"{TENSOR_TYPE} "
    )
    return [name for name in left if name not in tensor or name in passed]


def products_of(run, names, prefix, options, of=""):
    """Those of one element type. A device that has no kernel for it is not judged."""
    steps = by_themselves(run, names, prefix, program="gemm-gpu", options=options)
    without = [
        name
        for name, step in steps.items()
        if of and step["outcome"] == "usage" and NO_TYPE in step["why"]
    ]
    run.notes += [f"not judged: {of}products on {fold(without)}"] if without else []
    steps = {name: step for name, step in steps.items() if name not in without}
    good = sort_out(run, "gemm-gpu", steps)
    rates = {
        (name, device_of(rank)): rank["gflops"]
        for name in good
        for rank in run.document(steps[name]["name"])["ranks"]
    }
    slow = slow_at_products(run, rates, steps, of)
    return [name for name in names if name not in steps or name in good and name not in slow]


def slow_at_products(run, rates, steps, of=""):
    if len({name for name, _ in rates}) < PAIRS_MIN:
        return set()
    usual, spread = spread_of(list(rates.values()))
    limit = usual - max(SIGMAS * spread, PRODUCTS_LEAST * usual)
    bad = set()
    for (name, device), rate in rates.items():
        if rate < limit:
            bad.add(name)
            document = run.document(steps[name]["name"])
            noise = noise_of(document["result"]["samples"])
            starved = max(rank.get("starved") or 0 for rank in document["ranks"])
            steady = noise is not None and max(noise, starved) <= PRODUCTS_LEAST
            run.find(
                "slow" if steady else "noisy",
                [name],
                f"gemm-gpu reaches {rate:.1f} GFLOPS, median {usual:.1f}, limit {limit:.1f}"
                + (
                    ""
                    if steady
                    else "; too few blocks to judge"
                    if noise is None
                    else f"; a rank waited {starved:.1%} for a core"
                    if starved > PRODUCTS_LEAST
                    else f"; its blocks vary by up to {noise:.1%}"
                ),
                steps[name],
                device=device,
                checks=[f"rate of {of}products"],
                value=rate,
                limit=limit,
                usual=usual,
            )
    return bad


# ---- pairs ----


def rounds_of(names, rounds):
    """Each host meets another in each round, and none twice: the circle method."""
    ring = list(names) + ([None] if len(names) % 2 else [])
    for _ in range(min(rounds, len(ring) - 1)):
        half = len(ring) // 2
        yield [(a, b) for a, b in zip(ring[:half], reversed(ring[half:])) if a and b]
        ring = [ring[0], ring[-1], *ring[1:-1]]


def exchange_of(document):
    """Seconds a sweep in which the slowest rank packs, copies and sends; not of waiting for a late neighbour. Means over the blocks, and
    so brought to the median block: one that was interrupted is no slow exchange."""
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
    """The fastest pair is the usual one; how much the exchange varies from block to block tells what is no chance."""
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
    # Classic and by a policy of noise alone: the hosts passed theirs; here the way between them is looked at.
    options = [*sized(run), "-t", str(run.a.seconds), "--accept", pairs_policy(run), *run.a.options]
    return pair_name(pair, kind), list(pair), {"options": options}


def pairs_policy(run):
    """Blocks that vary by more than what makes an exchange slow tell nothing of it."""
    path = os.path.join(run.a.folder, "pairs.json")
    if not os.path.exists(path):
        write_document(
            path,
            {"name": PAIRS_POLICY, "noise_max": LEAST, "unverified_passes": run.unverified_passes},
        )
    return path


def again_alone(run, slow, limit):
    """Those that are slow with nothing beside them, too: congestion is no bad cable."""
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
    """Whether the step tells nothing of two hosts; that is said, and nobody accused."""
    if step["outcome"] not in ("noisy", "unverified"):
        return False
    run.find(
        step["outcome"], list(pair), f"with {pair[0]} and {pair[1]} together: {step['why']}", step
    )
    return True


def path_found(run, pair):
    """What comm-gpu finds between two hosts, in words: the way that carried the bytes, its rate, and cards that stood idle."""
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
        *backend_of(run.a.options),
    ]
    name = pair_name(pair, "path")
    run.together("path", [(name, list(pair), {"program": "comm-gpu", "options": options})], width=1)
    found = run.document(name) or {}
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
    return f"; comm-gpu: {best['points'][-1]['gbps']:.3g} GB/s by {best['used']}" + (
        f", idle cards {', '.join(idle)}" if idle else ""
    )


def accuse(run, slow, limit, usual, met):
    """A host that is slow with each of several partners is bad; else the way between two is."""
    partners = {}
    for a, b in slow:
        partners.setdefault(a, []).append(b)
        partners.setdefault(b, []).append(a)
    bad = {
        name for name, others in partners.items() if len(others) >= 2 and len(others) == met[name]
    }
    for name in sorted(bad):
        pair = next(pair for pair in slow if name in pair)
        run.find(
            "slow",
            [name],
            f"exchange is slow with each of {met[name]} partners ({', '.join(partners[name])}): "
            f"{slow[pair][0] * 1e6:.0f} us per sweep, limit {limit * 1e6:.0f}{path_found(run, pair)}",
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
                f"the path between them is slow: {time * 1e6:.0f} us per sweep, limit {limit * 1e6:.0f}; neither is slow "
                f"with its other partners{path_found(run, pair)}",
                step,
                value=time,
                limit=limit,
                usual=usual,
            )
    return bad


def broken(run, done, pairs_):
    """Pairs that did not compute or end; a host with two of them is bad, else the way is."""
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
            f"no two hosts work together, check transport and network: with {pair[0]} and {pair[1]}: {step['why']}",
            step,
            checks=[EVERYONE],
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
            f"not judged: links between hosts ({len(names)} hosts, {len(times)} pair{'s' * (len(times) != 1)} measured)"
        )
    return [name for name in names if name not in bad]


# ---- more at once ----


def stragglers(run, step, document):
    """Devices that a larger job finds slower than the others; exchange is the pairs' business. Returns their hosts."""
    found = set()
    for one in (document or {}).get("stragglers", []):
        if one["of"] != "compute":
            continue
        host = hosts_of(step)[one["rank"]]
        found.add(host)
        run.find(
            "slow", [host], one["words"], step, device=device_of(one), checks=["slow among all"]
        )
    return found


def is_known(run, step, document):
    """Whether the only thing amiss is exchange between hosts whose way was found slow before."""
    ends = {
        name for finding in run.findings if finding["kind"] == "path" for name in finding["hosts"]
    }
    late = {hosts_of(step)[one["rank"]] for one in (document or {}).get("stragglers", [])}
    return (
        bool(late)
        and late <= ends
        and {check["check"] for check in checks_of(document) if check["outcome"] == "fail"}
        <= {
            "stragglers",
            "efficiency",
            "latency over its like",
            "rate over its like",
            "exchange latency",
            "exchange rate",
        }
    )


def group(run, what, name, members):
    """One job over the members. Returns those that are left."""
    done = run.together(
        what,
        [(name, members, {"options": accepted_by(run)})],
        stage=what.replace("switch ", "switches ").split()[0],
    ).get(name)
    if not done:
        return members
    document = run.document(name)
    bad = stragglers(run, done, document) if done["outcome"] in ("pass", "slow") else set()
    if done["outcome"] != "pass" and not bad and not is_known(run, done, document):
        if done["outcome"] != "slow" or not suspects(
            run, rows_by_host(done, document), dict.fromkeys(members, done), SUSPECT_IN_SLOW
        ):
            run.find(
                "path" if done["outcome"] == "slow" else done["outcome"],
                members,
                f"all of {what} together: {done['why']}",
                done,
            )
    return [member for member in members if member not in bad]


def switches(run, names):
    left = list(names)
    for switch, members in run.a.leaves.items():
        mine = [name for name in members if name in left]
        if len(mine) > 2 and len(mine) < len(names):
            kept = group(run, f"switch {switch}", f"switch-{switch}", mine)
            left = [name for name in left if name not in mine or name in kept]
    return left


def everything(run, names):
    return group(run, "all", "all", names) if len(names) > 1 else names


def devices_of(run, name):
    """How many devices the ranks of a host had; one that they shared is one."""
    uuids = [rank.get("uuid") for rank in (run.document(f"alone-{name}") or {}).get("ranks", [])]
    return len(set(uuids)) if uuids and all(uuids) else run.a.devices[name]


def devices(run, names):
    """Each device of the hosts that are slow or wrong by themselves, one after the other on a host; a lone one was by itself before."""
    shared = shared_checks(run)
    suspects = sorted(
        {
            name
            for finding in run.findings
            if finding["kind"] in ("slow", "wrong", "fault")
            for name in finding["hosts"]
            if len(finding["hosts"]) == 1 and not is_set_up(finding, shared)
        }
    )
    jobs = [
        (
            f"device-{name}-{device}",
            [name],
            {"per_host": 1, "options": accepted_by(run, "--device", str(device))},
        )
        for device in range(max(run.a.devices.values()))
        for name in suspects
        if 1 < devices_of(run, name) > device
    ]
    done = run.together("device", jobs)
    for name, step in done.items():
        document = read_document(run.path(name, "doc"))
        if step["outcome"] != "pass":
            rank = ((document or {}).get("ranks") or [{}])[0]
            run.find(
                step["outcome"],
                step["hosts"],
                f"device {name.rsplit('-', 1)[1]} by itself: {step['why']}",
                step,
                device=rank.get("uuid") or name.rsplit("-", 1)[1],
                checks=failed_checks(document) or None,
            )
    return names
