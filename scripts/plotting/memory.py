# SPDX-License-Identifier: MIT
"""Draws the copies, latency and roofline of a mem-gpu document, for scripts/plot."""

import math

import documents

PLAIN = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
PREFIXES = ("", "Ki", "Mi", "Gi", "Ti")
# Minimum distance of labels: LABEL_SPACE in pixels for kernels, PEAK_SPACE as a factor for peaks.
LABEL_SPACE = 16
PEAK_SPACE = 1.4


def bytes_text(value):
    place = 0
    while value >= 1024 and place + 1 < len(PREFIXES):
        value /= 1024
        place += 1
    return f"{value:.3g} {PREFIXES[place]}B"


# ---- reading ----


def copies(document):
    """Return the cyclic copies with the first numbers of threads and blocks, for all sizes."""
    section = document["copies"]
    points, first = section["points"], section["points"][0]
    same = [
        point
        for point in points
        if point["assign"] == "cyclic"
        and point["threads"] == first["threads"]
        and point["blocks"] == first["blocks"]
    ]
    curves = {}
    for point in same:
        curves.setdefault((point["width"], point["streams"], point["paced"]), []).append(
            (point["bytes"], point["gbps"]["median"])
        )
    return {
        "curves": {key: sorted(found) for key, found in curves.items()},
        "widths": sorted({key[0] for key in curves}),
        "single": [
            (one["bytes"], one["native_gbps"]["median"], one["tuned_gbps"]["median"])
            for one in section["ways"]
        ],
        "native": section["ways"][0]["native"],
        "pacing": section["pacing"],
        "shape": f"{first['threads']} threads, {first['blocks']} blocks per multiprocessor",
        "cache": document["device"]["cache_bytes"],
    }


def latency(document):
    section = document["latency"]
    curves = [
        {
            "stride": curve["stride"],
            "bytes": [point["bytes"] for point in curve["points"]],
            "ns": [point["ns"] for point in curve["points"]],
        }
        for curve in section["curves"]
    ]
    return {
        "curves": curves,
        "levels": [
            (level["kind"], level["name"], level["ns"], level["bytes"])
            for level in section["levels"]
        ],
        "strides": [level["stride"] for level in section["levels"]],
    }


def roofline(document):
    section = document["roofline"]
    points = {}
    for point in section["points"]:
        points.setdefault(point["type"], []).append((point["intensity"], point["gflops"]["median"]))
    return {
        "levels": [(level["level"], level["gbps"]["median"]) for level in section["levels"]],
        "peaks": [(peak["type"], peak["gflops"]) for peak in section["peaks"]],
        "points": points,
        "kernels": [
            {
                "name": one["name"],
                "x": one["intensity"],
                "y": one["gflops"],
                "counted": "counters" in one["traffic"],
            }
            for one in section["kernels"]
        ],
    }


BUILDERS = {"copies": copies, "latency": latency, "roofline": roofline}


def read(kind, read_documents):
    """Return the data of exactly one document."""
    path, document = documents.only(read_documents, "mem-gpu", kind)
    if not document.get(kind):
        raise documents.BadInput(f"{path}: no {kind} in it: run mem-gpu --{kind}")
    return documents.described(
        path,
        document,
        lambda document: {
            **BUILDERS[kind](document),
            "backend": document["config"]["backend"],
            "origin": documents.origin(document, document["device"]["name"]),
        },
    )


# ---- copies ----


def draw_copy_panel(axes, data, width, n, style):
    """Draw the rates of copies of one width: with `n` streams, paced and unpaced, by the driver,
    and by the program's tuned copy."""
    for paced, line_style in (
        (False, {**style.line(0), "markersize": 4}),
        (True, {**style.line(1), "markersize": 4, "markerfacecolor": "white"}),
    ):
        points = data["curves"].get((width, n, paced))
        if points:
            axes.plot(*zip(*points), label="paced" if paced else "unpaced", **line_style)
    only = "." if len(data["single"]) == 1 else ""
    for place, (label, line_style) in enumerate(
        (
            (data["native"], style.CEILING),
            ("copy kernel of mem-gpu", {**style.CEILING, "linestyle": ":"}),
        ),
        1,
    ):
        axes.plot(
            [row[0] for row in data["single"]],
            [row[place] for row in data["single"]],
            label=label,
            marker=only,
            **line_style,
        )
    axes.set_xscale("log", base=2)
    axes.set_title(
        f"{n} stream{'s' if n > 1 else ''}, {width or 4096} B per thread", loc="left", fontsize=9
    )
    label_bytes(axes)


def label_bytes(axes):
    """Label an axis of bytes at powers of two that are several octaves apart."""
    low, high = (math.log2(limit) for limit in axes.get_xlim())
    step = max(2, 2 * math.ceil((high - low) / 14))
    ticks = [2**power for power in range(math.ceil(low / 2) * 2, math.floor(high) + 1, step)]
    axes.set_xticks(
        ticks,
        [bytes_text(tick) for tick in ticks],
        rotation=30,
        ha="right",
        rotation_mode="anchor",
        fontsize=8,
    )
    axes.minorticks_off()


def draw_pacing(axes, data, style):
    for index, width in enumerate(data["widths"]):
        mine = [one for one in data["pacing"] if one["width"] == width]
        if not mine:
            continue
        places = [place + 0.06 * (2 * index - 1) for place in range(len(mine))]
        middles = [100 * one["ratio"] for one in mine]
        line_style = style.line(2 + index)  # the panels above use the first two styles
        axes.errorbar(
            places,
            middles,
            yerr=[
                [m - 100 * one["min"] for m, one in zip(middles, mine)],
                [100 * one["max"] - m for m, one in zip(middles, mine)],
            ],
            capsize=4,
            label=f"{width or 4096} B per thread",
            **line_style,
        )
        axes.set_xticks(range(len(mine)), [one["streams"] for one in mine])
    axes.set_xlim(-0.5, axes.get_xlim()[1] + 0.3)
    axes.axhline(100, **style.CEILING)
    axes.set_xlabel("streams")
    axes.set_ylabel("paced rate, % of unpaced")
    axes.set_title(
        "Gain by pacing for sizes beyond the caches: median, minimum and maximum over sizes",
        loc="left",
    )
    axes.margins(y=0.3)
    axes.legend(loc="lower right", ncols=2)


def draw_copies(data, style):
    from matplotlib import pyplot

    shapes = sorted({key[:2] for key in data["curves"]})
    columns = max(
        2, min(5, max(sum(shape[0] == width for shape in shapes) for width in data["widths"]))
    )
    rows = -(-len(shapes) // columns)
    figure = pyplot.figure(
        figsize=(2.6 * columns + 0.6, 2.5 * rows + (2.9 if data["pacing"] else 0) + 0.7)
    )
    grid = figure.add_gridspec(rows + bool(data["pacing"]), columns)
    first = None
    for place, shape in enumerate(shapes):
        first = figure.add_subplot(grid[place // columns, place % columns], sharey=first)
        draw_copy_panel(first, data, *shape, style)
        if place % columns == 0:
            first.set_ylabel("GB/s, read + written")
        if place + columns >= len(shapes):
            first.set_xlabel("size of the copy")
    first.set_ylim(0, first.get_ylim()[1])
    for panel in figure.axes:
        style.whole_markers(panel)
    legend_rows = style.legend(figure, style.labelled(*figure.axes))
    if data["pacing"]:
        draw_pacing(figure.add_subplot(grid[rows, :]), data, style)
    return figure, legend_rows, data["shape"]


# ---- latency ----


def draw_level(axes, level, greatest, last_end, curve):
    """Mark a level. A dotted line shows where a cache ends, with the cache's name on the free side;
    a line up from the curve shows where a TLB ends."""
    kind, name, ns, end = level
    if kind == "memory":
        axes.annotate(
            f"{name} {ns:.0f} ns",
            (axes.get_xlim()[1], ns),
            xytext=(-4, 7),
            textcoords="offset points",
            ha="right",
            fontsize=8.5,
            zorder=4,
            bbox=PLAIN,
        )
        return
    if kind == "cache":
        axes.axvline(end, color="black", linewidth=0.9, linestyle=(0, (1, 2)))
        side, align = (1, "left") if last_end and end < 8 * last_end else (-1, "right")
        axes.annotate(
            f"{name} {ns:.3g} ns\nto {bytes_text(end)}",
            (end, greatest * 3.6),
            xytext=(4 * side, 0),
            textcoords="offset points",
            ha=align,
            va="top",
            fontsize=8.5,
        )
        return
    across = axes.transAxes.inverted().transform(axes.transData.transform((end, ns)))[0]
    at_end = min(zip(curve["bytes"], curve["ns"]), key=lambda point: abs(math.log(point[0] / end)))[
        1
    ]
    axes.plot([end, end], [at_end, greatest * 2], color="#606060", linewidth=0.9)
    axes.annotate(
        f"{name} +{ns:.2g} ns\nbeyond {bytes_text(end)}",
        (end, greatest * 2),
        xytext=(-4 if across > 0.8 else 4, 0),
        textcoords="offset points",
        ha="right" if across > 0.8 else "left",
        va="top",
        fontsize=8.5,
        zorder=4,
        bbox=PLAIN,
    )


def draw_latency(data, style):
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5.3))
    for index, curve in enumerate(data["curves"]):
        line_style = dict(style.line(index), markersize=3.2, linewidth=1.1, markevery=2)
        axes.plot(
            curve["bytes"], curve["ns"], label=f"stride {bytes_text(curve['stride'])}", **line_style
        )
    greatest = max(max(curve["ns"]) for curve in data["curves"])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(top=greatest * 3.8)
    ends = [level[3] if level[0] == "cache" else None for level in data["levels"]]
    axes.set_xlim(axes.get_xlim())
    by_stride = {curve["stride"]: curve for curve in data["curves"]}
    for level, last_end, stride in zip(data["levels"], [None] + ends, data["strides"]):
        draw_level(axes, level, greatest, last_end, by_stride[stride])
    style.plain_ticks(axes.yaxis)
    label_bytes(axes)
    axes.set_xlabel("footprint of the pointer chase")
    axes.set_ylabel("latency, ns per load")
    return figure, style.legend(figure, style.labelled(axes)), "random order"


# ---- roofline ----


def label_kernels(axes, kernels):
    """Number kernels from left to right and top to bottom. Kernels close to each other share a
    label below them."""
    kernels.sort(key=lambda one: (one["x"], -one["y"]))
    groups = []
    for number, one in enumerate(kernels, 1):
        one["number"], (x, y) = number, axes.transData.transform((one["x"], one["y"]))
        near = [
            group
            for group in groups
            if any(
                abs(x - other[0]) < LABEL_SPACE and abs(y - other[1]) < LABEL_SPACE
                for other in group
            )
        ]
        if near:
            near[0].append((x, y, number))
        else:
            groups.append([(x, y, number)])
    for group in groups:
        numbers = [number for _, _, number in group]
        text = (
            f"{numbers[0]}–{numbers[-1]}"
            if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1
            else ", ".join(map(str, numbers))
        )
        x, y = sum(x for x, _, _ in group) / len(group), min(y for _, y, _ in group)
        axes.annotate(
            text,
            axes.transData.inverted().transform((x, y)),
            xytext=(0, -6),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8,
            zorder=4,
            bbox=PLAIN,
        )


def rate_text(rate, unit):
    return f"{rate / 1e3:.3g} T{unit}" if rate >= 1e3 else f"{rate:.3g} G{unit}"


def merged_peaks(peaks):
    """Return [(rate, text)]. Types with nearly the same peak share a label."""
    found = []
    for name, rate in sorted(peaks, key=lambda peak: -peak[1]):
        if found and rate * PEAK_SPACE > found[-1][0]:
            found[-1] = (found[-1][0], f"{found[-1][1]}, {name} {rate_text(rate, 'FLOPS')}")
        else:
            found.append((rate, f"{name} {rate_text(rate, 'FLOPS')}"))
    return found


def draw_ceilings(axes, data, low, high):
    """Draw the slopes of the memory levels and the flat peaks. The axes' limits must be set
    already, because labels follow the slopes."""
    peak = max(rate for _, rate in data["peaks"])
    (x0, y0), (x1, y1) = axes.transData.transform([(low, low), (high, high)])
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    for place, (name, rate) in enumerate(data["levels"]):
        dashes = ("-", "--", "-.")[len(data["levels"]) - 1 - place]
        axes.plot(
            [low, peak / rate], [low * rate, peak], color="black", linewidth=1.3, linestyle=dashes
        )
        axes.annotate(
            f"{name} {rate_text(rate, 'B/s')}",
            (low * 1.25, low * 1.25 * rate),
            xytext=(0, 4),
            textcoords="offset points",
            ha="left",
            va="bottom",
            rotation=angle,
            rotation_mode="anchor",
            fontsize=8.5,
        )
    steepest = max(rate for _, rate in data["levels"])
    for _, rate in data["peaks"]:
        axes.plot([rate / steepest, high], [rate, rate], color="black", linewidth=1.1)
    for rate, text in merged_peaks(data["peaks"]):
        axes.annotate(
            text,
            (high, rate),
            xytext=(-3, 3),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=8.5,
            zorder=2.5,
            bbox=PLAIN,
        )


def draw_roofline(data, style):
    from matplotlib import pyplot

    kernels = data["kernels"]
    rows = -(-len(kernels) // 4)
    height = 6.5 + 0.2 * rows
    figure, axes = pyplot.subplots(figsize=(8, height))
    every = [point for points in data["points"].values() for point in points] + [
        (one["x"], one["y"]) for one in kernels
    ]
    low, high = min(x for x, _ in every) / 1.4, max(x for x, _ in every) * 1.6
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(
        0.45 * min(y for _, y in every),
        2.6 * max([rate for _, rate in data["peaks"]] + [y for _, y in every]),
    )
    figure.tight_layout(rect=(0, (0.3 + 0.22 * rows * 0.82) / height, 1, 1 - 0.32 / height))
    draw_ceilings(axes, data, low, high)
    for index, (name, points) in enumerate(data["points"].items()):
        line_style = dict(
            style.line(index), linestyle="none", markersize=5, markerfacecolor="white", zorder=3
        )
        axes.plot(
            [x for x, _ in points], [y for _, y in points], label=f"measured, {name}", **line_style
        )
    for one in kernels:
        axes.plot(
            one["x"],
            one["y"],
            marker="*",
            markersize=9,
            color="black",
            markeredgecolor="white",
            markeredgewidth=0.5,
            zorder=3.5,
        )
    label_kernels(axes, kernels)
    ticks = [2.0**power for power in range(-4, 10)]
    axes.set_xticks(
        [tick for tick in ticks if low <= tick <= high],
        [f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}" for tick in ticks if low <= tick <= high],
    )
    axes.minorticks_off()
    axes.set_xlabel("arithmetic intensity, flop per byte of device memory")
    axes.set_ylabel("GFLOPS")
    axes.legend(loc="upper left")
    text = [f"{one['number']} {one['name']}{' +' if one['counted'] else ''}" for one in kernels]
    for column in range(4):
        part = text[column * rows : (column + 1) * rows]
        figure.text(
            0.06 + 0.235 * column,
            0.34 / height,
            "\n".join(part + [""] * (rows - len(part))),
            fontsize=8,
            va="bottom",
            linespacing=1.3,
        )
    extra = " · ★ kernels of the suite" + (
        " · + traffic measured by hardware counters"
        if any(one["counted"] for one in kernels)
        else ""
    )
    return figure, rows * 0.82, extra[len(" · ") :] if kernels else ""


def draw(kind, data, title, name):
    import style

    figure, rows, extra = {
        "copies": draw_copies,
        "latency": draw_latency,
        "roofline": draw_roofline,
    }[kind](data, style)
    words = [word for word in (data["backend"], extra) if word]
    style.save(
        figure,
        name,
        style.caption([data["origin"]], " · " + " · ".join(words)),
        title,
        legend_rows=rows,
    )
