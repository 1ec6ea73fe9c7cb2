# SPDX-License-Identifier: MIT
"""Draws and tabulates the computation and communication per sweep of each transport, for
scripts/plot transports."""

import csv
import io
import statistics

import documents
import plan
import store
from endings import BadInput
from files import write_whole
from naming import NO_OVERLAP

# Size L in the report of 2009, in seconds and GFLOPS: a measured and a predicted row. The report
# predicts 170 GFLOPS, 4.3 ms of computation, and more than twice the communication of the PCs. 170
# GFLOPS leave 2.3 ms for communication (doc/lab/prediction-log.md).
REPORT = [
    {
        "size": "L",
        "class": "classic",
        "transport": "2009, four PCs by MPI",
        "compute": 43e-3,
        "communicate": 1.0e-3,
        "gflops": 25.5,
    },
    {
        "size": "L",
        "class": "classic",
        "transport": "2009, four GPUs, predicted (over 2 ms)",
        "compute": 4.3e-3,
        "communicate": 2.3e-3,
        "gflops": 170,
    },
]
COLUMNS = (
    "size",
    "kernel",
    "class",
    "transport",
    "moved by",
    "runs",
    "us per sweep",
    "computing us",
    "communication us",
    "share",
    "GFLOPS",
    "of p2p",
    "not run because",
)
AGAINST = "p2p"


# ---- rows ----


def carried(found):
    """Return the names of the transports that moved the bytes of all pairs."""
    used = {
        path["used"] + (f", {path['handover']}" if path.get("handover") else "")
        for path in found["paths"]
    }
    return " and ".join(sorted(used))


def measured(rows, found):
    """Return a configuration's row with the medians of its runs. The time of computation is the
    slowest rank's, because waiting for that rank is not communication."""
    times = [row["seconds_a_sweep"] for row in rows]
    whole = statistics.median(times)
    compute = min(
        whole, statistics.median(row["interior_max"] + row["boundary_max"] for row in rows)
    )
    return {
        "class": documents.class_name(rows[0]) or "classic",
        "moved by": carried(found),
        "runs": len(rows),
        "ends": (min(times), max(times)),
        "compute": compute,
        "communicate": whole - compute,
        "gflops": statistics.median(row["gflops"] for row in rows),
    }


def entry(folder, points, rows, tried):
    """Return a configuration's figures, or the reason why there are none."""
    first = points[0]
    one = {key: first[key] for key in ("size", "kernel", "transport")}
    done = [point for point in points if point["name"] in rows]
    if done:
        ran = [rows[point["name"]] for point in done]
        return {
            **one,
            **documents.described(
                store.path_of(folder, done[0]),
                store.finished(folder, done[0]),
                lambda found: measured(ran, found),
            ),
        }
    return {**one, "not run because": tried.get(first["name"], {}).get("why") or "not run"}


def against(entries):
    """Add to each entry its GFLOPS relative to those of p2p."""
    best = {
        (one["size"], one["kernel"]): one["gflops"]
        for one in entries
        if one["transport"] == AGAINST and "gflops" in one
    }
    for one in entries:
        other = best.get((one["size"], one["kernel"]))
        if other and "gflops" in one:
            one["of p2p"] = one["gflops"] / other


def read(folders):
    """Return the configurations of two ranks or more, in the order of the study's list."""
    if len(folders) != 1:
        raise BadInput("transports: give exactly one folder of scripts/scaling")
    (folder,) = folders
    study = plan.read(folder)
    if not study:
        raise BadInput(f"{folder}: no study of scripts/scaling in it")
    rows = {row["name"]: row for row in store.rows(folder, study)}
    points, order = (
        {},
        {name: study["options"][name] for name in ("sizes", "kernels", "transports")},
    )
    for point in sorted(study["points"], key=lambda point: point["repeat"]):
        if point["kind"] == "run" and point["ranks"] > 1 and point["scaling"] == "strong":
            points.setdefault(
                (
                    point["size"],
                    point["kernel"],
                    point["transport"],
                    point["ranks"],
                    point["procs"],
                ),
                [],
            ).append(point)
    cuts = {key[3:] for key in points}
    if len(cuts) != 1:
        raise BadInput(
            f"{folder}: {len(cuts)} combinations of rank count and cut in strong scaling: exactly "
            "one is needed"
        )
    keys = sorted(
        points, key=lambda key: [order[name].index(word) for name, word in zip(order, key)]
    )
    entries = [entry(folder, points[key], rows, store.attempts(folder)) for key in keys]
    if not any("gflops" in one for one in entries):
        raise BadInput(f"{folder}: no point of the study is finished")
    against(entries)
    ran = list(rows.values())
    return {
        "entries": entries,
        "report": [],
        "ranks": next(iter(cuts))[0],
        "origin": [
            {"device": row["device"], "date": row["time"][:10], "version": row["version"]}
            for row in ran
        ],
    }


# ---- the table ----


def cells(one):
    """Return the texts of a row by column."""
    if "gflops" not in one:
        return {column: one.get(column, "") for column in COLUMNS}
    whole = one["compute"] + one["communicate"]
    figures = {
        "us per sweep": f"{1e6 * whole:.6g}",
        "computing us": f"{1e6 * one['compute']:.6g}",
        "communication us": f"{1e6 * one['communicate']:.4g}",
        "share": f"{one['communicate'] / whole:.4f}",
        "GFLOPS": f"{one['gflops']:.5g}",
        "of p2p": f"{one['of p2p']:.4f}" if "of p2p" in one else "",
    }
    return {**{column: one.get(column, "") for column in COLUMNS}, **figures}


def table(data):
    return [cells(one) for one in data["report"] + data["entries"]]


def write_tables(data, name):
    """Write NAME.md and NAME.csv."""
    rows = table(data)
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]
    lines += [
        f"| {' | '.join(str(row[column]).replace('|', '/') or '–' for column in COLUMNS)} |"
        for row in rows
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    for kind, whole in (("md", "\n".join(lines) + "\n"), ("csv", text.getvalue())):
        write_whole(f"{name}.{kind}", whole)
        print(f"{name}.{kind}")


# ---- drawing ----


def digits(value):
    """Return a number as text with at least three digits and without a power of ten."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def label_of(one, scale):
    if "gflops" not in one:
        return "not run"
    share = 100 * one["communicate"] / (one["compute"] + one["communicate"])
    return (
        f"{digits(scale * one['compute'])} + {digits(scale * one['communicate'])}  ({share:.1f}%) "
        f" {digits(one['gflops'])}"
    )


def draw_bars(axes, entries, scale, style):
    """Draw communication stacked on computation, with the first entry at the top. An entry without
    figures has its reason in place of a bar."""
    entries = entries[::-1]
    for place, one in enumerate(entries):
        if "gflops" not in one:
            axes.annotate(
                one["not run because"][:60],
                (0, place),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=7.5,
                style="italic",
            )
            continue
        compute, communicate = scale * one["compute"], scale * one["communicate"]
        axes.barh(place, compute, height=0.64, color=style.PARTS[0])
        axes.barh(place, communicate, left=compute, height=0.64, color=style.PARTS[2])
        style.range_bar(
            axes, place, [scale * end for end in one["ends"]] if one.get("runs", 1) > 1 else ()
        )
    axes.set_xlim(left=0)
    axes.set_xlabel(f"{'ms' if scale == 1e3 else 'µs'} per sweep")
    style.bar_axis(
        axes,
        [one["transport"].replace(NO_OVERLAP, ",\nno overlap") for one in entries],
        [label_of(one, scale) for one in entries],
        f"computing + communication in {'ms' if scale == 1e3 else 'µs'} (its share), GFLOPS",
    )


def panels_of(entries):
    """Return {(size, kernel): entries}, in order."""
    found = {}
    for one in entries:
        found.setdefault((one["size"], one["kernel"]), []).append(one)
    return found


def draw(data, title, name):
    from matplotlib import lines, patches, pyplot
    import style

    panels = panels_of(data["entries"])
    columns = len({kernel for _, kernel in panels})
    rows = -(-len(panels) // columns)
    bars = max(len(entries) for entries in panels.values())
    heights = [0.36 * len(data["report"]) + 1] * bool(data["report"]) + [0.36 * bars + 1] * rows
    height = sum(heights) + 1.4
    figure = pyplot.figure(figsize=(8.2 * columns + 0.4, height))
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    if data["report"]:
        top = figure.add_subplot(grid[0, :])
        draw_bars(top, data["report"], 1e3, style)
        top.set_title(
            "2009, and CPU ranks now" if data["report"] != REPORT else "Report of 2009, size L",
            loc="left",
        )
    for place, ((size, kernel), entries) in enumerate(panels.items()):
        axes = figure.add_subplot(grid[len(heights) - rows + place // columns, place % columns])
        draw_bars(axes, entries, 1e6, style)
        kind = next((one["class"] for one in entries if "class" in one), "")
        axes.set_title(f"{size}, {kernel}{f' ({kind})' if kind else ''}", loc="left")
    handles = [
        patches.Patch(color=style.PARTS[part], label=label)
        for part, label in ((0, "computing"), (2, "exposed time"))
    ]
    if any(one.get("runs", 1) > 1 for one in data["entries"]):
        handles.append(
            lines.Line2D(
                [], [], label="fastest and slowest run", color="black", marker="|", linewidth=1
            )
        )
    style.save(
        figure,
        name,
        style.caption(data["origin"], f" · {data['ranks']} ranks"),
        title,
        legend_rows=style.legend(figure, handles),
    )
