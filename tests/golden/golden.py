# SPDX-License-Identifier: MIT
"""golden.py CHECK SOURCE BUILD FOLDER: compares what users are shown with tests/golden/commands.

whole     every documented command line must be listed in `commands`, and its options in the --help
          of its program
run       the lines of `commands`, run in FOLDER, must give the expected output, and their documents
          must follow the schemas of doc/
fields    FOLDER/run.json of an earlier run and the schemas of doc/ must have the same fields"""

import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys

import documented
import fields

HERE = pathlib.Path(__file__).parent
SUBCOMMANDS = ("scripts/scaling", "scripts/plot")


# ---- the frozen command lines ----


class Line:
    """A documented command line, `WHERE: COMMAND`, and the expectations indented below it."""

    def __init__(self, where, command):
        self.where, self.command = where, command
        self.run, self.given, self.absent = None, [], None
        self.exit, self.says, self.writes, self.needs = 0, [], [], []


def read_lines(text):
    lines = []
    for number, row in enumerate(text.splitlines(), 1):
        if not row.strip() or row.startswith("#"):
            continue
        if not row.startswith(" "):
            lines.append(Line(*row.split(": ", 1)))
            continue
        word, _, rest = row.strip().partition(" ")
        line = lines[-1]
        if word in ("given", "says", "writes", "needs"):
            getattr(line, word).append(rest)
        elif word in ("run", "absent"):
            setattr(line, word, rest)
        elif word == "exit":
            line.exit = int(rest)
        else:
            sys.exit(f"commands, line {number}: no such word: {word}")
    return lines


# ---- options ----

KNOWN = {}


def shown_options(program, source, build, known=KNOWN):
    """Return the options in --help of a program of the suite, or None for another program."""
    name = program.split("/")[-1]
    if program not in known:
        if name.split()[0] in documented.PROGRAMS:
            words = [str(build / ("gpu/qpu/" + name if name.startswith("qpu") else name))]
        else:
            words = [str(source / program.split()[0]), *program.split()[1:]]
        text = ""
        if os.access(words[0], os.X_OK):
            text = subprocess.run([*words, "--help"], capture_output=True, text=True).stdout
        known[program] = set(re.findall(r"(?<![\w-])--?[A-Za-z][a-z0-9-]*", text)) if text else None
    return known[program]


def words_of(command):
    try:
        return shlex.split(command)
    except ValueError:  # a lone quotation mark
        return command.split()


def unknown_options(command, source, build):
    """Return the options in a documented line that the --help of its program does not list."""
    unknown = []
    for part in re.split(r" (?:&&|[;|]) ", command):
        program = None
        for at, word in enumerate(words := words_of(part)):
            found = re.search(
                rf"(?:^|/)({'|'.join(documented.PROGRAMS)})$|(scripts/[a-z-]+)$", word
            )
            if found and not program:
                program = found[1] or found[2]
                if program in SUBCOMMANDS and at + 1 < len(words):
                    program += " " + words[at + 1]
            elif program and re.match(r"--?[A-Za-z]", word) and " " not in word:
                shown = shown_options(program, source, build)
                if shown is not None and word.split("=")[0] not in shown:
                    unknown.append(f"{program} has no option {word}")
    return unknown


# ---- documents ----


def load(path):
    text = path.read_text()
    if path.suffix == ".csv":
        return [dict.fromkeys(text.splitlines()[0].split(","), "")]
    return (
        [json.loads(line) for line in text.splitlines()]
        if path.suffix == ".jsonl"
        else [json.loads(text)]
    )


# ---- running ----


def environment_of(source, build, folder):
    """Return an environment with this build's programs under their documented names, and with the
    virtual clock if CLOCK_MACHINE is set. Launched programs' documents are judged again."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(parents=True, exist_ok=True)
    programs = {
        name: build / ("gpu/qpu/" + name if name.startswith("qpu") else name)
        for name in documented.PROGRAMS
    }
    for name, program in {"mpirun": os.environ["MPIRUN"], **programs}.items():
        (bin_folder / name).unlink(missing_ok=True)
        if name in ("mpirun", "himeno-gpu", "gemm-gpu"):
            chosen = (
                program if name == "mpirun" else f"{build}/${{CLOCK_MACHINE:+tests/clock/}}{name}"
            )
            (bin_folder / name).write_text(
                "#!/bin/sh\n"
                f'[ -n "$OMPI_COMM_WORLD_RANK$PMI_RANK" ] || '
                f'exec "{source}/tests/replayed" "{chosen}" "$@"\n'
                f'exec "{chosen}" "$@"\n'
            )
            (bin_folder / name).chmod(0o755)
        elif program.exists():
            (bin_folder / name).symlink_to(program)
    return dict(
        os.environ,
        PATH=f"{bin_folder}:{os.environ['PATH']}",
        OMP_NUM_THREADS="1",
        HIMENO_SOURCE=str(source),
        top_srcdir=str(source),
        top_builddir=str(build),
    )


def work_in(folder, source, build):
    folder.mkdir(parents=True, exist_ok=True)
    for name, target in (
        ("build", build),
        ("scripts", source / "scripts"),
        ("doc", source / "doc"),
        ("tests", source / "tests"),
        ("himeno", source / "himeno"),
        ("gpu", source / "gpu"),
    ):
        if not (folder / name).exists():
            (folder / name).symlink_to(target)
    return folder


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def lacks(need):
    if need == "results":  # a release has none
        return not (HERE.parent.parent / "doc/results").exists()
    built = {"opencl": "HAVE_OPENCL", "cminpack": "HAVE_CMINPACK", "cblas": "HAVE_CBLAS"}.get(need)
    return os.environ.get(built, "1") in ("0", "no") if built else not shutil.which(need)


def shell(command, folder, env):
    limit = 60 * int(os.environ.get("SLOWNESS") or 1)
    return subprocess.run(
        ["timeout", str(limit), "bash", "-c", command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def run_line(line, folder, env, schemas, documents):
    """Return the differences from the expected behaviour as texts."""
    for given in line.given:
        shell(given, folder, env)
    done = shell(line.run, folder, env)
    for steps in folder.glob("*/steps"):
        shell(
            f"tests/replayed --steps {shlex.quote(steps.parent.name)}", folder, env
        ).check_returncode()
    complaints = []
    if done.returncode != line.exit:
        complaints.append(
            f"exit code {done.returncode}, not {line.exit}:\n"
            f"{done.stdout[-1500:]}{done.stderr[-1500:]}"
        )
    for pattern in line.says:
        if not re.search(pattern, done.stdout, re.M):
            complaints.append(f"no line like {pattern!r} in:\n{done.stdout[-3000:]}")
    for written in line.writes:
        name, _, kind = written.partition(" ")
        path = folder / name
        if not path.exists():
            complaints.append(f"{name} was not written")
            continue
        if kind:
            documents.setdefault(kind, []).append(load(path))
            complaints += [
                f"{name}: {text}"
                for one in documents[kind][-1]
                for text in fields.faults(schemas, kind, one)
            ]
    return complaints


# ---- the checks ----


def check_whole(source, build, folder):
    frozen = {(line.where, line.command) for line in read_lines((HERE / "commands").read_text())}
    for where, command in dict.fromkeys(documented.documented(source, build)):
        if (where, command) not in frozen:
            yield f"{where}: {command}\n    is not in tests/golden/commands: freeze it there"
        yield from (
            f"{where}: {command}\n    {text}" for text in unknown_options(command, source, build)
        )
    for line in read_lines((HERE / "commands").read_text()):
        if not line.run and not line.absent:
            yield f"{line.where}: {line.command}\n    neither runs nor says why not"
        yield from (
            f"{line.where}: {line.command}\n    {text}"
            for text in unknown_options(line.command, source, build)
        )


def check_run(source, build, folder):
    env, schemas, documents, seen = (
        environment_of(source, build, folder),
        fields.roots_of(source),
        {},
        set(),
    )
    for line in read_lines((HERE / "commands").read_text()):
        place = work_in(folder / re.sub(r"[^A-Za-z0-9]+", "-", line.where), source, build)
        if (
            not line.run
            or any(lacks(need) for need in line.needs)
            or (str(place), line.run) in seen
        ):
            continue
        seen.add((str(place), line.run))
        began = cpu_seconds()
        for text in run_line(line, place, env, schemas, documents):
            yield f"{line.where}: {line.command}\n    {line.run}\n    {text}"
        if os.environ.get("GOLDEN_TIMES"):
            print(f"{cpu_seconds() - began:6.2f} {line.run}", file=sys.stderr)
    (folder / "run.json").write_text(json.dumps(documents))


def check_fields(source, build, folder):
    skipped = {
        re.split("[ -]", written.partition(" ")[2])[0]
        for line in read_lines((HERE / "commands").read_text())
        if any(map(lacks, line.needs))
        for written in line.writes
    }
    return fields.differences(source, json.loads((folder / "run.json").read_text()), skipped)


def main():
    checks = {"whole": check_whole, "run": check_run, "fields": check_fields}
    source, build, folder = (pathlib.Path(word).resolve() for word in sys.argv[2:5])
    complaints = list(checks[sys.argv[1]](source, build, folder))
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
