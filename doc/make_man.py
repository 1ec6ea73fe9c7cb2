# SPDX-License-Identifier: MIT
"""make_man.py PROGRAM NAME VERSION SECONDS SWITCH-TABLE: prints the man page of PROGRAM, which is
installed as NAME, dated SECONDS after 1970. The text is that of PROGRAM --help, and of COMMAND
--help for each command of a script. ENVIRONMENT takes meanings from the table of switches. Only
what neither of them contains is written here."""

import os
import re
import subprocess
import sys
import textwrap
import time

QUIET, QPU = "HIMENO_QUIET", "HIMENO_QPU"
TRANSPORTS = ("HIMENO_MPI_DEVICE", "HIMENO_NCCL")
OTHERS = {
    "CUDA_HOME": "the CUDA installation whose headers a kernel of --kernel-file may include",
    "CUDA_VISIBLE_DEVICES": "the GPUs that CUDA shows to the program, in their order",
    "MPIRUN": "the command that starts MPI programs outside Slurm, instead of mpirun",
    "OMP_NUM_THREADS": "the threads of a rank on a CPU, instead of one per core of the rank",
    "SLURM_JOB_NODELIST": "the hosts to test, if no option names them",
    "SLURM_GPUS_PER_NODE": "the devices per host, if no option sets them",
    "CLANG": "the clang that compiles OpenCL sources, instead of the newest on PATH",
    "PATH": "searched for a Python that has matplotlib, if the first has none",
}
# In these lists HIMENO_* stands for all environment variables for tuning.
ENVIRONMENT = {
    "himeno-gpu": (QUIET, *TRANSPORTS, QPU, "HIMENO_*")
    + ("CUDA_HOME", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"),
    "gemm-gpu": (QUIET, *TRANSPORTS, QPU, "HIMENO_CPU_SIMD")
    + ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"),
    "mem-gpu": (QUIET, "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"),
    "comm-gpu": (QUIET, *TRANSPORTS, "CUDA_VISIBLE_DEVICES"),
    "himeno-predict": (QUIET,),
    "himeno-accept": ("MPIRUN", "SLURM_JOB_NODELIST", "SLURM_GPUS_PER_NODE"),
    "himeno-scaling": ("MPIRUN",),
    "himeno-plot": ("PATH",),
    "himeno-report": ("PATH",),
    "himeno-isa": ("CLANG",),
}
DOC = "share/himeno-gpu/doc/"
POLICY = {DOC + "policy-template.json": "a policy to edit, for --policy or --accept=FILE"}
FILES = {
    "himeno-gpu": {
        DOC + "result.schema.json": "the fields of a --json document; of --ladder: "
        "ladder.schema.json; of a soak's log: soak.schema.json",
        DOC + "kernel-template.cu": "a kernel to edit, for --kernel-file; in OpenCL: "
        "kernel-template.cl",
        **POLICY,
    },
    "gemm-gpu": {
        DOC + "gemm.schema.json": "the fields of a --json document; of --ladder: "
        "gemm-ladder.schema.json",
    },
    "mem-gpu": {DOC + "mem.schema.json": "the fields of a --json document"},
    "comm-gpu": {DOC + "comm.schema.json": "the fields of a --json document"},
    "himeno-predict": {DOC + "predict.schema.json": "the fields of a --json document"},
    "himeno-judge": POLICY,
    "himeno-accept": {
        "FOLDER/accept.json": f"all results; {DOC}accept.schema.json lists the fields",
        "FOLDER/accept.html": "the same as a report to read",
        "FOLDER/steps": "a document and a log per step",
        **POLICY,
    },
    "himeno-scaling": {
        "FOLDER/study.json": "the study's options and points",
        "FOLDER/study.csv": "a row per finished run",
        "FOLDER/runs": "a document and a log per run",
    },
    "himeno-report": {"FOLDER/report.html": "the report, unless -o names another file"},
    "himeno-plot": {"NAME.png, NAME.svg, NAME.pdf": "the figure; NAME is that of -o"},
    "himeno-isa": {"share/himeno-gpu": "the sources that are analysed without INPUT"},
}
SCRIPTS = {"isa-report": "himeno-isa"}
SCRIPTS.update((name, f"himeno-{name}") for name in ("accept", "plot", "report", "scaling"))


def help_of(*command):
    """Return the output of a command's --help, with scripts under their installed names."""
    environment = {**os.environ, "COLUMNS": "10000", "PYTHONDONTWRITEBYTECODE": "1"}
    text = subprocess.run(
        [*command, "--help"], check=True, stdout=subprocess.PIPE, env=environment
    ).stdout.decode()
    names = "|".join(SCRIPTS)
    text = re.sub(rf"scripts/({names})(?![-./\w])", lambda m: SCRIPTS[m[1]], text)
    return re.sub(rf"^usage: ({names})\b", lambda m: f"usage: {SCRIPTS[m[1]]}", text)


def escape(text):
    return text.replace("\\", "\\e").replace("-", "\\-").replace("–", "\\(en")


def wrapped(text):
    """Yield escaped text as lines, none of which looks like a macro of troff."""
    for line in textwrap.wrap(" ".join(text.split()), 78, break_on_hyphens=False):
        yield ("\\&" if line[0] in ".'" else "") + line


def prose(text):
    """Yield plain text as escaped lines with its options in bold."""
    option = r"(?<![\w\\-])(\\-(?:\\-)?[A-Za-z](?:\w|\\-\w)*)"
    yield from wrapped(re.sub(option, r"\\fB\1\\fR", escape(text)))


def tagged(tags, text):
    """Yield an entry of a list: its tags in bold, then its indented text."""
    for n, tag in enumerate(tags):
        yield ".TQ" if n else ".TP"
        yield f"\\fB{escape(tag)}\\fR"
    yield from prose(text)


def blocks(text):
    """Yield (indented, lines) for each run of --help lines that are all indented or all not."""
    block, indented = [], False
    for line in [*text.splitlines(), ""]:
        if block and (not line or line.startswith(" ") != indented):
            yield indented, block
            block = []
        if line:
            indented = line.startswith(" ")
            block.append(line)


def entries(lines):
    """Return [(term, text)] of an indented block. A term is an option, an operand or a command."""
    least = min(len(line) - len(line.lstrip()) for line in lines)
    found = []
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if indent in (least, 4) or (indent <= 6 and line.lstrip().startswith("-")):
            term, _, text = line.strip().partition("  ")
            found.append([term, text.strip()])
        else:
            found[-1][1] += " " + line.strip()
    # Drop argparse's line that lists the names of all commands.
    return [one for one in found if one[1] or not re.fullmatch(r"[-\w]+(\|[-\w]+)+", one[0])]


def listed(lines):
    """Yield an indented block as a list. A command without a text shares the next one's."""
    tags = []
    for term, text in entries(lines):
        tags.append(term)
        if text:
            yield from tagged(tags, text)
            tags = []
    if tags and not re.match(r"[A-Z]", tags[0]):
        yield ".PP"
        yield from "\n.br\n".join(f"\\fB{escape(tag)}\\fR" for tag in tags).split("\n")


def statuses(text):
    """Yield one paragraph per exit status of a text such as `0 pass; 2 wrong option; ...`."""
    text, stop, rest = text.partition(". ") if re.search(r"\. [A-Z-]", text) else (text, "", "")
    for clause in re.split(r"; (?!than)|: (?=\d )", text.rstrip(".")):
        status = re.match(r"(\d) (.*)", clause, re.S)
        if status:
            yield from tagged([status[1]], status[2])
        else:
            yield ".PP"
            yield from prose(clause[:1].upper() + clause[1:] + ":")
    if rest:
        yield ".PP"
        yield from prose(rest)


def read(text):
    """Split --help into (usages, summary, body, variables, examples, exits). Usages, summary and
    exits are plain text; the others are lines of a man page."""
    usages, summary, body, variables, examples, exits, heading = [], "", [], [], [], "", ""
    for indented, lines in blocks(text):
        joined = " ".join(line.strip() for line in lines)
        first = lines[0]
        if first.lower().startswith("usage:"):
            usages.append(joined.split(":", 1)[1].strip())
        elif indented and not summary:
            for line in lines:
                if line.strip().startswith("or:"):
                    usages.append(line.split(":", 1)[1].strip())
                else:
                    usages[-1] += " " + line.strip()
        elif not summary:
            summary = joined
        elif first.startswith("Exit status:"):
            exits = joined.split(":", 1)[1].strip()
        elif first.startswith("Example"):
            heading = "Examples"
            if not first.endswith(":"):
                examples += [".PP", *prose(joined.split(":", 1)[1].strip().capitalize() + ":")]
        elif indented and heading == "Examples":
            examples += listed(lines)
        elif indented and heading.startswith("Environment"):
            variables += listed(lines)
        elif indented:
            body += listed(lines)
        elif len(lines) == 1 and first.endswith(":") and len(first) < 40:
            heading = {"positional arguments": "Operands"}.get(first[:-1], first[:-1].capitalize())
            if not heading.startswith("Environment"):
                body.append(f'.SS "{escape(heading)}"')
        else:
            heading = ""
            body += [".PP", *prose(joined)]
    return usages, summary, body, variables, examples, exits


def page(program, name, version, seconds, table):
    date = time.strftime("%Y-%m-%d", time.gmtime(int(seconds)))
    text = help_of(program)
    # Insert the empty line between usage and summary that C programs do not print.
    text = re.sub(r"\A(Usage:.*\n(?: +or: .*\n)*)", r"\1\n", text)
    usages, summary, body, rest, examples, exits = read(text)
    yield f'.TH {name.upper()} 1 {date} "himeno-gpu {version}" "User Commands"'
    yield from (".SH NAME", f"{name} \\- {escape(summary.rstrip('.'))}", ".SH SYNOPSIS")
    for n, usage in enumerate(usages):
        words = usage.split(" ", 1)
        yield from ([".br"] if n else [])
        yield f".B {escape(words[0])}"
        yield from wrapped(escape(words[1]))
    yield ".SH DESCRIPTION"
    yield from prose(summary.rstrip(".") + ".")
    yield from body
    commands = re.search(r"^  ([-\w]+(?:\|[-\w]+)+)$", text, re.M)
    if commands:
        yield ".SH COMMANDS"
        for command in commands[1].split("|"):
            text = re.sub(r"\A(usage:.*\n)\npos", r"\1\n-\n\npos", help_of(program, command))
            usage, _, options, *_ = read(text)
            yield from (f'.SS "{escape(command)}"', *wrapped(escape(usage[0])))
            yield from (line for line in options if not line.startswith(".SS"))
    yield ".SH EXIT STATUS"
    yield from statuses(exits)
    variables = switches(table)
    yield ".SH ENVIRONMENT"
    for variable in ENVIRONMENT.get(name, ()):
        if variable == "HIMENO_*":
            for tuning, (kind, meaning) in sorted(variables.items()):
                if kind == "TUNING":
                    yield from tagged([tuning], meaning)
        else:
            yield from tagged([variable], OTHERS.get(variable) or variables[variable][1])
    yield from rest
    if name not in SCRIPTS.values():
        yield ".PP"
        yield from prose(
            f"{DOC}reference/switches.md lists all variables HIMENO_*. An invalid "
            "value ends the program with exit status 2; an unknown variable gives a warning."
        )
    yield ".SH FILES"
    yield "Paths without a slash at the front are below the installation's prefix."
    for file, meaning in FILES[name].items():
        yield from tagged([file], meaning)
    yield ".SH EXAMPLES"
    yield from examples
    yield ".SH SEE ALSO"
    others = [other for other in sorted({*ENVIRONMENT, "himeno-judge"}) if other != name]
    yield from (f".BR {escape(other)} (1)," for other in others)
    yield from (".BR mpirun (1)", ".PP", *prose(f"{DOC} has the documentation."))


def switches(table):
    """Return {name: (kind, meaning)} from the table of switches that the build collects."""
    found = {}
    with open(table, encoding="utf-8") as file:
        for row in file:
            name, kind = re.match(r'SWITCH\("(\w+)", (\w+)', row).groups()
            texts = re.findall(r'"((?:[^"\\]|\\.)*)"', row)
            meaning = "".join(texts[2 if re.search(r", [A-Z]+\(\"", row) else 1 :])
            found[name] = kind, re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", meaning.replace("`", ""))
    return found


# Drop .PP after a heading, because a heading begins a new paragraph itself.
lines = list(page(*sys.argv[1:]))
useful = [b for a, b in zip(["", *lines], lines) if b != ".PP" or a[:3] not in (".SH", ".SS")]
sys.stdout.buffer.write(("\n".join(useful) + "\n").encode())
