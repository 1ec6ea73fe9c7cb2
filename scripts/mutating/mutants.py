# SPDX-License-Identifier: MIT
"""Reads mutants from their files and finds them in the tree."""

import ast
import fnmatch
import functools
import os
import re

from endings import BadInput

SUFFIXES = (".c", ".h", ".cu", ".cuh", ".cl", ".qasm", ".qinc", ".py", ".sh")
NOT_DIRECTORIES = ("tests", "doc", "m4", "autom4te.cache", "build*", ".*")

# Pairs (pattern of paths, tests): a file has the tests of all patterns that match its path.
DIRECTORIES = (
    (
        "base/*",
        "tests/unit/test_stats tests/unit/test_log tests/unit/test_meta "
        "tests/unit/test_options tests/unit/test_document tests/unit/test_report "
        "tests/unit/test_file tests/unit/test_hash tests/unit/test_status "
        "tests/unit/test_stop tests/unit/test_switches tests/clock/himeno.bats "
        "tests/clock/fields.bats tests/cli/files.bats tests/cli/errors.bats tests/cli/run.bats "
        "tests/cli/switches.bats",
    ),
    (
        "gpu/*",
        "tests/unit/test_backend_* tests/unit/test_binding_* "
        "tests/unit/test_telemetry tests/clock/himeno*.bats tests/cli/errors.bats "
        "tests/fault/null-calls.bats",
    ),
    (
        "tools/memory/*",
        "tests/unit/test_levels tests/unit/test_mem tests/clock/mem.bats tests/clock/fields.bats "
        "tests/cli/mem.bats tests/cli/plot.bats",
    ),
    ("gpu/bus.*", "tests/unit/test_placement tests/cli/backends.bats"),
    ("gpu/select.*", "tests/cli/backends.bats"),
    (
        "gpu/qpu/*",
        "tests/unit/test_qpu_* tests/cli/qpu*.bats",
    ),
    (
        "comm/*",
        "tests/unit/test_decomp tests/clock/himeno*.bats tests/clock/comm.bats "
        "tests/mpi/matrix-null-all tests/mpi/matrix-cpu-odd tests/mpi/cluster-null "
        "tests/fault/transports.bats tests/clock/fields.bats",
    ),
    ("*.c", "tests/fault/no-memory.bats"),
    ("*/report*", "tests/cli/schemas.bats"),
    ("comm/*watch.*", "tests/fault/silent-ranks.bats"),
    ("comm/*alarm.*", "tests/fault/silent-ranks.bats"),
    ("comm/*heartbeat.*", "tests/fault/silent-ranks.bats"),
    ("comm/*guard.*", "tests/fault/silent-ranks.bats"),
    (
        "comm/*agree.*",
        "tests/cli/errors.bats tests/fault/null-calls.bats tests/fault/silent-ranks.bats",
    ),
    ("comm/ranks/memory.*", "tests/cli/memory.bats tests/cli/limits.bats"),
    ("comm/*same.*", "tests/cli/agreement.bats"),
    (
        "comm/*placement.*",
        "tests/unit/test_placement tests/cli/backends.bats tests/cli/errors.bats "
        "tests/cli/run.bats tests/hosts/hosts.bats",
    ),
    ("comm/*cards*", "tests/unit/test_bench tests/cli/comm.bats"),
    (
        "tools/network/*",
        "tests/unit/test_bench tests/clock/comm.bats tests/clock/fields.bats tests/cli/comm.bats",
    ),
    ("*/opencl/*", "tests/unit/test_backend_opencl tests/mpi/matrix-opencl-*"),
    (
        "himeno/*",
        "tests/unit/test_verify tests/unit/test_record tests/unit/test_straggler "
        "tests/unit/test_accept tests/unit/test_checks tests/unit/test_report "
        "tests/clock/himeno*.bats tests/clock/fields.bats tests/cli/flips.bats "
        "tests/cli/run.bats tests/cli/errors.bats tests/cli/accept.bats",
    ),
    ("himeno/*kernels*", "tests/unit/test_kernels_*"),
    ("himeno/verify/pattern.*", "tests/unit/test_pattern"),
    ("himeno/verify/wrong.*", "tests/unit/test_pattern tests/cli/kernel-file.bats"),
    ("himeno/*ladder*", "tests/cli/ladder.bats"),
    ("himeno/tune/*", "tests/cli/tune.bats"),
    ("gpu/cuda/*", "tests/unit/test_kernels_cuda tests/mpi/matrix-cuda-all"),
    ("comm/*cuda*", "tests/unit/test_backend_cuda tests/mpi/matrix-cuda-all"),
    ("himeno/kernels/cuda/*", "tests/mpi/matrix-cuda-all"),
    ("himeno/kernels/opencl/*", "tests/cli/kernel-file.bats"),
    ("himeno/kernels/qpu/*", "tests/unit/test_qpu_himeno tests/cli/qpu.bats"),
    (
        "judge/*",
        "tests/unit/test_accept tests/unit/test_checks tests/unit/test_judge tests/unit/test_power "
        "tests/unit/test_straggler tests/unit/test_slowdown tests/clock/himeno*.bats "
        "tests/clock/fields.bats tests/cli/accept.bats tests/cli/judge.bats",
    ),
    ("himeno/*soak*", "tests/unit/test_soak tests/cli/soak.bats"),
    ("tools/predict/*", "tests/unit/test_predict* tests/clock/fields.bats tests/cli/predict*.bats"),
    (
        "gemm/*",
        "tests/unit/test_gemm_* tests/clock/gemm.bats tests/clock/fields.bats "
        "tests/mpi/products-null tests/mpi/products-cpu tests/cli/gemm.bats tests/cli/errors.bats",
    ),
    ("gemm/*cluster*", "tests/mpi/cluster-null"),
    (
        "gemm/kernels/cuda/*",
        "tests/mpi/products-cuda tests/mpi/cluster-cuda tests/gpu/products-cuda",
    ),
    ("gemm/kernels/qpu/*", "tests/unit/test_qpu_sgemm"),
    (
        "suite/*",
        "tests/unit/test_record tests/clock/fields.bats tests/cli/tune.bats tests/cli/run.bats",
    ),
    ("suite/progress.*", "tests/clock/himeno.bats"),
    ("suite/ranks.*", "tests/clock/himeno*.bats tests/clock/gemm.bats tests/cli/comm.bats"),
    ("suite/fault.*", "tests/unit/test_soak tests/cli/gemm.bats"),
    ("suite/worth.*", "tests/unit/test_soak tests/clock/himeno.bats tests/clock/gemm.bats"),
    ("suite/list.*", "tests/cli/mem.bats"),
    (
        "suite/program*",
        "tests/cli/errors.bats tests/cli/files.bats tests/cli/options.bats tests/cli/mem.bats "
        "tests/cli/predict.bats",
    ),
    ("scripts/*", "tests/cli/scripts.bats"),
    ("scripts/sites/node.py", "tests/cli/node.bats"),
    ("scripts/accepting/*", "tests/scripts/test_accept*.py tests/cli/cluster*.bats"),
    (
        "scripts/studying/*",
        "tests/scripts/test_studying.py tests/clock/studies.bats tests/cli/scaling.bats",
    ),
    (
        "scripts/plotting/*",
        "tests/scripts/test_studying.py tests/clock/studies.bats tests/cli/plot.bats",
    ),
    (
        "scripts/reporting/*",
        "tests/scripts/test_charts.py tests/scripts/test_pages.py "
        "tests/scripts/test_studying.py tests/cli/report.bats",
    ),
    ("scripts/shared/*", "tests/scripts/test_shared.py tests/cli/scaling.bats"),
    ("scripts/isa/*", "tests/cli/isa.bats"),
    ("scripts/gpu*", "tests/scripts/test_shared.py tests/cli/gpu-check.bats"),
)


class NotFound(Exception):
    """The text that a mutant replaces is missing, or is not unique."""


class Tree:
    """The sources of the product, without tests."""

    def __init__(self, root):
        self.root = root
        self.texts = {}
        for folder in sorted(os.listdir(root)):
            if os.path.isdir(root / folder) and not any(
                fnmatch.fnmatch(folder, pattern) for pattern in NOT_DIRECTORIES
            ):
                self.walk(folder)

    def walk(self, folder):
        for path, _, names in os.walk(self.root / folder):
            for name in sorted(names):
                file = os.path.join(path, name)
                if name.endswith(SUFFIXES) or is_script(file):
                    with open(file, encoding="utf-8") as source:
                        self.texts[os.path.relpath(file, self.root)] = source.read()

    def tests_of(self, file):
        """Return the test patterns of all entries of DIRECTORIES that match the file."""
        patterns = [tests for directory, tests in DIRECTORIES if fnmatch.fnmatch(file, directory)]
        if not patterns:
            raise NotFound(
                f"{file} belongs to no tests: see DIRECTORIES in scripts/mutating/mutants.py"
            )
        return " ".join(patterns)

    def tests(self, patterns):
        """Return the tests that match the patterns, as make names them: programs without .c."""
        found = []
        for pattern in patterns.split():
            paths = sorted(self.root.glob(pattern)) + sorted(self.root.glob(pattern + ".c"))
            if not paths:
                raise NotFound(f'there is no test "{pattern}"')
            found += [re.sub(r"\.c$", "", str(path.relative_to(self.root))) for path in paths]
        return list(dict.fromkeys(found))


def is_script(file):
    if os.path.splitext(file)[1]:
        return False
    with open(file, "rb") as source:
        return source.read(2) == b"#!"


@functools.lru_cache(maxsize=None)
def code_only(text):
    """Replace comments and strings by spaces, so that brackets can be counted."""
    return re.sub(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
        lambda match: re.sub(r"[^\n]", " ", match.group()),
        text,
        flags=re.DOTALL,
    )


def closing(code, at):
    """Return the index after the bracket that closes the one at `at`."""
    depth = 0
    for match in re.compile(r"[(){}]").finditer(code, at):
        depth += 1 if match.group() in "({" else -1
        if depth == 0:
            return match.end()
    return len(code)


def c_definitions(text, name):
    """Yield (begin, end) of each function, table and macro with this name."""
    word = re.escape(name)
    for macro in re.finditer(
        rf"^[ \t]*#[ \t]*define[ \t]+{word}\b(?:[^\n]*\\\n)*[^\n]*", text, re.MULTILINE
    ):
        yield macro.span()
    code = code_only(text)
    for function in re.finditer(rf"\b{word}\s*\(", code):
        body = re.compile(r"\s*\{").match(code, closing(code, function.end() - 1))
        if body:
            yield function.start(), closing(code, body.end() - 1)
    for table in re.finditer(rf"\b{word}\s*(?:\[[^]]*\]\s*)*=\s*\{{", code):
        yield table.start(), closing(code, table.end() - 1)


@functools.lru_cache(maxsize=None)
def python_named(text):
    """Return (names, begin, end) of the named definitions and assignments in a Python source."""
    lines, found = [0], []
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for node in ast.walk(ast.parse(text)):
        names = [getattr(node, "name", None)] + [
            getattr(target, "id", None) for target in getattr(node, "targets", [])
        ]
        if any(names) and hasattr(node, "end_lineno"):
            found.append((names, lines[node.lineno - 1], lines[node.end_lineno]))
    return found


def python_definitions(text, name):
    return [(begin, end) for names, begin, end in python_named(text) if name in names]


def shell_definitions(text, name):
    for function in re.finditer(
        rf"^{re.escape(name)}\(\) *[({{](?:[^\n]*[)}}]$|.*?\n[)}}])", text, re.MULTILINE | re.DOTALL
    ):
        yield function.span()


def definitions(file, text, name):
    if name not in text:
        return []
    first = text[: text.find("\n")]
    if file.endswith(".py") or "python" in first:
        return python_definitions(text, name)
    if file.endswith(".sh") or first.startswith("#!"):
        return shell_definitions(text, name)
    return c_definitions(text, name)


def anyhow_set(expression):
    """Return a pattern that matches the expression with any white space between its words."""
    words = re.findall(r"\w+|[^\w\s]", expression)
    parts = [
        r"\s+" if before[-1:].isalnum() and word[:1].isalnum() else r"\s*"
        for before, word in zip(words, words[1:])
    ] + [""]
    text = "".join(re.escape(word) + gap for word, gap in zip(words, parts))
    return re.compile(
        (r"(?<!\w)" if words[0][:1].isalnum() else "")
        + text
        + (r"(?!\w)" if words[-1][-1:].isalnum() else "")
    )


class Mutant:
    """A mutant: a function, an expression in it, its replacement, and a text about the error."""

    def __init__(self, name, text, keys):
        self.name, self.text = name, text
        self.function, self.old, self.new = (keys.get(key, "") for key in ("in", "from", "to"))
        self.asked_tests = keys.get("tests")
        self.file = self.at = self.tests = None
        self.further = []
        if (
            not self.function
            or not self.old
            or "to" not in keys
            or set(keys) - {"in", "from", "to", "tests"}
        ):
            raise BadInput(f'{name}: a mutant has "in", "from", "to" and perhaps "tests"')

    def find(self, tree):
        """Find its place in the tree, which must be unique, and its tests."""
        places, functions = [], 0
        for file, text in tree.texts.items():
            for begin, end in definitions(file, text, self.function):
                functions += 1
                places += [
                    (file, match.span())
                    for match in anyhow_set(self.old).finditer(text, begin, end)
                ]
        if len(places) != 1:
            raise NotFound(
                f'"{self.old}" stands {len(places)} times in {self.function}'
                if functions
                else f"no {self.function} was found"
            )
        self.file, self.at = places[0]
        self.tests = tree.tests(self.asked_tests or tree.tests_of(self.file))

    def planted(self, text):
        return text[: self.at[0]] + self.new + text[self.at[1] :]


def read(tree):
    found = {}
    for path in sorted((tree.root / "tests" / "mutants").glob("*.txt")):
        for paragraph in re.split(r"\n\s*\n", path.read_text(encoding="utf-8")):
            lines = [line for line in paragraph.splitlines() if line and not line.startswith("#")]
            if not lines:
                continue
            name, _, text = lines[0].partition(": ")
            keys = {}
            for line in lines[1:]:
                key, _, value = line.strip().partition(" ")
                keys[key] = f"{keys[key]}\n{value.strip()}" if key in keys else value.strip()
            if name in found or not text:
                raise BadInput(f'{path.name}: "{lines[0]}" is no "name: the text" of its own')
            found[name] = Mutant(name, text, keys)
    return list(found.values())
