# SPDX-License-Identifier: MIT
"""The verdict: a table, a host list to drain, a reason each, and the commands that repeat each finding."""
import os
import time

from endings import GRAVEST
from hosts import fold
from stages import PAIRS_POLICY
from steps import say, write_document

EXIT = {"not started": 7, "partial": 7, "fault": 7, "hang": 6, "wrong": 4, "environment": 3, "noisy": 3, "unverified": 3, "usage": 2, "slow": 5,
        "path": 5}
NO_EVIDENCE = ("noisy", "partial", "unverified")  # against any host: such steps have to run again
CHECKED = ("pass", "fail", "noisy")


def drained(run):
    """{host: reasons} of findings that name one host; a way between two is no reason to drain either, nor are wrong options."""
    found = {}
    for finding in run.findings:
        if finding["kind"] in ("path", "usage", *NO_EVIDENCE) or len(finding["hosts"]) != 1:
            continue
        found.setdefault(finding["hosts"][0], []).append(finding)
    return found


def to_run_again(run, drain):
    """{host: reasons} of those that nothing is known against, nor for."""
    found = {}
    for finding in run.findings:
        for name in finding["hosts"]:
            if finding["kind"] in NO_EVIDENCE and name not in drain:
                found.setdefault(name, []).append(finding)
    return found


def unchecked(run):
    """{check of the policy: hosts of which no step could tell it}; None where no step was held against the policy."""
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


def table(run, drain, again):
    width = max([4] + [len(name) for name in run.a.names])
    say("")
    say(f"  {'host':<{width}}  verdict")
    untested = [name for name in run.a.names if name not in run.tested]
    alone = {name: [finding for finding in found if len(finding["hosts"]) == 1] for name, found in again.items()}
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
        if finding["kind"] in ("path", "usage") or len(finding["hosts"]) > 1:
            say(f"  {' and '.join(finding['hosts']) if len(finding['hosts']) < 4 else fold(finding['hosts'])}: {finding['why']}")


def write(run):
    missing = unchecked(run)
    drain = drained(run)
    again = to_run_again(run, drain)
    table(run, drain, again)
    for check, hosts in (missing or {}).items():
        say(f"  not checked: {check}: {fold(hosts)}")
    if run.left_out:
        say(f"  left out for want of time: {', '.join(run.left_out[:8])}{' ...' if len(run.left_out) > 8 else ''}")
    if run.findings:
        say("\n  to repeat:")
        for command in dict.fromkeys(finding["command"] for finding in run.findings):
            say(f"    {command}")
    if drain:
        say(f"\n  drain: {fold(drain)}")
        say(f"    scontrol update NodeName={fold(drain)} State=DRAIN Reason=\"himeno-gpu acceptance\"")
    if again:
        say(f"\n  run again: {fold(again)}")
    codes = {EXIT[finding["kind"]] for finding in run.findings}
    code = next((one for one in GRAVEST if one in codes), 0)
    accepted = not run.findings and not run.left_out and missing is not None
    say("\n  ACCEPTED" if accepted else "\n  NOT ACCEPTED" if run.findings else "\n  nothing found, but not all was tested" if run.left_out
        else "\n  nothing found, but these stages hold nothing against the policy")
    write_document(os.path.join(run.a.folder, "accept.json"), {
        "schema": "himeno-accept/1", "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "accepted": accepted, "hosts": run.a.names,
        "tested": run.tested, "drain": {name: [finding["why"] for finding in found] for name, found in drain.items()}, "drain_list": fold(drain),
        "run_again": {name: [finding["why"] for finding in found] for name, found in again.items()}, "run_again_list": fold(again),
        "unchecked": missing,
        "findings": run.findings, "left_out": run.left_out, "ignored": run.a.ignored, "seconds": round(time.time() - run.begin, 1)})
    return code or (5 if run.left_out else 0)
