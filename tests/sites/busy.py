#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clean runs on a busy host: no run may accuse the host, whatever else it computes at the same
time.

usage: busy.py RUNS   (prints TAP, with the count of each exit status)

Runs alternate between CPUs and null devices with a virtual clock, one and two ranks, and himeno-gpu
and scripts/accept, while 0 to 6 other processes compute. A run on a busy host must pass, or be
inconclusive."""

import collections
import os
import subprocess
import sys
import tempfile

from rig import program_of, source

LOADS = 7
BUSY = ["sh", "-c", "while :; do :; done"]
INNOCENT = {0: "accepted", 3: "run again"}


def command(number, folder):
    """Return the command of a run, and its name."""
    backend, ranks = ("cpu", "null")[number % 2], 1 + number // 2 % 2
    program = program_of(f"-b {backend}")
    mpirun = os.environ.get("MPIRUN") or "mpirun"
    if number % 5 == 4:
        words = [
            f"{source}/scripts/accept",
            f"{folder}/out",
            "--hosts",
            "localhost",
            "--per-host",
            str(ranks),
            "--program",
            program,
            "--size",
            "S",
            "--seconds",
            "1",
            "--stages",
            "alone,products",
            "--gemm-options",
            "-s 128",
            "--options",
            f"-b {backend}",
        ]
    else:
        words = [
            mpirun,
            "-np",
            str(ranks),
            program,
            "-b",
            backend,
            "-s",
            "S",
            "-t",
            "1",
            "-x",
            "staged",
            "--accept",
        ]
    return words, f"{os.path.basename(words[0])} {backend} {ranks}"


def main():
    runs, ended, bad = int(sys.argv[1]), collections.Counter(), []
    env = {**os.environ, "OMP_NUM_THREADS": "1", "HIMENO_QUIET": "1"}
    for number in range(runs):
        load = [subprocess.Popen(BUSY) for _ in range(number % LOADS)]
        try:
            with tempfile.TemporaryDirectory() as folder:
                words, name = command(number, folder)
                env["CLOCK_MACHINE"] = f"usual seed={number}"
                done = subprocess.run(
                    words,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    text=True,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
        finally:
            for process in load:
                process.kill()
                process.wait()
        ended[name, done.returncode] += 1
        print(f"# {number + 1} of {runs}: {name} beside {len(load)}: {done.returncode}", flush=True)
        if done.returncode not in INNOCENT:
            bad += [
                f"{name} beside {len(load)}: exit status {done.returncode}",
                *done.stdout.splitlines()[-12:],
            ]
    print(f"1..1\n{'not ok' if bad else 'ok'} 1 {runs} clean runs on a busy host accuse nobody")
    for (name, code), count in sorted(ended.items()):
        print(f"# {name}: {count} of exit status {code}, {INNOCENT.get(code, 'accused')}")
    print("".join(f"# {line}\n" for line in bad), end="")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
