# SPDX-License-Identifier: MIT
"""Scaling studies for scripts/plot scaling: time, efficiency and phases over ranks, measured, predicted and simulated."""
import os
import statistics

import documents
from naming import transport_of

MODES = ("strong", "weak")
MEASURED = "himeno-gpu"
PREDICTED = "himeno-predict/1"
SIMULATED = "himeno-sim/1"
# Parts of a sweep, from the bottom of a bar to its top.
PARTS = (("interior", "interior"), ("boundary", "boundary"), ("exchange", "exchange that was not hidden"),
         ("rest", "synchronisation and reduction"))


def expand(paths):
    """A folder stands for the runs of the study in it."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        folder = os.path.join(path, "runs") if os.path.isdir(os.path.join(path, "runs")) else path
        found = sorted(name for name in os.listdir(folder) if name.endswith(".json") and not name.startswith("."))
        if not found:
            raise documents.BadInput(f"{path}: holds no JSON document")
        yield from (os.path.join(folder, name) for name in found)


def median_block(document):
    result, config = document["result"], document["config"]
    samples = result.get("samples")
    return statistics.median(samples) / config["block"] if samples else result["seconds"] / config["sweeps"]


# ---- documents to points ----

def series_key(config, ranks):
    """Of one rank the transport says nothing."""
    return config["size"], transport_of(config) if ranks > 1 else None


def measured(document):
    config, phases, ranks = document["config"], document["phases"], len(document["ranks"])
    if document["result"]["verdict"] not in ("pass", "slow"):
        return []
    seconds = median_block(document)
    parts = {name: phases[name]["median"] for name in ("interior", "boundary")}
    rest = max(0, seconds - sum(parts.values()))
    return [{"kind": MEASURED, "mode": "weak" if config["weak"] else "strong", "key": series_key(config, ranks), "ranks": ranks,
             "procs": "x".join(map(str, config["procs"])), "seconds": seconds, "kernel": config["kernel"],
             "parts": {**parts, "exchange": rest, "rest": 0}, "origin": documents.origin(document, document["ranks"][0]["device"])}]


def predicted(document):
    found, overlap = [], document.get("model", {}).get("overlap", True)
    for point in document["predictions"]:
        if "seconds" not in point:
            continue
        terms = point["terms"]
        parts = {"interior": terms["interior"], "boundary": terms["boundary"], "exchange": terms["exposed_exchange"],
                 "rest": terms["synchronisation"] + terms["reduction"]}
        found.append({"kind": PREDICTED, "mode": point["scaling"], "key": series_key({**point, "overlap": overlap}, point["ranks"]), "ranks": point["ranks"],
                      "procs": "x".join(map(str, point["procs"])), "seconds": point["seconds"], "low": point["low"],
                      "high": point["high"], "efficiency": point["efficiency"], "parts": parts, "transport": point["transport"]})
    return found


def simulated(document):
    return [{"kind": SIMULATED, "mode": "weak" if run["config"]["weak"] else "strong", "ranks": run["config"]["ranks"],
             "key": series_key(run["config"], run["config"]["ranks"]), "procs": "x".join(map(str, run["config"]["procs"])),
             "seconds": run["phases"]["sweep"]["max"]} for run in document["runs"]]


READERS = {**dict.fromkeys(documents.RUNS, measured), PREDICTED: predicted, SIMULATED: simulated}


def read(read_documents):
    """All points. One rank's stand in both modes and for all transports."""
    points = []
    for path, document in read_documents:
        if document["schema"] == "comm-gpu/1":
            continue
        if document["schema"] not in READERS:
            raise documents.BadInput(f"{path}: of schema {document['schema']}: scaling is drawn from {', '.join(READERS)}")
        points += documents.described(path, document, READERS[document["schema"]])
    if not points:
        raise documents.BadInput("there is no run that passed, and no prediction")
    return points


# ---- series ----

def of_series(points, kind, mode, size, transport):
    """Points of a line by ranks; of several cuts of as many ranks the fastest."""
    found = {}
    for point in points:
        mine = point["key"] == (size, transport) or (point["ranks"] == 1 and point["key"][0] == size)
        if point["kind"] != kind or not mine or (point["mode"] != mode and point["ranks"] > 1):
            continue
        found.setdefault(point["ranks"], {}).setdefault(point["procs"], []).append(point)
    best = {}
    for ranks, cuts in found.items():
        middles = {cut: statistics.median(point["seconds"] for point in some) for cut, some in cuts.items()}
        best[ranks] = cuts[min(middles, key=middles.get)]
    return dict(sorted(best.items()))


def names(points):
    """Sizes and transports of all lines, small sizes first."""
    found = {point["key"] for point in points if point["key"][1]}
    size_order = {}
    for point in points:
        if point["ranks"] == 1:
            size_order[point["key"][0]] = min(point["seconds"], size_order.get(point["key"][0], float("inf")))
    return sorted(found, key=lambda key: (size_order.get(key[0], 0), key[0], key[1]))


def middle(some):
    return statistics.median(point["seconds"] for point in some)


def efficiencies(line, mode, instead=None):
    """One rank's time by ranks times theirs, or in weak scaling by theirs; one rank's of another line where this has none."""
    first = line.get(1) or (instead or {}).get(1)
    if not first:
        return {}
    alone = middle(first)
    return {ranks: alone / middle(some) / (1 if mode == "weak" else ranks) for ranks, some in line.items()}


# ---- drawing ----

def draw_line(axes, points, mode, key, look):
    time, efficiency = axes
    line = of_series(points, MEASURED, mode, *key)
    if len(line) > 1 or (line and 1 not in line):
        for ranks, some in line.items():
            time.plot([ranks] * len(some), [1e6 * point["seconds"] for point in some], color=look["color"], marker=look["marker"],
                      linestyle="none", markersize=5, zorder=3)
        share = efficiencies(line, mode)
        efficiency.plot(list(share), [100 * value for value in share.values()], color=look["color"], marker=look["marker"], linestyle="none",
                        markersize=5, zorder=3)
    expected = of_series(points, PREDICTED, mode, *key)
    draw_prediction(axes, expected, look)
    draw_simulation(axes, of_series(points, SIMULATED, mode, *key), expected or line, mode, look)


def draw_prediction(axes, line, look):
    """A line, or where there is but one number of ranks a diamond. One rank alone is no scaling."""
    if not set(line) - {1}:
        return
    ranks = list(line)
    one = [some[0] for some in line.values()]
    plain = {"color": look["color"], "linewidth": 1.2, "marker": "D" if len(ranks) == 1 else None}
    axes[0].plot(ranks, [1e6 * point["seconds"] for point in one], **plain)
    axes[1].plot(ranks, [100 * point["efficiency"] for point in one], **plain)
    if all(point["low"] and point["high"] for point in one):
        axes[0].fill_between(ranks, [1e6 * point["low"] for point in one], [1e6 * point["high"] for point in one], color=look["color"],
                             alpha=0.18, linewidth=0)
        axes[1].fill_between(ranks, *[[100 * point["efficiency"] * point["seconds"] / point[end] for point in one]
                                      for end in ("high", "low")], color=look["color"], alpha=0.18, linewidth=0)


def draw_simulation(axes, line, expected, mode, look):
    ranks = [number for number in line if number > 1]
    plain = {"color": look["color"], "marker": "x", "linestyle": "none", "markersize": 7, "zorder": 4}
    axes[0].plot(ranks, [1e6 * middle(line[number]) for number in ranks], **plain)
    share = efficiencies(line, mode, expected)
    axes[1].plot([number for number in ranks if share], [100 * share[number] for number in ranks if share], **plain)


def draw_phases(axes, points, mode, key, style):
    """Two bars a number of ranks: measured, and hatched what the model says."""
    lines = [of_series(points, kind, mode, *key) for kind in (MEASURED, PREDICTED)]
    ranks = sorted(set(lines[0]) | {number for number in lines[1] if not lines[0] or number <= 4 * max(lines[0])})
    highest = 0
    for offset, line, hatch in ((-0.2, lines[0], None), (0.2, lines[1], "///")):
        for place, number in enumerate(ranks):
            if number not in line:
                continue
            bottom = 0
            for index, (part, _) in enumerate(PARTS):
                value = 1e6 * statistics.median(point["parts"][part] for point in line[number])
                axes.bar(place + offset, value, 0.36, bottom=bottom, color=style.COLOURS[index], hatch=hatch, edgecolor="white", linewidth=0.4)
                bottom += value
            highest = max(highest, bottom)
    axes.set_xticks(range(len(ranks)), [str(number) for number in ranks])
    axes.set_xlim(-0.6, len(ranks) - 0.4)
    axes.set_ylim(0, highest * 1.1 or 1)
    axes.set_xlabel("ranks")
    axes.grid(axis="x", visible=False)
    axes.set_title(f"{mode}: {key[0]}, {key[1]} (left measured, right hatched predicted)", fontsize=9)


def axes_finish(axes, mode, numbers):
    axes[0].set_title(f"{mode} scaling", loc="left")
    for panel in axes[:2]:
        panel.set_xscale("log", base=2)
        panel.set_xticks(numbers, [str(number) for number in numbers])
        panel.minorticks_off()
        panel.set_xlabel("ranks")
    axes[0].set_yscale("log")
    measured_top = max((value for drawn in axes[1].lines for value in drawn.get_ydata()), default=0)
    axes[1].set_ylim(0, max(118, 1.08 * measured_top))
    axes[1].axhline(100, color="black", linewidth=0.7, linestyle=(0, (4, 2)))


def legend(pyplot_lines, patches, keys, points, style):
    handles = [pyplot_lines.Line2D([], [], color=style.line(index)["color"], marker=style.line(index)["marker"], label=f"{size}, {transport}")
               for index, (size, transport) in enumerate(keys)]
    kinds = {point["kind"] for point in points}
    gray = {"color": "#505050"}
    if MEASURED in kinds:
        handles.append(pyplot_lines.Line2D([], [], marker="o", linestyle="none", label="measured, each run", **gray))
    if PREDICTED in kinds:
        handles.append(pyplot_lines.Line2D([], [], label="predicted; band: 90% of runs", **gray))
    if SIMULATED in kinds:
        handles.append(pyplot_lines.Line2D([], [], marker="x", linestyle="none", markersize=7, label="simulated", **gray))
    return handles + [patches.Patch(color=style.COLOURS[index], label=label) for index, (_, label) in enumerate(PARTS)]


def phases_key(points, keys):
    """The line whose phases are shown: measured on most ranks, then the largest size."""
    def most(key):
        return max((point["ranks"] for point in points if point["kind"] == MEASURED and point["key"] == key), default=0)
    return max(enumerate(keys), key=lambda item: (most(item[1]), item[0]))[1]


def draw(points, title, name):
    from matplotlib import lines, patches, pyplot
    import style
    keys = names(points)
    if not keys:
        raise documents.BadInput("there is no run of two ranks or more, and no prediction of one")
    modes = [mode for mode in MODES if any(point["mode"] == mode and point["ranks"] > 1 for point in points)]
    rows = -(-(len(keys) + 3 + len(PARTS)) // 4)
    height = 9.6 + 0.22 * rows
    figure, grid = pyplot.subplots(3, len(modes), figsize=(5.6 * len(modes) + 0.6, height), squeeze=False, height_ratios=(4, 3, 3))
    for column, mode in enumerate(modes):
        axes = grid[:, column]
        for index, key in enumerate(keys):
            draw_line(axes[:2], points, mode, key, style.line(index))
        numbers = sorted({point["ranks"] for point in points if point["mode"] == mode or point["ranks"] == 1})
        axes_finish(axes, mode, numbers)
        draw_phases(axes[2], points, mode, phases_key([point for point in points if point["mode"] == mode], keys), style)
    grid[0, 0].set_ylabel("µs a sweep")
    grid[1, 0].set_ylabel("efficiency against one rank, %")
    grid[2, 0].set_ylabel("µs a sweep")
    figure.legend(handles=legend(lines, patches, keys, points, style), loc="lower center", ncols=4, bbox_to_anchor=(0.5, 0.24 / height))
    origins = [point["origin"] for point in points if point["kind"] == MEASURED]
    text = style.caption(origins) if origins else "predicted" + (" and simulated" if any(p["kind"] == SIMULATED for p in points) else "")
    style.save(figure, name, text, title, legend_rows=rows)
