# SPDX-License-Identifier: MIT
"""Compares documents with the tables of tests/clock/fields. `fields.py PROGRAM DOCUMENT TABLE...`
compares every field; `fields.py --schema SCHEMA hardware TABLE...` lists the declared fields that
have no value in a table.

A row is PATH<tab>LITERAL[<tab>= FORMULA]. A path is as in the schema; `[]` stands for all elements
of a list, and the literal lists their values, "absent" for an element without the field. The
formula computes the literal from the simulated machine: from rows `let NAME<tab>EXPRESSION` and
other literals (`row(PATH)`), but not from the document. It must equal the literal. A literal @NAME
is a fact about this host or build, which the test asks the system for. A table with rows
`part<tab>PATH` covers only these parts of the document. `hardware` lists fields that the simulated
machine cannot have, with the test of each."""

import calendar
import json
import math
import os
import pathlib
import re
import socket
import statistics
import sys
import time

SETTINGS = """OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES OMP_WAIT_POLICY
CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_LAUNCH_BLOCKING
ROCR_VISIBLE_DEVICES GPU_DEVICE_ORDINAL OCL_ICD_VENDORS POCL_DEVICES
SLURM_JOB_ID SLURM_JOB_NUM_NODES SLURM_NTASKS SLURM_CPUS_PER_TASK PBS_JOBID LSB_JOBID
UCX_TLS UCX_NET_DEVICES""".split()


def near(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(near(a[key], b[key]) for key in a)
    if {type(a), type(b)} <= {int, float} and type(b) is type(a):
        return abs(a - b) <= (1e-9 * max(abs(a), abs(b)) + 1e-13 if isinstance(a, float) else 0)
    return type(a) is type(b) and a == b


def leaves(value, path):
    """Yield (path, value) of each value in `value` that is neither object nor list. An empty object
    or list has the value None."""
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from leaves(one, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for one in value:
            yield from leaves(one, path + "[]")
    else:
        yield (path + "[]" if value == [] else path), (None if value in ([], {}) else value)


def take(document, steps):
    if not steps:
        return document
    if steps[0] == "[]":
        return [take(one, steps[1:]) for one in document]
    return (
        take(document[steps[0]], steps[1:])
        if isinstance(document, dict) and steps[0] in document
        else "absent"
    )


def row_leaves(path, literal):
    """Yield (path, value) of a row's literal, whose path has a list per `[]`."""
    ones = [literal]
    for _ in range(path.count("[]")):
        ones = [one for listed in ones if isinstance(listed, list) for one in listed]
    return [leaf for one in ones if one != "absent" for leaf in leaves(one, path)]


def cores(text):
    parts = [part.partition("-") for part in text.split(",")]
    return {core for first, _, last in parts for core in range(int(first), int(last or first) + 1)}


def proc(path, key):
    return re.findall(rf"^(?:{key})\s*[:=]\s*\"?([^\"\n]*)", pathlib.Path(path).read_text(), re.M)


def caches():
    """Return the sizes in KiB of the data caches of the first core."""
    folders = [
        one
        for one in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")
        if (one / "type").read_text() != "Instruction\n"
    ]
    return [int((one / "size").read_text().rstrip("K\n")) for one in folders]


def fact(name, document, program):
    """Return what the system reports, or None if the document's own value is acceptable."""
    names, ranks = os.uname(), document.get("ranks", [])
    allowed, each = os.sched_getaffinity(0), [cores(one["cpus"]) for one in ranks if one["cpus"]]
    if name == "compiler":
        number = take(document, ["system", "compiler"]).split()[-1]
        return (
            take(document, ["system", "compiler"])
            if re.search(
                rb"GCC: \([^)]*\) " + number.encode() + b"|clang version", program.read_bytes()
            )
            else number
        )
    if name == "times":
        return [fact("now", one, program) for one in document["log"]]
    if name == "now":
        seconds = time.time() - calendar.timegm(
            time.strptime(document["time"], "%Y-%m-%dT%H:%M:%SZ")
        )
        return document["time"] if 0 <= seconds < 600 else time.asctime()
    if name == "cpus":
        # mpirun binds to any
        here = cores(pathlib.Path("/sys/devices/system/cpu/online").read_text())
        return [
            one["cpus"] if mine and mine <= here else sorted(here) for one, mine in zip(ranks, each)
        ]
    return {
        "host": lambda: os.environ.get("SLURMD_NODENAME") or socket.gethostname(),
        "hosts": lambda: [fact("host", document, program)] * len(ranks),
        "version": lambda: re.search(
            r"AC_INIT\(\[[^]]*\], \[([^]]*)\]", (source / "configure.ac").read_text()
        )[1],
        "os": lambda: proc("/etc/os-release", "PRETTY_NAME")[0],
        "kernel": lambda: f"{names.sysname} {names.release} {names.machine}",
        "cpu": lambda: (proc("/proc/cpuinfo", "model name") or proc("/proc/cpuinfo", "Model"))[0],
        "memory": lambda: os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "cores": lambda: len(allowed),
        "uuid": lambda: (
            document["device"]["uuid"]
            if re.fullmatch("CPU-[0-9a-f]{16}", document["device"]["uuid"])
            else "CPU-"
        ),
        "linux": lambda: f"{names.sysname} {names.release}",
        "arch": lambda: (
            document["device"]["arch"]
            if document["device"]["arch"].split()[0] == names.machine
            else names.machine
        ),
        "cache": lambda: max(kib << 10 for kib in caches()),
        "settings": lambda: {
            key: value
            for key, value in os.environ.items()
            if key in SETTINGS or key.startswith("HIMENO_")
        },
        "cpus_shared": lambda: [
            any(mine & other for other in each[:at] + each[at + 1 :])
            for at, mine in enumerate(each)
        ],
    }[name]()


def hosts_named(literal, host):
    if isinstance(literal, dict):
        return {key: hosts_named(one, host) for key, one in literal.items()}
    if isinstance(literal, list):
        return [hosts_named(one, host) for one in literal]
    return literal.replace("@host", host) if isinstance(literal, str) else literal


class Tables:
    def __init__(self, paths):
        self.rows, self.parts = {}, []
        self.names = {
            **vars(math),
            **vars(statistics),
            "true": True,
            "false": False,
            "null": None,
            "row": lambda path: self.rows[path][0],
        }
        for line in (
            line
            for path in paths
            for line in pathlib.Path(path).read_text().splitlines()
            if line and line[0] != "#"
        ):
            path, literal, *formula = line.split("\t")
            if path == "part":
                self.parts.append(literal)
            elif path.startswith("let "):
                self.names[path[4:]] = eval(literal, self.names)
            else:
                self.rows[path] = (
                    literal if literal[0] == "@" else eval(literal, self.names),
                    formula[0].removeprefix("= ") if formula else None,
                )

    def wrong(self, document, program):
        have = {
            path
            for path, _ in leaves(document, "")
            if not self.parts
            or any(re.match(re.escape(part) + r"([.[]|$)", path) for part in self.parts)
        }
        for path, (literal, formula) in self.rows.items():
            found = take(document, re.findall(r"\[\]|[^.\[]+", path))
            wanted = (
                fact(literal[1:], document, program)
                if isinstance(literal, str) and literal[:1] == "@"
                else hosts_named(literal, fact("host", {}, program))
            )
            if not near(found, wanted):
                yield f"{path} is {json.dumps(found)} and not {json.dumps(wanted)}"
            if formula and not near(eval(formula, self.names), literal):
                yield f"{path}: {literal} is not {formula}, which is {eval(formula, self.names)}"
            have -= {path for path, _ in row_leaves(path, found)}
        yield from (f"{path} is in no table" for path in sorted(have))


def declared(whole, schema, path=""):
    """Yield the paths of the schema's leaves."""
    schema = whole["$defs"][schema["$ref"].split("/")[-1]] if "$ref" in schema else schema
    if "properties" in schema:
        for key, one in schema["properties"].items():
            yield from declared(whole, one, f"{path}.{key}" if path else key)
    elif "items" in schema:
        yield from declared(whole, schema["items"], path + "[]")
    elif isinstance(schema.get("additionalProperties"), dict):
        yield from declared(whole, schema["additionalProperties"], path + ".*")
    else:
        yield path


def unchecked(schema, paths):
    """Yield the leaves that no table has a value for, except those in `hardware`, and entries of
    `hardware` that have one."""
    hardware, *paths = map(pathlib.Path, paths)
    name = paths[-1].name.partition(".")[0]
    excused = [
        row.split("\t")[1]
        for row in hardware.read_text().splitlines()
        if row.split("\t")[0] in (name, "*")
    ]
    prefix = "log[]." if name == "soak" else ""
    valued = {
        leaf.removeprefix(prefix)
        for path in paths
        for row, (literal, _) in Tables([path]).rows.items()
        for leaf, value in (
            [(row, literal)] if str(literal)[:1] == "@" else row_leaves(row, literal)
        )
        if value is not None
    }
    for pattern in map(str, declared(schema, schema)):
        seen = any(
            re.fullmatch(re.escape(pattern).replace(r"\.\*", r"(\..+)?"), leaf) for leaf in valued
        )
        excuse = any(re.match(re.escape(one) + r"([.[]|$)", pattern) for one in excused)
        if seen == excuse:
            yield f"{pattern}: " + (
                "has a value, and hardware excuses it" if seen else "no table has a value"
            )


if __name__ == "__main__":
    source = pathlib.Path(os.environ["top_srcdir"])
    option, first, *rest = sys.argv[1:]
    found = json.loads(pathlib.Path(first).read_text())
    wrong = list(
        unchecked(found, rest)
        if option == "--schema"
        else Tables(rest).wrong(found, pathlib.Path(option))
    )
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))
