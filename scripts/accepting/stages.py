# SPDX-License-Identifier: MIT
"""The stages in their order. The stages pairs, wires and fabric are in files of their own."""

import argparse
import re
import statistics

import counts
import fabric
import inventory
import pairs
import wires
from endings import Trouble
from files import read_document
from hosts import fold
from noise import MEDIAN_MIN, SIGMAS, noise_of, spread_of
from steps import (
    checks_of,
    device_of,
    failed_checks,
    hosts_of,
    rows_by_host,
    say,
    say_wrapped,
)

INVENTORY_SECONDS = 20
INVENTORY_SHARE = 0.15  # share of the budget
SUSPECT = 0.10  # a host is suspect if it is slower than the fastest host by this share
SUSPECT_IN_SLOW = 0.03  # minimum slowness of a suspect that is part of a slow job
TENSOR_TYPE = "bf16"  # element type of the second step of products
NO_TYPE = "does not take type"  # in gemm-gpu's message, if the device does not support the type
PRODUCTS_LEAST = 0.05  # a device is slow at arithmetic if it is below the median by this share
EVERYONE = "every host"  # value of a finding's check if no single host is to blame
# Matches the program's message if it has no device.
NO_DEVICE = re.compile(r"\bbackend \w+: (?!too little host memory)")
NOT_BEGUN = {"not started", "partial", "environment", "usage", "unverified", "duplicate"}


NAMES = ["alone", "products", "pairs", "wires", "fabric", "switches", "all", "devices"]


def chosen(text):
    """Return the stages of a list, in the order in which they run."""
    words = text.split(",")
    for word in words:
        if word not in NAMES:
            raise argparse.ArgumentTypeError(f"{word}: must be one of {', '.join(NAMES)}")
    return [name for name in NAMES if name in words]


def all_of_them(run, soaked=None):
    """Run the stages. Each stage gets the hosts that passed the earlier ones. After a soak, which
    begins with the stage alone, `soaked` are the hosts that passed it."""
    work = {
        "alone": alone,
        "products": products,
        "pairs": pairs.pairs,
        "wires": wires.wires,
        "fabric": fabric.fabric,
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
    """Return the problem's options. Without --size, himeno-gpu chooses by the device's kind."""
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
    """Take the inventory of each host; return ({host: inventory}, {host: step})."""
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
    say(f"\n  wrote the inventory of {fold(found)} to {run.a.write_inventory}")


def compare_inventories(run):
    """Report the differences of hosts from --inventory and from each other. A host with fewer GPUs
    than listed has lost one."""
    if not run.a.inventory and (len(run.a.names) < 2 or "--stages" in getattr(run.a, "given", {})):
        return
    found, steps = inventories(run)
    unknown = [name for name in run.a.names if name not in found]
    unlisted = [name for name in found if run.a.inventory and not run.a.expected[name]]
    for name in unknown if run.a.inventory else ():
        if name in steps:  # the step ran, but gave no inventory
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
            say_wrapped(f"  {name}: {text}")
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
                say_wrapped(f"  {text}")
                if names and not inventory.is_software(title):
                    run.find(
                        "suspect", names, text, steps[names[0]], checks=[f"inventory: {title}"]
                    )
                else:
                    run.notes.append(f"hosts differ: {text}")


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
    """Ask each host for its number of devices with a step of one rank, unless the number is known.
    If a host does not answer, assume the most common number."""
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
                "the number of devices is what the host itself reports: "
                "give --per-host or --inventory"
            )


def suspects(run, rows, steps, least):
    """Report the hosts that are slower by more than `least` than the fastest host with the same
    model. A host's rate is that of its slowest device. A host whose ranks waited for a core for a
    larger share of the time than `least` is left out. No host is drained, because the slower ones
    may be half of all. Return True if there are any."""
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
    """Return the names of hosts that an earlier name has reached already. Hosts with equal host
    names are distinguished by their devices."""
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
    """Run a job on each host by itself; return {host: step} of the steps for which there was time.
    Steps are called PREFIX-HOST."""
    done = run.together(
        prefix,
        [(f"{prefix}-{name}", [name], job or {"options": accepted_by(run)}) for name in names],
    )
    return {name: done[f"{prefix}-{name}"] for name in names if f"{prefix}-{name}" in done}


def sort_out(run, program, steps):
    """Report the hosts whose step in {host: step} failed, and return the others. If a program
    starts on no host, no host is to blame."""
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
            f"{program} did not start on any host; check host names, launcher and options: "
            f"{first['why']}",
            first,
            checks=[EVERYONE],
        )
    else:
        prefix = "" if program == "himeno-gpu" else f"{program}: "
        for name in bad:
            is_listed = len(bad) < len(steps) or run.a.are_gpus and name in run.a.listed
            if NO_DEVICE.search(steps[name]["why"]) and is_listed:
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
    """Return the checks that at least two hosts fail and no host passes: the policy or the set-up
    is to blame for them."""
    checked, failed = {}, {}
    for finding in run.findings:
        if len(finding["hosts"]) == 1 and finding["kind"] not in NOT_BEGUN | {"noisy"}:
            for check in finding["checks"]:
                failed.setdefault(check, set()).update(finding["hosts"])
    for name, step in list(run.done.items()):
        document = run.document(name) if len(step["hosts"]) == 1 else None
        passed = [check["check"] for check in checks_of(document) if check["outcome"] == "pass"]
        for check in passed + failed_checks(document):
            checked.setdefault(check, set()).update(step["hosts"])
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


# ---- arithmetic ----


def backend_of(options):
    """Return -b and its value from the options, or an empty list."""
    for word, after in zip(options, [*options[1:], ""]):
        found = re.fullmatch(r"(?:-b|--backend=)(.+)", word)
        if found or word in ("-b", "--backend"):
            return ["-b", found[1] if found else after]
    return []


def products(run, names, prefix="products"):
    """Check that the matrix products of each host are correct, and that no device is slower than
    the others; return the hosts that pass. Without gemm-gpu, all pass."""
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
    # Test tensor cores, too: they draw more power than other units, and may fail alone.
    found = {name: run.document(f"{prefix}-{name}") or {} for name in left}
    tensor = [name for name in left if found[name].get("config", {}).get("backend") == "cuda"]
    passed = products_of(
        run, tensor, f"{prefix}-{TENSOR_TYPE}", [*options, "--type", TENSOR_TYPE], f"{TENSOR_TYPE} "
    )
    return [name for name in left if name not in tensor or name in passed]


def products_of(run, names, prefix, options, of=""):
    """Test products of one element type. A device without a kernel for the type is not judged."""
    steps = by_themselves(run, names, prefix, program="gemm-gpu", options=options)
    without = [name for name, step in steps.items() if of and NO_TYPE in step["why"]]
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
    if len({name for name, _ in rates}) < MEDIAN_MIN:
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


# ---- more at once ----


def stragglers(run, step, document):
    """Report devices that are slower than the others of a larger job; return their hosts. Exchanges
    are judged by the stage pairs."""
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
    """Return True if all slow ranks are on hosts whose path was found slow before, and only checks
    of exchanges and stragglers fail."""
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
    """Run one job on all members; return those whose devices were not slow in it."""
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
                f"{'all hosts' if what == 'all' else what} together: {done['why']}",
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
    """Return the number of devices of a host's ranks; a shared device counts once."""
    uuids = [rank.get("uuid") for rank in (run.document(f"alone-{name}") or {}).get("ranks", [])]
    return len(set(uuids)) if uuids and all(uuids) else run.a.devices[name]


def devices(run, names):
    """Test the devices of each slow or wrong host one after the other. A host with one device has
    been tested already."""
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
                f"device {name.rsplit('-', 1)[1]} tested alone: {step['why']}",
                step,
                device=rank.get("uuid") or name.rsplit("-", 1)[1],
                checks=failed_checks(document) or None,
            )
    return names
