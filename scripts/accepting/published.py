# SPDX-License-Identifier: MIT
"""accept.json as a page, and as metrics for node_exporter's textfile collector."""
import os
import time

import measured
import page
from files import write_whole
from hosts import fold
from stages import PAIRS_POLICY
from steps import title, titles

OUTCOMES = {"inapplicable": "does not apply"}
METHOD = (
    "First each host runs himeno-gpu alone, with one rank per device. It runs blocks of sweeps and compares the field bit for bit after each block. The later "
    "stages are matrix products, pairs of hosts in rounds, leaf switches and all hosts, if selected. Hosts that fail are left out of the later stages.",
    f"Outliers are marked: {measured.RULE}. A mark never drains a host.",
    "A check that every host fails points to the policy or the set-up, and drains no host.")


# ---- a page ----

def figures(document):
    rows = document["measured"]
    told = [column for column in measured.COLUMNS if any(row[column[0]] is not None for row in rows)]
    marks = {(place, 1 + at) for place, row in enumerate(rows) for at, column in enumerate(told) if column[0] in row["outliers"]}
    marks |= {(place, 1 + len(told)) for place, row in enumerate(rows) if row["verdict"] != "pass"}
    table = [[row["host"], *(measured.shown(column[0], row[column[0]]) for column in told), row["verdict"]] for row in rows]
    legend = "; ".join(f"{column[1]}: {column[2]}" for column in told)
    return page.table(["host", *(column[1] for column in told), "verdict"], table, marks=marks, texts=(0,)), page.paragraph(legend, "dim")


def checks(run):
    """Each check of the policy: its limit, and the step with the smallest margin."""
    worst = {}
    for name, step in run.done.items():
        accept = (run.document(name) or {}).get("result", {}).get("accept") or {}
        for check in accept.get("checks", []) if accept.get("policy") != PAIRS_POLICY else []:
            margin = check["margin"] if check["margin"] is not None else float("inf")
            if check["check"] not in worst or margin < worst[check["check"]][0]:
                worst[check["check"]] = margin, check, step
    return [[title(check), f"{'at most' if check['at_most'] else 'at least'} {check['limit']:.4g} {'' if 'title' in check else check['unit']}".strip(),
             "–" if check["value"] is None else f"{check['value']:.4g}", OUTCOMES.get(check["outcome"], check["outcome"]), fold(step["hosts"]), check.get("from") or "–"]
            for _, check, step in worst.values()]


def html(document, run):
    tested = document["tested"]
    wrong, untold = ({name for one in document["findings"] if (one["kind"] == "wrong") == is_wrong and one["kind"] not in ("slow", "path", "noisy")
                    for name in one["hosts"]} for is_wrong in (True, False))
    right = len(set(tested) - wrong - untold)
    verdicts = [("accepted", document["accepted"], document["conclusion"]),
                ("correct", False if wrong else None if right < len(tested) or not tested else True, f"{right} of {len(tested)} hosts"),
                ("drain", not document["drain"], "hosts with evidence of a fault", document["drain_list"] or "none"),
                ("run again", not document["run_again"] and not document["left_out"],
                 f"hosts with inconclusive steps; {len(document['left_out'])} steps left out",
                 document["run_again_list"] or ("left-out steps" if document["left_out"] else "none"))]
    parts = [page.verdicts(verdicts), page.section("Hosts", *figures(document))]
    if document["set_up"]:
        parts.append(page.section("Policy or set-up?", *(page.paragraph(line) for line in document["set_up"])))
    if document["findings"]:
        parts.append(page.section("Findings", page.table(["hosts", "device", "what", "why"], [
            [", ".join(one["hosts"]), one["device"] or "–", one["kind"], one["why"]] for one in document["findings"]], wraps=True, texts=(0, 1))))
    limits = checks(run)
    if limits:
        parts.append(page.section(f"Policy {document['policy']}: smallest margin of each check", page.table(["check", "limit", "value", "outcome", "hosts", "limit from"], limits, wraps=True, texts=(4, 5))))
    if document["unchecked"]:
        parts.append(page.section("Not checked", page.facts((titles(run)[check], ", ".join(hosts)) for check, hosts in document["unchecked"].items())))
    parts.append(page.section("Method", *(page.paragraph(text) for text in METHOD)))
    commands = list(dict.fromkeys(one["command"] for one in document["findings"])) or list(dict.fromkeys(step["command"] for step in run.done.values()))
    parts.append(page.section("Commands that repeat each finding" if document["findings"] else "Commands", page.preformatted(commands)))
    return page.page("Acceptance", f"{len(document['hosts'])} host{'s' * (len(document['hosts']) != 1)}, {document['time'][:10]}, policy {document['policy']}, {document['seconds']:.0f} s", parts)


# ---- metrics ----

# Suffix of himeno_accept_host_, key of a row, factor to the base unit.
METRICS = (("flops_per_second", "gflops", 1e9), ("ceiling_ratio", "ceiling_share", 1), ("ceiling_of_theory_ratio", "theory_share", 1),
           ("exchange_seconds", "exchange_seconds", 1), ("pair_exchange_seconds", "pair_seconds", 1), ("temperature_celsius", "celsius", 1),
           ("power_watts", "watts", 1), ("flops_per_joule", "gflops_per_watt", 1e9), ("clock_hertz", "sm_mhz", 1e6), ("errors", "errors", 1))


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def prometheus(document, ended):
    """Prometheus' text format."""
    lines = []

    def family(name, about, samples):
        lines.extend([f"# HELP himeno_accept_{name} {about}", f"# TYPE himeno_accept_{name} gauge"] if samples else [])
        lines.extend(f"himeno_accept_{name}{labels} {value + 0!r}" for labels, value in samples)

    rows = document["measured"]
    family("accepted", "Whether all hosts were accepted.", [("", document["accepted"])])
    family("end_timestamp_seconds", "When this acceptance ended.", [("", ended)])
    family("duration_seconds", "How long it took.", [("", document["seconds"])])
    family("host_passed", "Whether the host passed.", [(f'{{host="{escaped(row["host"])}"}}', row["verdict"] == "pass") for row in rows])
    family("host_drain", "Whether the host is to be drained.", [(f'{{host="{escaped(row["host"])}"}}', row["host"] in document["drain"]) for row in rows])
    about = {column[0]: f"{column[2][0].upper()}{column[2][1:]}." for column in measured.COLUMNS}
    for name, key, factor in METRICS:
        family(f"host_{name}", about[key], [(f'{{host="{escaped(row["host"])}"}}', factor * row[key]) for row in rows if row[key] is not None])
    family("host_outlier", "Whether a value is an outlier among the hosts.",
           [(f'{{host="{escaped(row["host"])}",of="{name}"}}', key in row["outliers"]) for row in rows for name, key, _ in METRICS if row[key] is not None])
    return "".join(line + "\n" for line in lines)


def write(document, run):
    write_whole(os.path.join(run.a.folder, "accept.html"), html(document, run))
    if run.a.prometheus:
        write_whole(run.a.prometheus, prometheus(document, time.time()))
