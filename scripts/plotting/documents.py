# SPDX-License-Identifier: MIT
"""Reads the suite's JSON documents for scripts/plot and sorts them into what is drawn."""
from endings import BadInput
from files import open_input, parsed, read_parsed

# What a document that is not as its schema says ends in, wherever it is looked at.
UNFIT = (KeyError, TypeError, IndexError, AttributeError, ValueError, ArithmeticError, RecursionError)
# Versions of a run's document.
RUNS = ("himeno-gpu/1", "himeno-gpu/2")
BACKENDS = ("cuda", "opencl", "cpu", "qpu", "null")
# A sweep's operations and bytes a point: what turns the ceiling's bytes into operations.
FLOP_PER_BYTE = 34 / 56


def read(path):
    try:
        document = read_parsed(path)
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not a JSON document: {str(error).splitlines()[0]}") from error
    if not isinstance(document, dict) or not isinstance(document.get("schema"), str):
        raise BadInput(f"{path}: not a document of this suite: it names no schema")
    return path, document


def read_all(path):
    """The documents of a file: its one, or of *.jsonl a line each, with their names."""
    if not path.endswith(".jsonl"):
        return [read(path)]
    found = []
    try:
        with open_input(path) as file:
            for number, line in enumerate(file, 1):
                one = parsed(line)
                if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not isinstance(one.get("document"), dict):
                    raise BadInput(f"{path}: line {number} has no document with a name")
                if isinstance(one["document"].get("schema"), str):
                    found.append((f"{path} {one['name']}", one["document"]))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{path}: line {number} is no JSON document: {str(error).splitlines()[0]}") from error
    return found


def passed(path, points):
    """What there is to draw of points that passed: emulators count instructions and have no speed."""
    found = [point for point in points if point["gflops"] is not None]
    if not found:
        raise BadInput(f"{path}: " + ("it is of an emulator, so there is no speed to draw" if points else "it did not pass, so there is no speed to draw"))
    return found


def size_rank(config):
    """Sizes, named or not, stand in the order of their points."""
    return config["imax"] * config["jmax"] * config["kmax"]


def class_name(one):
    """Classic and temporal kernels are never compared without saying so."""
    return "" if one["class"] == "classic" else f"temporal, T={one['T']}"


def described(path, document, build):
    """What `build` makes of a document, or of several with their paths in one text."""
    try:
        return build(document)
    except UNFIT as error:
        raise BadInput(f"{path}: not as its schema says: {type(error).__name__} {error}") from error


def only(read_documents, program, drawn):
    """Path and document of what is drawn of one document of a program; drawn: "paths are"."""
    if len(read_documents) != 1:
        raise BadInput(f"{drawn} drawn from one document of {program} at a time")
    path, document = read_documents[0]
    if document["schema"] != f"{program}/1":
        raise BadInput(f"{path}: of schema {document['schema']}: {drawn} drawn from {program}/1")
    return path, document


def origin(document, device):
    return {"device": device, "date": document["time"][:10], "version": document["version"]}


# ---- ladders ----

def ladder(document):
    config = document["config"]
    rungs = [{"kernel": rung["kernel"], "class": class_name(rung), "gflops": rung["gflops"], "share": rung["ceiling_share"],
              "ceiling": rung["ceiling_gbps"] * FLOP_PER_BYTE, "verified": rung["verified"] != "no"}
             for rung in document["rungs"] if rung["verdict"] == "pass"]
    ranks = f", {config['ranks']} ranks" if config["ranks"] > 1 else ""
    return {"name": f"{config['backend']}, {config['size']}{ranks}, {config['data']} data", "rungs": rungs,
            "order": (BACKENDS.index(config["backend"]), config["ranks"], size_rank(config)),
            "origin": origin(document, config["device"])}


def ladders(read_documents):
    """One panel a document, backend by backend, small sizes first."""
    panels = []
    for path, document in read_documents:
        if document["schema"] != "himeno-ladder/1":
            raise BadInput(f"{path}: of schema {document['schema']}, not himeno-ladder/1: draw it with plot sizes")
        panel = described(path, document, ladder)
        panels.append({**panel, "rungs": passed(path, panel["rungs"])})
    return sorted(panels, key=lambda panel: panel["order"])


# ---- sizes ----

def run_point(document):
    config, result = document["config"], document["result"]
    if result["verdict"] not in ("pass", "slow"):
        return []
    chosen = config["kernel_choice"] in ("trial", "remembered")
    return [point(document, "auto" if chosen else config["kernel"], config, result, len(document["ranks"]),
                  document["ranks"][0]["device"])]


def ladder_points(document):
    config = document["config"]
    return [point(document, rung["kernel"], rung, rung, config["ranks"], config["device"])
            for rung in document["rungs"] if rung["verdict"] == "pass"]


def point(document, kernel, classed, rates, ranks, device):
    config = document["config"]
    words = [f"{config['backend']} {kernel}", class_name(classed), f"{ranks} ranks" if ranks > 1 else "",
             "dense data" if config["data"] == "dense" else ""]
    return {"series": ", ".join(word for word in words if word), "order": BACKENDS.index(config["backend"]),
            "temporal": classed["class"] == "temporal", "size": config["size"], "rank": size_rank(config),
            "gflops": rates["gflops"], "share": rates["ceiling_share"], "verified": rates["verified"] != "no",
            "origin": origin(document, device)}


READERS = {**dict.fromkeys(RUNS, run_point), "himeno-ladder/1": ladder_points}


def series(read_documents):
    """All points; those of one series and size are merged when they are drawn."""
    points = []
    for path, document in read_documents:
        if document["schema"] not in READERS:
            raise BadInput(f"{path}: of schema {document['schema']}: sizes are drawn from {' and '.join(READERS)}")
        points += passed(path, described(path, document, READERS[document["schema"]]))
    return points
