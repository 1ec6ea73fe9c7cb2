# SPDX-License-Identifier: MIT
"""The number of devices per host, and the hosts that have too few. The number comes from
--per-host, --inventory, the hostfile, Slurm or the hosts themselves."""

import collections
import os
import re

import inventory
from endings import BadInput
from files import read_parsed
from hosts import expand
from processes import output


# ---- Slurm ----


def gpus_of(text, named=True):
    """Return the number of GPUs in a list such as gres/gpu:h100:8,nic:1 or gpu:2(IDX:0-1). If
    `named` is False, the list has only types of GPU, such as h100:4,a100:4."""
    total = 0
    for one in filter(None, re.sub(r"\([^()]*\)", "", text).split(",")):
        words = re.split(r"[:=/]", one.strip())
        if named:
            words = words[1:] if words[0] == "gres" else words
            if words[0] != "gpu":
                continue
        total += int(words[-1]) if words[-1].isdigit() else 1
    return total


def places_in(text):
    """Return how many numbers a list such as 0,2-5 has."""
    ends = [re.fullmatch(r"(\d+)-(\d+)", one) for one in filter(None, text.split(","))]
    return sum(int(one[2]) - int(one[1]) + 1 if one else 1 for one in ends)


def shared_out(text):
    """Return a job's number of GPUs per node, or 0 if they cannot be divided evenly."""
    total, nodes = gpus_of(text, named=False), int(os.environ.get("SLURM_JOB_NUM_NODES") or 0)
    return total // nodes if nodes and total % nodes == 0 else 0


# Slurm's variables: the job's request takes precedence over a node's own number.
VARIABLES = (
    ("SLURM_GPUS_PER_NODE", lambda text: gpus_of(text, named=False)),
    ("SLURM_TRES_PER_NODE", gpus_of),
    ("SLURM_GPUS", shared_out),
    ("SLURM_GPUS_ON_NODE", lambda text: gpus_of(text, named=False)),
    ("SLURM_JOB_GPUS", places_in),
    ("SLURM_STEP_GPUS", places_in),
)


def by_slurm(names):
    """Return {host: GPUs} that Slurm gave to the job; empty if unknown."""
    number = os.environ.get("SLURM_JOB_ID")
    found = {}
    for nodes, text in re.findall(
        r"\bNodes=(\S+) CPU_IDs=\S* Mem=\S* GRES=(\S*)",
        (output(["scontrol", "show", "job", "-d", number]) if number else "") or "",
    ):
        found.update(dict.fromkeys(expand(nodes), gpus_of(text)))
    each = next(filter(None, (count(os.environ.get(name, "")) for name, count in VARIABLES)), 0)
    return {name: found.get(name) or each for name in names if found.get(name) or each}


# ---- expected devices of each host ----


def most_common(counts):
    """Return the most common count, or the largest one of several that are equally common."""
    found = collections.Counter(counts)
    return max(found, key=lambda count: (found[count], count))


def expect(a):
    """Set a.expected to {host: its expected inventory} from --inventory."""
    try:
        listed = inventory.checked(read_parsed(a.inventory), expand) if a.inventory else {}
    except (ValueError, BadInput) as error:
        raise BadInput(f"{a.inventory}: {error}") from error
    a.expected = {name: listed.get(name, listed.get("*", {})) for name in a.names}


def count(a):
    """Set a.devices to {host: number of ranks}, and a.listed to {host: number of devices}.
    a.devices is None if the hosts must be asked. a.listed is from an inventory, a hostfile or
    Slurm; the devices of a hostfile need not be GPUs."""
    if a.per_host is not None and a.per_host < 1:
        raise BadInput(f"--per-host {a.per_host}: must be at least 1")
    listed = {name: inventory.number_in(host.get("gpus", ())) for name, host in a.expected.items()}
    listed = {name: number for name, number in listed.items() if number}
    a.listed = {} if a.per_host else listed or a.slots or by_slurm(a.names)
    a.are_gpus = bool(a.listed) and (bool(listed) or not a.slots)
    tasks = os.environ.get("SLURM_NTASKS_PER_NODE", "")
    usual = a.per_host or (
        most_common(a.listed.values()) if a.listed else int(tasks) if tasks.isdigit() else None
    )
    a.devices = {name: a.listed.get(name, usual) for name in a.names} if usual else None
    # plan.json stores a.per_host.
    a.per_host = a.devices if usual and set(a.devices.values()) != {usual} else usual


def differing(devices):
    """Return {host: text} of the hosts whose number of devices is not the most common one."""
    usual = most_common(devices.values())
    return {
        name: f"has {count} device{'s' * (count != 1)}, most hosts have {usual}"
        for name, count in devices.items()
        if count != usual
    }


# ---- what the hosts have ----


def held_by(document):
    """Return how many devices, other than CPUs, the ranks of a host used; None if unknown."""
    ranks = (document or {}).get("ranks") or []
    if not ranks:
        return None
    if document.get("config", {}).get("backend") in ("cpu", "qpu"):
        return 0
    devices = [rank.get("uuid") or rank.get("pci") for rank in ranks]
    return len(set(devices)) if all(devices) else None


def unused_by(document):
    """Return the number of usable devices of a host that no rank used."""
    return max(
        (rank.get("host_devices_unused") or 0 for rank in (document or {}).get("ranks") or []),
        default=0,
    )


def seen_by(document):
    """Return the number of devices of a host, from the document of a run of one rank on it."""
    return 1 + unused_by(document)


def untested(run):
    """Return {host: number of its usable devices that the stage alone did not use}."""
    found = {name: unused_by(run.document(f"alone-{name}")) for name in run.tested}
    return {name: count for name, count in found.items() if count}


def short(run, names):
    """Return {host: reason} of hosts with fewer devices than are listed, or than their peers."""
    if run.a.backend in ("cpu", "qpu"):
        return {}
    held = {name: held_by(run.document(f"alone-{name}")) for name in names}
    held = {name: has for name, has in held.items() if has is not None}
    whole = [name for name, has in held.items() if has >= run.a.devices[name]]
    found = {}
    for name, has in held.items():
        listed = name in run.a.listed
        if has < run.a.devices[name] and (whole or listed and (has or run.a.are_gpus)):
            found[name] = f"{has} of {run.a.devices[name]} GPUs are usable" + (
                "" if listed else f", all on {whole[0]}"
            )
    return found
