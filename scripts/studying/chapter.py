# SPDX-License-Identifier: MIT
"""Repeats the report's chapter of 2009. CPU ranks represent its cluster. The times on GPUs are
predicted by the report's rule before they are measured."""

import copy
import os
import sys

import launch
import plan
import store
from endings import BadInput, Trouble
from files import read_document
from naming import NO_OVERLAP
from processes import say

# BETWEEN_CPUS: transport between the PCs of 2009. MEMORY: names of transports between GPUs.
BETWEEN_CPUS = "mpi"
MEMORY = {"pageable": "pageable", "staged-mpi": "pinned + MPI", "staged": "pinned, shared"}
METHODS = [method + late for method in MEMORY for late in (NO_OVERLAP, "")]
FLOP = 34


def planned(folder, options, program_options, transports):
    """Return the folder's study. If it has none, make one of strong scaling with cuts along i."""
    found = plan.read(folder)
    if not found:
        found = plan.make(
            {
                **options,
                "program_options": program_options,
                "transports": transports,
                "scaling": ["strong"],
                "procs": ["i"],
                "paths": False,
            }
        )
        plan.write(folder, found)
    return found


def times(folder, study):
    """Return {(ranks, transport): row} of the finished points. The time of computation is the
    slowest rank's, because waiting for that rank is not communication."""
    found = {}
    for row in store.rows(folder, study):
        whole = row["seconds_a_sweep"]
        compute = min(whole, row["interior_max"] + row["boundary_max"])
        found[row["ranks"], row["transport"]] = {
            **row,
            "compute": compute,
            "communicate": whole - compute,
        }
    return found


def exchanges(folder, study, backend, ranks):
    """Return {transport: seconds} of the exchange alone, which comm-gpu measures with the same
    halos. None if ranks share a device, because a rank represents a node."""
    options = study["options"]
    (size,) = options["sizes"]
    point = {"name": f"halos-{backend}-{ranks}", "kind": "paths", "ranks": ranks}
    path = os.path.join(folder, point["name"] + ".json")
    found = read_document(path)
    if not found:
        wanted = {
            **options,
            "paths_options": ["-b", backend, "--parts", "halo", "-s", size, "-p", f"{ranks}x1x1"],
        }
        with open(path[:-5] + ".log", "w", encoding="utf-8", errors="surrogateescape") as log:
            code = launch.launch(wanted, launch.command(wanted, point, path), log, None)
        found = read_document(path)
        if code or not found:
            raise Trouble(f"{point['name']}: exit status {code}: see {path[:-5]}.log")
    if any(rank["device_shared"] for rank in found["ranks"]):
        devices = len({(rank["host"], rank["uuid"]) for rank in found["ranks"]})
        say(f"{ranks} ranks: left out, because there are {devices} devices for them")
        return None
    return {one["way"]: one["seconds"] for one in found["halo"]}


def entry(ranks, name, row, compute, communicate):
    """Return a row of the table. Its size has the number of ranks, which selects the panel."""
    points = (row["imax"] - 2) * (row["jmax"] - 2) * (row["kmax"] - 2)
    return {
        "size": f"{row['size']} on {ranks}{' CPU ranks' if row['backend'] == 'cpu' else ' GPUs'}",
        "kernel": row["kernel"],
        "class": row["class"],
        "transport": name,
        "compute": compute,
        "communicate": communicate,
        "gflops": FLOP * points / (compute + communicate) / 1e9,
    }


def predicted(cpus, one, halos, ranks):
    """Return rows of the CPU ranks, and of each method as the report's rule predicts it. The rule
    divides the CPUs' computation by the speedup of one GPU, and scales their communication like the
    exchange alone."""
    factor = cpus[1, "none"]["seconds_a_sweep"] / one["seconds_a_sweep"]
    row = cpus[ranks, BETWEEN_CPUS + NO_OVERLAP]
    found = [entry(ranks, f"{ranks} CPU ranks, MPI", row, row["compute"], row["communicate"])]
    for method in METHODS:
        name = method.replace(NO_OVERLAP, "")
        compute, communicate = (
            row["compute"] / factor,
            row["communicate"] * halos["gpu", ranks][name] / halos["cpu", ranks][BETWEEN_CPUS],
        )
        if method == name:  # with overlap, computation hides part of the communication
            communicate = max(0, communicate - compute)
        found.append(entry(ranks, label(method, "predicted"), one, compute, communicate))
    return found


def label(method, what):
    return (
        f"{MEMORY[method.replace(NO_OVERLAP, '')]}"
        f"{'' if method.endswith(NO_OVERLAP) else ', overlapped'}, {what}"
    )


def finished(folder, study, retry):
    code = launch.run(folder, study, retry)
    if code:
        raise Trouble(f"{folder}: some runs failed: the same command continues")
    return times(folder, study)


def tables(cpus, entries, origin, name, title, figure):
    """Write NAME.md, NAME.csv and, if matplotlib is available, the figure. The CPU ranks are in the
    panel of the report's results, in ms."""
    sys.path.insert(
        0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "plotting")
    )
    import transports

    data = {
        "entries": entries,
        "report": transports.REPORT + cpus,
        "ranks": "several",
        "origin": origin,
    }
    transports.write_tables(data, name)
    if not figure:
        return
    try:
        transports.draw(data, title, name)
    except ImportError as error:
        say(f"no figure, {error}: the same command draws it where matplotlib is")


def run(folder, options, backend, counts, retry):
    os.makedirs(folder, exist_ok=True)
    several = [ranks for ranks in counts if ranks > 1]
    if not several:
        raise BadInput(f"--ranks {','.join(map(str, counts))}: must have a number above 1")

    def study(name, on, words, methods):
        return planned(
            os.path.join(folder, name),
            {**copy.deepcopy(options), "ranks": on},
            ["-b", words, *options["program_options"]],
            methods,
        )

    # A rank represents a node, so a single rank gets as many cores as each of several ranks.
    cores = max(1, len(os.sched_getaffinity(0)) // max(several))
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = before or str(cores)
    of_cpus = study("cpu", sorted({1, *several}), "cpu", [BETWEEN_CPUS + NO_OVERLAP])
    cpus = finished(os.path.join(folder, "cpu"), of_cpus, retry)
    halos = {("cpu", ranks): exchanges(folder, of_cpus, "cpu", ranks) for ranks in several}
    if before is None:
        del os.environ["OMP_NUM_THREADS"]
    of_one = study("one", [1], backend, ["staged"])
    one = finished(os.path.join(folder, "one"), of_one, retry)[1, "none"]
    halos.update({("gpu", ranks): exchanges(folder, of_one, backend, ranks) for ranks in several})
    several = [ranks for ranks in several if halos["gpu", ranks]]
    if not several:
        raise BadInput(f"--ranks {','.join(map(str, counts))}: more ranks than devices")
    guesses = {ranks: predicted(cpus, one, halos, ranks) for ranks in several}
    origin = [{"device": one["device"], "date": one["time"][:10], "version": one["version"]}]
    on_cpus = [of[0] for of in guesses.values()]
    if not os.path.exists(os.path.join(folder, "predicted.csv")):
        tables(
            on_cpus,
            [guess for of in guesses.values() for guess in of[1:]],
            origin,
            os.path.join(folder, "predicted"),
            "",
            figure=False,
        )
    gpus = finished(os.path.join(folder, "gpu"), study("gpu", several, backend, METHODS), retry)
    shown = []
    for ranks in several:
        alone = entry(ranks, "one GPU, measured", one, one["seconds_a_sweep"], 0)
        shown.append(alone)
        for method, guess in zip(METHODS, guesses[ranks][1:]):
            row = gpus[ranks, method]
            shown += [
                guess,
                entry(ranks, label(method, "measured"), row, row["compute"], row["communicate"]),
            ]
            off = shown[-1]["gflops"] / guess["gflops"] - 1
            say(
                f"{guess['size']}, {label(method, 'predicted'):40} {guess['gflops']:9.4g} GFLOPS, "
                f"measured {shown[-1]['gflops']:9.4g} ({100 * off:+.1f}%), "
                f"{shown[-1]['gflops'] / alone['gflops']:.2f} times one"
            )
    tables(
        on_cpus,
        shown,
        origin,
        os.path.join(folder, "chapter-2009"),
        "The chapter of 2009: computing and communication, predicted and measured",
        figure=True,
    )
    return 0
