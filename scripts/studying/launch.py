# SPDX-License-Identifier: MIT
"""Runs the points of a study one after the other, on this host or in an allocation."""

import math
import os
import shlex
import signal
import sys
import time

import distributed
import settings
import store
from endings import GRAVEST, Trouble
from naming import NO_OVERLAP
from processes import STOPPED, last_words, launched, say

TIMED_OUT = 124
INCOMPLETE = 8
START_SECONDS = 3  # seconds per point for start-up and verification


def command(options, point, target):
    """Return the command that runs a point, which writes its document to `target`."""
    ranks = point["ranks"]
    hosts = math.ceil(ranks / options["per_host"]) if options["per_host"] else 1
    filled = options["launcher"].format(
        ranks=ranks, hosts=hosts, per_host=min(ranks, options["per_host"] or ranks)
    )
    begin = shlex.split(filled)
    if point["kind"] == "paths":
        beside = os.path.join(os.path.dirname(options["program"]), "comm-gpu")
        # Without -b, comm-gpu chooses the same backend as the study's program.
        return [*begin, beside, *options["paths_options"], "--json", target]
    if distributed.is_of(options):
        return [
            *begin,
            options["program"],
            *distributed.command(point, options["seconds"]),
            *options["program_options"],
            "--json",
            target,
        ]
    wanted = [
        "-s",
        point["size"],
        "-k",
        point["kernel"],
        "-p",
        point["procs"],
        "-t",
        str(options["seconds"]),
    ]
    transport = point["transport"].replace(NO_OVERLAP, "")
    if transport not in ("auto", "none"):
        wanted += ["-x", transport]
    if transport != point["transport"]:
        wanted.append("--no-overlap")
    if point["scaling"] == "weak":
        wanted.append("-w")
    return [*begin, options["program"], *wanted, *options["program_options"], "--json", target]


# ---- one point ----


def launch(options, words, log, held):
    """Run a command with its output in the log; return its exit status."""
    try:
        code = launched(words, log, options["limit"], held)
    except OSError as error:
        raise Trouble(f"{words[0]}: {error.strerror}") from error
    return TIMED_OUT if code == STOPPED else code


def attempt(folder, study, point, session, held=None):
    """Run a point and log it. Its document appears atomically, because a draft is renamed when it
    is complete."""
    target, said = store.path_of(folder, point), store.said_of(folder, point)
    draft = os.path.join(folder, "runs", "." + point["name"] + ".draft")
    begin = time.time()
    with open(said, "w", encoding="utf-8", errors="surrogateescape") as log:
        code = launch(study["options"], command(study["options"], point, draft), log, held)
    # Exit status 5 means correct results below a threshold.
    if code in (0, 5) and os.path.exists(draft):
        os.replace(draft, target)
    elif os.path.exists(draft):
        os.replace(draft, os.path.join(folder, "runs", point["name"] + ".failed"))
    done = store.finished(folder, point)
    if done and "counts" in done.get("result", {}):
        raise Trouble(f"{point['name']}: the device is emulated and has no speed to study")
    entry = {
        "point": point["name"],
        "in": session,
        "exit": code,
        "finished": done is not None,
        "began": round(begin, 3),
        "took": round(time.time() - begin, 3),
        "why": "" if done else last_words(said) or f"exit status {code}",
    }
    store.log_add(folder, entry)
    return entry, done


# ---- many ----


def duration(seconds):
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def rate_of(point, done):
    if point["kind"] == "paths":
        return f"{len(done['pairs'])} links measured"
    return f"{done['result']['gflops']:9.4g} GFLOPS"


def show(point, done, why, finished, total, left):
    width = len(str(total))
    what = f"{rate_of(point, done):>18}" if done else f"FAILED: {why}"
    say(f"[{finished:>{width}}/{total}] {point['name']:<42} {what}{left}")


def expected(folder, study, remaining):
    """Return the estimated seconds of the remaining points. A point takes the mean time of finished
    points with as many ranks, or else of all; before the first point it takes --seconds and the
    start."""
    took = {}
    ranks = {point["name"]: point["ranks"] for point in study["points"]}
    for name, entry in store.attempts(folder).items():
        if name in ranks:
            took.setdefault(ranks[name], []).append(entry["took"])
    every = [value for values in took.values() for value in values]
    every = every or [study["options"]["seconds"] + START_SECONDS]
    return sum(
        sum(own) / len(own) for own in (took.get(point["ranks"], every) for point in remaining)
    )


def time_left(folder, study, remaining):
    return f"   about {duration(expected(folder, study, remaining))} left" if remaining else ""


def unfinished(folder, study, retry):
    tried = store.attempts(folder)
    open_points = [point for point in study["points"] if not store.finished(folder, point)]
    # A failed point is repeated only with --retry. A point that a signal ended, or whose file is
    # truncated, is always repeated.
    return [
        point
        for point in open_points
        if retry
        or tried.get(point["name"], {}).get("finished", True)
        or tried[point["name"]]["exit"] == INCOMPLETE
    ]


def session_begin(folder, study):
    before = store.sessions(folder)
    now = settings.gather(study["options"])
    entry = {
        "session": len(before) + 1,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "settings": now,
    }
    store.log_add(folder, entry)
    for text in settings.differences(before[-1]["settings"], now) if before else []:
        say(f"changed since the previous session: {text}")
    return entry["session"]


def run(folder, study, retry):
    """Run all points that are not finished; return the exit status."""
    held = store.lock(folder, say)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:  # a signal that nohup ignores stays ignored
            signal.signal(number, signal.default_int_handler)
    todo = unfinished(folder, study, retry)
    total = len(study["points"])
    done_before = sum(1 for point in study["points"] if store.finished(folder, point))
    if done_before:
        say(f"{done_before} of {total} points are finished already")
    session = session_begin(folder, study) if todo else 0
    if todo:
        say(
            "points are named scaling-size-ranks-kernel-transport-division-repeat; paths is "
            "comm-gpu"
        )
        say(f"about {duration(expected(folder, study, todo))} expected")
    try:
        for place, point in enumerate(todo):
            entry, done = attempt(folder, study, point, session, held)
            show(
                point,
                done,
                entry["why"],
                done_before + place + 1,
                total,
                time_left(folder, study, todo[place + 1 :]),
            )
            store.csv_write(folder, study)
    except KeyboardInterrupt:
        say("incomplete: stopped by a signal; the same command continues from here")
        return INCOMPLETE
    store.csv_write(folder, study)
    return verdict(folder, study)


def verdict(folder, study):
    """Return 0 if all points are finished, otherwise the most severe exit status."""
    tried = store.attempts(folder)
    missing = [point for point in study["points"] if not store.finished(folder, point)]
    if not missing:
        say(f"all {len(study['points'])} points are finished: {folder}/study.csv")
        say(f"next: scripts/report {folder}")
    for point in missing:
        why = tried.get(point["name"], {}).get("why", "not run yet")
        print(f"scaling: {point['name']}: {why}", file=sys.stderr)
    codes = {tried.get(point["name"], {}).get("exit", 3) for point in missing}
    if missing:
        print(
            f"scaling: {len(missing)} of {len(study['points'])} points are not finished"
            f"{'; --retry runs failed points again' if tried else ''}",
            file=sys.stderr,
        )
    return next((code for code in GRAVEST if code in codes), 7 if codes else 0)
