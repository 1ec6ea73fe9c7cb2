# SPDX-License-Identifier: MIT
"""Runs a study with Slurm, with one allocation for all points or one job per point. Jobs continue
after this program ends."""

import json
import math
import os
import shlex
import shutil
import subprocess
import sys
import time

import launch
import store
from endings import Trouble
from files import read_document, write_whole


def submit(options, ranks, name, log, words):
    """Submit a job that runs the command `words`; return the job's number."""
    per_host = min(ranks, options["per_host"])
    command = [
        "sbatch",
        "--parsable",
        f"--nodes={math.ceil(ranks / options['per_host'])}",
        f"--ntasks={ranks}",
        f"--ntasks-per-node={per_host}",
        f"--job-name={name}",
        f"--output={log}",
        *options["sbatch_options"],
        "--wrap=" + shlex.join([sys.executable, os.path.abspath(sys.argv[0]), *words]),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="surrogateescape", check=False
    )
    number = done.stdout.strip().split(";")[0]
    if done.returncode != 0 or not number.isdigit():
        said = (done.stderr or done.stdout).strip()
        raise Trouble(f"sbatch: {said.splitlines()[-1] if said else 'no job number'}")
    return number


def alive(numbers):
    """Return the jobs that are pending or running."""
    if not numbers:
        return set()
    done = subprocess.run(
        ["squeue", "--noheader", "--format=%i", "--jobs=" + ",".join(sorted(numbers))],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )
    return {line.strip() for line in done.stdout.splitlines()} & set(numbers)


def submit_all(folder, study, todo):
    """Submit jobs for the remaining points that have no live job. Return {point: job}; a single job
    for all points has the name "all"."""
    options, path = study["options"], os.path.join(folder, "jobs.json")
    jobs = read_document(path) or {}
    there = alive(set(jobs.values()))
    jobs = {name: number for name, number in jobs.items() if number in there}
    wanted = (
        [("all", max(point["ranks"] for point in todo))]
        if options["slurm"] == "allocation"
        else [(point["name"], point["ranks"]) for point in todo]
    )
    for name, ranks in wanted:
        if name in jobs:
            continue
        words = ["run", folder, "--here"] if name == "all" else ["point", folder, name]
        jobs[name] = submit(
            options, ranks, f"himeno-{name}", os.path.join(folder, f"job-{name}.log"), words
        )
        write_whole(path, json.dumps(jobs, indent=1) + "\n")
    return jobs


def follow(folder, study, todo, jobs, poll):
    """Print each point as it finishes, until no job is left."""
    total, waiting = len(study["points"]), list(todo)
    shown = total - len(todo)
    while waiting:
        there = alive(set(jobs.values()))
        tried = store.attempts(folder)
        for point in list(waiting):
            done, entry = store.finished(folder, point), tried.get(point["name"])
            gone = jobs.get(point["name"], jobs.get("all")) not in there
            if not done and not gone:
                continue
            waiting.remove(point)
            shown += 1
            why = (
                entry["why"]
                if entry and not entry["finished"]
                else "its job ended without a result; see job-*.log"
            )
            launch.show(point, done, why, shown, total, launch.time_left(folder, study, waiting))
        if waiting:
            time.sleep(poll)


def run(folder, study, retry, poll):
    for program in ("sbatch", "squeue"):
        if not shutil.which(program):
            raise Trouble(f"{program} not found: omit --slurm if there is no Slurm")
    todo = launch.unfinished(folder, study, retry)
    if todo:
        jobs = submit_all(folder, study, todo)
        launch.say(
            f"{len(set(jobs.values()))} job(s) are in the queue; this command can be interrupted "
            "and repeated"
        )
        try:
            follow(folder, study, todo, jobs, poll)
        except KeyboardInterrupt:
            launch.say("the jobs continue; the same command shows their results")
            return 8
    store.csv_write(folder, study)
    return launch.verdict(folder, study)
