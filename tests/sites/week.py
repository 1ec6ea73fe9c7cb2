# SPDX-License-Identifier: MIT
"""A week of the passive checks of scripts/sites/node.py on 64 simulated nodes, hour by hour. Faults
come and go. The kernel log, the PCI bus, nvidia-smi and Slurm are simulated; the script itself is
not changed. Fails if a node is drained without a fault, or a fault is not reported.

usage: week.py SCRIPTS FOLDER"""

import json
import os
import pathlib
import re
import shutil
import sys

scripts, folder = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(scripts / "sites"))
import node  # noqa: E402

NODES = [f"n{number:02d}" for number in range(1, 65)]
HOURS = 7 * 24
GPUS = ("0000:10:00.0", "0000:11:00.0")
# Each entry: (first hour, end, node, fault or event).
PLAN = [
    (27, 39, "n05", "xid 79"),
    (130, 136, "n05", "xid 79"),
    (10, 50, "n09", "lost"),
    (80, 82, "n12", "port down"),
    (100, 120, "n40", "ecc"),
    (120, 140, "n50", "slow"),
    (60, 70, "n61", "lost"),  # while an administrator has drained the node
    # These events are no faults of the node.
    *((hour, hour + 1, "n20", "xid 13") for hour in range(5, HOURS, 9)),
    (50, HOURS, "n30", "new driver"),
    (33, 34, "n33", "boot"),
    (70, 94, "n60", "no answer"),
]
HARMLESS = {"xid 13", "new driver", "boot", "no answer"}
# All drains of the week in their order, with required parts of their reasons.
DRAINS = [
    ("n09", "GPUs 1, expected 2 (GPU 0000:11:00.0 missing)"),
    ("n05", "GPU 0000:11:00: Xid 79, fallen off the bus"),
    ("n12", "network card state 1 x down, expected 1 x active"),
    ("n40", "GPU 0: uncorrected ECC errors (GPU-n40-0)"),
    ("n50", "GPU 1 slow -13% (GPU-n50-1)"),
    ("n05", "GPU 0000:11:00: Xid 79, fallen off the bus"),
]


class Node:
    def __init__(self, name):
        self.name, self.reason, self.boot, self.booted, self.log, self.now = (
            name,
            "",
            "1",
            -100,
            [],
            set(),
        )
        self.state, self.system = folder / name / "state", folder / name / "sys"
        shutil.copytree(folder / "good", self.system)
        self.state.mkdir()
        gpus = [{"pci": pci, "model": "H100", "pcie_width": 16} for pci in GPUS]
        listed = {
            "gpus": gpus,
            "network": [{"name": "mlx5_0", "state": "active", "rate_gbps": 400}],
            "driver": "580.1",
        }
        (self.state / "inventory.json").write_text(
            json.dumps({"schema": "himeno-inventory/1", "hosts": {"n[01-64]": listed}})
        )

    def play(self, hour):
        """Apply the faults and events of this hour."""
        before, self.now = (
            self.now,
            {what for first, end, name, what in PLAN if name == self.name and first <= hour < end},
        )
        for what in self.now - before:
            if what.startswith("xid"):
                self.log.append(
                    (len(self.log), f"NVRM: Xid (PCI:0000:11:00): {what.split()[1]}, pid=1")
                )
            if what == "boot":
                self.boot, self.booted, self.log = "2", hour, []
        card = self.system / "bus/pci/devices" / GPUS[1]
        if "lost" in self.now and card.exists():
            shutil.rmtree(card)
        if "lost" in before - self.now:
            shutil.copytree(folder / "good/bus/pci/devices" / GPUS[1], card)
        down = "port down" in self.now or "boot" in self.now
        (self.system / "class/infiniband/mlx5_0/ports/1/state").write_text(
            "1: DOWN\n" if down else "4: ACTIVE\n"
        )
        (self.system / "module/nvidia/version").write_text(
            "590.2\n" if "new driver" in self.now else "580.1\n"
        )
        if hour % 20 == 0:  # the active check
            verdict = (
                {"outcome": "fault", "reason": "GPU 1 slow -13% (GPU-n50-1)"}
                if "slow" in self.now
                else {"outcome": "pass"}
            )
            (self.state / "active.json").write_text(json.dumps({"time": hour, **verdict}))

    def printed(self, words, seconds):
        """Return what nvidia-smi prints."""
        if "no answer" in self.now:
            return ""
        there = [
            (place, pci)
            for place, pci in enumerate(GPUS)
            if (self.system / "bus/pci/devices" / pci).exists()
        ]
        if "name" in words[1]:
            return "".join(
                f"0000{pci}, H100, 81559, 96.0, GPU-{self.name}-{place}, 1\n"
                for place, pci in there
            )
        if "ecc" in words[1]:
            return "".join(
                f"0000{pci}, {3 if 'ecc' in self.now and place == 0 else 0}, No\n"
                for place, pci in there
            )
        return ""


def slurm(*words):
    """Simulate commands of Slurm."""
    if words[0] == "sinfo":
        return "".join(f"{one.name} {one.reason or 'none'}\n" for one in nodes.values())
    if words[1] == "show":
        one = nodes[words[3]]
        return f"NodeName={one.name}\n   State=IDLE{'+DRAIN' * bool(one.reason)} X=1\n" + (
            f"   Reason={one.reason} [root@day]\n" if one.reason else ""
        )
    name, state, reason = words[2].split("=", 1)[1], words[3], words[4].split("=", 1)[1]
    assert state == "State=DRAIN" and not (
        nodes[name].reason and not node.OURS.match(nodes[name].reason)
    ), words
    nodes[name].reason = reason
    drains.append((hour, name, reason))
    return ""


card = folder / "good/bus/pci/devices"
for pci in GPUS:
    (card / pci).mkdir(parents=True)
    for file, text in (("vendor", "0x10de"), ("class", "0x030200"), ("current_link_width", "16")):
        (card / pci / file).write_text(text + "\n")
port = folder / "good/class/infiniband/mlx5_0/ports/1"
port.mkdir(parents=True)
(folder / "good/module/nvidia").mkdir(parents=True)
(port / "rate").write_text("400 Gb/sec\n")

hardware, line = node.inventory.hardware, node.inventory.line
planned = {name for _, _, name, _ in PLAN}
nodes, drains, said = {name: Node(name) for name in NODES}, [], []
node.slurm, node.say, node.program, node.time.sleep = (
    slurm,
    said.append,
    lambda name: name,
    lambda seconds: None,
)
for hour in range(HOURS):
    for one in nodes.values():
        one.play(hour)
        if hour == 58 and one.name == "n61":
            one.reason = "maintenance"
        # The administrator resumes a node an hour after its repair.
        if (
            one.reason not in ("", "maintenance")
            and not one.now
            and not any(
                first - 1 <= hour <= end for first, end, name, _ in PLAN if name == one.name
            )
        ):
            one.reason = ""
        seconds = 120 if one.booted == hour else 3600 * (hour - one.booted)
        node.inventory.line = lambda *parts, one=one, seconds=seconds: (
            f"{seconds}.0 1.0"
            if parts[0] == "/proc/uptime"
            else one.boot
            if str(parts[0]).endswith("boot_id")
            else line(*parts)
        )
        node.inventory.hardware = lambda one=one, **given: hardware(system=str(one.system), **given)
        node.inventory.printed, node.kernel_log, node.STATE = (
            one.printed,
            lambda one=one: one.log,
            str(one.state),
        )
        sound = not one.now - HARMLESS and not one.reason
        state = node.State()
        if one.name in planned or hour % 12 == 0:
            before = len(said)
            failed = node.around_a_job(state, one.name) == node.FAULT
            assert not (failed and sound), (hour, one.name, said[before:])
            assert failed or not one.now - HARMLESS or one.reason, (hour, one.name, one.now)
        node.health(state, one.name)
        os.close(state.folder)
found = [(name, re.sub(r"^himeno: ", "", reason)) for _, name, reason in drains]
assert found == DRAINS, found
assert all(
    any(name == other and first <= at < end for first, end, other, _ in PLAN)
    for at, name, _ in drains
), drains
assert not [one.name for one in nodes.values() if one.reason and one.name != "n61"], drains
assert any("driver 590.2, expected 580.1; software is not a fault" in text for text in said)
print(f"{HOURS} hours, {len(NODES)} nodes, {len(drains)} drains")
