# SPDX-License-Identifier: MIT
"""Classes for the unittest files of the scripts: a folder per case, a simulated run of
scripts/accept, and TAP. Makes the scripts' modules importable."""

import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(
    os.environ.get("top_srcdir") or pathlib.Path(__file__).resolve().parents[2]
).resolve()
SCRIPTS = SOURCE / "scripts"
DOCUMENTS = SOURCE / "tests/golden/documents"
WRITE = "GOLDEN_WRITE" in os.environ  # write files with stored texts again
sys.path[:0] = [
    str(path)
    for path in (*sorted(SCRIPTS.glob("*/")), SCRIPTS)
    if path.is_dir() and path.name != "sites"
]


class Case(unittest.TestCase):
    """A case that runs in a separate folder."""

    def setUp(self):
        before, folder = os.getcwd(), tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.addCleanup(os.chdir, before)
        os.chdir(folder)

    def python(self, code, *arguments):
        """Run Python code that can import the scripts' modules; return (status, output, errors)."""
        code = (
            f"import sys; sys.dont_write_bytecode = True; sys.path[:0] = {sys.path[:9]!r}\n{code}"
        )
        ended = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=600
        )
        return ended.returncode, ended.stdout, ended.stderr

    def recorded(self, folder):
        """Return {name: document} of doc/results. Skips the case in a release, which has none."""
        path = SOURCE / "doc/results" / folder / "runs.jsonl"
        if not path.exists():
            self.skipTest("doc/results is not part of a release")
        with open(path) as lines:
            return {one["name"]: one["document"] for one in map(json.loads, lines)}

    def run_or_skip(self, *command):
        """Run a script. Skips the case if a package is missing."""
        ended = subprocess.run(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if ended.returncode == 3:
            self.skipTest(ended.stderr.strip())
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def as_before(self, name, value):
        """Compare a text or a document with the one of this name in tests/golden/said.jsonl. After
        an intended change, read what changed, and run the test with GOLDEN_WRITE=1."""
        text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
        path = SOURCE / "tests/golden/said.jsonl"
        said = dict(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
        if WRITE:
            said[name] = text
            lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in sorted(said.items()))
            path.write_text("".join(lines), encoding="utf-8")
        self.maxDiff = None
        self.assertEqual(text.splitlines(), said.get(name, "").splitlines())

    def replace(self, of, name, value):
        """Replace an attribute until the end of the case."""
        self.addCleanup(setattr, of, name, getattr(of, name))
        setattr(of, name, value)


class Options:
    """The options of a run of scripts/accept on four hosts."""

    names, folder, soak, slice, limit = ["a", "b", "c", "d"], ".", 100, 25, 5
    seconds = per_host = 1
    options, gemm_options, size, policy, ignored = [], [], "XS", "default", []
    prometheus = level = block = timeout = None
    backend, listed, are_gpus, asked = "", {}, False, False

    def __init__(self):
        self.devices = dict.fromkeys(self.names, self.per_host)


class Run:
    """A run of scripts/accept without hosts, which keeps findings and simulates launches."""

    def __init__(self, outcomes=None, documents=None):
        self.a, self.outcomes, self.documents = Options(), outcomes or {}, documents or {}
        self.tested, self.begin, self.done, self.unverified_passes = self.a.names, 0, {}, False
        self.command, self.drift, self.ended = "accept", None, ""
        self.findings, self.left_out, self.launched, self.notes = [], [], [], []

    def has(self, program):
        return program != "comm-gpu"

    def path(self, name, kind):
        return f"{name}.{kind}"

    def document(self, name):
        return self.documents.get(name)

    def together(self, what, jobs, width=None, **_):
        found = {}
        for name, hosts, job in jobs:
            self.launched.append(name)
            ranks = [job.get("per_host") or self.a.devices[host] for host in hosts]
            step = {"name": name, "outcome": "pass", "why": "", "seconds": 1, "command": name}
            found[name] = {**step, "hosts": hosts, "ranks": ranks, **self.outcomes.get(name, {})}
        return found

    def find(self, kind, on, why, step, device=None, checks=None, **_):
        found = {"kind": kind, "hosts": on, "device": device, "why": why, "command": "", "step": ""}
        self.findings.append({**found, "checks": checks or [kind]})

    def found(self):
        return sorted((one["kind"], *one["hosts"]) for one in self.findings)


class Tap(unittest.TestResult):
    """Prints a line per case and, after #, its output and the reason of a failure."""

    number, out = 0, sys.stdout

    def startTest(self, test):
        super().startTest(test)
        sys.stdout = io.StringIO()

    def line(self, test, failed, error=None, note=""):
        self.number += 1
        text = sys.stdout.getvalue() + self._exc_info_to_string(error, test) if error else ""
        title = " ".join((test._testMethodDoc or str(test)).split())
        print(f"{'not ' * failed}ok {self.number} {title}{note}", file=self.out)
        print(
            "".join(f"# {line}\n" for line in text.splitlines()), end="", file=self.out, flush=True
        )

    def addSuccess(self, test):
        self.line(test, False)

    def addSkip(self, test, reason):
        self.line(test, False, note=f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line(test, True, err)

    def addError(self, test, err):
        super().addError(test, err)
        self.line(test, True, err)


class Runner:
    """For unittest.main."""

    def run(self, tests):
        result = Tap()
        print(f"1..{tests.countTestCases()}", flush=True)
        tests.run(result)
        return result


def main():
    unittest.main(testRunner=Runner)
