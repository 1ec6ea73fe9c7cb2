# SPDX-License-Identifier: MIT
"""Which hosts there are, how they are reached, and which switch they hang on."""
import argparse
import itertools
import math
import os
import re

from endings import BadInput
from processes import checked_launcher, output

HOSTS_MAX = 100000


def duration(text):
    """Seconds of 90, 15m, 8h or 2d."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd]?)", text)
    if not match or float(match[1]) <= 0:
        raise argparse.ArgumentTypeError(f"{text}: a number with s, m, h or d, as in 15m or 8h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]


# ---- lists ----

def numbers(part, text):
    """The texts that stand for what is in brackets: 01-03,7 → 01 02 03 7"""
    found = []
    for piece in text.split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", piece)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if not first <= last < first + HOSTS_MAX:
            raise BadInput(f"{part}: {piece} is no range")
        found += [f"{n:0{len(ends[1])}d}" for n in range(first, last + 1)]
    return found


def expand(text):
    """n[01-03,7],r[1-2]n[1-2] → n01 n02 n03 n7 r1n1 r1n2 r2n1 r2n2: the last brackets count fastest, as Slurm's do."""
    found = []
    for part in filter(None, re.split(r",(?![^\[\]]*\])", text.strip())):  # at commas outside of brackets
        pieces = re.split(r"\[([\d,-]+)\]", part)
        if not re.fullmatch(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*)?", pieces[0]) or not all(re.fullmatch(r"[A-Za-z0-9._-]*", one) for one in pieces[2::2]) \
                or pieces == [""]:
            raise BadInput(f"{part}: is no host name, nor a list such as n[01-16] or rack[1-4]n[01-16]")
        choices = [numbers(part, one) if at % 2 else [one] for at, one in enumerate(pieces)]
        if len(found) + math.prod(map(len, choices)) > HOSTS_MAX:
            raise BadInput(f"{part}: are more than {HOSTS_MAX} hosts")
        found += map("".join, itertools.product(*choices))
    return found


def fold(names):
    """A Slurm host list: n01 n02 n03 m1 → m1,n[01-03]"""
    groups, rest = {}, []
    for name in sorted(set(names)):
        match = re.fullmatch(r"(.*?)(\d+)", name)
        if match:
            groups.setdefault((match[1], len(match[2])), []).append(int(match[2]))
        else:
            rest.append(name)
    folded = []
    for (stem, width), numbers in groups.items():
        ranges, numbers = [], sorted(numbers)
        for n in numbers:
            if ranges and ranges[-1][1] == n - 1:
                ranges[-1][1] = n
            else:
                ranges.append([n, n])
        texts = [f"{a:0{width}d}" if a == b else f"{a:0{width}d}-{b:0{width}d}" for a, b in ranges]
        one = len(texts) == 1 and "-" not in texts[0]
        folded.append(stem + (texts[0] if one else f"[{','.join(texts)}]"))
    return ",".join(sorted(folded + rest))


# ---- who ----

def from_file(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#")[0].split() for line in file]
    return [name for words in lines if words for name in expand(words[0].split(":")[0])]


def names(a):
    """Each once, in the order given."""
    if a.hosts and a.hostfile:
        raise BadInput("--hosts and --hostfile exclude each other")
    given = os.environ.get("SLURM_JOB_NODELIST")
    found = expand(a.hosts) if a.hosts else from_file(a.hostfile) if a.hostfile else expand(given) if given else []
    if not found:
        raise BadInput("no hosts: name them with --hosts or --hostfile, or run inside of a Slurm allocation")
    return list(dict.fromkeys(found))


def slurm_per_host():
    for name in ("SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE", "SLURM_NTASKS_PER_NODE"):
        match = re.search(r"(\d+)$", os.environ.get(name, ""))
        if match and int(match[1]) > 0:
            return int(match[1])
    return 1


def launcher(a):
    """Words with {ranks}, {hosts}, {list}, {per_host}."""
    in_slurm = "SLURM_JOB_ID" in os.environ
    # Not --exact, which leaves each rank one core.
    given = a.launcher or ("srun --overlap --nodelist={list} --nodes={hosts} --ntasks={ranks} --ntasks-per-node={per_host} --kill-on-bad-exit=1"
                           if in_slurm else f"{os.environ.get('MPIRUN') or 'mpirun'} -np {{ranks}} --host {{slots}}")
    return checked_launcher(given, ("ranks", "hosts", "list", "slots", "per_host"))


def filled(text, on, per_host):
    return text.format(ranks=len(on) * per_host, hosts=len(on), per_host=per_host, list=",".join(on),
                       slots=",".join(f"{name}:{per_host}" for name in on))


def leaves(a):
    """{switch: hosts} of the lowest switches that hold hosts; empty where nobody tells."""
    if a.topology:
        with open(a.topology, encoding="utf-8") as file:
            text = file.read()
    else:
        text = output(["scontrol", "show", "topology"])
    found = {}
    for line in (text or "").splitlines():
        fields = dict(re.findall(r"(\w+)=(\S+)", line))
        if fields.get("Level") == "0" and "SwitchName" in fields and "Nodes" in fields:
            below = set(expand(fields["Nodes"]))
            mine = [name for name in a.names if name in below]
            if mine:
                found[fields["SwitchName"]] = mine
    return found
