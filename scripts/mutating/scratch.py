# SPDX-License-Identifier: MIT
"""A copy of the tree, which is built incrementally."""

import fcntl
import fnmatch
import hashlib
import os
import pathlib
import re
import shlex
import subprocess

from endings import Trouble

NOT_COPIED = ("build*", ".git", "autom4te.cache", "__pycache__")  # folders


class Scratch:
    """The folders SCRATCH/tree and SCRATCH/build. If they exist, only changed files are copied and
    built again."""

    def __init__(self, tree, folder, configure, jobs):
        self.original, self.texts = tree.root, tree.texts
        self.folder = pathlib.Path(folder).resolve()
        self.tree, self.build = self.folder / "tree", self.folder / "build"
        self.jobs, self.mutant, self.made, self.names = jobs, None, [], {}
        for name in ("MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES"):  # set by the calling make
            os.environ.pop(name, None)
        self.build.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.folder / "lock", "w", encoding="utf-8")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Trouble(f"{self.folder}: is in use by another run") from error
        self.copy()
        self.prepare(configure)
        self.programs, self.for_tests = (
            set(self.variable(name).split())
            for name in (
                "$(bin_PROGRAMS) $(noinst_PROGRAMS) $(pkglibexec_SCRIPTS)",
                "$(check_PROGRAMS)",
            )
        )

    def copy(self):
        here = set()
        for path, folders, names in os.walk(self.original):
            folders[:] = [
                name
                for name in folders
                if not skipped(name) and pathlib.Path(path, name) != self.folder
            ]
            for name in set(names) - {".git"}:  # .git is a file in a second work tree
                file = pathlib.Path(path, name)
                here.add(file.relative_to(self.original))
                copy_file(file, self.tree / file.relative_to(self.original))
        for file in list(self.tree.rglob("*")):
            if (
                not file.is_dir()
                and file.relative_to(self.tree) not in here
                and not generated(file.relative_to(self.tree))
            ):
                file.unlink()

    def prepare(self, configure):
        steps = []
        if not (self.tree / "configure").exists():
            steps.append((self.tree, ["./autogen.sh"]))
        if not (self.build / "Makefile").exists():
            steps.append((self.build, ["../tree/configure", *shlex.split(configure)]))
        for folder, command in [
            *steps,
            (self.build, ["make", "-s", f"-j{self.jobs}"]),
            (self.build, ["make", "-s", "$(check_DATA)"]),
        ]:
            if command[-1] == "$(check_DATA)":
                command = ["make", "-s", *self.variable("$(check_DATA)").split(), "Makefile"]
            with open(self.folder / "build.log", "w", encoding="utf-8") as log:
                if subprocess.run(
                    command, cwd=folder, stdout=log, stderr=log, check=False
                ).returncode:
                    raise Trouble(f"{shlex.join(command)} failed: see {self.folder / 'build.log'}")

    def variable(self, words):
        """Return the text `words` as make expands it in the build folder."""
        done = subprocess.run(
            ["make", "-s", "-f", "Makefile", "-f", "-", "mutate-tell"],
            cwd=self.build,
            text=True,
            check=True,
            stdout=subprocess.PIPE,
            input=f"mutate-tell:\n\t@echo {words}\n",
        )
        return done.stdout.strip()

    def targets(self, test):
        """Return the targets to build for a test. A test program needs itself. A script needs the
        test programs that it names; in tests/clock, all of that directory. A bats file also needs
        the suite's programs."""
        if test in self.for_tests:
            return [test]
        words = set(re.findall(r"tests/\w+/[\w-]+", (self.tree / test).read_text(encoding="utf-8")))
        words |= {
            program
            for program in self.for_tests
            if os.path.dirname(program) == "tests/clock" == os.path.dirname(test)
        }
        return sorted(
            (self.programs if test.endswith(".bats") else set()) | (words & self.for_tests)
        )

    def make(self, targets):
        """Build the targets; return True on success."""
        with open(self.folder / "build.log", "w", encoding="utf-8") as log:
            return (
                subprocess.run(
                    ["timeout", "600", "make", "-s", f"-j{self.jobs}", *targets],
                    cwd=self.build,
                    stdout=log,
                    stderr=log,
                    check=False,
                ).returncode
                == 0
            )

    def plant(self, mutant):
        if self.mutant is not mutant:
            self.restore()
            self.mutant = mutant
            self.write(mutant.file, mutant.planted(self.texts[mutant.file]))

    def restore(self):
        if self.mutant:
            self.write(self.mutant.file, self.texts[self.mutant.file])
            self.mutant = None

    def write(self, file, text):
        (self.tree / file).write_text(text, encoding="utf-8")

    def compiled(self):
        """Return [(object, files from which it was compiled)] of all objects, the source file
        first."""
        for path in [] if self.made else [*self.build.rglob("*.Po"), *self.build.rglob("*.d")]:
            rule, _, _ = path.read_text(encoding="utf-8").replace("\\\n", " ").partition("\n\n")
            target, _, files = rule.partition(":")
            files = re.findall(r"(?:^|\s)\S*?tree/(\S+)", files.partition("\n")[0])
            if files:
                self.made.append((target, files))
        return self.made

    def objects(self, file):
        return [
            target
            for target, files in self.compiled()
            if file in files and not files[0].startswith("tests/")
        ]

    def symbols(self, name, letters):
        """Return the symbols of an object whose kind, as nm prints it, is in `letters`."""
        if name not in self.names:
            self.names[name] = subprocess.run(
                ["nm", "-P", self.build / name],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                check=False,
            ).stdout
        return {
            line.split()[0] for line in self.names[name].splitlines() if line.split()[1] in letters
        }

    def callers(self, file):
        """Return the test programs that call functions of a source, or that include a header."""
        own = (
            set().union(*(self.symbols(name, "TDBR") for name in self.objects(file)))
            if file.endswith(".c")
            else set()
        )
        include = {target for target, files in self.compiled() if file in files}
        return {
            test
            for test in self.for_tests
            if test.startswith("tests/unit/")
            and (test + ".o" in include or own & self.symbols(test + ".o", "U"))
        }

    def code(self, objects):
        """Return a digest of objects without debug information; None if one cannot be built."""
        if not self.make(objects):
            return None
        digest, bare = hashlib.sha256(), self.folder / "bare.o"
        for name in objects:
            subprocess.run(["objcopy", "-g", self.build / name, bare], check=True)
            digest.update(bare.read_bytes())
        return digest.hexdigest()


def skipped(folder):
    return any(fnmatch.fnmatch(folder, pattern) for pattern in NOT_COPIED) and folder != "build-aux"


def generated(path):
    """Return True if autogen.sh generates this file."""
    return path.parts[0] in ("build-aux", "autom4te.cache") or path.name in (
        "configure",
        "configure~",
        "aclocal.m4",
        "config.h.in",
        "Makefile.in",
    )


def copy_file(file, to):
    """Copy a file only if it differs, so that make does not build it again."""
    if (
        to.is_file()
        and not to.is_symlink()
        and to.stat().st_size == file.stat().st_size
        and to.read_bytes() == file.read_bytes()
    ):
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(file.read_bytes())
    to.chmod(file.stat().st_mode)
