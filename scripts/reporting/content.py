# SPDX-License-Identifier: MIT
"""The content of a report: tables as lists of rows, made from the study's documents."""

import os
import re
import statistics

import compare
import documents
import plan
import scaling
import store
from naming import driver_of


# {verdict: exit status}, for documents that do not belong to a study.
EXIT = {"wrong": 4, "hang": 6, "environment": 3, "usage": 2, "noisy": 3}


def loose(folder):
    """Return the points and documents of a folder without a study. The documents are himeno-gpu's
    in the folder, in its runs/ or in its runs.jsonl."""
    found = []
    files = scaling.expand([folder]) if os.path.isdir(folder) else ()
    for path, document in (one for file in files for one in documents.read_all(file)):
        if document["schema"] in documents.RUNS:
            found.append(
                (
                    path,
                    documents.described(
                        path, document, lambda document, path=path: point_of(document, path)
                    ),
                    document,
                )
            )
    return found


def point_of(document, path):
    config = document["config"]
    return {
        "name": re.sub(r"^runs\.jsonl |\.json$", "", os.path.basename(path)),
        "kind": "run",
        "repeat": 1,
        "size": config["size"],
        "kernel": config["kernel"],
        "ranks": len(document["ranks"]),
        "transport": config["transport"],
        "scaling": "weak" if config["weak"] else "strong",
        "procs": "x".join(map(str, config["procs"])),
        "verdict": document["result"]["verdict"],
    }


# {value of the document's field `verified`: reference that the result was compared with}.
COMPARED = {
    "known": "stored checksum",
    "reference": "checksum by CPUs",
    "model": "model on CPUs",
    "rehearsal": "a rehearsal",
    "full": "float64, all elements",
    "sampled": "float64, a sample",
    "no": "–",
}


class Study:
    """A study of scripts/scaling, or a folder of himeno-gpu's documents, with documents of
    himeno-predict."""

    def __init__(self, folder, extra):
        self.folder = folder
        self.study = plan.read(folder)
        if self.study:
            self.points = self.study["points"]
            self.rows = store.rows(folder, self.study)
            self.documents = [
                store.finished(folder, point) for point in self.points if point["kind"] == "run"
            ]
            self.documents = [document for document in self.documents if document]
        else:
            found = loose(folder)
            self.points = [point for _, point, _ in found]
            passed = [one for one in found if one[1]["verdict"] in ("pass", "slow")]
            self.rows = [
                store.row_of(path, point, document, {}) for path, point, document in passed
            ]
            self.documents = [document for _, _, document in passed]
        if not self.rows:
            raise plan.BadInput(
                f"{folder}: "
                + (
                    "no point of the study is finished"
                    if self.study
                    else "no study of scripts/scaling and no run of himeno-gpu in it"
                )
            )
        self.attempts = store.attempts(folder)
        self.sessions = store.sessions(folder)
        self.predictions = None
        for path, document in extra:
            if document["schema"] == scaling.PREDICTED and not self.predictions:
                documents.described(path, document, validation_of)
                self.predictions = document
        self.products = any(document.get("of") == "product" for document in self.documents)
        self.drawn = scaling.read([(folder, document) for document in self.documents] + extra)

    def unfinished(self):
        """Return [(point, its last attempt or None)] of the points whose documents did not pass."""
        if self.study:
            return [
                (point, self.attempts.get(point["name"]))
                for point in self.points
                if not store.finished(self.folder, point)
            ]
        return [
            (point, {"exit": EXIT.get(point["verdict"], 7), "why": f"verdict {point['verdict']}"})
            for point in self.points
            if point["verdict"] not in ("pass", "slow")
        ]


def groups(study):
    """Return {configuration: its runs}, ordered by scaling, size, transport and ranks."""
    found = {}
    for row in study.rows:
        found.setdefault(compare.key(row), []).append(row)
    size = {
        row["size"]: int(row["imax"]) * int(row["jmax"]) * int(row["kmax"])
        for row in study.rows
        if int(row["ranks"]) == 1
    }
    return dict(
        sorted(
            found.items(),
            key=lambda item: (
                item[0][0],
                size.get(item[0][1], 0),
                item[0][1],
                item[0][4],
                item[0][2],
                item[0][5],
            ),
        )
    )


def seconds(rows):
    return statistics.median(row["seconds_a_sweep"] for row in rows)


def alone(found, size, kernel):
    return next(
        (
            seconds(rows)
            for key, rows in found.items()
            if key[1] == size and key[2] == 1 and key[3] == kernel
        ),
        None,
    )


def counterpart(study, kind, key):
    mode, size, ranks, kernel, transport, procs = key
    return next(
        (
            point
            for point in study.drawn
            if point["kind"] == kind
            and point["ranks"] == ranks
            and scaling.fits(point, mode, size, kernel, transport)
            and (ranks == 1 or point["procs"] == procs)
        ),
        None,
    )


def microseconds(value):
    return f"{1e6 * value:.2f}"


def percent(value, digits=1):
    """Return a share as a percentage, or "–" if it is unknown."""
    return "–" if value is None else f"{100 * value:.{digits}f}%"


def entries(study):
    """Return the key and the figures of each configuration. An unknown figure is None."""
    found = groups(study)
    for key, rows in found.items():
        mode, size, ranks, kernel, _, _ = key
        time, first = seconds(rows), alone(found, size, kernel)
        times = [row["seconds_a_sweep"] for row in rows]
        shares = [row["ceiling_share"] for row in rows if row["ceiling_share"] is not None]
        yield {
            "key": key,
            "rows": rows,
            "seconds": time,
            "spread": (max(times) - min(times)) / time if len(times) > 1 else None,
            "gflops": statistics.median(row["gflops"] for row in rows),
            "share": statistics.median(shares) if shares else None,
            "efficiency": first / time / (ranks if mode == "strong" else 1) if first else None,
        }


def measurements(study):
    """Return one row per configuration. The last two columns are left out if they are empty."""
    head = [
        "scaling",
        "size",
        "ranks",
        "division",
        "transport",
        "kernel",
        "runs",
        scaling.unit(study.drawn),
        "(max − min) / median",
        "GFLOPS",
        "efficiency",
        "% of peak" if study.products else "% of ceiling",
        "compared with",
        "predicted µs",
        "prediction error",
    ]
    table = []
    for one in entries(study):
        mode, size, ranks, kernel, transport, procs = one["key"]
        expected = counterpart(study, scaling.PREDICTED, one["key"])
        table.append(
            [
                mode if ranks > 1 else "–",
                size,
                ranks,
                procs,
                transport if ranks > 1 else "–",
                kernel,
                len(one["rows"]),
                microseconds(one["seconds"]),
                percent(one["spread"]),
                f"{one['gflops']:#.5g}".rstrip("."),
                percent(one["efficiency"]),
                percent(one["share"]),
                ", ".join(sorted({COMPARED.get(*[row["verified"]] * 2) for row in one["rows"]})),
                microseconds(expected["seconds"]) if expected else "–",
                f"{100 * (expected['seconds'] / one['seconds'] - 1):+.1f}%" if expected else "–",
            ]
        )
    kept = [
        column
        for column in range(len(head))
        if column < len(head) - 2 or any(row[column] != "–" for row in table)
    ]
    return [head[column] for column in kept], [[row[column] for column in kept] for row in table]


def where(key):
    mode, size, ranks, kernel, transport, procs = key
    return (
        f"{size}, {kernel}, 1 rank"
        if ranks == 1
        else f"{size}, {kernel}, {mode}, {transport}, {ranks} ranks ({procs})"
    )


def wrong(study):
    """Return the names of the points whose last attempt ended with a wrong result."""
    return [point["name"] for point, tried in study.unfinished() if tried and tried["exit"] == 4]


def best_efficiencies(study):
    """Return {mode: best efficiency at the most ranks of the largest size}, and the lowest of all
    efficiencies."""
    known = [one for one in entries(study) if one["efficiency"] is not None and one["key"][2] > 1]
    found = {}
    for mode in scaling.MODES:
        mine = [one for one in known if one["key"][0] == mode]
        most = [one for one in mine if one["key"][2] == max(other["key"][2] for other in mine)]
        largest = max(
            (
                int(row["imax"]) * int(row["jmax"]) * int(row["kmax"])
                for one in most
                for row in one["rows"]
            ),
            default=0,
        )
        most = [
            one
            for one in most
            if any(
                int(row["imax"]) * int(row["jmax"]) * int(row["kmax"]) > 0.8 * largest
                for row in one["rows"]
            )
        ]
        if most:
            found[mode] = max(most, key=lambda one: one["efficiency"])
    return found, min(known, key=lambda one: one["efficiency"], default=None)


def headline(study):
    """Return (name, figure, explanation) of speed, scaling and correctness. Temporal kernels count
    only if no classic kernel ran."""
    classic = [one for one in entries(study) if one["rows"][0]["class"] != "temporal"]
    fastest = max(classic or entries(study), key=lambda one: one["gflops"])
    kind = "" if classic else " (temporal kernel, as if one pass per sweep)"
    ceiling = "peak arithmetic" if study.products else "the memory ceiling"
    figures = [
        (
            "Speed",
            f"{fastest['gflops']:,.0f} GFLOPS".replace(",", " ")
            if fastest["gflops"] >= 100
            else f"{fastest['gflops']:.3g} GFLOPS",
            (
                f"{percent(fastest['share'])} of {ceiling}{kind}: "
                if fastest["share"] is not None
                else "the ceiling was not measured: "
            )
            + where(fastest["key"]),
        )
    ]
    best, least = best_efficiencies(study)
    if best:
        configurations = "; ".join(where(one["key"]) for one in best.values())
        figures.append(
            (
                "Efficiency",
                " · ".join(f"{percent(one['efficiency'])} {mode}" for mode, one in best.items()),
                f"{configurations}"
                + (
                    f". Lowest of all: {percent(least['efficiency'])} ({where(least['key'])})"
                    if least not in best.values()
                    else ""
                ),
            )
        )
    else:
        figures.append(("Efficiency", "–", "no configuration was run on one rank and on several"))
    bad = wrong(study)
    compared = len(bad) + sum(row["verified"] != "no" for row in study.rows)
    rest = len(bad) + len(study.rows) - compared
    figures.append(
        (
            "Correctness",
            f"{len(bad)} of {compared} runs wrong" if compared else "–",
            (
                f"wrong: {', '.join(bad)}"
                if bad
                else "compared with "
                f"{'float64' if study.products else 'the reference checksum, bit for bit'}"
            )
            * bool(compared)
            + (f"{'; ' if compared else ''}{rest} runs were not verified" if rest else ""),
        )
    )
    if study.predictions and study.predictions.get("poor"):
        causes = held_out_of(study.predictions)["causes"]
        figures.insert(
            0,
            (
                "Predictions",
                "poor",
                "do not rely on them; curves are not drawn. "
                + ("; ".join(causes) or "The runs show no cause"),
            ),
        )
    return figures


def left_over(study):
    return ["point", "exit", "why"], [
        [point["name"], tried["exit"] if tried else "–", tried["why"] if tried else "not run"]
        for point, tried in study.unfinished()
    ]


def machine(study):
    """Return [(name, value)]; if a value differs between runs, it lists all, with commas."""

    def listed(values):
        return (
            ", ".join(sorted({str(value) for value in values if value not in (None, "")}))
            or "unknown"
        )

    ranks = [rank for document in study.documents for rank in document["ranks"]]
    systems = [document["system"] for document in study.documents]
    facts = [
        ("devices", listed(rank["device"] for rank in ranks)),
        ("UUIDs", listed(rank["uuid"] for rank in ranks)),
        ("driver", listed(driver_of(rank["driver"] or "") for rank in ranks)),
        ("hosts", listed(rank["host"] for rank in ranks)),
        ("maximum ranks", max(len(document["ranks"]) for document in study.documents)),
        ("version", listed(document["version"] for document in study.documents)),
    ]
    for key in sorted({key for system in systems for key in system}):
        values = [system.get(key) for system in systems]
        if all(isinstance(value, (str, int, float)) for value in values):
            facts.append(
                ({"cpu": "CPU", "os": "OS"}.get(key, key.replace("_", " ")), listed(values))
            )
    return facts


def settings(study):
    facts = []
    for session in study.sessions:
        used = session["settings"]
        facts.append(
            (
                f"session {session['session']}, {session['time']}",
                ", ".join(
                    f"{key} {used[key]}"
                    for key in ("program", "launcher", "ucx", "gpu_driver")
                    if used.get(key)
                ),
            )
        )
        facts += [(name, value) for name, value in used["environment"].items()]
    return facts


def validation(study):
    """Return head and rows of the validation table; None if there is no prediction."""
    return (
        validation_of(study.predictions)
        if study.predictions and study.predictions.get("validation")
        else None
    )


def held_out_of(predictions):
    """Return the errors of held-out runs, and the limits beyond which a model is poor. Older
    documents have none."""
    return (predictions.get("model") or {}).get("held_out") or {}


def covered_of(predictions):
    """Return how many held-out runs the intervals cover, of all and per group; [] in old
    documents."""
    return (predictions.get("model") or {}).get("covered") or []


def validation_of(predictions):
    table = []
    checked = predictions.get("validation") or {"pairs": [], "predicted": 0}
    if checked["predicted"]:
        {checked[name] * 1.0 for name in ("median_error", "worst_error")}  # verdicts use only these
    for covered in covered_of(predictions):
        covered["inside"] + covered["runs"], covered["of"] + ""
    for pair in checked["pairs"]:
        known = pair["predicted"] is not None
        table.append(
            [
                pair["left_out"].replace("cut", "division"),
                pair["scaling"],
                pair["size"],
                pair["ranks"],
                "x".join(map(str, pair["procs"])),
                pair["transport"],
                microseconds(pair["measured"]),
                microseconds(pair["predicted"]) if known else "–",
                f"{100 * pair['error']:+.1f}%" if known else "–",
            ]
        )
    return [
        "left out",
        "scaling",
        "size",
        "ranks",
        "division",
        "transport",
        "measured µs",
        "predicted µs",
        "error",
    ], table


def commands(study):
    found = []
    for point in study.points:
        try:
            with open(
                store.said_of(study.folder, point), encoding="utf-8", errors="replace"
            ) as file:
                first = file.readline().strip()
        except OSError:
            continue
        if first.startswith("$ "):  # the log has the draft's name, and a complete document another
            found.append(
                first[2:].replace(
                    f"runs/.{point['name']}.draft",
                    "paths.json" if point["kind"] == "paths" else f"runs/{point['name']}.json",
                )
            )
    return found


def predictions_verdicts(predictions):
    """Return verdicts by the document's limits; none for older documents, which lack them."""
    checked, covered, checks = predictions.get("validation"), covered_of(predictions), []
    held_out = held_out_of(predictions)
    most, least = held_out.get("median_error_max"), held_out.get("inside_min")
    if checked and checked["predicted"]:
        checks.append(
            (
                "predictable",
                None if most is None else checked["median_error"] <= most,
                f"predictions of {checked['predicted']} left-out runs are off by "
                f"{100 * checked['median_error']:.1f}% (median), "
                f"{100 * checked['worst_error']:.1f}% at worst"
                + ("" if most is None else f"; the limit of the median is {100 * most:.0f}%"),
            )
        )
    if covered:
        every, *groups_of = covered
        checks.append(
            (
                "intervals hold",
                None if least is None else every["inside"] >= least * every["runs"],
                f"{every['inside']} of {every['runs']} left-out runs lie inside their 90% "
                "interval; by group: "
                + ", ".join(
                    f"{one['of'].replace('cut', 'division')} {one['inside']} of {one['runs']}"
                    for one in groups_of
                ),
            )
        )
    return checks


def verdicts(study):
    """Return rows for page.verdicts: name, True if it is good (None if unknown), what was found,
    and sometimes a word."""
    left, bad = len(study.unfinished()), wrong(study)
    unverified = sum(row["verified"] == "no" for row in study.rows)
    checks = [
        (
            "complete",
            left == 0,
            f"{len(study.points) - left} of {len(study.points)} runs"
            + " and path measurements" * any(point["kind"] == "paths" for point in study.points)
            + " finished",
        )
        if study.study
        else (
            "complete",
            None,
            f"{len(study.rows)} runs; without study.json the planned runs are unknown",
        ),
        (
            "correct",
            False if bad else True if not unverified else None,
            f"{len(bad)} runs had a wrong result"
            if bad
            else f"every run's {'product' if study.products else 'checksum'} was verified"
            if not unverified
            else f"{unverified} of {len(study.rows)} runs were not verified",
        ),
    ]
    noisy = [
        (max(times) - min(times)) / statistics.median(times)
        for times in ([row["seconds_a_sweep"] for row in rows] for rows in groups(study).values())
        if len(times) > 1
    ]
    if noisy:
        checks.append(
            (
                "repeatable",
                max(noisy) < 0.05,
                f"repeats of a run differ by {100 * statistics.median(noisy):.1f}% (median), "
                f"{100 * max(noisy):.1f}% at most; the limit is 5%",
            )
        )
    else:
        checks.append(("repeatable", None, "every configuration ran once, so the noise is unknown"))
    devices = {
        rank["uuid"] for document in study.documents for rank in document["ranks"] if rank["uuid"]
    }
    most = max(len(document["ranks"]) for document in study.documents)
    if len(devices) > most:
        checks.append(
            (
                "same devices",
                None,
                f"the runs used {len(devices)} devices, at most {most} at once: efficiency "
                "compares different devices",
                "no",
            )
        )
    checks += predictions_verdicts(study.predictions) if study.predictions else []
    return checks


def conditions(study):
    if not study.study:
        return (
            "The folder has no study.json, so the order of the runs and their commands are unknown."
        )
    options = study.study["options"]
    return (
        f"{options['repeat']} run{'s' * (options['repeat'] != 1)} per point, "
        f"{options['seconds']:g} s timed per run, in random order (seed {options['seed']}), "
        f'launched by "{options["launcher"]}"'
        f"{' through Slurm, ' + options['slurm'] if options['slurm'] else ''}."
    )
