# SPDX-License-Identifier: MIT
"""Finds the command lines that users are shown: in README.md, doc/, the recipes of scripts/sites,
and the examples of --help."""

import pathlib
import re
import subprocess

PROGRAMS = "himeno-gpu gemm-gpu mem-gpu comm-gpu himeno-judge himeno-predict qpu-as".split()
NAME = (
    rf"(?:\S*/)?(?:{'|'.join(PROGRAMS)})|scripts/[a-z][a-z-]+(?![a-z./-])|tests/[a-z_/]+(?![a-z_.])"
)
SETTING = r'(?:[A-Z][A-Z_]+=(?:"[^"]*"|\S+) +)*'
LAUNCHER = r"(?:mpirun|srun|salloc|sbatch|podman|apptainer)\b"
# LINE matches a line of a code block that is a command. SPAN matches code within a sentence; it
# needs an argument or a launcher.
LINE = re.compile(
    rf"{SETTING}(?:(?:{NAME})(?= \D|$)|{LAUNCHER} |\./configure|module load|tar xf|make |jq |cp )"
)
SPAN = re.compile(rf"{SETTING}(?:(?:{NAME}) +\S|{LAUNCHER} .*(?:{'|'.join(PROGRAMS)}))")
# Matches commands in recipes: for a shell, in quotes, or indented and with an option.
RECIPE = re.compile(
    rf"(?:{LAUNCHER} [^:']*|(?:exec )?\S*scripts/[a-z]+\"? .*|"
    rf"(?<=')(?:{'|'.join(PROGRAMS)}) -[^']*|"
    rf"^ +(?:{'|'.join(PROGRAMS)}) -.*|reframe -.*)$|(?<=')(?:{'|'.join(PROGRAMS)}) -[^']*"
)


def plain(text):
    """Return the command without its explanation: text after two spaces or more, or a comment."""
    return re.split(r"  +(?=\S)|\s+# ", text.strip())[0]


def of_markdown(text):
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            if LINE.match(line.strip()):
                yield plain(line)
        else:
            for span in re.findall(r"`([^`]+)`", line):
                if SPAN.match(span):
                    yield span


def of_help(text):
    """Yield the commands, which are indented by two spaces. Deeper lines are explanations."""
    for line in re.findall(
        r"^  \S.*", text.partition("Examples:\n")[2].partition("\n\n")[0], flags=re.M
    ):
        yield from (command.strip() for command in plain(line).split(";"))


def of_comments(text):
    for line in text.splitlines():
        found = re.match(r"(?://|#) +(.*)", line)
        if found and LINE.match(found[1]):
            yield plain(found[1])


def of_recipe(text):
    for line in text.replace("\\\n", "").splitlines():
        if not line.startswith("_"):
            yield from (
                re.sub(r"  +", " ", plain(one) if one[:5] != "exec " else one)
                for one in re.findall(RECIPE, line)
            )
    for words in re.findall(
        r"executable_opts \+?= \[(.*)\]", text
    ):  # ReFrame options contain names that stand for values
        yield "himeno-gpu " + " ".join(word.strip("\"'") for word in words.split(", "))


def documented(source, build):
    """Yield (where, command) for each place that shows a command."""
    source = pathlib.Path(source)
    for path in [
        source / "README.md",
        source / "CONTRIBUTING.md",
        *sorted(source.glob("doc/**/*.md")),
    ]:
        yield from ((str(path.relative_to(source)), one) for one in of_markdown(path.read_text()))
    for path in sorted(source.glob("doc/kernel-template.*")):
        yield from ((str(path.relative_to(source)), one) for one in of_comments(path.read_text()))
    for path in sorted(path for path in source.glob("scripts/sites/*") if path.is_file()):
        yield from ((str(path.relative_to(source)), one) for one in of_recipe(path.read_text()))
    for name in PROGRAMS:
        for folder in ("", "gpu/qpu/"):
            program = pathlib.Path(build) / folder / name
            if program.exists():
                text = subprocess.run(
                    [program, "--help"], capture_output=True, text=True, check=True
                ).stdout
                yield from ((f"{name} --help", one) for one in of_help(text))
    for path in sorted(source.glob("scripts/*")):
        if path.is_file() and "Examples:" in path.read_text(errors="replace"):
            text = subprocess.run(
                [path, "--help"], capture_output=True, text=True, check=True
            ).stdout
            yield from ((f"scripts/{path.name} --help", one) for one in of_help(text))


if __name__ == "__main__":
    import sys

    for where, one in documented(*sys.argv[1:3]):
        print(f"{where}: {one}")
