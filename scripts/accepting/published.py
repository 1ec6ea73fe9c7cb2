# SPDX-License-Identifier: MIT
"""Writes accept.json as an HTML page, and as metrics for node_exporter's textfile collector."""

import os
import time

import measured
import page
from files import write_whole
from hosts import fold
from naming import driver_of
from steps import device_of

OUTCOMES = {"inapplicable": "does not apply"}
METHOD = (
    "First each host runs himeno-gpu alone, with one rank per device. It runs blocks of sweeps and "
    "compares the field bit for bit after each block. The later stages are matrix products, pairs "
    "of hosts in rounds, leaf switches and all hosts, if selected. Hosts that fail are left out of "
    "the later stages.",
    f"Outliers are marked: {measured.RULE}. A mark never drains a host.",
    "A check that every host fails points to the policy or the set-up, and drains no host.",
)


# ---- a page ----


def hosts_table(document):
    rows = document["measured"]
    columns = [
        column for column in measured.COLUMNS if any(row[column[0]] is not None for row in rows)
    ]
    marks = {
        (place, 1 + at)
        for place, row in enumerate(rows)
        for at, column in enumerate(columns)
        if column[0] in row["outliers"]
    }
    marks |= {
        (place, 1 + len(columns)) for place, row in enumerate(rows) if row["verdict"] != "pass"
    }
    table = [
        [
            row["host"],
            *(measured.shown(column[0], row[column[0]]) for column in columns),
            row["verdict"],
        ]
        for row in rows
    ]
    return page.table(
        ["host", *(column[1] for column in columns), "verdict"], table, marks=marks, texts=(0,)
    ), page.paragraph(measured.legend(columns), "dim")


def number(value, form="{:.4g}"):
    return "–" if value is None else form.format(value)


def percent(value):
    return number(value, "{:+.1f}%")


def shown(limit, key):
    """Return the value or the limit of a check as text."""
    text = (
        number(limit[key])
        if limit["unit"] != "yes/no"
        else {None: "–", 0: "no", 1: "yes"}.get(limit[key], "–")
    )
    if key == "value":
        return text
    return (
        f"required: {text}"
        if limit["unit"] == "yes/no"
        else f"at {'most' if limit['at_most'] else 'least'} {text}"
    )


def limits(document):
    rows = [
        [
            one["title"],
            shown(one, "limit"),
            shown(one, "value"),
            OUTCOMES.get(one["outcome"], one["outcome"]),
            one["hosts"],
            one["from"] or "–",
        ]
        for one in document["limits"]
    ]
    return page.table(
        ["check", "limit", "worst value", "outcome", "hosts", "origin of the limit"],
        rows,
        wraps=True,
        texts=(1, 4, 5),
    )


def findings(document):
    rows = [
        [
            one["severity"],
            ", ".join(one["hosts"]) or "–",
            (one["device"] or "–") + (f", serial {one['serial']}" if one["serial"] else ""),
            f"{one['kind']}: {one['why']}",
            percent(one["percent_from_limit"]),
            percent(one["percent_from_peers"]),
            f"{one['cause']}. Next: {one['next_step']}",
        ]
        for one in sorted(document["findings"], key=lambda one: one["severity"] != "drain")
    ]
    return page.table(
        [
            "severity",
            "hosts",
            "device",
            "finding",
            "difference from limit",
            "difference from peers",
            "likely cause and next step",
        ],
        rows,
        wraps=True,
        texts=(0, 1, 2, 3, 6),
    )


def devices(document):
    columns = (
        ("model", "model", "{}"),
        ("uuid", "UUID", "{}"),
        ("serial", "serial", "{}"),
        ("gflops", "GFLOPS", "{:#.5g}"),
        ("ceiling_gbps", "ceiling GB/s", "{:#.5g}"),
        ("celsius", "°C", "{:.0f}"),
        ("watts", "W", "{:.0f}"),
        ("corrected", "ECC corrected", "{}"),
    )
    shown = [
        column
        for column in columns
        if any(row[column[0]] is not None for row in document["devices"])
    ]
    rows = [
        [row["host"], row["rank"], *(number(row[key], form) for key, _, form in shown)]
        for row in document["devices"]
    ]
    return page.table(
        ["host", "rank", *(head for _, head, _ in shown)], rows, wraps=True, texts=(0, 2, 3)
    )


def machine(document):
    found = document["machine"]
    each = {"GPU model": [f"{count} × {model}" for model, count in found["models"].items()]}
    for key, head in (
        ("driver", "driver"),
        ("mpi", "MPI"),
        ("kernel", "operating system"),
        ("suite", "himeno-gpu"),
    ):
        each[head] = [
            value if len(found[key]) == 1 else f"{value} on {names}"
            for value, names in ((driver_of(value), names) for value, names in found[key].items())
        ]
    steps = [
        f"{name}: {one['steps']} step{'s' * (one['steps'] != 1)}, {one['seconds']:.0f} s"
        for name, one in document["durations"].items()
    ]
    return page.facts(
        [
            *((head, ", ".join(values)) for head, values in each.items() if values),
            (
                "durations",
                f"{document['seconds']:.0f} s elapsed; "
                f"summed over parallel steps: {'; '.join(steps)}",
            ),
            ("policy", document["policy"]),
            ("command", document["command"]),
        ]
    )


def drift(document):
    found = document["drift"]
    rows = [
        [
            row["host"],
            device_of(row),
            number(row["before"], "{:#.5g}"),
            number(row["gflops"], "{:#.5g}"),
            percent(row["percent"]),
            number(row["noise"], "± {:.1f}%"),
            number(row["corrected_per_day"], "{:.3g}"),
            row["outcome"],
        ]
        for row in found["devices"]
    ]
    hosts = [
        [
            row["host"],
            number(row["before"], "{:#.5g}"),
            number(row["gflops"], "{:#.5g}"),
            percent(row["percent"]),
            number(row["noise"], "± {:.1f}%"),
        ]
        for row in found["hosts"]
    ]
    marks = {
        (place, 7)
        for place, row in enumerate(found["devices"])
        if row["outcome"] not in ("unchanged", "faster")
    }
    return (
        *(page.paragraph(line) for line in found["notes"]),
        page.table(
            ["host", "slowest device: GFLOPS before", "GFLOPS now", "change", "noise"],
            hosts,
            texts=(0,),
        ),
        page.heading("devices"),
        page.table(
            [
                "host",
                "device",
                "GFLOPS before",
                "GFLOPS now",
                "change",
                "noise",
                "corrected ECC errors per day",
                "outcome",
            ],
            rows,
            marks=marks,
            wraps=True,
            texts=(0, 1, 7),
        ),
    )


def html(document):
    """Return an HTML page without external resources, made from accept.json."""
    tested, left_out = document["tested"], len(document["left_out"])
    wrong, untold = (
        {
            name
            for one in document["findings"]
            if (one["kind"] == "wrong") == is_wrong
            and one["kind"] not in ("slow", "path", "noisy", "suspect")
            for name in one["hosts"]
        }
        for is_wrong in (True, False)
    )
    right = set(tested) - wrong - untold
    verdicts = [
        ("accepted", document["accepted"], document["conclusion"]),
        (
            "correct",
            False if wrong else None if len(right) < len(tested) or not tested else True,
            f"{len(right)} of {len(tested)} hosts verified"
            + (f"; wrong: {fold(wrong)}" if wrong else "")
            + (f"; not fully verified: {fold(untold)}" if untold else ""),
        ),
        (
            "drain",
            not document["drain"],
            "hosts with evidence of a fault"
            if document["drain"]
            else "no host shows evidence of a fault",
            document["drain_list"] or "none",
        ),
        (
            "run again",
            not document["run_again"] and not left_out,
            (
                "hosts with inconclusive steps"
                if document["run_again"]
                else "no step was inconclusive"
            )
            + f"; {left_out} steps left out" * bool(left_out),
            document["run_again_list"] or ("left-out steps" if left_out else "none"),
        ),
    ]
    parts = [page.verdicts(verdicts)]
    if document["set_up"]:
        parts.append(
            page.section(
                "Policy or set-up?", *(page.paragraph(line) for line in document["set_up"])
            )
        )
    if document["findings"]:
        parts.append(page.section("Findings", findings(document)))
    parts.append(page.section("Hosts", *hosts_table(document)))
    if document["drift"]:
        parts.append(
            page.section(f"Drift since {document['drift']['time'][:10]}", *drift(document))
        )
    if document["limits"]:
        parts.append(
            page.section(
                f"Policy {document['policy']}: smallest margin of each check", limits(document)
            )
        )
    if document["devices"]:
        parts.append(page.section("Devices", devices(document)))
    parts += [
        page.section("Machine and run", machine(document)),
        page.section("Method", *(page.paragraph(text) for text in METHOD)),
    ]
    commands = list(dict.fromkeys(one["command"] for one in document["findings"]))
    if commands:
        parts.append(page.section("Commands that repeat each finding", page.preformatted(commands)))
    level = f"level {document['level']}, " if document["level"] else ""
    hosts = fold(document["hosts"]) if len(document["hosts"]) > 1 else document["hosts"][0]
    count = f"{len(document['hosts'])} host{'s' * (len(document['hosts']) != 1)}"
    return page.page(
        f"Acceptance of {hosts}",
        f"{count}, {level}policy {document['policy']}, {document['time'][:10]}",
        parts,
    )


# ---- metrics ----

# Each entry: end of the metric's name himeno_accept_host_*, key of a row, factor to the base unit.
METRICS = (
    ("flops_per_second", "gflops", 1e9),
    ("ceiling_ratio", "ceiling_share", 1),
    ("ceiling_of_theory_ratio", "theory_share", 1),
    ("exchange_seconds", "exchange_seconds", 1),
    ("pair_exchange_seconds", "pair_seconds", 1),
    ("temperature_celsius", "celsius", 1),
    ("power_watts", "watts", 1),
    ("flops_per_joule", "gflops_per_watt", 1e9),
    ("clock_hertz", "sm_mhz", 1e6),
    ("errors", "errors", 1),
)


def escaped(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def prometheus(document, ended):
    """Return the metrics in Prometheus' text format; `ended` is the end in seconds since 1970."""
    lines = []

    def family(name, about, samples):
        lines.extend(
            [f"# HELP himeno_accept_{name} {about}", f"# TYPE himeno_accept_{name} gauge"]
            if samples
            else []
        )
        lines.extend(f"himeno_accept_{name}{labels} {value + 0!r}" for labels, value in samples)

    rows = document["measured"]
    family("accepted", "Whether all hosts were accepted.", [("", document["accepted"])])
    family("end_timestamp_seconds", "Unix time of the end of the acceptance.", [("", ended)])
    family("duration_seconds", "Duration of the acceptance.", [("", document["seconds"])])
    family(
        "level",
        "Level of the acceptance, from 1 to 3.",
        [("", document["level"])] if document["level"] else [],
    )
    family(
        "host_passed",
        "Whether the host passed all checks.",
        [(f'{{host="{escaped(row["host"])}"}}', row["verdict"] == "pass") for row in rows],
    )
    family(
        "host_drain",
        "Whether there is evidence of a fault of the host, so that it must be drained.",
        [(f'{{host="{escaped(row["host"])}"}}', row["host"] in document["drain"]) for row in rows],
    )
    about = {column[0]: f"{column[2][0].upper()}{column[2][1:]}." for column in measured.COLUMNS}
    for name, key, factor in METRICS:
        family(
            f"host_{name}",
            about[key],
            [
                (f'{{host="{escaped(row["host"])}"}}', factor * row[key])
                for row in rows
                if row[key] is not None
            ],
        )
    family(
        "host_outlier",
        "Whether the host's value of a metric is an outlier among the hosts.",
        [
            (f'{{host="{escaped(row["host"])}",of="{name}"}}', key in row["outliers"])
            for row in rows
            for name, key, _ in METRICS
            if row[key] is not None
        ],
    )
    return "".join(line + "\n" for line in lines)


def write(document, a):
    write_whole(os.path.join(a.folder, "accept.html"), html(document))
    if a.prometheus:
        write_whole(a.prometheus, prometheus(document, time.time()))
