# SPDX-License-Identifier: MIT
"""What users of an acceptance need beyond its verdict: the machine, the rates of its devices, the
limits with their origin, likely causes of findings, and an archive for the vendor per drained
host."""

import io
import json
import os
import re
import statistics
import tarfile
import time

import inventory
import pairs
from files import read_document, write_whole
from hosts import fold
from steps import percent_from

# Each entry: pattern of a finding's kind, checks and text; likely cause; next step. First match
# wins.
CAUSES = [
    (re.compile(pattern), cause, step)
    for pattern, cause, step in (
        (
            "^wrong",
            "the device computes wrong results: its memory, caches or arithmetic are defective",
            "drain the host, run the vendor's diagnostics, replace the device",
        ),
        (
            "^lost",
            "the device has failed, or its driver cannot open it",
            "look for Xid events in the kernel log, reset or reseat the device, "
            "replace it if it is lost again",
        ),
        (
            "^device hang",
            "a kernel on the device never ended",
            "reset the device and repeat the command; replace it if it hangs again",
        ),
        (
            "^hang",
            "a process, the network or the file system did not answer, or the host was too busy",
            "read the log of the step and repeat the command; if the program was making progress, "
            "raise --limit or choose a smaller --size",
        ),
        (
            "^fault",
            "the program or a library that it uses has failed",
            "read the log of the step and repeat the command",
        ),
        (
            "^not started",
            "the host is down, or the launcher cannot reach it",
            "log in to the host, then repeat the command",
        ),
        (
            "^environment",
            "memory, a library or the placement of ranks is not as the program needs it",
            "correct what the text names, then repeat the command",
        ),
        ("^partial", "a signal ended the program", "repeat the command"),
        (
            "^noisy",
            "other programs use the host, or its clocks are unstable",
            "stop other work on the host, then repeat the command",
        ),
        (
            "^unverified: inventory: ",
            "the host did not answer, or its inventory could not be read",
            "log in to the host, run python3 there, then repeat the command",
        ),
        (
            "^(unverified|usage)",
            "the options or the policy do not fit the run",
            "correct the options, then repeat the command",
        ),
        ("^duplicate", "two names lead to one host", "name each host once"),
        (
            "rate of installation",
            "the device has become slower since it was installed",
            "compare driver and firmware with the earlier run, "
            "then claim the guaranteed rate from the vendor",
        ),
        (
            "hardware thermal|thermal|temperature",
            "the device throttles because it is hot",
            "clean filters and heat sinks, check fans and inlet temperature",
        ),
        (
            "power (cap|brake)",
            "the device throttles at its power limit",
            "compare the power limit with other devices, check the power supplies",
        ),
        (
            "ECC|retired|hardware errors|NVLink CRC",
            "memory or a link of the device has errors",
            "run the vendor's diagnostics, replace the device or reseat the link",
        ),
        (
            "PCIe",
            "the PCIe link runs below its width or generation",
            "reseat the device or its riser, check the BIOS settings",
        ),
        (
            "NUMA node",
            "the process runs on cores far from its device",
            "correct the binding of the launcher",
        ),
        (
            "its own device|unshared|shared with other ranks",
            "several processes use one device",
            "correct the launcher's options, end other programs",
        ),
        (
            "clock in MHz|lowest clock",
            "the device runs at a lower clock than its peers",
            "compare application clocks and power limits, reset them",
        ),
        (
            "ceiling of theory|measured / theoretical",
            "the device's memory is slow, or another program uses the device",
            "end other programs, then run the vendor's memory test",
        ),
        (
            "over TCP while",
            "MPI sends by TCP although a faster port is up",
            "let MPI use the port (UCX_TLS, UCX_NET_DEVICES, --mca pml ucx), repeat the command",
        ),
        (
            "^fabric",
            "a link between switches is slow, or hosts share too little bandwidth",
            "read the error counters of the uplinks of these switches, compare with their design",
        ),
        (
            "^path|exchange with other hosts|of the worst link|similar links|slowest network card|"
            "together|of wires?|spread of hosts",
            "a cable, a network card or a switch port is slow",
            "swap the cable, read the error counters of both ports, repeat the command",
        ),
        (
            "^inventory|^suspect: inventory",
            "the host has other hardware than listed, or than most hosts",
            "repair it, or correct the inventory",
        ),
        (
            "^suspect",
            "hardware or settings differ from the other hosts",
            "compare clocks, power limits and firmware of the hosts, repeat the command",
        ),
        (
            "",
            "the device is slower than its peers; it reports no reason",
            "repeat the command, then run the vendor's diagnostics",
        ),
    )
]
# Matches the device in a reason such as "rank 3 on n7, GPU-9a..." or "rank 3, host n7, device
# GPU-9a...".
DEVICE = re.compile(r"\brank \d+(?: on |, host )[^,;]+, (?:device )?([^;:),]+)")


# ---- the machine ----


def model_of(row):
    """Return the device's model. The name of a null device loses its number."""
    return re.sub(r"^(Null device) \d+$", r"\1", row["model"] or "unknown")


def inventories(run):
    return {
        done["hosts"][0]: run.document(name) or {}
        for name, done in run.done.items()
        if name.startswith("inventory-")
    }


def devices(run):
    """Return one row per device, from the stage `alone`."""
    serials = {
        one["uuid"]: one["serial"]
        for host in inventories(run).values()
        for one in host.get("gpus", ())
        if "serial" in one
    }
    rows = []
    for name in run.a.names:
        for rank in (run.document(f"alone-{name}") or {}).get("ranks", []):
            telemetry = rank.get("telemetry") or {}
            rows.append(
                {
                    "host": name,
                    "rank": rank["rank"],
                    "model": rank.get("device"),
                    "uuid": rank.get("uuid") or None,
                    "serial": serials.get(rank.get("uuid")),
                    "pci": rank.get("pci") or None,
                    "driver": rank.get("driver"),
                    "gflops": rank.get("compute_gflops") or rank.get("gflops") or None,
                    "noise": rank.get("noise"),
                    "ceiling_gbps": rank.get("ceiling_gbps"),
                    "ceiling_share": rank.get("ceiling_share"),
                    "theory_share": (rank.get("theory") or {}).get("share"),
                    "celsius": (telemetry.get("celsius") or [None])[-1],
                    "watts": (telemetry.get("watts") or [None])[-1],
                    "corrected": (telemetry.get("ecc") or {}).get("corrected"),
                }
            )
    return rows


def machine(run, rows):
    """Return {property: {value: its hosts}} of the software, and the number of devices by model."""
    found = {"suite": {}, "driver": {}, "mpi": {}, "kernel": {}}
    models = {}

    def add(key, value, name):
        if value and name not in found[key].setdefault(value, []):
            found[key][value].append(name)

    for name, host in inventories(run).items():
        add("mpi", host.get("mpi"), name)
    if not found["mpi"]:
        add(
            "mpi",
            (
                inventory.printed(
                    [os.environ.get("MPIRUN") or "mpirun", "--version"], 10
                ).splitlines()
                or [""]
            )[0],
            os.uname().nodename,
        )
    for name in run.a.names:
        document = run.document(f"alone-{name}") or {}
        add("suite", document.get("version"), name)
        add("kernel", document.get("system", {}).get("kernel"), name)
    for row in rows:
        add("driver", row["driver"], row["host"])
        models[model_of(row)] = models.get(model_of(row), 0) + 1
    return {
        "models": models,
        **{
            key: {value: fold(names) for value, names in values.items()}
            for key, values in found.items()
        },
    }


def durations(run):
    """Return {stage: {"steps": number of its steps, "seconds": their sum}}."""
    found = {}
    for name, step in run.done.items():
        stage = found.setdefault(name.split("-")[0], {"steps": 0, "seconds": 0})
        stage["steps"] += 1
        stage["seconds"] = round(stage["seconds"] + step["seconds"], 3)
    return found


def limits(run):
    """Return one row per check of the policy: its limit, the limit's origin, the least margin."""
    worst = {}
    for name, step in run.done.items():
        accept = (run.document(name) or {}).get("result", {}).get("accept") or {}
        for check in accept.get("checks", []) if accept.get("policy") != pairs.POLICY else []:
            margin = check["margin"] if check["margin"] is not None else float("inf")
            if check["check"] not in worst or margin < worst[check["check"]][0]:
                worst[check["check"]] = margin, check, step
    return [
        {
            "check": check["check"],
            "title": check.get("title", check["check"]),
            "unit": check["unit"],
            "limit": check["limit"],
            "at_most": check["at_most"],
            "value": check["value"],
            "outcome": check["outcome"],
            "hosts": fold(step["hosts"]),
            "from": check.get("from") or None,
        }
        for _, check, step in worst.values()
    ]


# ---- findings ----


def explain(finding, severity, rows):
    """Add severity, device, distance from the peers, likely cause and next step to a finding."""
    text = DEVICE.search(finding["why"])
    device = finding["device"] or (text[1].strip() if text else None)
    mine = [
        row
        for row in rows
        if row["gflops"]
        and finding["hosts"] == [row["host"]]
        and device in (None, row["uuid"], row["pci"])
    ]
    worst = min(mine, key=lambda row: row["gflops"], default=None)
    peers = [
        row["gflops"]
        for row in rows
        if row["gflops"] and worst and row is not worst and model_of(row) == model_of(worst)
    ]
    about = f"{finding['kind']}: {', '.join(finding['checks'])}: {finding['why']}"
    cause, step = next((cause, step) for pattern, cause, step in CAUSES if pattern.search(about))
    finding.update(
        severity=severity,
        device=device,
        serial=next((row["serial"] for row in rows if device and row["uuid"] == device), None),
        cause=cause,
        next_step=step,
    )
    finding.setdefault("percent_from_limit", None)
    of_rates = not any(check.startswith("inventory") for check in finding["checks"])
    if finding.setdefault("percent_from_peers", None) is None and peers and of_rates:
        finding["percent_from_peers"] = percent_from(worst["gflops"], statistics.median(peers))


# ---- for the vendor ----


def bundle_name(host):
    return f"bundle-{host}.tar"


def bundles(run, document):
    """Write one archive per drained host, and return {host: file name of its archive}. An archive
    has the findings, the documents and logs of the host's steps, commands and versions."""
    for name in os.listdir(run.a.folder):
        if name.startswith("bundle-") and name.endswith(".tar"):
            os.remove(os.path.join(run.a.folder, name))
    return {host: bundle(run, document, host) for host in document["drain"]}


def bundle(run, document, host):
    findings = [one for one in document["findings"] if host in one["hosts"]]
    steps = sorted(
        {name for name, done in run.done.items() if done["hosts"] == [host]}
        | {one["step"] for one in findings}
    )
    commands = list(dict.fromkeys(run.done[name]["command"] for name in steps if name in run.done))
    versions = [
        f"{key}: {value} ({names})"
        for key, values in document["machine"].items()
        for value, names in values.items()
    ]
    parts = {
        "findings.json": json.dumps(
            {
                "host": host,
                "time": document["time"],
                "level": document["level"],
                "policy": document["policy"],
                "limits": document["limits"],
                "devices": [row for row in document["devices"] if row["host"] == host],
                "findings": findings,
            },
            indent=1,
        ),
        "commands.txt": "\n".join([f"# The acceptance: {document['command']}", *commands, ""]),
        "versions.txt": "\n".join([*versions, ""]),
    }
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode="w") as tar:

        def add(name, data):
            entry = tarfile.TarInfo(f"{bundle_name(host)[:-4]}/{name}")
            entry.size, entry.mtime = len(data), int(time.time())
            tar.addfile(entry, io.BytesIO(data))

        for name, text in parts.items():
            add(name, text.encode(errors="backslashreplace"))
        for name in steps:
            for kind in ("doc", "log", "json"):
                path = run.path(name, kind)
                if os.path.exists(path):
                    with open(path, "rb") as file:
                        add(f"steps/{name}.{kind}", file.read())
        if read_document(document["policy"]):
            with open(document["policy"], "rb") as file:
                add("policy.json", file.read())
    write_whole(os.path.join(run.a.folder, bundle_name(host)), stored.getvalue())
    return bundle_name(host)
