# SPDX-License-Identifier: MIT
"""Studies of gemm-gpu --distributed in the format of himeno-gpu's studies: sizes, process grids,
options and documents."""

import os
import re
import statistics

from endings import BadInput

SCHEMA = "gemm-gpu/1"
NOT_MEASURED = {"min": None, "median": None, "max": None}


def is_of(options):
    """Return True if the study's program computes matrix products."""
    return os.path.basename(options["program"]).startswith("gemm-gpu")


def size(text):
    found = re.fullmatch(r"([1-9]\d*)(?:x([1-9]\d*)x([1-9]\d*))?", text)
    if not found:
        raise BadInput(f"--sizes {text}: must be N or MxNxK for gemm-gpu")
    return text if not found[2] or not found[1] == found[2] == found[3] else found[1]


def grids(count, wanted):
    """Return the process grids of `count` ranks as gemm-gpu's -p takes them."""
    if count == 1:
        return ["1x1"]
    found = []
    for word in wanted:
        if word == "auto":
            found.append(word)
        elif word in ("i", "j"):
            found.append(f"{count}x1" if word == "i" else f"1x{count}")
        elif word == "all":
            found += [f"{p}x{count // p}" for p in range(1, count + 1) if count % p == 0]
        elif re.fullmatch(r"\d+x\d+", word):
            p, q = map(int, word.split("x"))
            found += [word] if p * q == count else []
        else:
            raise BadInput(f"--procs {word}: must be auto, i, j, all or PxQ for gemm-gpu")
    return list(dict.fromkeys(found))


def command(point, seconds):
    """Return the command-line options for a point."""
    wanted = [
        "--distributed",
        "-s",
        point["size"],
        "-k",
        point["kernel"],
        "-p",
        point["procs"],
        "-t",
        str(seconds),
    ]
    wanted += ["-x", point["transport"]] if point["transport"] not in ("auto", "none") else []
    return wanted + (["-w"] if point["scaling"] == "weak" else [])


def of_ranks(config):
    """Return SIZE as it was given: with --weak, the product of one rank's block of C."""
    cut, (p, q) = config["distributed"], config["distributed"]["procs"]
    m, n = (config["m"] // p, config["n"] // q) if cut["weak"] else (config["m"], config["n"])
    return size(f"{m}x{n}x{config['k']}")


def as_run(document):
    """Convert a product's document to the fields of himeno-gpu's that a study reads. A product
    counts as a sweep, and its multiplications as the interior."""
    config, result, cut, phases = (
        document["config"],
        document["result"],
        document["config"]["distributed"],
        document["phases"],
    )
    blocks = len(result["samples"])
    own = (
        statistics.median(result["samples"]) / result["launches"]
    )  # the run's times are rank 0's, but a study needs those of the slowest rank
    samples = [sample * result["seconds"] / own if own else sample for sample in result["samples"]]
    return {
        **document,
        "of": "product",
        "config": {
            **config,
            "size": of_ranks(config),
            "imax": config["m"],
            "jmax": config["n"],
            "kmax": config["k"],
            "weak": cut["weak"],
            "procs": cut["procs"],
            "transport": cut["transport"],
            "overlap": True,
            "class": "product",
            "T": 1,
            "block": result["launches"],
            "sweeps": result["launches"] * blocks,
        },
        "result": {
            **result,
            "samples": samples,
            "gbps": None,
            "ceiling_share": result["peak_share"],
            "gosa": None,
            "checksum": None,
            "blocks": blocks,
            "verified": result["check"]["how"],
        },
        "phases": {
            **phases,
            "interior": phases["compute"],
            "boundary": NOT_MEASURED,
            "reduce": NOT_MEASURED,
        },
    }
