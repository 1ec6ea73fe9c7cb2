# SPDX-License-Identifier: MIT
"""Draws scaling studies for scripts/plot scaling: time, efficiency and phases over ranks,
measured and predicted."""

import itertools
import os
import statistics

import distributed
import documents
from naming import transport_of

MODES = ("strong", "weak")
MEASURED = "himeno-gpu"
PREDICTED = "himeno-predict/1"
# SERIES_MAX: maximum number of lines per panel. ABREAST: panels per row.
SERIES_MAX = 4
ABREAST = 4
IDEAL = (0, (4, 2))
# Parts of a sweep, from the bottom of a bar to its top.
PARTS = (
    ("interior", "interior"),
    ("boundary", "boundary"),
    ("exchange", "exposed time"),
    ("rest", "synchronisation and reduction"),
)
WORDS_OF_PRODUCTS = {"interior": "multiplying", "boundary": None}


def expand(paths):
    """Yield the paths; a folder is replaced by the documents of the study in it."""
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        folder = os.path.join(path, "runs") if os.path.isdir(os.path.join(path, "runs")) else path
        lines = os.path.join(path, "runs.jsonl")
        if folder == path and os.path.isfile(lines):
            yield lines
            continue
        found = sorted(
            name
            for name in os.listdir(folder)
            if name.endswith(".json") and not name.startswith(".")
        )
        if not found:
            raise documents.BadInput(f"{path}: no JSON document in it")
        yield from (os.path.join(folder, name) for name in found)


def median_block(document):
    result, config = document["result"], document["config"]
    samples = result.get("samples")
    return (
        statistics.median(samples) / config["block"]
        if samples
        else result["seconds"] / config["sweeps"]
    )


# ---- documents to points ----


def series_key(config, kernel, ranks):
    """Return (size, kernel, transport). One rank has no transport. A model without a kernel's name
    fits every kernel."""
    return config["size"], kernel, transport_of(config) if ranks > 1 else None


def measured(document):
    config, phases, ranks = document["config"], document["phases"], len(document["ranks"])
    if document["result"]["verdict"] not in ("pass", "slow"):
        return []
    seconds = median_block(document)
    parts = {name: phases[name]["median"] or 0 for name in ("interior", "boundary")}
    rest = max(0, seconds - sum(parts.values()))
    return [
        {
            "kind": MEASURED,
            "of": document.get("of", "sweep"),
            "mode": "weak" if config["weak"] else "strong",
            "key": series_key(config, config["kernel"], ranks),
            "ranks": ranks,
            "procs": "x".join(map(str, config["procs"])),
            "seconds": seconds,
            "gflops": document["result"]["gflops"],
            "share": document["result"]["ceiling_share"],
            "parts": {**parts, "exchange": rest, "rest": 0},
            "origin": documents.origin(document, document["ranks"][0]["device"]),
        }
    ]


def products(document):
    """Return the points of a distributed product, converted already if it is from a study."""
    return measured(document if "of" in document else distributed.as_run(document))


def predicted(document):
    """Return the predicted points. A poor model has none: readers would trust its curves."""
    if document.get("poor"):
        return []
    found, overlap = [], document.get("model", {}).get("overlap", True)
    kernel, of = (
        document.get("config", {}).get("kernel"),
        "product" if document.get("config", {}).get("program") == "gemm-gpu" else "sweep",
    )
    for point in document["predictions"]:
        if "seconds" not in point:
            continue
        terms = point["terms"]
        parts = {
            "interior": terms["interior"],
            "boundary": terms["boundary"],
            "exchange": terms["exposed_exchange"],
            "rest": terms["synchronisation"] + terms["reduction"],
        }
        found.append(
            {
                "kind": PREDICTED,
                "of": of,
                "mode": point["scaling"],
                "key": series_key({**point, "overlap": overlap}, kernel, point["ranks"]),
                "ranks": point["ranks"],
                "procs": "x".join(map(str, point["procs"])),
                "seconds": point["seconds"],
                "low": point["low"],
                "high": point["high"],
                "efficiency": point["efficiency"],
                "parts": parts,
            }
        )
    return found


READERS = {
    **dict.fromkeys(documents.RUNS, measured),
    distributed.SCHEMA: products,
    PREDICTED: predicted,
}


def read(read_documents):
    """Return all points of the documents. Points of one rank belong to both modes and to all
    transports."""
    points = []
    for path, document in read_documents:
        if document["schema"] == "comm-gpu/1":
            continue
        if document["schema"] not in READERS:
            raise documents.wrong_schema(path, document, "scaling", READERS)
        if document["schema"] == distributed.SCHEMA and not document["config"].get("distributed"):
            raise documents.BadInput(
                f"{path}: run without --distributed, so its ranks do not scale one product"
            )
        points += documents.described(path, document, READERS[document["schema"]])
    if not points:
        raise documents.BadInput(
            "no run that passed and no prediction in the documents; poor predictions are not drawn"
        )
    return points


def step(points):
    return next((point["of"] for point in points if "of" in point), "sweep")


def parts(points):
    """Return (index of the colour, part, label) of each part of a sweep that occurs in a bar."""
    words = WORDS_OF_PRODUCTS if step(points) == "product" else {}
    return [
        (index, part, words.get(part, name))
        for index, (part, name) in enumerate(PARTS)
        if words.get(part, name) and any(point["parts"][part] for point in points)
    ]


def unit(points):
    return f"µs per {step(points)}"


# ---- series ----


def fits(point, mode, size, kernel, transport):
    return (
        (point["ranks"] == 1 or point["mode"] == mode)
        and point["key"][0] == size
        and point["key"][1] in (kernel, None)
        and (point["ranks"] == 1 or point["key"][2] == transport)
    )


def of_series(points, kind, mode, key):
    """Return {ranks: points} of a line, with the fastest process grid for each number of ranks."""
    found = {}
    for point in points:
        if point["kind"] == kind and fits(point, mode, *key):
            found.setdefault(point["ranks"], {}).setdefault(point["procs"], []).append(point)
    best = {}
    for ranks, cuts in found.items():
        middles = {
            cut: statistics.median(point["seconds"] for point in some) for cut, some in cuts.items()
        }
        best[ranks] = cuts[min(middles, key=middles.get)]
    return dict(sorted(best.items()))


def names(points):
    """Return (size, kernel, transport) of each line, small sizes first."""
    found = {point["key"] for point in points if point["key"][2] and point["key"][1]}
    found |= {
        point["key"]
        for point in points
        if point["key"][2] and not any(fits(point, point["mode"], *key) for key in found)
    }
    size_order = {}
    for point in points:
        if point["ranks"] == 1:
            size_order[point["key"][0]] = min(
                point["seconds"], size_order.get(point["key"][0], float("inf"))
            )
    return sorted(found, key=lambda key: (size_order.get(key[0], 0), key[0], key[1] or "", key[2]))


def groups(points):
    """Return the panel groups: (mode, transport and kernel, keys of up to SERIES_MAX lines)."""
    keys = names(points)
    kernels = {key[1] for key in keys}
    found = []
    for mode in MODES:
        mine = [
            key
            for key in keys
            if any(point["ranks"] > 1 and fits(point, mode, *key) for point in points)
        ]
        pairs = sorted({key[1:] for key in mine}, key=lambda pair: (pair[1], pair[0] or ""))
        for kernel, transport in pairs:
            lines = [key for key in mine if key[1:] == (kernel, transport)]
            name = transport + (f", {kernel}" if kernel and len(kernels) > 1 else "")
            found += [
                (mode, name, lines[first : first + SERIES_MAX])
                for first in range(0, len(lines), SERIES_MAX)
            ]
    return found


def middle(some):
    return statistics.median(point["seconds"] for point in some)


def efficiencies(line, mode, instead=None):
    """Return {ranks: efficiency}, relative to one rank of this line or, if it has none, of line
    `instead`."""
    first = line.get(1) or (instead or {}).get(1)
    if not first:
        return {}
    alone = middle(first)
    return {
        ranks: alone / middle(some) / (1 if mode == "weak" else ranks)
        for ranks, some in line.items()
    }


# ---- drawing ----


def line_styles_of(points, style):
    """Return {size: colour and marker}, which are the same in all panels."""
    return {
        size: style.line(index)
        for index, size in enumerate(dict.fromkeys(key[0] for key in names(points)))
    }


def label_of(mode, key, some, share):
    """Return the tooltip of a measured point."""
    point = some[0]
    time, rate = middle(some), statistics.median(one["gflops"] for one in some)
    ceiling = [one["share"] for one in some if one["share"] is not None]
    words = [f"{1e6 * time:.4g} {unit(some)}", f"{rate:.4g} GFLOPS"]
    words += (
        [
            f"{100 * statistics.median(ceiling):.1f}% of the "
            f"{'peak' if point['of'] == 'product' else 'ceiling'}"
        ]
        if ceiling
        else []
    )
    words += [f"efficiency {100 * share:.1f}%"] if share else []
    ranks = "1 rank" if point["ranks"] == 1 else f"{point['ranks']} ranks ({point['procs']})"
    return (
        f"{key[0]}, {mode}, {key[2]}, {ranks}: {', '.join(words)}; "
        f"{'1 run' if len(some) == 1 else f'median of {len(some)} runs'}"
    )


def draw_measured(time, efficiency, points, mode, key, line_style, style):
    """Draw the joined medians, bars from minimum to maximum, and the dashed ideal."""
    line = of_series(points, MEASURED, mode, key)
    if not set(line) - {1}:
        return
    share = efficiencies(line, mode)
    plain = {"color": line_style["color"], "linewidth": 1.4}
    time.plot(list(line), [1e6 * middle(some) for some in line.values()], **plain)
    efficiency.plot(list(share), [100 * value for value in share.values()], **plain)
    if 1 in line:
        alone = 1e6 * middle(line[1])
        time.plot(
            list(line),
            [alone / (1 if mode == "weak" else ranks) for ranks in line],
            color=line_style["color"],
            linewidth=0.8,
            linestyle=IDEAL,
        )
    mark = {
        "color": line_style["color"],
        "marker": line_style["marker"],
        "markersize": 5,
        "zorder": 3,
    }
    for ranks, some in line.items():
        seconds = [1e6 * point["seconds"] for point in some]
        if len(some) > 1:
            time.plot([ranks, ranks], [min(seconds), max(seconds)], **plain)
        text = label_of(mode, key, some, share.get(ranks))
        style.titled(*time.plot([ranks], [statistics.median(seconds)], **mark), text)
        if ranks in share:
            if len(some) > 1:
                ends = [100 * share[ranks] * statistics.median(seconds) / end for end in seconds]
                efficiency.plot([ranks, ranks], [min(ends), max(ends)], **plain)
            style.titled(*efficiency.plot([ranks], [100 * share[ranks]], **mark), text)


def draw_predicted(time, efficiency, points, mode, key, line_style, style):
    """Draw predictions as diamonds with a line and a band. One rank alone shows no scaling."""
    line = of_series(points, PREDICTED, mode, key)
    if not set(line) - {1}:
        return
    ranks, one = list(line), [some[0] for some in line.values()]
    plain = {
        "color": line_style["color"],
        "linewidth": 0.9,
        "linestyle": "-.",
        "marker": "D",
        "markersize": 4,
        "markerfacecolor": "none",
    }
    text = f"{key[0]}, {mode}, {key[2]}: predicted"
    style.titled(*time.plot(ranks, [1e6 * point["seconds"] for point in one], **plain), text)
    style.titled(
        *efficiency.plot(ranks, [100 * point["efficiency"] for point in one], **plain), text
    )
    if all(point["low"] and point["high"] for point in one):
        band = {"color": line_style["color"], "alpha": 0.18}
        times = [[1e6 * point[end] for point in one] for end in ("low", "high")]
        shares = [
            [100 * point["efficiency"] * point["seconds"] / point[end] for point in one]
            for end in ("high", "low")
        ]
        for axes, (low, high) in ((time, times), (efficiency, shares)):
            if len(one) > 1:
                axes.fill_between(ranks, low, high, linewidth=0, **band)
            else:  # an area over a single rank count has no width
                axes.plot(2 * ranks, low + high, linewidth=8, solid_capstyle="butt", **band)


def draw_curves(time, efficiency, points, group, style):
    """Draw a group's time and efficiency over the number of ranks."""
    mode, name, keys = group
    line_styles = line_styles_of(points, style)
    for key in keys:
        for draw_kind in (draw_measured, draw_predicted):
            draw_kind(time, efficiency, points, mode, key, line_styles[key[0]], style)
    numbers = sorted(
        {point["ranks"] for point in points for key in keys if fits(point, mode, *key)}
    )
    for axes, label, what in (
        (time, unit(points), f"time per {step(points)}"),
        (efficiency, "efficiency, %", "efficiency"),
    ):
        axes.set_title(f"{mode} scaling, {name}: {what}", loc="left", fontsize=9)
        axes.set_xscale("log", base=2)
        axes.set_xticks(numbers, [str(number) for number in numbers])
        axes.minorticks_off()
        axes.set_xlabel("ranks")
        axes.set_ylabel(label)
    time.set_yscale("log")
    style.plain_ticks(time.yaxis)
    without = [
        key[0] for key in keys if 1 not in (of_series(points, MEASURED, mode, key) or {1: None})
    ]
    if without:
        efficiency.set_xlabel(f"ranks (no efficiency of {', '.join(without)}: not run on one rank)")
    drawn = efficiency.lines or efficiency.collections
    efficiency.set_ylim(0, max(110, 1.08 * efficiency.dataLim.y1 if drawn else 0))
    efficiency.axhline(100, color="black", linewidth=0.8, linestyle=IDEAL)
    for axes in (time, efficiency):
        style.whole_markers(axes)


def draw_phases(axes, points, mode, key, style):
    """Draw the phases as a bar per number of ranks, and hatched predictions next to them."""
    lines = [of_series(points, kind, mode, key) for kind in (MEASURED, PREDICTED)]
    ranks = sorted(
        set(lines[0])
        | {number for number in lines[1] if not lines[0] or number <= 4 * max(lines[0])}
    )
    highest = 0
    for offset, line, kind in ((-0.2, lines[0], "measured"), (0.2, lines[1], "predicted")):
        for place, number in itertools.product(range(len(ranks)), line):
            if ranks[place] != number:
                continue
            bottom, both = 0, number in lines[0] and number in lines[1]
            for index, part, name in parts(points):
                value = 1e6 * statistics.median(point["parts"][part] for point in line[number])
                (bar,) = axes.bar(
                    place + offset * both,
                    value,
                    0.36 if both else 0.6,
                    bottom=bottom,
                    color=style.PARTS[index],
                    hatch="///" if kind == "predicted" else None,
                    edgecolor="white",
                    linewidth=0.4,
                )
                if value:
                    style.titled(
                        bar,
                        f"{key[0]}, {mode}, {key[2]}, {number} rank{'s' * (number > 1)}, {kind}: "
                        f"{name} {value:.4g} µs",
                    )
                bottom += value
            highest = max(highest, bottom)
    axes.set_xticks(range(len(ranks)), [str(number) for number in ranks])
    axes.set_xlim(-0.6, len(ranks) - 0.4)
    axes.set_ylim(0, highest * 1.1 or 1)
    axes.set_xlabel("ranks")
    axes.set_ylabel(unit(points))
    axes.grid(axis="x", visible=False)
    axes.set_title(f"{key[0]}, {mode}, {key[2]}", loc="left", fontsize=9)


def with_phases(points, group):
    return [
        key
        for key in group[2]
        if any(of_series(points, kind, group[0], key) for kind in (MEASURED, PREDICTED))
    ]


def legend(points, keys, style, line_styles):
    """Return the legend's handles: one per size, and one per kind of point."""
    from matplotlib import lines

    kinds = {point["kind"] for point in points}
    gray = {"color": "#505050", "xdata": [], "ydata": []}
    handles = [
        lines.Line2D(
            [], [], color=line_styles[size]["color"], marker=line_styles[size]["marker"], label=size
        )
        for size in dict.fromkeys(key[0] for key in keys)
    ]
    if MEASURED in kinds:
        handles.append(lines.Line2D(marker="o", label="measured: median, min to max", **gray))
        handles.append(lines.Line2D(linestyle=IDEAL, linewidth=0.9, label="ideal", **gray))
    if PREDICTED in kinds:
        handles.append(
            lines.Line2D(
                linestyle="-.",
                linewidth=0.9,
                marker="D",
                markersize=4,
                markerfacecolor="none",
                label="predicted; band: 90% of runs",
                **gray,
            )
        )
    return handles


def draw(points, title, name):
    """Draw one column per panel group: time, efficiency, and the phases of each line."""
    from matplotlib import patches, pyplot
    import style

    shown = groups(points)
    if not shown:
        raise documents.BadInput("no run or prediction of two ranks or more")
    bands = [shown[first : first + ABREAST] for first in range(0, len(shown), ABREAST)]
    rows = [2 + max(len(with_phases(points, group)) for group in band) for band in bands]
    columns = max(len(band) for band in bands)
    figure = pyplot.figure(figsize=(max(5.5, 3.5 * columns), 2.5 * sum(rows) + 1))
    grid = figure.add_gridspec(sum(rows), columns)
    for band, top in zip(bands, itertools.accumulate(rows, initial=0)):
        for column, group in enumerate(band):
            draw_curves(
                figure.add_subplot(grid[top, column]),
                figure.add_subplot(grid[top + 1, column]),
                points,
                group,
                style,
            )
            for row, key in enumerate(with_phases(points, group), top + 2):
                draw_phases(figure.add_subplot(grid[row, column]), points, group[0], key, style)
    phased = any(with_phases(points, group) for group in shown)
    bars = [
        patches.Patch(color=style.PARTS[index], label=label)
        for index, _, label in parts(points)
        if phased
    ]
    legend_rows = style.legend(
        figure, legend(points, names(points), style, line_styles_of(points, style)) + bars
    )
    origins = [point["origin"] for point in points if point["kind"] == MEASURED]
    text = style.caption(origins) if origins else "predicted"
    hatched = (
        " · hatched: predicted" if phased and any(p["kind"] == PREDICTED for p in points) else ""
    )
    style.save(figure, name, text + hatched, title, legend_rows=legend_rows)
