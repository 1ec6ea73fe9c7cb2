# SPDX-License-Identifier: MIT
"""Stops each rank in each part of a program, and compares the behaviour of the other ranks with the
deadline.

usage: stopped.py PROGRAM, in the test environment. STOPPED_PLACES: number of places per rank and
mode of the program (default 8, spread over the run), or all."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

TIMEOUT, RANKS = 1.0, 3
REPORT_DELAY, GONE = 2.0, 5.0  # after the deadline
MODES = {
    "himeno-gpu": [
        ["-b", "null", "-s", "XS", "-n", "4", "-x", "staged"],
        ["-b", "null", "-s", "XS", "-t", "0.2", "-x", "p2p", "--json", "/dev/null"],
        ["-b", "null", "-s", "20x20x36", "-t", "0.2"],  # tries kernels and transports
        ["-b", "null", "-s", "XS", "-t", "0.2", "--ladder", "-x", "p2p"],
        ["-b", "null", "-s", "XS", "--soak", "1", "-x", "ipc"],
    ],
    "comm-gpu": [
        ["-b", "null", "--parts", "host", "--max", "4K", "--samples", "3"],
        ["-b", "null", "--parts", "pairs", "--max", "4K", "--samples", "3"],
        ["-b", "null", "--parts", "halo,allreduce", "-s", "XS", "--max", "4K", "--samples", "3"],
    ],
    "gemm-gpu": [
        ["-b", "cpu", "-s", "64", "-t", "0.1"],
        ["-b", "cpu", "--ladder", "--sizes", "32,64", "-t", "0.05"],
    ],
}


def ranks_of(job):
    """Return the processes of the job that are ranks."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = open(f"/proc/{pid}/environ", "rb").read()
        except OSError:
            continue
        if f"STOP_JOB={job}\0".encode() in environment and re.search(
            rb"\0(OMPI_COMM_WORLD_RANK|PMI_RANK)=", environment
        ):
            found.append(int(pid))
    return found


class Run:
    def __init__(self, program, options, victim, place, folder, end=False):
        self.job = f"{os.getpid()}.{victim}.{place}"
        self.note = os.path.join(folder, "note")
        self.lines, self.ended = [], None
        if os.path.exists(self.note):
            os.unlink(self.note)
        environment = dict(
            os.environ,
            STOP_AT=f"{victim}:{place}",
            STOP_NOTE=self.note,
            STOP_JOB=self.job,
            OMP_NUM_THREADS="1",
        )
        build = os.environ["top_builddir"]
        command = [
            os.environ["MPIRUN"],
            "-np",
            str(RANKS),
            "env",
            f"LD_PRELOAD={os.environ.get('LD_PRELOAD', '')}:{build}/tests/fault/stop_at.so",
            f"{build}/{program}",
            *options,
            "--timeout",
            str(TIMEOUT),
        ]
        self.process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        reader = threading.Thread(target=self.read)
        reader.start()
        if end:
            self.end_asked()
        try:
            self.code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.code = None
        self.gone = time.monotonic()
        for pid in ranks_of(self.job) if self.code is None else []:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        reader.join()
        for _ in range(10):  # ranks that were killed may take a moment
            self.left = ranks_of(self.job)
            if not self.left:
                break
            time.sleep(0.1)

    def read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic(), line.rstrip("\n")))

    def end_asked(self):
        """Send SIGTERM to all ranks after one has stopped."""
        while self.process.poll() is None and not os.path.exists(self.note):
            time.sleep(0.02)
        for pid in ranks_of(self.job):
            os.kill(pid, signal.SIGTERM)

    def noted(self):
        try:
            clock, place, call = open(self.note).read().split()
            return float(clock), int(place), call
        except (OSError, ValueError):
            return None


def fault(program, run, victim):
    """Return what is wrong with the end of a run in which the rank `victim` stopped, or None."""
    stopped = run.noted()[0]
    reports = [(clock, line) for clock, line in run.lines if re.match(rf"{program}: rank \d", line)]
    if run.code != 6 and not (
        run.code == 9 and os.environ["MPI_FLAVOUR"] == "mpich"
    ):  # with MPICH, the launcher may kill the rank that reports
        return f"exit code {run.code}"
    if len(reports) != 1:
        return f"{len(reports)} lines"
    late, line = reports[0][0] - stopped, reports[0][1]
    if not re.search(
        rf"rank \d on host \S+ .*waits .*, for over {TIMEOUT:g} s; "
        rf"silent: rank {victim} on host [^,;]+(;|$)",
        line,
    ):
        return line
    if not TIMEOUT * 0.75 <= late <= TIMEOUT + REPORT_DELAY:
        return f"the line after {late:.2f} s"
    if run.gone - stopped > TIMEOUT + GONE or run.left:
        return f"gone after {run.gone - stopped:.2f} s, left: {run.left}"
    return None


def chosen(places, victim):
    """Return the places to stop at, spread over the run and different for each rank."""
    wanted = os.environ.get("STOPPED_PLACES", "8")
    if wanted == "all" or int(wanted) >= places:
        return range(1, places + 1)
    step = places / int(wanted)
    return sorted(
        {min(places, 1 + int(step * (n + victim / RANKS))) for n in range(int(wanted))} | {places}
    )


def main():
    program = sys.argv[1]
    cases = failed = 0
    worst = [0.0, 0.0]
    if not os.environ.get("MPIRUN") or os.environ.get("SANITIZERS", "no") != "no":
        print("1..0 # SKIP no MPI launcher, or sanitizers, whose library has to come first")
        return
    for options in MODES[program]:
        for victim in range(RANKS):
            with tempfile.TemporaryDirectory() as folder:
                counted = Run(program, options, victim, 0, folder)
                places = counted.noted()[1] if counted.noted() else 0
                if counted.code != 0 or not places:
                    cases, failed = cases + 1, failed + 1
                    print(
                        f"not ok {cases} {program} {' '.join(options)}: "
                        f"exit code {counted.code} unstopped",
                        flush=True,
                    )
                    print("".join(f"# {line}\n" for _, line in counted.lines))
                    continue
                for place in chosen(places, victim):
                    end = program != "comm-gpu" and place % 4 == 3
                    run = Run(program, options, victim, place, folder, end)
                    cases += 1
                    name = (
                        f"{program} {' '.join(options)}: rank {victim} at place {place} of {places}"
                    )
                    if not run.noted():  # the rank reached other places than before
                        print(f"ok {cases} {name} # SKIP it never came there", flush=True)
                        continue
                    wrong = fault(program, run, victim)
                    name += f", {run.noted()[2]}" + (", then SIGTERM to all" if end else "")
                    print(f"{'not ok' if wrong else 'ok'} {cases} {name}", flush=True)
                    if wrong:
                        failed += 1
                        print(
                            f"# {wrong}\n"
                            + "".join(
                                f"# {clock - run.noted()[0]:.2f} {line}\n"
                                for clock, line in run.lines
                            ),
                            flush=True,
                        )
                    else:
                        reports = [
                            clock
                            for clock, line in run.lines
                            if line.startswith(f"{program}: rank ")
                        ]
                        worst = [
                            max(worst[0], reports[0] - run.noted()[0]),
                            max(worst[1], run.gone - run.noted()[0]),
                        ]
    print(
        f"1..{cases}\n"
        f"# with --timeout {TIMEOUT:g} the line was there after {worst[0]:.2f} s at most, "
        f"and the job was gone after {worst[1]:.2f} s"
    )
    sys.exit(failed > 0)


main()
