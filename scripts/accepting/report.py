# SPDX-License-Identifier: MIT
"""The verdict: a table, a host list to drain, a reason each, and the commands that repeat each finding."""
import os
import time

from hosts import fold
from steps import say, write_document

EXIT = {"not started": 7, "partial": 7, "fault": 7, "hang": 6, "wrong": 4, "environment": 3, "usage": 2, "slow": 5, "path": 5}
GRAVEST = (7, 6, 4, 3, 2, 5)


def drained(run):
    """{host: reasons} of findings that name one host; a way between two is no reason to drain either, nor are wrong options."""
    found = {}
    for finding in run.findings:
        if finding["kind"] in ("path", "usage") or len(finding["hosts"]) != 1:
            continue
        found.setdefault(finding["hosts"][0], []).append(finding)
    return found


def table(run, drain):
    width = max([4] + [len(name) for name in run.a.names])
    say("")
    say(f"  {'host':<{width}}  verdict")
    untested = [name for name in run.a.names if name not in run.tested]
    shown = [name for name in run.a.names if name in drain or name in untested]
    for name in shown:
        for place, finding in enumerate(drain.get(name, [])):
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
    drain = drained(run)
    table(run, drain)
    if run.left_out:
        say(f"  left out for want of time: {', '.join(run.left_out[:8])}{' ...' if len(run.left_out) > 8 else ''}")
    if run.findings:
        say("\n  to repeat:")
        for command in dict.fromkeys(finding["command"] for finding in run.findings):
            say(f"    {command}")
    if drain:
        say(f"\n  drain: {fold(drain)}")
        say(f"    scontrol update NodeName={fold(drain)} State=DRAIN Reason=\"himeno-gpu acceptance\"")
    codes = {EXIT[finding["kind"]] for finding in run.findings}
    code = next((one for one in GRAVEST if one in codes), 0)
    accepted = not run.findings and not run.left_out
    say("\n  ACCEPTED" if accepted else "\n  NOT ACCEPTED" if run.findings else "\n  nothing found, but not all was tested")
    write_document(os.path.join(run.a.folder, "accept.json"), {
        "schema": "himeno-accept/1", "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "accepted": accepted, "hosts": run.a.names,
        "tested": run.tested, "drain": {name: [finding["why"] for finding in found] for name, found in drain.items()}, "drain_list": fold(drain),
        "findings": run.findings, "left_out": run.left_out, "seconds": round(time.time() - run.begin, 1)})
    return code or (5 if run.left_out else 0)
