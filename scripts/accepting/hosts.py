# SPDX-License-Identifier: MIT
"""The hosts of an acceptance, their launcher and their leaf switches."""

import argparse
import itertools
import math
import os
import re

from endings import BadInput
from processes import checked_launcher, output

HOSTS_MAX = 100000


def duration(text):
    """Return the seconds of a duration such as 90, 15m, 8h or 2d."""
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)([smhd]?)", text)
    if not match or float(match[1]) <= 0:
        raise argparse.ArgumentTypeError(
            f"{text}: must be a positive number with s, m, h or d, such as 15m or 8h"
        )
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]


# ---- lists ----


def numbers(part, text):
    """Return the texts that a list in brackets stands for: 01-03,7 → 01 02 03 7."""
    found = []
    for piece in text.split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", piece)
        first, last = (int(ends[1]), int(ends[2] or ends[1])) if ends else (1, 0)
        if not first <= last < first + HOSTS_MAX:
            raise BadInput(f"{part}: {piece} is not a range")
        found += [f"{n:0{len(ends[1])}d}" for n in range(first, last + 1)]
    return found


def is_ipv6(text):
    return text.count(":") > 1 and re.fullmatch(r"[0-9A-Fa-f:.]+(%[\w.-]+)?", text) is not None


def expand(text):
    """Expand a host list: n[01-03,7],r[1-2]n[1-2] → n01 n02 n03 n7 r1n1 r1n2 r2n1 r2n2, in Slurm's
    order. IP addresses are host names, too."""
    found, outside_brackets = [], r",(?![^\[\]]*\])"
    for part in filter(None, re.split(outside_brackets, text.strip())):
        bare = part[1:-1] if part[0] + part[-1] == "[]" else part
        if is_ipv6(bare):
            found.append(bare)
            continue
        pieces = re.split(r"\[([\d,-]+)\]", part)
        if (
            not re.fullmatch(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*)?", pieces[0])
            or not all(re.fullmatch(r"[A-Za-z0-9._-]*", one) for one in pieces[2::2])
            or pieces == [""]
        ):
            raise BadInput(
                f"{part}: is not a host name or a list such as n[01-16] or rack[1-4]n[01-16]"
            )
        choices = [numbers(part, one) if at % 2 else [one] for at, one in enumerate(pieces)]
        if len(found) + math.prod(map(len, choices)) > HOSTS_MAX:
            raise BadInput(f"{part}: more than {HOSTS_MAX} hosts")
        found += map("".join, itertools.product(*choices))
    return found


def fold(names):
    """Abbreviate host names as a Slurm host list: n01 n02 n03 m1 → m1,n[01-03]."""
    groups, rest = {}, []
    for name in sorted(set(names)):
        match = None if is_ipv6(name) else re.fullmatch(r"(.*?)(\d+)", name)
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


def slots_of(words):
    """Return the slots in a hostfile's line, such as slots=8 or max_slots = 8; None if it has
    none."""
    rest = re.sub(r"\s*=\s*", "=", " ".join(words))
    for key in ("slots", "max[-_]slots"):
        found = re.search(rf"(?:^|\s){key}=(\d+)(?:\s|$)", rest)
        if found:
            return int(found[1])
    return None


def from_file(path):
    """Return [(host, slots or None)] of a hostfile's lines, read as Open MPI and MPICH do."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.lstrip("\ufeff").split("#")[0].split() for line in file]
    found = []
    for words in filter(None, lines):
        name, slots = words[0], slots_of(words[1:])
        match = re.fullmatch(r"(.*[^:]):(\d+)", name)
        if match and not is_ipv6(name):
            name, slots = match[1], int(match[2])
        if slots == 0:
            raise BadInput(f"{path}: {words[0]} has 0 slots: must be at least 1")
        found += [(one, slots) for one in expand(name)]
    return found


def names(a):
    """Return each host once, in the order given. Set a.slots to {host: devices} by the hostfile."""
    if a.hosts is not None and a.hostfile is not None:
        raise BadInput("--hosts and --hostfile exclude each other")
    listed, a.slots = from_file(a.hostfile) if a.hostfile is not None else [], {}
    for name, slots in listed:
        a.slots[name] = a.slots.get(name, 0) + (slots or 1)
    named = {name for name, slots in listed if slots}
    # With one line and no slots, a host's number of devices is unknown; with N lines it is N.
    a.slots = {name: slots for name, slots in a.slots.items() if name in named or slots > 1}
    given = os.environ.get("SLURM_JOB_NODELIST")
    found = (
        [name for name, _ in listed]
        if a.hostfile is not None
        else expand(a.hosts if a.hosts is not None else given or "")
    )
    if not found:
        raise BadInput("no hosts: give --hosts or --hostfile, or run inside a Slurm allocation")
    return list(dict.fromkeys(found))


def launcher(a):
    """Return the launcher's command with placeholders such as {ranks} and {list}."""
    in_slurm = "SLURM_JOB_ID" in os.environ
    # Not --exact: it would give each rank only one core.
    usual = (
        "srun --overlap --nodelist={list} --nodes={hosts} --ntasks={ranks} "
        "--ntasks-per-node={per_host} --kill-on-bad-exit=1"
        if in_slurm
        else f"{os.environ.get('MPIRUN') or 'mpirun'} -np {{ranks}} --host {{slots}}"
    )
    given = checked_launcher(
        usual if a.launcher is None else a.launcher, ("ranks", "hosts", "list", "slots", "per_host")
    )
    for name in filter(is_ipv6, a.names if "{slots}" in given else []):
        raise BadInput(
            f"{name}: mpirun --host takes no IPv6 address: "
            "use the host name, or a --launcher with {list}"
        )
    return given


def filled(text, on, counts):
    """Return the launcher's command for the hosts `on`, with `counts` ranks on each."""
    return text.format(
        ranks=sum(counts),
        hosts=len(on),
        per_host=max(counts),
        list=",".join(on),
        slots=",".join(f"{name}:{count}" for name, count in zip(on, counts)),
    )


def leaves(a):
    """Return {leaf switch: hosts}; empty if unknown."""
    if a.topology:
        with open(a.topology, encoding="utf-8", errors="surrogateescape") as file:
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
