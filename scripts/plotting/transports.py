# SPDX-License-Identifier: MIT
"""Computing and communication of a sweep by each transport, for scripts/plot transports: a table and stacked bars, beside the report of 2009."""
import csv
import io
import statistics

import documents
import plan
import store
from endings import BadInput
from files import write_whole
from naming import NO_OVERLAP

# What the report has of size L, seconds and GFLOPS: measured, and predicted with what it says of computing and of the whole (doc/prediction-log.md).
REPORT = ({"what": "2009, four PCs by MPI", "compute": 43e-3, "communicate": 1.0e-3, "gflops": 25.5},
          {"what": "2009, four GPUs, predicted", "compute": 4.3e-3, "communicate": 2.3e-3, "gflops": 170})
COLUMNS = ("size", "kernel", "class", "transport", "moved by", "runs", "us a sweep", "computing us", "communication us", "share", "GFLOPS",
           "of p2p", "why not")
AGAINST = "p2p"
# An axis's length over the longest bar's: the rest is for the label.
LABELLED = 1.75


# ---- rows ----

def carried(found):
    """What really moved the bytes, of all pairs."""
    ways = {path["used"] + (f", {path['handover']}" if path.get("handover") else "") for path in found["paths"]}
    return " and ".join(sorted(ways))


def measured(rows, found):
    """A configuration's row: medians of its runs. The slowest rank computes: who waits for it does not communicate."""
    whole = statistics.median(row["seconds_a_sweep"] for row in rows)
    compute = min(whole, statistics.median(row["interior_max"] + row["boundary_max"] for row in rows))
    return {"class": documents.class_name(rows[0]) or "classic", "moved by": carried(found), "runs": len(rows), "seconds": whole, "compute": compute,
            "communicate": whole - compute, "gflops": statistics.median(row["gflops"] for row in rows)}


def entry(folder, points, rows, tried):
    """What is known of a configuration: figures, or why there are none."""
    first = points[0]
    one = {key: first[key] for key in ("size", "kernel", "transport")}
    done = [point for point in points if point["name"] in rows]
    if done:
        ran = [rows[point["name"]] for point in done]
        return {**one, **documents.described(store.path_of(folder, done[0]), store.finished(folder, done[0]), lambda found: measured(ran, found))}
    return {**one, "why not": tried.get(first["name"], {}).get("why") or "not run"}


def against(entries):
    """GFLOPS as a share of the same by p2p."""
    best = {(one["size"], one["kernel"]): one["gflops"] for one in entries if one["transport"] == AGAINST and "gflops" in one}
    for one in entries:
        other = best.get((one["size"], one["kernel"]))
        if other and "gflops" in one:
            one["of p2p"] = one["gflops"] / other


def read(folders):
    """All configurations of two ranks or more, in the order in which the study names them."""
    if len(folders) != 1:
        raise BadInput("transports are drawn from one folder of scripts/scaling at a time")
    folder, = folders
    study = plan.read(folder)
    if not study:
        raise BadInput(f"{folder}: holds no study of scripts/scaling")
    rows = {row["name"]: row for row in store.rows(folder, study)}
    points, order = {}, {name: study["options"][name] for name in ("sizes", "kernels", "transports")}
    for point in sorted(study["points"], key=lambda point: point["repeat"]):
        if point["kind"] == "run" and point["ranks"] > 1 and point["scaling"] == "strong":
            points.setdefault((point["size"], point["kernel"], point["transport"], point["ranks"], point["procs"]), []).append(point)
    cuts = {key[3:] for key in points}
    if len(cuts) != 1:
        raise BadInput(f"{folder}: it must have strong scaling over one number of ranks and one cut, and has {len(cuts)}")
    keys = sorted(points, key=lambda key: [order[name].index(word) for name, word in zip(order, key)])
    entries = [entry(folder, points[key], rows, store.attempts(folder)) for key in keys]
    if not any("gflops" in one for one in entries):
        raise BadInput(f"{folder}: no point of the study is finished")
    against(entries)
    ran = list(rows.values())
    return {"entries": entries, "ranks": next(iter(cuts))[0], "origin": [
        {"device": row["device"], "date": row["time"][:10], "version": row["version"]} for row in ran]}


# ---- the table ----

def cells(one):
    """A row's texts, by column."""
    if "gflops" not in one:
        return {column: one.get(column, "") for column in COLUMNS}
    whole = one["compute"] + one["communicate"]
    figures = {"us a sweep": f"{1e6 * whole:.6g}", "computing us": f"{1e6 * one['compute']:.6g}", "communication us": f"{1e6 * one['communicate']:.4g}",
               "share": f"{one['communicate'] / whole:.4f}", "GFLOPS": f"{one['gflops']:.5g}",
               "of p2p": f"{one['of p2p']:.4f}" if "of p2p" in one else ""}
    return {**{column: one.get(column, "") for column in COLUMNS}, **figures}


def table(data):
    report = [{**one, "size": "L", "class": "classic", "transport": one["what"]} for one in REPORT]
    return [cells(one) for one in report + data["entries"]]


def write_tables(data, name):
    """NAME.md and NAME.csv."""
    rows = table(data)
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{' --- |' * len(COLUMNS)}"]
    lines += [f"| {' | '.join(str(row[column]).replace('|', '/') for column in COLUMNS)} |" for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    for kind, whole in (("md", "\n".join(lines) + "\n"), ("csv", text.getvalue())):
        write_whole(f"{name}.{kind}", whole)
        print(f"{name}.{kind}")


# ---- drawing ----

def digits(value):
    """Three of them at least, and no power of ten."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def draw_bars(axes, entries, scale, style):
    """Computing, and behind it communication; a label with both, or why there is no bar."""
    longest = max((one["compute"] + one["communicate"] for one in entries if "gflops" in one), default=1 / scale)
    for place, one in enumerate(entries):
        if "gflops" not in one:
            axes.annotate(f"not run: {one['why not'][:70]}", (0, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=7.5, style="italic")
            continue
        compute, communicate = scale * one["compute"], scale * one["communicate"]
        axes.barh(place, compute, height=0.64, color=style.COLOURS[0])
        axes.barh(place, communicate, left=compute, height=0.64, facecolor="#f4d9cc", edgecolor=style.COLOURS[1], hatch="///", linewidth=0.8)
        share = 100 * one["communicate"] / (one["compute"] + one["communicate"])
        axes.annotate(f"{digits(compute)} + {digits(communicate)}  ({share:.1f}%)  {digits(one['gflops'])} GFLOPS", (compute + communicate, place),
                      xytext=(5, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_xlim(0, LABELLED * scale * longest)
    axes.set_yticks(range(len(entries)), [one.get("what") or one["transport"].replace(NO_OVERLAP, ",\nno overlap") for one in entries])
    axes.set_ylim(len(entries) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)


def panels_of(entries):
    """{(size, kernel): entries}, in order."""
    found = {}
    for one in entries:
        found.setdefault((one["size"], one["kernel"]), []).append(one)
    return found


def draw(data, title, name):
    from matplotlib import patches, pyplot
    import style
    panels = panels_of(data["entries"])
    columns = len({kernel for _, kernel in panels})
    rows = -(-len(panels) // columns)
    bars = max(len(entries) for entries in panels.values())
    heights = [0.36 * len(REPORT) + 0.5] + [0.36 * bars + 0.5] * rows
    height = sum(heights) + 0.35 * rows + 1.3
    figure = pyplot.figure(figsize=(7.2 * columns + 0.4, height))
    grid = figure.add_gridspec(rows + 1, columns, height_ratios=heights)
    top = figure.add_subplot(grid[0, :])
    draw_bars(top, list(REPORT), 1e3, style)
    top.set_title("The report of 2009, L: ms a sweep", loc="left")
    for place, ((size, kernel), entries) in enumerate(panels.items()):
        axes = figure.add_subplot(grid[1 + place // columns, place % columns])
        draw_bars(axes, entries, 1e6, style)
        kind = next((one["class"] for one in entries if "class" in one), "")
        axes.set_title(f"{size}, {kernel}{f' ({kind})' if kind else ''}: µs a sweep", loc="left")
    handles = [patches.Patch(color=style.COLOURS[0], label="computing"),
               patches.Patch(facecolor="#f4d9cc", edgecolor=style.COLOURS[1], hatch="///", label="communication that was not hidden (and its share)")]
    figure.legend(handles=handles, loc="lower center", ncols=2, bbox_to_anchor=(0.5, 0.24 / height))
    style.save(figure, name, style.caption(data["origin"], f" · {data['ranks']} ranks"), title, legend_rows=1)
