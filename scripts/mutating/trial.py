# SPDX-License-Identifier: MIT
"""Runs each mutant against its tests."""

import collections
import contextlib
import hashlib
import math
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

from files import write_whole

KILLED, SURVIVED, NOT_BUILT, NOT_TRIED = "killed", "survived", "not built", "not tried"
TRIES = 3
UNKNOWN = 600  # assumed duration in seconds of a test that has not been timed
SLOWER = 4  # multiple of the usual time; slower tests have hung, even if the machine is busy
MARK = "MUTATE_TRIAL"

Line = collections.namedtuple("Line", "name verdict seconds by")
Outcome = collections.namedtuple("Outcome", "failed ran seconds late")


class Trials:
    """Runs tests with mutants. Before a test is first used, its result and time without a mutant
    are measured."""

    def __init__(self, rig, patience, quick):
        self.rig, self.patience, self.quick = rig, patience, quick
        self.file = rig.folder / "tests.tsv"
        self.known = {}
        if self.file.exists():
            for line in self.file.read_text(encoding="utf-8").splitlines():
                test, text, state, seconds = line.split("\t")
                self.known[test] = (text, state, float(seconds))

    def state(self, test):
        """Return the result without a mutant: "passes", "fails" or "skipped"; "" if unknown."""
        text, state, _ = self.known.get(test, ("", "", 0))
        return state if text == self.text_of(test) else ""

    def expected(self, test):
        """Return the usual seconds of a test, or a guess if it has not been timed."""
        return (
            self.known[test][2] if test in self.known else 2 if test in self.rig.for_tests else 60
        )

    def text_of(self, test):
        """Return a digest of a test's source. The source of replay_NAME in tests/fuzz is NAME.c."""
        file = self.rig.tree / test
        sources = (
            file,
            file.with_suffix(".c"),
            file.with_name(file.name.replace("replay_", "", 1) + ".c"),
        )
        return hashlib.sha256(
            next(source for source in sources if source.exists()).read_bytes()
        ).hexdigest()[:16]

    def measure(self, test):
        self.rig.restore()
        built = self.rig.make(self.rig.targets(test))
        self.note(
            test,
            run(self.rig, test, UNKNOWN) if built else Outcome("it is not built", False, 0, False),
        )

    def note(self, test, outcome):
        state = "fails" if outcome.failed else "passes" if outcome.ran else "skipped"
        if state != "passes":
            print(
                f"{test} is not used, it {state} "
                f"without a mutant: {outcome.failed or 'nothing in it ran'}",
                flush=True,
            )
        self.known[test] = (
            self.text_of(test),
            state,
            max(outcome.seconds, self.known.get(test, (0, 0, 0))[2]),
        )
        lines = [
            f"{name}\t{mark}\t{how}\t{seconds:.2f}\n"
            for name, (mark, how, seconds) in self.known.items()
            if how != "fails"
        ]
        write_whole(str(self.file), "".join(lines))

    def of(self, mutant, limit=math.inf):
        """Run the tests of a mutant until one fails: test programs before scripts, the fastest
        first. After the first test, tests that would end after `limit` seconds are left out."""
        tests = sorted(
            (
                test
                for test in mutant.tests + mutant.further
                if not self.quick or test in self.rig.for_tests
            ),
            key=lambda test: (
                test not in self.rig.for_tests,
                test in mutant.further,
                self.expected(test),
            ),
        )
        seconds, ran, left = 0, 0, 0
        verdict, by = NOT_TRIED, "no test of it runs here"
        try:
            for test in tests:
                if ran and seconds + self.expected(test) > limit:
                    left += 1
                    continue
                begin = time.monotonic()
                if self.state(test) in ("fails", "skipped") or not (
                    found := self.face(mutant, test)
                ):
                    continue
                verdict, by = found
                seconds += time.monotonic() - begin
                if verdict != SURVIVED:
                    break
                ran += 1
                by = f"{ran} tests"
        finally:
            self.rig.restore()
        return Line(
            mutant.name,
            verdict,
            seconds,
            f"{ran} tests, {left} left out" if left and verdict == SURVIVED else by,
        )

    def face(self, mutant, test):
        """Run one test with the mutant; return (verdict, reason), or None if the test is unusable.
        A test that fails or is late also runs without the mutant, unless its usual time is known:
        it may always fail, or other programs may use the cores."""
        for _ in range(TRIES):
            limit, known = self.limit(test), self.state(test)
            self.rig.plant(mutant)
            if not self.rig.make(self.rig.targets(test)):
                return NOT_BUILT, (self.rig.folder / "build.log").read_text(encoding="utf-8")[
                    :300
                ].replace("\n", " ").replace("\t", " ")
            outcome = run(self.rig, test, limit)
            if not known and not outcome.failed:
                self.note(test, outcome)
            elif not known or outcome.late:
                self.measure(test)
            if self.state(test) != "passes":
                return None
            if not outcome.late or self.limit(test) <= limit + 1:
                break
        return (KILLED, f"{test}: {outcome.failed}") if outcome.failed else (SURVIVED, "")

    def limit(self, test):
        return self.patience + SLOWER * self.known[test][2] if self.state(test) else UNKNOWN


def run(rig, test, limit):
    """Return the test's first failed case or "", whether a case ran, its seconds, and whether it
    was stopped at `limit`."""
    begin, failed, ran, skips = time.monotonic(), "", False, False
    command = (
        "top_srcdir=$1 top_builddir=$PWD; export top_srcdir top_builddir; . tests/env.sh; "
        '. "$1/tests/settings.sh"; exec "$1/tests/tap" "$2"'
    )
    temporary = rig.folder / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    mark = f"{os.getpid()}.{begin}"
    environment = {
        **os.environ,
        MARK: mark,
        "TMPDIR": str(temporary),
        "TEST_PROGRESS": "/dev/null",  # not into the progress of a whole test run
    }
    file = test if (rig.build / test).exists() else str(rig.tree / test)
    late = threading.Event()
    with subprocess.Popen(
        ["sh", "-c", command, "sh", str(rig.tree), file],
        cwd=rig.build,
        env=environment,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        timer = threading.Timer(limit, lambda: (late.set(), end(mark)))
        timer.start()
        try:
            for line in process.stdout:
                if line.startswith(("not ok", "Bail out!")) and "# SKIP" not in line:
                    failed = line.strip().replace("not ok ", "", 1)
                    break
                skips = skips or "# SKIP" in line.upper()
                ran = ran or (line.startswith("ok") and "# SKIP" not in line.upper())
        finally:
            timer.cancel()
            end(mark)
    if not (failed or ran or skips):
        failed = "ended without a word"
    if late.is_set():
        failed = f"took over {limit:.0f} s"
    return Outcome(failed, ran, time.monotonic() - begin, late.is_set())


def marked(mark):
    """Yield the processes of a trial, even those whose parents have ended."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                yield int(process.name)


def end(mark):
    for sign in (signal.SIGTERM, signal.SIGKILL):
        left = list(marked(mark))
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
                os.kill(process, sign)
        patience = time.monotonic() + 3
        while left and time.monotonic() < patience and any(marked(mark)):
            time.sleep(0.05)


def read_results(path):
    if not path.exists():
        return {}
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return {name: Line(name, verdict, float(seconds), by) for name, verdict, seconds, by in lines}


def write_results(path, lines):
    write_whole(
        str(path),
        "".join(f"{line.name}\t{line.verdict}\t{line.seconds:.1f}\t{line.by}\n" for line in lines),
    )


def summary(tried):
    """Print the survivors and the score of [(mutant, line)]; return 1 if a mutant survived."""
    count = collections.Counter(line.verdict for _, line in tried)
    print()
    for mutant, line in tried:
        if line.verdict != KILLED:
            print(
                f"{line.verdict}: {mutant.name}: {mutant.text} ({mutant.file}, {mutant.function})"
            )
    ran = count[KILLED] + count[SURVIVED]
    share = f", {100 * count[KILLED] / ran:.1f}% killed" if ran else ""
    print(
        f"{count[KILLED]} killed, {count[SURVIVED]} survived, "
        f"{count[NOT_BUILT]} not built, {count[NOT_TRIED]} not tried{share}"
    )
    return int(count[KILLED] < len(tried))
