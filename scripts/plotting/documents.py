# SPDX-License-Identifier: MIT
"""Reads the suite's JSON documents for scripts/plot, and converts them to series and panels."""

import statistics

from endings import BadInput
from files import open_input, parsed, read_parsed

# Exceptions that can occur if a document does not conform to its schema.
UNFIT = (
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    ValueError,
    ArithmeticError,
    RecursionError,
)
RUNS = ("himeno-gpu/1", "himeno-gpu/2")
BACKENDS = ("cuda", "opencl", "cpu", "qpu", "null")
# Operations per byte of a sweep, which convert a ceiling from bytes to operations.
FLOP_PER_BYTE = 34 / 56


def read(path):
    try:
        document = read_parsed(path)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not a JSON document: {str(error).splitlines()[0]}") from error
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise BadInput(f"{path}: not a document of this suite: it has no schema")
    return path, document


def read_all(path):
    """Return [(name, document)] of a JSON file, or of the lines of a *.jsonl file."""
    if not path.endswith(".jsonl"):
        return [read(path)]
    found = []
    try:
        with open_input(path) as file:
            for number, line in enumerate(file, 1):
                one = parsed(line)
                if (
                    not isinstance(one, dict)
                    or not isinstance(one.get("name"), str)
                    or not isinstance(one.get("document"), dict)
                ):
                    raise BadInput(f"{path}: line {number} has no document with a name")
                if isinstance(one["document"].get("schema"), str):
                    found.append((f"{path} {one['name']}", one["document"]))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(
            f"{path}: line {number} is not a JSON document: {str(error).splitlines()[0]}"
        ) from error
    return found


def passed(path, points):
    """Return the points that have a speed. Emulators count instructions and have none."""
    found = [point for point in points if point["gflops"] is not None]
    if not found:
        raise BadInput(
            f"{path}: "
            + (
                "an emulator has no speed to draw"
                if points
                else "no run passed, so there is no speed to draw"
            )
        )
    return found


def size_rank(config):
    """Return a size's number of points, by which sizes with and without a name are ordered."""
    return config["imax"] * config["jmax"] * config["kmax"]


def class_name(one):
    """Return a temporal kernel's class, which keeps it apart from classic kernels (class "")."""
    return "" if one["class"] == "classic" else f"temporal, T={one['T']}"


def emulated(document):
    """Return True for the document of an emulator, which counts instructions and has no rates."""
    if document.get("schema") != "comm-gpu/1":
        return "counts" in document.get("result", {})
    return any(
        point["gbps"] is None
        for part in ("host", "pairs")
        for one in document[part]
        for point in one["points"]
    )


def described(path, document, build):
    """Return build(document). Raises BadInput if the document has no speed or does not conform to
    its schema. `path` is its name in errors."""
    try:
        if isinstance(document, dict) and emulated(document):
            raise BadInput(f"{path}: an emulator has no speed to draw")
        return build(document)
    except UNFIT as error:
        raise BadInput(
            f"{path}: does not conform to its schema: {type(error).__name__} {error}"
        ) from error


def only(read_documents, program, kind):
    """Return (path, document) if exactly one document is given, and it is the program's. `kind` is
    the plot's name."""
    if len(read_documents) != 1:
        raise BadInput(f"{kind}: give exactly one document of {program}")
    path, document = read_documents[0]
    if document["schema"] != f"{program}/1":
        raise wrong_schema(path, document, kind, [f"{program}/1"])
    return path, document


def wrong_schema(path, document, kind, wanted):
    return BadInput(f"{path}: schema {document['schema']}: {kind} needs {' or '.join(wanted)}")


def origin(document, device):
    return {"device": device, "date": document["time"][:10], "version": document["version"]}


# ---- ladders ----


def ends(rung):
    """Return the range of the middle 90% of the blocks' rates; () with fewer than two blocks."""
    samples = rung["gflops"] is not None and rung.get("samples") or []
    if len(samples) < 2:
        return ()
    slow, *_, fast = (
        rung["gflops"] * statistics.median(samples) / one
        for one in reversed(statistics.quantiles(samples, n=20, method="inclusive"))
    )
    return min(slow, rung["gflops"]), max(fast, rung["gflops"])


def ladder(document):
    config = document["config"]
    rungs = [
        {
            "kernel": rung["kernel"],
            "class": class_name(rung),
            "gflops": rung["gflops"],
            "share": rung["ceiling_share"],
            "ceiling": rung["ceiling_gbps"] * FLOP_PER_BYTE,
            "ends": ends(rung),
            "verified": rung["verified"] != "no",
        }
        for rung in document["rungs"]
        if rung["verdict"] == "pass"
    ]
    ranks = f", {config['ranks']} ranks" if config["ranks"] > 1 else ""
    return {
        "name": f"{config['backend']}, {config['size']}{ranks}, {config['data']} data",
        "rungs": rungs,
        "order": (BACKENDS.index(config["backend"]), config["ranks"], size_rank(config)),
        "origin": origin(document, config["device"]),
    }


def ladders(read_documents):
    """Return one panel per document, ordered by backend and size."""
    panels = []
    for path, document in read_documents:
        if document["schema"] != "himeno-ladder/1":
            raise wrong_schema(path, document, "ladder", ["himeno-ladder/1"])
        panel = described(path, document, ladder)
        panels.append({**panel, "rungs": passed(path, panel["rungs"])})
    return sorted(panels, key=lambda panel: panel["order"])


# ---- sizes ----


def run_point(document):
    config, result = document["config"], document["result"]
    if result["verdict"] not in ("pass", "slow"):
        return []
    chosen = config["kernel_choice"] in ("trial", "remembered")
    return [
        point(
            document,
            "auto" if chosen else config["kernel"],
            config,
            result,
            len(document["ranks"]),
            document["ranks"][0]["device"],
        )
    ]


def ladder_points(document):
    config = document["config"]
    return [
        point(document, rung["kernel"], rung, rung, config["ranks"], config["device"])
        for rung in document["rungs"]
        if rung["verdict"] == "pass"
    ]


def point(document, kernel, classed, rates, ranks, device):
    config = document["config"]
    more = [
        f"{ranks} ranks" if ranks > 1 else "",
        "dense data" if config["data"] == "dense" else "",
    ]
    words = [f"{config['backend']} {kernel}", class_name(classed), *more]
    return {
        "series": ", ".join(word for word in words if word),
        # The same kernel with another number of sweeps per pass is a separate kernel.
        "kernel": (kernel, class_name(classed)),
        "group": (config["backend"], *more),
        "order": BACKENDS.index(config["backend"]),
        "temporal": classed["class"] == "temporal",
        "size": config["size"],
        "rank": size_rank(config),
        "gflops": rates["gflops"],
        "share": rates["ceiling_share"],
        "verified": rates["verified"] != "no",
        "origin": origin(document, device),
    }


READERS = {**dict.fromkeys(RUNS, run_point), "himeno-ladder/1": ladder_points}


def series(read_documents):
    """Return all points of the documents. Drawing merges points of one series and size."""
    points = []
    for path, document in read_documents:
        if document["schema"] not in READERS:
            raise wrong_schema(path, document, "sizes", READERS)
        points += passed(path, described(path, document, READERS[document["schema"]]))
    return points
