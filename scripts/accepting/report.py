# SPDX-License-Identifier: MIT
"""The verdict: a table, the hosts to drain, reasons, and the commands that repeat each finding."""
import os
import textwrap
import time

import counts
import measured
import published
from endings import GRAVEST
from hosts import fold
from stages import EVERYONE, PAIRS_POLICY, is_set_up, shared_checks
from steps import say, titles, write_document

EXIT = {"not started": 7, "fault": 7, "hang": 6, "device hang": 6, "wrong": 4, "environment": 3, "lost": 3, "noisy": 3, "unverified": 3, "usage": 2,
        "duplicate": 2, "partial": 8, "slow": 5, "path": 5, "suspect": 5}
DRAINS = ("wrong", "slow", "device hang", "lost")  # evidence against a host
SHOWN = ("path", "suspect", "duplicate")  # something is wrong, and the host need neither be drained nor run again
CHECKED = ("pass", "fail", "noisy")


def drained(run, shared):
    """{host: findings} that are evidence against one host, unless every host fails the same check."""
    found = {}
    for finding in run.findings:
        if finding["kind"] in DRAINS and len(finding["hosts"]) == 1 and not is_set_up(finding, shared):
            found.setdefault(finding["hosts"][0], []).append(finding)
    return found


def to_run_again(run, drain):
    """{host: findings} of steps that did not start, read, write or finish, or were inconclusive."""
    found = {}
    for finding in run.findings:
        if finding["kind"] in DRAINS + SHOWN or EVERYONE in finding["checks"] and finding["kind"] in ("usage", "environment"):
            continue
        for name in finding["hosts"]:
            if name not in drain:
                found.setdefault(name, []).append(finding)
    return found


def suspected(run, drain):
    """Findings of hosts that are slower than others, or have fewer devices, and are not drained."""
    return [finding for finding in run.findings if finding["kind"] == "suspect" and not set(finding["hosts"]) <= set(drain)]


def unchecked(run):
    """{check of the policy: hosts for which no step could judge it}; None if no step was judged by the policy."""
    named, told = {}, set()
    for name, step in list(run.done.items()):
        accept = (run.document(name) or {}).get("result", {}).get("accept", {})
        if not accept or accept["policy"] == PAIRS_POLICY:
            continue
        for check in accept["checks"]:
            named[check["check"]] = None
            told.update((check["check"], host) for host in step["hosts"] if check["outcome"] in CHECKED)
    if not named:
        return None
    if not told and not run.findings:
        run.find("usage", run.tested, f"nothing of the policy could be checked: {', '.join(named)}", next(iter(run.done.values())))
    known = {host for finding in run.findings for host in finding["hosts"]}
    found = {check: [host for host in run.tested if host not in known and (check, host) not in told] for check in named}
    return {check: hosts for check, hosts in found.items() if hosts}


def set_up(run, shared):
    """One line per set of checks that every host fails."""
    found = {}
    for finding in run.findings:
        if is_set_up(finding, shared):
            found.setdefault(tuple(sorted(finding["checks"])), []).append(finding)
    return [f"{fold({name for one in alike for name in one['hosts']})}: "
            + (alike[0]["why"] if len(alike) == 1 else f"every host fails this check, for example {alike[0]['hosts'][0]}: {alike[0]['why']}") for alike in found.values()]


def figures(rows):
    """Print the measurements, one line per host, with a star at each outlier."""
    columns = [column[0] for column in measured.COLUMNS if column[0] not in measured.WHERE_KNOWN or any(row[column[0]] is not None for row in rows)]
    lines = [["host", *(column[1] for column in measured.COLUMNS if column[0] in columns), "verdict"]]
    lines += [[row["host"], *(measured.shown(key, row[key]) + ("*" if key in row["outliers"] else " ") for key in columns), row["verdict"]] for row in rows]
    widths = [max(len(line[at].rstrip()) for line in lines) for at in range(len(lines[0]))]
    say("")
    for line in lines:
        say(f"  {line[0]:<{widths[0]}}  " + "  ".join(f"{text if text.endswith('*') else text.rstrip() + ' ':>{width + 1}}" for text, width in
                                                       zip(line[1:-1], widths[1:-1])) + f" {line[-1]}")
    if any(row["outliers"] for row in rows):
        say(textwrap.fill(f"* outlier: {measured.RULE}", 110, initial_indent="  ", subsequent_indent="    "))


def verdict_of(run, name, drain, again, alike):
    """The verdict of one host in one word."""
    if name not in run.tested:
        return "not tested"
    suspects = [finding for finding in suspected(run, drain) if name in finding["hosts"]]
    found = drain.get(name) or again.get(name) or suspects
    if name in alike and name not in drain:
        return "policy or set-up?"
    return found[0]["kind"] if found else "pass"


def table(run, drain, again, alike):
    width = max([4] + [len(name) for name in run.a.names])
    say("")
    say(f"  {'host':<{width}}  verdict")
    untested = [name for name in run.a.names if name not in run.tested]
    alone = {name: [finding for finding in found if len(finding["hosts"]) == 1 and finding not in alike] for name, found in again.items()}
    shown = [name for name in run.a.names if name in drain or name in untested or alone.get(name)]
    for name in shown:
        for place, finding in enumerate(drain.get(name, []) + alone.get(name, [])):
            device = f"{finding['device']}: " if finding["device"] else ""
            say(f"  {name if place == 0 else '':<{width}}  {finding['kind']}: {device}{finding['why']}")
        if name in untested:
            say(f"  {name:<{width}}  not tested: out of time")
    failed = {name for finding in run.findings if finding["kind"] != "path" for name in finding["hosts"]}
    good = [name for name in run.a.names if name not in shown and name not in failed]
    if good:
        say(f"  {fold(good)}: {len(good)} pass")
    for finding in run.findings:
        if finding not in alike and finding["kind"] != "suspect" and (finding["kind"] in ("path", "usage") or len(finding["hosts"]) > 1):
            say(f"  {' and '.join(finding['hosts']) if len(finding['hosts']) < 4 else fold(finding['hosts'])}: {finding['why']}")


def notes(run):
    """What was not judged or not tested, without a finding."""
    left = counts.untested(run)
    return [*run.notes, *([f"devices not tested: {', '.join(f'{count} of {name}' for name, count in left.items())}"] if left else [])]


def conclusion(run, alike, missing):
    """The last line."""
    if any(alike):
        words = "NOT ACCEPTED: policy or set-up? A check that every host fails points to the policy or the set-up"
    elif run.findings:
        words = "NOT ACCEPTED"
    elif run.left_out:
        words = "nothing found, but not everything was tested"
    else:
        words = "ACCEPTED" if missing is not None else "nothing found, but these stages check nothing against the policy"
    return "; ".join([words, *notes(run)])


def advice(run, drain, again):
    """Print what to do with each host."""
    if drain or again or suspected(run, drain):
        say("")
    if drain:
        say(f"  drain: {fold(drain)}")
        say(f"    scontrol update NodeName={fold(drain)} State=DRAIN Reason=\"himeno-gpu acceptance\"")
    reasons = {}
    for name, found in again.items():
        reasons.setdefault(f"{found[0]['kind']}: {found[0]['why']}", []).append(name)
    for why, names in reasons.items():
        say(f"  run again: {fold(names)} ({why})")
    for finding in suspected(run, drain):
        say(f"  suspect: {fold(finding['hosts'])} ({finding['why']})")


def write(run):
    missing = unchecked(run)
    shared = shared_checks(run)
    drain = drained(run, shared)
    again = to_run_again(run, drain)
    alike = [finding for finding in run.findings if is_set_up(finding, shared)]
    rows = measured.rows_of(run)
    for row in rows:
        row["verdict"] = verdict_of(run, row["host"], drain, again, {name for finding in alike for name in finding["hosts"]})
    figures(rows)
    table(run, drain, again, alike)
    reasons = set_up(run, shared)
    for line in reasons:
        say(f"  policy or set-up? {line}")
    for check, hosts in (missing or {}).items():
        say(f"  not checked: {titles(run)[check]}: {fold(hosts)}")
    if run.left_out:
        say(f"  left out, no time: {', '.join(run.left_out[:8])}{' ...' if len(run.left_out) > 8 else ''}")
    if run.findings:
        say("\n  to repeat:")
        for command in dict.fromkeys(finding["command"] for finding in run.findings):
            say(f"    {command}")
    advice(run, drain, again)
    codes = {EXIT[finding["kind"]] for finding in run.findings}
    code = next((one for one in GRAVEST if one in codes), 0)
    words = conclusion(run, alike, missing)
    say(f"\n  {words}")
    document = {
        "schema": "himeno-accept/1", "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "accepted": words.startswith("ACCEPTED"), "hosts": run.a.names,
        "tested": run.tested, "drain": {name: [finding["why"] for finding in found] for name, found in drain.items()}, "drain_list": fold(drain),
        "run_again": {name: [finding["why"] for finding in found] for name, found in again.items()}, "run_again_list": fold(again),
        "suspect": {name: [one["why"] for one in suspected(run, drain) if name in one["hosts"]] for name in run.a.names
                    if any(name in one["hosts"] for one in suspected(run, drain))},
        "not_judged": run.notes, "devices_untested": counts.untested(run), "set_up": reasons, "unchecked": missing, "conclusion": words, "policy": run.a.policy, "measured": rows,
        "findings": run.findings, "left_out": run.left_out, "ignored": run.a.ignored, "seconds": round(time.time() - run.begin, 1)}
    write_document(os.path.join(run.a.folder, "accept.json"), document)
    published.write(document, run)
    return code or (5 if run.left_out else 0)
