# SPDX-License-Identifier: MIT
"""Prints the verdict: measurements, findings, hosts to drain, commands that repeat findings."""

import os
import time

import counts
import handover
import measured
import pairs
import published
from endings import GRAVEST
from hosts import fold
from stages import EVERYONE, is_set_up, shared_checks
from steps import say, say_wrapped, titles, write_document

EXIT = {
    "not started": 7,
    "fault": 7,
    "hang": 6,
    "device hang": 6,
    "wrong": 4,
    "environment": 3,
    "lost": 3,
    "noisy": 3,
    "unverified": 3,
    "usage": 2,
    "duplicate": 2,
    "partial": 8,
    "slow": 5,
    "path": 5,
    "fabric": 5,
    "suspect": 5,
}
# Kinds of findings that are evidence against a host.
DRAINS = ("wrong", "slow", "device hang", "lost")
# Kinds of findings for which a host is neither drained nor tested again.
SHOWN = ("path", "fabric", "suspect", "duplicate")
CHECKED = ("pass", "fail", "noisy")


def drained(run, shared):
    """Return {host: findings} with the findings that are evidence against the host. A check that
    all hosts fail is no evidence."""
    found = {}
    for finding in run.findings:
        if (
            finding["kind"] in DRAINS
            and len(finding["hosts"]) == 1
            and not is_set_up(finding, shared)
        ):
            found.setdefault(finding["hosts"][0], []).append(finding)
    return found


def to_run_again(run, drain):
    """Return {host: findings} of steps that did not start or finish, or were inconclusive."""
    found = {}
    for finding in run.findings:
        if (
            finding["kind"] in DRAINS + SHOWN
            or EVERYONE in finding["checks"]
            and finding["kind"] in ("usage", "environment")
        ):
            continue
        for name in finding["hosts"]:
            if name not in drain:
                found.setdefault(name, []).append(finding)
    return found


def suspected(run, drain):
    """Return the findings about hosts that are slow or lack devices, but are not drained."""
    return [
        finding
        for finding in run.findings
        if finding["kind"] == "suspect" and not set(finding["hosts"]) <= set(drain)
    ]


def tally(run):
    """Return the counts of the policy's checks, and {check: hosts for which no step could judge
    it}. Returns None if no step was judged by the policy."""
    named, checked, failed, failing = {}, set(), set(), set()
    for name, step in list(run.done.items()):
        accept = (run.document(name) or {}).get("result", {}).get("accept", {})
        if not accept or accept["policy"] == pairs.POLICY:
            continue
        for check in accept["checks"]:
            named[check["check"]] = None
            checked.update(
                (check["check"], host) for host in step["hosts"] if check["outcome"] in CHECKED
            )
            if check["outcome"] == "fail":
                failed.add(check["check"])
                failing.update(step["hosts"])
    if not named:
        return None
    if not checked and not run.findings:
        run.find(
            "usage",
            run.tested,
            f"nothing of the policy could be checked: {', '.join(named)}",
            next(iter(run.done.values())),
        )
    known = {host for finding in run.findings for host in finding["hosts"]}
    found = {
        check: [host for host in run.tested if host not in known and (check, host) not in checked]
        for check in named
    }
    missing = {check: hosts for check, hosts in found.items() if hosts}
    return {
        "all": len(named),
        "passed": len(named.keys() - failed - missing.keys()),
        "passing": [check for check in named if check not in failed and check not in missing],
        "failed": len(failed),
        "failing": failing,
        "unchecked": missing,
    }


def set_up(run, shared):
    """Return one line per set of checks that all hosts fail."""
    found = {}
    for finding in run.findings:
        if is_set_up(finding, shared):
            found.setdefault(tuple(sorted(finding["checks"])), []).append(finding)

    def line(alike):
        first = alike[0]
        example = f"all hosts fail this, for example {first['hosts'][0]}: "
        hosts = fold({name for one in alike for name in one["hosts"]})
        return f"{hosts}: {example if len(alike) > 1 else ''}{first['why']}"

    return list(map(line, found.values()))


def figures(rows):
    """Print the measurements, one line per host, with a star at each outlier."""
    columns = [
        column[0]
        for column in measured.COLUMNS
        if column[0] not in measured.IF_KNOWN or any(row[column[0]] is not None for row in rows)
    ]
    lines = [
        ["host", *(column[1] for column in measured.COLUMNS if column[0] in columns), "verdict"]
    ]
    lines += [
        [
            row["host"],
            *(
                measured.shown(key, row[key]) + ("*" if key in row["outliers"] else " ")
                for key in columns
            ),
            row["verdict"],
        ]
        for row in rows
    ]
    widths = [max(len(line[at].rstrip()) for line in lines) for at in range(len(lines[0]))]
    say("")
    for line in lines:
        say(
            f"  {line[0]:<{widths[0]}}  "
            + " ".join(
                f"{text if text.endswith('*') else text.rstrip() + ' ':>{width + 1}}"
                for text, width in zip(line[1:-1], widths[1:-1])
            )
            + f" {line[-1]}"
        )
    known = (column for column in measured.COLUMNS if column[0] in columns)
    say_wrapped(f"  {measured.legend(known)}")
    if any(row["outliers"] for row in rows):
        say_wrapped(f"  * outlier: {measured.RULE}")


def verdict_of(run, name, drain, again, alike):
    """Return the verdict about one host in a few words."""
    if name not in run.tested:
        return "not tested"
    suspects = [finding for finding in suspected(run, drain) if name in finding["hosts"]]
    found = drain.get(name) or again.get(name) or suspects
    if name in alike and name not in drain:
        return "not started" if alike[name]["kind"] == "not started" else "policy or set-up?"
    return found[0]["kind"] if found else "pass"


def table(run, drain, again, alike):
    width = max([4] + [len(name) for name in run.a.names])
    untested = [name for name in run.a.names if name not in run.tested]
    alone = {
        name: [finding for finding in found if len(finding["hosts"]) == 1 and finding not in alike]
        for name, found in again.items()
    }
    shown = [name for name in run.a.names if name in drain or name in untested or alone.get(name)]
    say("")
    if shown:
        say(f"  {'host':<{width}}  verdict")
    for name in shown:
        for finding in drain.get(name, []) + alone.get(name, []):
            device = (
                f"{finding['device']}: "
                if finding["device"] and finding["device"] not in finding["why"]
                else ""
            )
            say_wrapped(f"  {name:<{width}}  {finding['kind']}: {device}{finding['why']}")
        if name in untested:
            say(f"  {name:<{width}}  not tested: out of time")
    failed = {
        name for finding in run.findings if finding["kind"] != "path" for name in finding["hosts"]
    }
    good = [name for name in run.a.names if name not in shown and name not in failed]
    if good:
        say_wrapped(f"  passed: {fold(good)} ({len(good)} host{'s' * (len(good) != 1)})")
    for finding in run.findings:
        if (
            finding not in alike
            and finding["kind"] != "suspect"
            and (finding["kind"] in ("path", "fabric", "usage") or len(finding["hosts"]) > 1)
        ):
            hosts = finding["hosts"] or [finding["kind"]]
            named = " and ".join(hosts) if len(hosts) < 4 else fold(hosts)
            say_wrapped(f"  {named}: {finding['why']}")


def notes(run):
    """Return lines about parts without a finding that were not judged or not tested."""
    left = ", ".join(f"{count} on {name}" for name, count in counts.untested(run).items())
    return [*run.notes, *([f"devices not tested: {left}"] if left else [])]


def conclusion(run, alike, checks):
    """Return the last line, which lists what was checked and what was not."""
    at, parts = f" at level {run.a.level}" if run.a.level else "", []
    failed = (
        [
            f"{checks['failed']} of the policy's {checks['all']} checks failed on "
            f"{fold(name for name in run.a.names if name in checks['failing'])}"
        ]
        if checks and checks["failed"]
        else []
    )
    if any(alike):
        parts = [
            f"NOT ACCEPTED{at}: policy or set-up? "
            + (
                "Nothing started, so host names, launcher or options may be wrong"
                if all(finding["kind"] == "not started" for finding in alike)
                else "All hosts fail the same check, so its limit or the installation may be wrong"
            ),
            *failed,
        ]
    elif run.findings:
        parts = [
            f"NOT ACCEPTED{at}: {len(run.findings)} finding{'s' * (len(run.findings) != 1)}",
            *failed,
        ]
    elif run.left_out:
        parts = [f"nothing found{at}, but not everything was tested"]
    elif checks:
        parts = [f"ACCEPTED{at}: {checks['passed']} of {checks['all']} checks passed"]
        if 0 < checks["passed"] < len(checks["unchecked"]):
            parts[0] += f" ({'; '.join(titles(run)[check] for check in checks['passing'])})"
    else:
        parts = [f"nothing found{at}, but these stages check nothing against the policy"]
    parts += notes(run)
    if checks and checks["unchecked"]:
        texts = [
            titles(run)[check] + ("" if hosts == run.tested else f" on {fold(hosts)}")
            for check, hosts in checks["unchecked"].items()
        ]
        parts.append(f"{len(texts)} not checked: {'; '.join(texts)}")
    return "; ".join(parts)


def advice(run, drain, again):
    """Print the recommended action for each host."""
    if drain or again or suspected(run, drain):
        say("")
    if drain:
        say_wrapped(f"  drain: {fold(drain)}")
        say(
            f'    scontrol update NodeName={fold(drain)} State=DRAIN Reason="himeno-gpu acceptance"'
        )
    reasons = {}
    for name, found in again.items():
        reasons.setdefault(f"{found[0]['kind']}: {found[0]['why']}", []).append(name)
    for why, names in reasons.items():
        say_wrapped(f"  run again: {fold(names)} ({why})")
    for finding in suspected(run, drain):
        say_wrapped(f"  suspect: {fold(finding['hosts'])} ({finding['why']})")


def severity_of(finding, drain, alike):
    if finding in alike:
        return "set-up"
    if any(finding in found for found in drain.values()):
        return "drain"
    return "suspect" if finding["kind"] in SHOWN else "run again"


def write(run):
    checks = tally(run)
    shared = shared_checks(run)
    drain = drained(run, shared)
    again = to_run_again(run, drain)
    alike = [finding for finding in run.findings if is_set_up(finding, shared)]
    rows, devices = measured.rows_of(run), handover.devices(run)
    for row in rows:
        row["verdict"] = verdict_of(
            run, row["host"], drain, again, {name: one for one in alike for name in one["hosts"]}
        )
    for finding in run.findings:
        handover.explain(finding, severity_of(finding, drain, alike), devices)
    figures(rows)
    table(run, drain, again, alike)
    reasons = set_up(run, shared)
    for line in reasons:
        say_wrapped(f"  policy or set-up? {line}")
    if run.left_out:
        more = " ..." if len(run.left_out) > 8 else ""
        say_wrapped(f"  steps left out for lack of time: {', '.join(run.left_out[:8])}{more}")
    if run.findings:
        say("\n  commands that repeat the findings:")
        for command in dict.fromkeys(finding["command"] for finding in run.findings):
            say(f"    {command}")
    advice(run, drain, again)
    codes = {EXIT[finding["kind"]] for finding in run.findings}
    code = next((one for one in GRAVEST if one in codes), 0)
    words = conclusion(run, alike, checks)
    suspects = {
        name: [one["why"] for one in suspected(run, drain) if name in one["hosts"]]
        for name in run.a.names
    }
    document = {
        "schema": "himeno-accept/1",
        "time": run.ended or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "accepted": words.startswith("ACCEPTED"),
        "conclusion": words,
        "command": run.command,
        "level": run.a.level,
        "policy": run.a.policy,
        "checks": {key: checks[key] for key in ("all", "passed", "failed")} if checks else None,
        "unchecked": checks and checks["unchecked"],
        "limits": handover.limits(run),
        "hosts": run.a.names,
        "tested": run.tested,
        "drain": {name: [finding["why"] for finding in found] for name, found in drain.items()},
        "drain_list": fold(drain),
        "run_again": {name: [finding["why"] for finding in found] for name, found in again.items()},
        "run_again_list": fold(again),
        "suspect": {name: found for name, found in suspects.items() if found},
        "not_judged": run.notes,
        "devices_untested": counts.untested(run),
        "set_up": reasons,
        "machine": handover.machine(run, devices),
        "measured": rows,
        "devices": devices,
        "findings": run.findings,
        "drift": run.drift,
        "left_out": run.left_out,
        "ignored": run.a.ignored,
        "durations": handover.durations(run),
        "seconds": round(time.time() - run.begin, 1),
    }
    document["bundles"] = handover.bundles(run, document)
    write_document(os.path.join(run.a.folder, "accept.json"), document)
    published.write(document, run.a)
    for name, bundle in document["bundles"].items():
        say(f"  archive for the vendor of {name}: {os.path.join(run.a.folder, bundle)}")
    say("")
    say_wrapped(f"  {words}")
    return code or (5 if run.left_out else 0)
