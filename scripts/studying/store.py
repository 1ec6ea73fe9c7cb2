# SPDX-License-Identifier: MIT
"""The folder of a study: finished points, the log of attempts, and the CSV file. `scripts/scaling
--help` lists its files."""

import csv
import fcntl
import functools
import io
import json
import math
import os
import statistics
import sys
import time

import distributed
from endings import BadInput, Trouble
from files import parsed, read_document, write_whole
from naming import transport_of

PHASES = (
    "interior",
    "boundary",
    "pack",
    "d2h",
    "wait",
    "transfer",
    "h2d",
    "unpack",
    "reduce",
    "exposed",
)
COLUMNS = (
    [
        "name",
        "size",
        "scaling",
        "ranks",
        "hosts",
        "kernel",
        "class",
        "T",
        "transport",
        "procs",
        "repeat",
        "imax",
        "jmax",
        "kmax",
        "backend",
        "device",
        "overlap",
        "data",
        "sweeps",
        "blocks",
        "seconds_a_sweep",
        "gflops",
        "gbps",
        "ceiling_share",
        "gosa",
        "checksum",
        "verified",
        "verdict",
    ]
    + [f"{phase}_{which}" for phase in PHASES for which in ("median", "max")]
    + ["time", "version", "session"]
)
# Fields of the two kinds of entries in the log.
SESSION = {"session": int, "time": str, "settings": dict}
ATTEMPT = {"point": str, "exit": int, "finished": bool, "took": (int, float), "why": str}


def path_of(folder, point):
    return (
        os.path.join(folder, "paths.json")
        if point["kind"] == "paths"
        else os.path.join(folder, "runs", point["name"] + ".json")
    )


def said_of(folder, point):
    return os.path.join(folder, "runs", point["name"] + ".log")


def finished(folder, point):
    """Return the document of a finished point. It is None if the file is missing, truncated or of
    another point."""
    found = read_document(path_of(folder, point))
    if not found:
        return None
    try:
        if point["kind"] == "paths":
            return found if found["schema"] == "comm-gpu/1" and found["pairs"] else None
        if found["schema"] == distributed.SCHEMA:
            found = distributed.as_run(found)
        result, config = found["result"], found["config"]
        whole = (
            found["schema"] in ("himeno-gpu/1", "himeno-gpu/2", distributed.SCHEMA)
            and result["verdict"] in ("pass", "slow")
            and result["seconds"] > 0
            and config["size"] == point["size"]
            and len(found["ranks"]) == point["ranks"]
            and bool(config["weak"]) == (point["scaling"] == "weak")
            and found["phases"]["interior"]["median"] >= 0
        )
    except (KeyError, TypeError):
        return None
    return found if whole else None


# ---- the log ----


def log_add(folder, entry):
    path = os.path.join(folder, "log.jsonl")
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}") from error


def entry_of(line):
    """Return the entry in a line of the log; None if the line is truncated or not an entry."""
    try:
        entry = parsed(line)
    except ValueError:
        return None
    wanted = SESSION if isinstance(entry, dict) and "session" in entry else ATTEMPT
    whole = isinstance(entry, dict) and all(
        isinstance(entry.get(name), kind) for name, kind in wanted.items()
    )
    return (
        entry
        if whole and (wanted is ATTEMPT or isinstance(entry["settings"].get("environment"), dict))
        else None
    )


@functools.lru_cache(maxsize=None)
def say_once(text):
    print(f"scaling: {text}", file=sys.stderr)


def log_read(folder):
    """Return all complete entries of the log. Print one warning if there are others."""
    path = os.path.join(folder, "log.jsonl")
    try:
        with open(path, "rb") as file:
            found = [entry_of(line) for line in file]
    except FileNotFoundError:
        return []
    if None in found:
        say_once(
            f"{path}: {found.count(None)} of {len(found)} lines are torn or are not entries of "
            "this log: ignored"
        )
    return [entry for entry in found if entry]


def attempts(folder):
    """Return {point: its last attempt}."""
    return {entry["point"]: entry for entry in log_read(folder) if "point" in entry}


def sessions(folder):
    return [entry for entry in log_read(folder) if "session" in entry]


# ---- one at a time ----


def lock(folder, say):
    """Lock the folder. Launchers inherit the lock, so that this program waits for launchers that a
    killed study left running."""
    file = open(os.path.join(folder, "lock"), "a+", encoding="utf-8")
    for attempt in range(10**9):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip()
            if (
                holder.isdigit()
                and os.path.exists(f"/proc/{holder}/stat")
                and "scaling" in command_of(holder)
            ):
                raise Trouble(
                    f"{folder}: the study is running already, in process {holder}"
                ) from None
            if attempt == 0:
                say("a run of an interrupted study is still running; waiting for its end")
            time.sleep(0.2)
        except OSError as error:
            raise Trouble(f"{folder}: cannot be locked: {error.strerror}") from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    os.set_inheritable(file.fileno(), True)
    return file


def command_of(process):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


# ---- the table ----


def seconds_a_sweep(found):
    """Return the seconds per sweep of the median block."""
    samples, block = found["result"]["samples"], found["config"]["block"]
    if not samples or not block:
        return found["result"]["seconds"] / max(found["config"]["sweeps"], 1)
    return statistics.median(samples) / block


def row(point, found, tried):
    config, result = found["config"], found["result"]
    one = {
        **point,
        **{
            key: config[key]
            for key in (
                "imax",
                "jmax",
                "kmax",
                "backend",
                "kernel",
                "class",
                "T",
                "overlap",
                "data",
                "sweeps",
            )
        },
        **{
            key: result[key]
            for key in (
                "gflops",
                "gbps",
                "ceiling_share",
                "gosa",
                "checksum",
                "verified",
                "verdict",
                "blocks",
            )
        },
        "transport": transport_of(config) if point["ranks"] > 1 else "none",
        "procs": "x".join(map(str, config["procs"])),
        "hosts": len({rank["host"] for rank in found["ranks"]}),
        "device": found["ranks"][0]["device"],
        "seconds_a_sweep": seconds_a_sweep(found),
        "time": found["time"],
        "version": found["version"],
        "session": tried.get(point["name"], {}).get("in", ""),
    }
    for phase in PHASES:
        for which in ("median", "max"):
            one[f"{phase}_{which}"] = found["phases"][phase][which]
    return one


def row_of(path, point, found, tried):
    """Return the row of a document. Raises BadInput if a figure is missing or invalid."""
    try:
        if "counts" in found.get("result", {}):
            raise BadInput(f"{path}: the device is emulated and has no speed to study")
        one = row(point, found, tried)
        for name in (
            "seconds_a_sweep",
            "gflops",
            *["gbps"] * (one["class"] != "product"),
            "imax",
            "jmax",
            "kmax",
            "sweeps",
        ):
            if not 0 < one[name] < math.inf:
                raise ValueError(f"{name} is {one[name]}")
        for rank in found["ranks"]:
            # fields that the report shows
            {rank[name] for name in ("host", "device", "uuid", "driver")}
        found["system"].items()
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise BadInput(
            f"{path}: does not conform to its schema: {type(error).__name__} {error}"
        ) from error
    return one


def rows(folder, study):
    tried = attempts(folder)
    found = []
    for point in sorted(
        (point for point in study["points"] if point["kind"] == "run"),
        key=lambda point: point["name"],
    ):
        one = finished(folder, point)
        if one:
            found.append(row_of(path_of(folder, point), point, one, tried))
    return found


def csv_write(folder, study):
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(rows(folder, study))
    write_whole(os.path.join(folder, "study.csv"), text.getvalue())
