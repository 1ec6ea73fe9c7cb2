#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inventory of a host: what it has by /sys, /proc, nvidia-smi and ethtool; how that differs from a
file of what it should have, and from other hosts. Run as a program, it prints that of this host."""

import argparse
import collections
import concurrent.futures
import csv
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
    sys.dont_write_bytecode = True
    import floor  # noqa: F401
from files import write_whole

SCHEMA = "himeno-inventory/1"
# DEVICES: lists of devices, with the fields of a device. VALUES: single values of a host. A field
# that an inventory file omits is not compared.
DEVICES = {
    "gpus": ("pci", "model", "memory_gib", "vbios", "pcie_width", "nvlinks"),
    "network": ("name", "rate_gbps", "state", "firmware", "pcie_width"),
}
VALUES = ("cpu", "cpus", "sockets", "numa_nodes", "memory_gib", "kernel", "driver", "cuda", "mpi")
# properties that may change without a repair
SOFTWARE = {"kernel", "driver", "cuda", "mpi", "vbios", "firmware"}
TITLES = {"gpus": "GPU", "network": "network card"}
# Readable names, for reports, of properties with an abbreviated key. Names of checks have the key.
WORDS = {
    "cpu": "CPU model",
    "cpus": "CPUs",
    "numa_nodes": "memory nodes",
    "memory_gib": "memory in GiB",
    "cuda": "CUDA",
    "mpi": "MPI",
    "vbios": "VBIOS",
    "pcie_width": "PCIe lanes",
    "nvlinks": "NVLinks",
    "rate_gbps": "rate in Gbit/s",
}
MEMORY_SHARE = 0.02  # tolerance: the kernel's share varies between equal hosts
# Matches the PCI vendor and class of a GPU, as in gpu/bus.c. Most servers also have a display
# adapter, which must not match.
GPU_CLASSES = re.compile("0x10de 0x03|0x1002 0x(0380|12)|0x8086 0x0380")


# ---- this host ----


def line(*parts):
    """Return the first line of a small file, or "" if there is none."""
    try:
        with open(os.path.join(*map(str, parts)), encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""


def number(text, scale=1):
    """Return the number at the start of a text, divided by `scale` and rounded, or None."""
    found = re.match(r"\d+(\.\d+)?", text)
    return round(float(found[0]) / scale) if found else None


def printed(words, seconds):
    """Return a program's output, whatever its exit status; "" if it cannot run or is too slow."""
    try:
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            encoding="utf-8",
            errors="replace",
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def known(fields):
    return {key: value for key, value in fields.items() if value not in (None, "", False)}


def table(text):
    """Return {PCI address: list of the other columns} of nvidia-smi's output."""
    rows = csv.reader(text.splitlines(), skipinitialspace=True)
    return {
        row[0].lower()[-12:]: row[1:]
        for row in rows
        if row and re.fullmatch(r"[0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f.]+", row[0])
    }


def nvidia(smi, seconds):
    """Return {PCI address: fields} of the GPUs that NVIDIA's driver can open. Memory errors count
    from the last reset of the counters."""

    def query(fields):
        return [smi, f"--query-gpu=pci.bus_id,{fields}", "--format=csv,noheader,nounits"]

    words = (
        query("name,memory.total,vbios_version,uuid,serial"),
        [smi, "nvlink", "--status"],
        query("ecc.errors.uncorrected.volatile.total,remapped_rows.failure"),
    )
    # The queries run concurrently, because each takes a large part of a second.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        devices, links, errors = pool.map(lambda one: printed(one, seconds), words)
    up, uuid = collections.Counter(), None
    for one in links.splitlines():
        start = re.match(r"GPU \d+: .*UUID: ([\w-]+)", one)
        uuid = start[1] if start else uuid
        up[uuid] += bool(re.match(r"\s+Link \d+: [\d.]+ GB/s", one))
    found, errors = {}, table(errors)
    for pci, (model, memory, vbios, uuid, *serial) in table(devices).items():
        faults = [
            name
            for name, text in zip(
                ("uncorrected ECC errors", "memory row not remapped"), errors.get(pci, ())
            )
            if re.match("[1-9]|Yes", text)
        ]
        found[pci] = {
            "model": model,
            "memory_gib": number(memory, 1024),
            "vbios": vbios,
            "uuid": uuid,
            "nvlinks": up.get(uuid),
            "errors": faults or None,
            "serial": serial[0] if serial and re.match("[1-9]", serial[0]) else None,
        }
    return found


def gpus(system, smi, seconds):
    """Return the GPUs that the PCI bus lists, with the fields that their drivers report."""
    found = nvidia(smi, seconds) if smi else {}
    for folder in sorted(pathlib.Path(system, "bus/pci/devices").glob("*")):
        vendor = line(folder, "vendor")
        if GPU_CLASSES.match(f"{vendor} {line(folder, 'class')}"):
            own = {
                "pcie_width": number(line(folder, "current_link_width")),
                "vbios": line(folder, "vbios_version"),
                "memory_gib": number(line(folder, "mem_info_vram_total"), 2**30),
                # Without nvidia-smi the model of an NVIDIA GPU is unknown.
                "model": vendor != "0x10de" and f"{vendor}:{line(folder, 'device')}",
            }
            found[folder.name] = {**known(own), **found.get(folder.name, {})}
    return [{"pci": pci, **known(fields)} for pci, fields in sorted(found.items())]


def cards(system, ethtool, seconds):
    """Return the InfiniBand and RoCE ports, and the other network cards (not virtual ones)."""
    found = []
    for port in sorted(pathlib.Path(system, "class/infiniband").glob("*/ports/*")):
        card = port.parents[1]
        found.append(
            {
                "name": card.name + (f"/{port.name}" if port.name != "1" else ""),
                "rate_gbps": number(line(port, "rate")),
                "firmware": line(card, "fw_ver"),
                "state": line(port, "state").split(": ")[-1].lower(),
                "pcie_width": number(line(card, "device/current_link_width")),
            }
        )
    for card in sorted(pathlib.Path(system, "class/net").glob("*")):
        if (card / "device").exists() and not (card / "device/infiniband").exists():
            driver = printed([ethtool, "-i", card.name], seconds) if ethtool else ""
            firmware = re.search(r"^firmware-version: (\S+)", driver, re.M)
            found.append(
                {
                    "name": card.name,
                    "rate_gbps": number(line(card, "speed"), 1000),
                    "firmware": firmware and firmware[1],
                    "state": line(card, "operstate"),
                    "pcie_width": number(line(card, "device/current_link_width")),
                }
            )
    return [known(card) for card in found]


def cuda_version():
    """Return the newest CUDA version that the driver supports, or None."""
    try:
        version = ctypes.c_int(0)
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except (OSError, AttributeError):
        return None
    return f"{version.value // 1000}.{version.value % 1000 // 10}" if version.value else None


def hardware(system="/sys", smi="nvidia-smi", ethtool="ethtool", seconds=10):
    """Return the host's inventory without the fields that cannot be read."""
    info = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    model = re.search(r"^model name\s*: (.*)$", info, re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(), re.M)
    nodes = pathlib.Path(system, "devices/system/node").glob("node[0-9]*")
    packages = {
        line(one, "topology/physical_package_id")
        for one in pathlib.Path(system, "devices/system/cpu").glob("cpu[0-9]*")
    } - {""}
    driver = line(system, "module/nvidia/version") or line(system, "module/amdgpu/version")
    return {
        "gpus": gpus(system, smi, seconds),
        "network": cards(system, ethtool, seconds),
        **known(
            {
                "cpu": model[1] if model else os.uname().machine,
                "cpus": os.cpu_count(),
                "sockets": len(packages) or None,
                "numa_nodes": len(list(nodes)) or None,
                "memory_gib": memory and number(memory[1], 2**20),
                "kernel": os.uname().release,
                "driver": driver,
            }
        ),
    }


def everything():
    """Return this host's inventory, with the versions of the software that jobs use."""
    mpi = printed(["mpirun", "--version"], 10).splitlines()
    return {
        "schema": SCHEMA,
        **hardware(os.environ.get("HIMENO_SYSFS") or "/sys"),
        **known({"cuda": cuda_version(), "mpi": mpi[0] if mpi else None}),
    }


# ---- files ----


def checked(document, expand):
    """Return {host: expected inventory}. The host "*" stands for every host that is not listed.
    Raises a ValueError that describes the error."""

    def keys(place, found, allowed):
        if not isinstance(found, dict):
            raise ValueError(f"{place}: must be an object")
        for key in found:
            if key not in allowed:
                raise ValueError(f"{place}: {key}: must be one of {', '.join(allowed)}")

    keys("inventory", document, ("schema", "hosts"))
    if document.get("schema") != SCHEMA:
        raise ValueError(f'is no inventory: "schema" must be "{SCHEMA}"')
    keys("hosts", document.get("hosts"), document.get("hosts") or ())
    for names, host in document["hosts"].items():
        keys(names, host, (*DEVICES, *VALUES))
        for key in DEVICES.keys() & host.keys():
            if not isinstance(host[key], list):
                raise ValueError(f"{names}: {key}: must be a list")
            for one in host[key]:
                keys(f"{names}: {key}", one, (*DEVICES[key], "count"))
                if not isinstance(one.get("count", 1), int) or one.get("count", 1) < 1:
                    raise ValueError(f"{names}: {key}: count: must be a whole number from 1")
    return {
        name: host
        for names, host in document["hosts"].items()
        for name in ([names] if names == "*" else expand(names))
    }


def number_in(devices):
    return sum(one.get("count", 1) for one in devices)


def write(path, found, fold):
    """Write the inventory file of {host: inventory}. Hosts with equal ones share an entry."""
    alike = {}
    for name, host in found.items():
        listed = {
            key: [
                {field: one[field] for field in DEVICES[key] if field in one} for one in host[key]
            ]
            for key in DEVICES
        }
        listed.update({key: host[key] for key in VALUES if key in host})
        alike.setdefault(json.dumps(listed), []).append(name)
    hosts = {fold(names): json.loads(text) for text, names in alike.items()}
    write_whole(path, json.dumps({"schema": SCHEMA, "hosts": hosts}, indent=1) + "\n")


# ---- differences ----


def summary(host):
    """Return {property: value as text}. A property of devices has the number of devices per value:
    "7 x 400, 1 x 200"."""
    found = {key: str(host[key]) for key in VALUES if key in host}
    for key, fields in DEVICES.items():
        if key not in host:
            continue
        found[f"{TITLES[key]}s"] = str(number_in(host[key]))
        for field in fields[1:]:
            counted = collections.Counter()
            for one in filter(lambda one: field in one, host[key]):  # noqa: B023
                counted[str(one[field])] += one.get("count", 1)
            if counted:
                found[f"{TITLES[key]} {field}"] = ", ".join(
                    f"{number} x {text}" for text, number in sorted(counted.items())
                )
    return found


def named(title):
    """Return a property's name for reports."""
    *device, key = title.rsplit(" ", 1)
    return " ".join([*device, WORDS.get(key, key)])


def is_software(title):
    return title.split()[-1] in SOFTWARE


def equal(title, one, other):
    if title != "memory_gib":
        return one == other
    return abs(float(one) - float(other)) <= MEMORY_SHARE * max(float(one), float(other))


def missing(key, expected, found):
    """Return text such as " (GPU 0000:3b:00.0 missing)" about the devices that `expected` lists by
    name and `found` lacks, or ""."""
    name = DEVICES[key][0]
    there = {one.get(name) for one in found[key]}
    lost = [one[name] for one in expected[key] if name in one and one[name] not in there]
    return f" ({TITLES[key]} {', '.join(lost)} missing)" if lost else ""


def differences(expected, found):
    """Return [(property, text)] of properties with another known value than the expected one."""
    wanted, has, texts = summary(expected), summary(found), []
    for title, value in wanted.items():
        if title in has and not equal(title, value, has[title]):
            key = next((key for key in DEVICES if title == f"{TITLES[key]}s"), None)
            # Report only the number of devices if it differs: their properties differ then, too.
            if not any(title.startswith(f"{before[:-1]} ") for before, _ in texts):
                texts.append(
                    (
                        title,
                        f"{named(title)} {has[title]}, expected {value}"
                        + (missing(key, expected, found) if key else ""),
                    )
                )
    return texts


def of_one_type(found):
    """Group hosts by their models of GPU: return [{host: inventory}]. Hosts without GPUs join the
    largest group, because their GPUs may be missing."""
    types = {}
    for name, host in found.items():
        models = frozenset(one.get("model") for one in host["gpus"])
        types.setdefault(models, {})[name] = host
    without = types.pop(frozenset(), {})
    usual = max(types.values(), key=len, default={})
    usual.update(without)
    return list(types.values()) or [usual]


def unlike(found, fold):
    """Return [(property, hosts, text)] of the properties that differ between the hosts in `found`.
    `hosts` are those without the value that most hosts have; it is empty if no value is that
    common. If a host has another number of devices than most, their other properties are
    ignored."""
    summaries, texts = {name: summary(host) for name, host in found.items()}, []
    for title in (f"{of}s" for of in TITLES.values()):
        counted = collections.Counter(one[title] for one in summaries.values() if title in one)
        usual = counted.most_common(1)[0][0] if counted else None
        for name, one in summaries.items():
            if one.get(title, usual) != usual:
                summaries[name] = {
                    key: value
                    for key, value in one.items()
                    if not key.startswith(f"{title[:-1]} ")  # noqa: B023
                }
    for title in dict.fromkeys(title for one in summaries.values() for title in one):
        groups = {}
        for name, one in summaries.items():
            if title in one:
                alike = (value for value in groups if equal(title, value, one[title]))  # noqa: B023
                groups.setdefault(next(alike, one[title]), []).append(name)
        usual = max(groups, key=lambda value: len(groups[value]))  # noqa: B023
        most = len(groups[usual])
        others = [name for value in groups if value != usual for name in groups[value]]
        if others:
            rest = (
                f"{most} other host{'s' * (most > 1)}"
                if most > len(others)
                else fold(groups[usual])
            )
            each = [
                f"{value} on {fold(names)}" for value, names in groups.items() if value != usual
            ]
            texts.append(
                (
                    title,
                    others if most > len(others) else [],
                    f"{named(title)}: {', '.join([*each, f'{usual} on {rest}'])}",
                )
            )
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", default="/dev/stdout", help="write it to FILE")
    write_whole(parser.parse_args().json, json.dumps(everything(), indent=1) + "\n")


if __name__ == "__main__":
    main()
