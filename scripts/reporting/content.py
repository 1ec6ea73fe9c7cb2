# SPDX-License-Identifier: MIT
"""What scripts/report tells of a study: tables as lists of rows, from the study's documents."""
import statistics

import compare
import documents
import plan
import scaling
import store


class Study:
    """A folder of scripts/scaling, with what himeno-predict and himeno-sim say of it."""

    def __init__(self, folder, extra):
        self.folder = folder
        self.study = plan.read(folder)
        if not self.study:
            raise plan.BadInput(f"{folder}: holds no study of scripts/scaling")
        self.rows = store.rows(folder, self.study)
        if not self.rows:
            raise plan.BadInput(f"{folder}: no point of the study is finished")
        self.documents = [store.finished(folder, point) for point in self.study["points"] if point["kind"] == "run"]
        self.documents = [document for document in self.documents if document]
        self.sessions = store.sessions(folder)
        self.extra = extra
        self.predictions = None
        for path, document in extra:
            if document["schema"] == scaling.PREDICTED and not self.predictions:
                documents.described(path, document, validation_of)
                self.predictions = document
        self.points = [point for path, document in extra for point in documents.described(path, document, scaling.READERS[document["schema"]])]


def groups(study):
    """Runs by configuration, in the order of a reader: scaling, size, transport, ranks."""
    found = {}
    for row in study.rows:
        found.setdefault(compare.key(row), []).append(row)
    size = {row["size"]: int(row["imax"]) * int(row["jmax"]) * int(row["kmax"]) for row in study.rows if int(row["ranks"]) == 1}
    return dict(sorted(found.items(), key=lambda item: (item[0][0], size.get(item[0][1], 0), item[0][1], item[0][4], item[0][2], item[0][5])))


def seconds(rows):
    return statistics.median(row["seconds_a_sweep"] for row in rows)


def alone(found, size, kernel):
    return next((seconds(rows) for key, rows in found.items() if key[1] == size and key[2] == 1 and key[3] == kernel), None)


def beside(study, kind, key):
    scaling_mode, size, ranks, _, transport, procs = key
    wanted = [point for point in study.points if point["kind"] == kind and point["key"][0] == size and point["ranks"] == ranks
              and (ranks == 1 or (point["mode"] == scaling_mode and point["key"][1] == transport and point["procs"] == procs))]
    return wanted[0] if wanted else None


def microseconds(value):
    return f"{1e6 * value:.2f}"


def measurements(study):
    """A row a configuration."""
    head = ["scaling", "size", "ranks", "cut", "transport", "kernel", "runs", "µs a sweep", "spread", "GFLOPS", "efficiency", "of ceiling",
            "verified", "predicted µs", "off", "simulated µs"]
    found, table = groups(study), []
    for key, rows in groups(study).items():
        mode, size, ranks, kernel, transport, procs = key
        time, first = seconds(rows), alone(found, size, kernel)
        times = [row["seconds_a_sweep"] for row in rows]
        spread = (max(times) - min(times)) / time
        share = statistics.median(row["ceiling_share"] or 0 for row in rows)
        expected, simulated = beside(study, scaling.PREDICTED, key), beside(study, scaling.SIMULATED, key)
        table.append([mode if ranks > 1 else "–", size, ranks, procs, transport if ranks > 1 else "–", kernel, len(rows), microseconds(time),
                      f"{100 * spread:.1f}%", f"{statistics.median(row['gflops'] for row in rows):.5g}",
                      f"{100 * first / time / (ranks if mode == 'strong' else 1):.1f}%" if first else "–", f"{100 * share:.1f}%",
                      ", ".join(sorted({row["verified"] for row in rows})),
                      microseconds(expected["seconds"]) if expected else "–",
                      f"{100 * (expected['seconds'] / time - 1):+.1f}%" if expected else "–",
                      microseconds(simulated["seconds"]) if simulated else "–"])
    return head, table


def machine(study):
    """Name and value; what differs between runs is listed with commas."""
    def listed(values):
        return ", ".join(sorted({str(value) for value in values if value not in (None, "")})) or "unknown"
    ranks = [rank for document in study.documents for rank in document["ranks"]]
    systems = [document["system"] for document in study.documents]
    facts = [("devices", listed(rank["device"] for rank in ranks)), ("UUIDs", listed(rank["uuid"] for rank in ranks)),
             ("driver", listed(rank["driver"] for rank in ranks)), ("hosts", listed(rank["host"] for rank in ranks)),
             ("most ranks", max(len(document["ranks"]) for document in study.documents)),
             ("version", listed(document["version"] for document in study.documents))]
    for key in sorted({key for system in systems for key in system}):
        values = [system.get(key) for system in systems]
        if all(isinstance(value, (str, int, float)) for value in values):
            facts.append((key.replace("_", " "), listed(values)))
    return facts


def settings(study):
    facts = []
    for session in study.sessions:
        told = session["settings"]
        facts.append((f"session {session['session']}, {session['time']}",
                      ", ".join(f"{key} {told[key]}" for key in ("program", "launcher", "ucx", "gpu_driver") if told.get(key))))
        facts += [(name, value) for name, value in told["environment"].items()]
    return facts


def validation(study):
    """Head and rows, and the line below; None without a prediction."""
    return validation_of(study.predictions) if study.predictions and study.predictions.get("validation") else None


def validation_of(predictions):
    table = []
    checked = predictions.get("validation") or {"pairs": [], "predicted": 0}
    if checked["predicted"]:
        {checked[name] * 1.0 for name in ("median_error", "worst_error")}  # which verdicts are made of
    for pair in checked["pairs"]:
        told = pair["predicted"] is not None
        table.append([pair["left_out"], pair["scaling"], pair["size"], pair["ranks"], "x".join(map(str, pair["procs"])), pair["transport"],
                      microseconds(pair["measured"]), microseconds(pair["predicted"]) if told else "too little is known",
                      f"{100 * pair['error']:+.1f}%" if told else "–"])
    return ["left out", "scaling", "size", "ranks", "cut", "transport", "measured µs", "predicted µs", "error"], table


def commands(study):
    found = []
    for point in study.study["points"]:
        try:
            with open(store.said_of(study.folder, point), encoding="utf-8", errors="replace") as file:
                first = file.readline().strip()
        except OSError:
            continue
        if first.startswith("$ "):
            found.append(first[2:])
    return found


def verdicts(study):
    """Name, whether it is good (None: neither), and what it is."""
    total = sum(point["kind"] == "run" for point in study.study["points"])
    unverified = sum(row["verified"] == "no" for row in study.rows)
    checks = [("finished", len(study.rows) == total, f"{len(study.rows)} of {total} runs"),
              ("right bits", True if not unverified else None,
               "every run's checksum was compared" if not unverified else f"{unverified} of {len(study.rows)} runs were not compared")]
    noisy = [max(times) / min(times) - 1 for times in ([row["seconds_a_sweep"] for row in rows] for rows in groups(study).values()) if len(times) > 1]
    if noisy:
        checks.append(("quiet", max(noisy) < 0.05, f"repeats differ by {100 * statistics.median(noisy):.1f}% in the middle, {100 * max(noisy):.1f}% at most"))
    checked = study.predictions and study.predictions["validation"]
    if checked and checked["predicted"]:
        checks.append(("predictable", checked["worst_error"] <= 0.1, f"runs that were left out are predicted to {100 * checked['median_error']:.1f}% "
                       f"in the middle, {100 * checked['worst_error']:.1f}% at worst ({checked['predicted']} runs)"))
    return checks


def conditions(study):
    options = study.study["options"]
    return (f"{options['repeat']} run(s) of each point, {options['seconds']:g} s timed each, in a random order (seed {options['seed']}), "
            f"launched by \"{options['launcher']}\", through {'Slurm, ' + options['slurm'] if options['slurm'] else 'mpirun'}.")
