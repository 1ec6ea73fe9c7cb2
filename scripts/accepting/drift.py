# SPDX-License-Identifier: MIT
"""Comparison with an earlier acceptance: each device's rate with its noise, new and vanished
devices, changes of versions, and the guaranteed share of the rate at installation."""

import calendar
import math
import statistics
import time

import handover
import inventory
from endings import BadInput
from files import read_document
from hosts import fold
from steps import INSTALLATION, Finished, device_of, percent_from, say, say_wrapped

RATE_MIN = 0.90  # minimum share of the rate at installation, unless the policy sets one
# The same values as in judge/reference.h, where the names begin with REFERENCE_.
SIGMAS, LEAST, NOISY = 3, 0.01, 0.05
# settings that must be equal for rates to be comparable
WORK = ("imax", "jmax", "kmax", "data", "class")


def seconds_of(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def keyed(rows):
    """Return {(host, UUID or rank): row}"""
    return {(row["host"], row["uuid"] or row["rank"]): row for row in rows}


def move(before, now):
    """Move a device's earlier row to its present host. Return {UUID of such a device: earlier
    host}."""
    gone, come = before.keys() - now.keys(), now.keys() - before.keys()
    moved = {}
    for host, device in sorted(come, key=str):
        earlier = [key for key in gone if key[1] == device and isinstance(device, str)]
        if len(earlier) == 1 and sum(key[1] == device for key in come) == 1:
            moved[device] = earlier[0][0]
            before[host, device] = before.pop(earlier[0])
    return moved


def change(old, new, days, limit):
    """Compare a device's earlier row `old` with its present row `new`; one of them may be None."""
    row = {key: (new or old)[key] for key in ("host", "rank", "uuid")}
    row.update(
        before=old and old["gflops"],
        gflops=new and new["gflops"],
        percent=None,
        noise=None,
        corrected_per_day=None,
        outcome="unknown",
    )
    if not old or not new:
        row["outcome"] = "vanished" if old else "new"
        return row
    if days and None not in (old["corrected"], new["corrected"]):
        # The counter restarts from 0 when the driver is loaded.
        row["corrected_per_day"] = (
            new["corrected"] - (old["corrected"] if new["corrected"] >= old["corrected"] else 0)
        ) / days
    if not row["before"] or not row["gflops"] or None in (old["noise"], new["noise"]):
        return row
    ratio = row["gflops"] / row["before"]
    noise = max(LEAST, SIGMAS * math.hypot(old["noise"], new["noise"]))
    row.update(percent=percent_from(row["gflops"], row["before"]), noise=round(100 * noise, 2))
    if ratio < limit:
        row["outcome"] = (
            "noisy" if noise > NOISY and ratio + noise >= limit else "below the guaranteed rate"
        )
    else:
        row["outcome"] = (
            "slower" if ratio < 1 - noise else "faster" if ratio > 1 + noise else "unchanged"
        )
    return row


def of_host(rows):
    """Return the row of a host, with its slowest device before and now."""
    known = [row for row in rows if row["percent"] is not None]
    if not known:
        return None
    before, now = (min(row[key] for row in known) for key in ("before", "gflops"))
    worst = min(known, key=lambda row: row["percent"])
    return {
        "host": worst["host"],
        "before": before,
        "gflops": now,
        "percent": percent_from(now, before),
        "noise": worst["noise"],
        "outcome": worst["outcome"],
    }


def properties(run, name):
    """Return {property: value} of a host's software and hardware."""
    document = run.document(f"alone-{name}") or {}
    found = {
        "himeno-gpu": document.get("version"),
        "kernel": document.get("system", {}).get("kernel"),
        "driver": ", ".join(
            sorted({rank.get("driver") or "" for rank in document.get("ranks", [])})
        ),
    }
    host = handover.inventories(run).get(name)
    return {**found, **inventory.summary(host)} if host else found


def changes(before, now, names):
    """Return one line per changed property, with the hosts on which it changed."""
    found = {}
    for name in names:
        old, new = properties(before, name), properties(now, name)
        for title in old.keys() & new.keys():
            if old[title] and new[title] and not inventory.equal(title, old[title], new[title]):
                found.setdefault(f"{title} {old[title]} → {new[title]}", []).append(name)
    return [f"{text} on {fold(hosts)}" for text, hosts in sorted(found.items())]


def work_of(run):
    document = next(filter(None, (run.document(f"alone-{name}") for name in run.a.names)), {})
    return {key: document.get("config", {}).get(key) for key in WORK}


def notes(rows, moved, hosts, apart):
    def named(outcome):
        return ", ".join(
            f"{row['host']} {device_of(row)}" for row in rows if row["outcome"] == outcome
        )

    lines = [
        f"{outcome} devices: {named(outcome)}" for outcome in ("new", "vanished") if named(outcome)
    ]
    now = {row["uuid"]: row["host"] for row in rows}
    lines += [
        f"moved device: {device} from {host} to {now[device]}" for device, host in moved.items()
    ]
    growing = [
        f"{row['host']} {row['uuid']} {row['corrected_per_day']:.3g}"
        for row in rows
        if row["corrected_per_day"]
    ]
    lines += [f"corrected ECC errors per day: {', '.join(growing)}"] if growing else []
    return lines + ([f"hosts that were not compared: {fold(apart)}"] if apart else []) + hosts


def compare_with(run, folder):
    """Compare the run with the acceptance in a folder, and set run.drift. A device below the
    guaranteed rate becomes a finding."""
    before = Finished(folder)
    if (
        before.a.names
        and work_of(run) != work_of(before)
        and None not in (*work_of(run).values(), *work_of(before).values())
    ):
        raise BadInput(
            f"{folder}: its steps computed {work_of(before)}, these compute {work_of(run)}"
        )
    limit = (read_document(run.a.policy) or {}).get("rate_of_installation_min", RATE_MIN)
    days = round(
        (time.time() if not run.ended else seconds_of(run.ended)) / 86400
        - seconds_of(before.ended) / 86400,
        3,
    )
    both = [
        name
        for name in run.a.names
        if run.document(f"alone-{name}") and before.document(f"alone-{name}")
    ]
    old, new = (keyed(row for row in handover.devices(one)) for one in (before, run))
    moved = move(old, new)
    rows = [
        change(old.get(key), new.get(key), days, limit)
        for key in sorted(old.keys() | new.keys(), key=str)
        if key[0] in both or key in old and key in new
    ]
    rows.sort(key=lambda row: (row["host"], row["rank"]))
    hosts = list(
        filter(None, (of_host([row for row in rows if row["host"] == name]) for name in both))
    )
    run.drift = {
        "against": folder,
        "time": before.ended,
        "days": max(0, days),
        "rate_of_installation_min": limit,
        "notes": notes(
            rows,
            moved,
            changes(before, run, both),
            sorted({*run.a.names, *before.a.names} - {*both}),
        ),
        "hosts": hosts,
        "devices": rows,
    }
    for row in rows:
        if row["outcome"] in ("below the guaranteed rate", "noisy"):
            device = device_of(row)
            run.find(
                "slow" if row["outcome"] != "noisy" else "noisy",
                [row["host"]],
                f"{device} reaches {row['gflops'] / row['before']:.3f} of its rate at "
                f"installation, {row['gflops']:.5g} of {row['before']:.5g} GFLOPS, "
                f"at least {limit:g} is guaranteed (noise {row['noise']:.1f}%)",
                run.done[f"alone-{row['host']}"],
                device=device,
                checks=[INSTALLATION],
                value=row["gflops"],
                limit=limit * row["before"],
            )
    shown(run.drift)


def shown(drift):
    rows = [row for row in drift["devices"] if row["percent"] is not None]
    median = statistics.median(row["percent"] for row in rows) if rows else 0
    say("")
    say_wrapped(
        f"  drift since {drift['time'][:10]}, {drift['days']:.0f} days, {drift['against']}: "
        f"{len(rows)} devices compared" + f", median change {median:+.1f}%" * bool(rows)
    )
    for row in rows:
        if row["outcome"] != "unchanged":
            say_wrapped(
                f"    {row['host']} {device_of(row)}: {row['before']:.5g} → {row['gflops']:.5g} "
                f"GFLOPS, {row['percent']:+.1f}% (noise {row['noise']:.1f}%): {row['outcome']}"
            )
    for line in drift["notes"]:
        say_wrapped(f"    {line}")
