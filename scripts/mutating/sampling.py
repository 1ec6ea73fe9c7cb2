# SPDX-License-Identifier: MIT
"""Draws a random sample of the standard operators' mutants, tests it and computes its score."""

import collections
import fnmatch
import functools
import hashlib
import json
import math
import pathlib
import re
import subprocess

import operators
import trial
from endings import BadInput
from mutants import NotFound

# Files that are not sampled: kernel languages, and scripts that test the tree, which no user runs.
NOT_SAMPLED = (
    "*.cl",
    "*.qasm",
    "*.qinc",
    "scripts/mutat*",
    "scripts/test",
    "scripts/check-style",
    "scripts/fuzz",
    "scripts/compile-commands",
    "scripts/portability",
    "scripts/cross-armhf",
)
# Files whose code runs only on a machine with a GPU.
CUDA = ("*.cu", "*.cuh", "*/cuda/*", "comm/transports/nccl.c", "scripts/gpu-check-steps.sh")
# Files with code of verdicts, rates, units, bytes, statistics and exit codes.
FIGURES = (
    "judge/*",
    "*/result/*",
    "*/report/*",
    "*/report*",
    "*/measure/*",
    "*/verify/*",
    "base/stats.*",
    "base/status.*",
    "base/hash.*",
    "gemm/state/model.*",
    "tools/*/rate*",
    "tools/*/fit*",
    "suite/worth.*",
    "scripts/accepting/*",
    "scripts/shared/endings.py",
    "scripts/studying/compare.py",
)
SAME, REVIEWED = "same code", ("equivalent", "speed")
COUNTED = (trial.KILLED, trial.SURVIVED, *REVIEWED)
HEADER_OF_MANY = 12  # if more objects include a header, they are not compared


class Sampled:
    """A mutant of the sample. Its name has its file, and its line before and after the change, so
    that it survives changes of other lines."""

    def __init__(self, file, text, edit, seen):
        begin, end, self.new, self.operator = edit
        self.file, self.at, self.tests, self.further = file, (begin, end), [], []
        first, last = text.rfind("\n", 0, begin) + 1, (text + "\n").find("\n", end)
        self.line = text.count("\n", 0, begin) + 1
        self.before, self.after = (
            " ".join(lines.split())
            for lines in (text[first:last], text[first:begin] + self.new + text[end:last])
        )
        seen[self.before, self.after] += 1
        number = seen[self.before, self.after]
        self.name = f"{file}: {self.before} -> {self.after}" + (
            f" ({number})" if number > 1 else ""
        )

    def planted(self, text):
        return (
            text[: self.at[0]] + self.new + "\n" * text.count("\n", *self.at) + text[self.at[1] :]
        )

    def __str__(self):
        return f"{self.file}:{self.line}: {self.before} -> {self.after}"


def population(tree, cuda, files=None):
    """Return {name: mutant} of all mutants of `files`, by default of all files."""
    everything = {}
    for file, text in tree.texts.items():
        if (
            (files is None or file in files)
            and not any(fnmatch.fnmatch(file, pattern) for pattern in NOT_SAMPLED)
            and any(fnmatch.fnmatch(file, pattern) for pattern in CUDA) == cuda
        ):
            seen = collections.Counter()
            for edit in operators.edits(file, text):
                mutant = Sampled(file, text, edit, seen)
                if "__builtin_prefetch" not in mutant.before:  # it changes only the speed
                    everything[mutant.name] = mutant
    return everything


def reviewed(tree):
    """Return {name: (kind, reason)} of the mutants that no test can kill, because they are
    equivalent or change only the speed."""
    found, cause = {}, None
    path = tree.root / "tests" / "mutants" / "reviewed"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        kind, _, reason = line.partition(": ")
        if line.startswith("  ") and cause and " -> " in line:
            found[line[2:]] = cause
        elif kind in REVIEWED and reason:
            cause = kind, reason
        elif line and not line.startswith("#"):
            raise BadInput(
                f'{path.name}: "{line}": a reason is "equivalent: TEXT" or "speed: TEXT", '
                'and each of its mutants "  FILE: BEFORE -> AFTER"'
            )
    return found


def unmatched(tree):
    """Return the names of reviewed mutants that the operators no longer make."""
    names = reviewed(tree)
    files = {name.split(": ")[0] for name in names}
    everything = {**population(tree, False, files), **population(tree, True, files)}
    return [name for name in names if name not in everything]


def users(tree, file):
    """Return a script, and the scripts that import or source it."""
    found, fresh = set(), {file}
    while fresh:
        found |= fresh
        names = "|".join(
            re.escape(pathlib.Path(name).stem) + rf"\b|{re.escape(pathlib.Path(name).name)}"
            for name in fresh
        )
        pattern = re.compile(rf"^\s*(?:from|import|\.) .*\b(?:{names})\b", re.MULTILINE)
        fresh = {
            name
            for name, text in tree.texts.items()
            if name.startswith("scripts/") and pattern.search(text)
        } - found
    return found


@functools.lru_cache(maxsize=None)
def tests_of(rig, tree, file):
    """Return the tests of a file's directory, the test programs that call its functions, and the
    bats and unittest files that name its script."""
    try:
        own = tree.tests(tree.tests_of(file))
    except NotFound:
        own = []
    if file.startswith("scripts/") and not file.endswith(".c"):
        named = re.compile(
            "|".join(rf"\b{re.escape(name)}(?![\w.-])" for name in users(tree, file))
        )
        others = {
            str(path.relative_to(tree.root))
            for kind in ("*.bats", "test_*.py")
            for path in tree.root.glob(f"tests/*/{kind}")
            if named.search(path.read_text(encoding="utf-8"))
        }
    else:
        others = rig.callers(file)
    return own, sorted(others - set(own))


def is_read(mutant, text):
    """Return True if Python or the shell can parse the mutant. C is compiled later."""
    first = text[: text.find("\n")]
    if mutant.file.endswith(".py") or "python" in first:
        try:
            compile(text, mutant.file, "exec")
        except (SyntaxError, ValueError):
            return False
    elif mutant.file.endswith(".sh") or first.startswith("#!"):
        return (
            subprocess.run(
                ["bash" if "bash" in first else "sh", "-n"],
                input=text,
                text=True,
                stderr=subprocess.DEVNULL,
                check=False,
            ).returncode
            == 0
        )
    return True


def tried(mutant, rig, trials, limit):
    """Test a mutant and return its line of results. If its objects, without debug information,
    equal the unchanged ones, the mutant changes nothing."""
    text = mutant.planted(rig.texts[mutant.file])
    if not is_read(mutant, text):
        return trial.Line(mutant.name, trial.NOT_BUILT, 0, "it is not parsed")
    objects = rig.objects(mutant.file)
    if mutant.file.endswith((".c", ".h")) and not objects:
        return trial.Line(mutant.name, trial.NOT_TRIED, 0, "this build does not compile it")
    if objects and len(objects) <= HEADER_OF_MANY:
        before = rig.code(objects)
        rig.plant(mutant)
        after = rig.code(objects)
        if before and after in (None, before):
            rig.restore()
            return trial.Line(mutant.name, SAME if after else trial.NOT_BUILT, 0, "")
    line = trials.of(mutant, limit)
    if (
        objects and len(objects) <= HEADER_OF_MANY and line.verdict == trial.NOT_BUILT
    ):  # it compiled, but a program that the build runs failed
        line = line._replace(verdict=trial.KILLED, by=f"the build: {line.by}")
    return line


def interval(hits, of):
    """Return Wilson's 95% interval for a share."""
    z = 1.959964
    middle, half = hits + z * z / 2, z * math.sqrt(hits * (of - hits) / of + z * z / 4)
    return (middle - half) / (of + z * z), (middle + half) / (of + z * z)


def share(name, lines):
    count = collections.Counter(line["verdict"] for line in lines)
    killed, of = count[trial.KILLED], count[trial.KILLED] + count[trial.SURVIVED]
    if not of:
        return f"{name}: none"
    low, high = interval(killed, of)
    return (
        f"{name}: {killed} of {of} killed, {100 * killed / of:.1f}% "
        f"(95% interval {100 * low:.1f}% to {100 * high:.1f}%)"
    )


def summary(mutants, lines):
    count = collections.Counter(line["verdict"] for line in lines)
    print()
    for kind in (trial.SURVIVED, *REVIEWED):
        for line in lines:
            if line["verdict"] == kind:
                print(f"{kind}: {mutants[line['name']]} ({line['operator']}; {line['by']})")
    print(share("all", lines))
    print(
        share(
            f"verdicts, rates, units, bytes, statistics and exit codes ({' '.join(FIGURES)})",
            [
                line
                for line in lines
                if any(fnmatch.fnmatch(line["file"], pattern) for pattern in FIGURES)
            ],
        )
    )
    print(
        "not counted: "
        + ", ".join(
            f"{count[kind]} {kind}" for kind in (*REVIEWED, SAME, trial.NOT_BUILT, trial.NOT_TRIED)
        )
    )
    return int(count[trial.SURVIVED] > 0)


def read_lines(path):
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return {
        line["name"]: line for line in (json.loads(text) for text in lines if text.endswith("\n"))
    }


def sample(a, tree, rig, results):
    """Test a random sample of mutants. They are ordered by a hash of seed and name, so that a
    larger sample contains a smaller one, and changes of the tree do not affect other draws."""
    drawn = [
        file
        for file in tree.texts
        if any(fnmatch.fnmatch(file, pattern) for pattern in a.files or ["*"])
    ]
    everything, known = population(tree, a.cuda, drawn), reviewed(tree)
    files = {mutant.file for mutant in everything.values()}
    if not files:
        raise BadInput("--files matches no file with mutants")
    print(
        f"{len(everything)} mutants in {len(files)} files; sample of {a.sample}, seed {a.seed}",
        flush=True,
    )
    order = sorted(
        everything, key=lambda name: hashlib.sha256(f"{a.seed} {name}".encode()).digest()
    )
    rig.make(sorted(rig.for_tests))  # a test's objects name the functions that it calls
    trials, earlier, lines, counted = (
        trial.Trials(rig, a.patience, a.quick),
        read_lines(results) if a.resume else {},
        [],
        0,
    )
    with open(results, "a" if a.resume else "w", encoding="utf-8") as file:
        for mutant in (everything[name] for name in order):
            if counted >= a.sample:
                break
            mutant.tests, mutant.further = (
                ([], []) if mutant.name in known else tests_of(rig, tree, mutant.file)
            )
            tests = hashlib.sha256(
                "".join(
                    test + trials.text_of(test) for test in mutant.tests + mutant.further
                ).encode()
            ).hexdigest()[:16]
            line = earlier.get(mutant.name)
            if mutant.name in known:
                line = {"verdict": known[mutant.name][0], "by": known[mutant.name][1], "seconds": 0}
            elif (
                not line
                or line["verdict"] in (*REVIEWED, trial.SURVIVED)
                and line["tests"] != tests
            ):  # test a survivor again if its tests changed
                line = tried(mutant, rig, trials, a.limit)._asdict()
                print(
                    f"{line['verdict']:9}  {line['seconds']:6.1f} s  {mutant}  {line['by']}",
                    flush=True,
                )
            line = {
                **line,
                "name": mutant.name,
                "file": mutant.file,
                "operator": mutant.operator,
                "tests": tests,
            }
            if line != earlier.get(mutant.name):
                file.write(json.dumps(line) + "\n")
                file.flush()
            lines.append(line)
            counted += line["verdict"] in COUNTED
    return summary(everything, lines)
