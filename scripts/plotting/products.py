# SPDX-License-Identifier: MIT
"""Draws the share of the peak, measured and predicted, of gemm-gpu's ladders, for scripts/plot
products."""

import documents
import memory

SCHEMAS = ("gemm-ladder/2", "gemm-ladder/1")


def share(value):
    return None if value is None else 100 * value


def point(size, rung):
    """Return a point of a kernel's line. Its size is named m, or mxnxk if they differ."""
    name = (
        str(size["m"])
        if size["m"] == size["n"] == size["k"]
        else f"{size['m']}x{size['n']}x{size['k']}"
    )
    predicted = rung["predicted"] and share(rung["predicted"]["peak_share"])
    return {
        "size": name,
        "measured": share(rung["peak_share"]),
        "predicted": predicted,
        "ends": [
            share(rate / rung["gflops"] * rung["peak_share"]) for rate in documents.ends(rung)
        ],
    }


def panel(document):
    """Return the panel of a document: its kernels in the ladder's order, with their points."""
    config, lines = document["config"], {}
    for size in document["sizes"]:
        for rung in size["rungs"]:
            if rung["verdict"] == "pass" and rung["peak_share"] is not None:
                one = lines.setdefault(
                    rung["kernel"],
                    {"kernel": rung["kernel"], "yardstick": rung["yardstick"], "points": []},
                )
                one["points"].append(point(size, rung))
    ranks = f", {config['ranks']} ranks" if config["ranks"] > 1 else ""
    sizes = list(dict.fromkeys(one["size"] for line in lines.values() for one in line["points"]))
    return {
        "name": f"{config['backend']}, {config['type']} {config['trans']}{ranks}",
        "sizes": sizes,
        "lines": list(lines.values()),
        "peak": document["ceilings"]["gflops"],
        "origin": documents.origin(document, config["device"]),
    }


def read(read_documents):
    """Return one panel per document."""
    panels = []
    for path, document in read_documents:
        if document["schema"] not in SCHEMAS:
            raise documents.wrong_schema(path, document, "products", SCHEMAS)
        found = documents.described(path, document, panel)
        if not found["lines"]:
            raise documents.BadInput(f"{path}: no kernel in it has a share of peak")
        panels.append(found)
    return panels


def draw_lines(axes, one, style, line_styles):
    """Draw measured values as markers on full lines, predictions as thin dashes of their colour."""
    for line in one["lines"]:
        line_style = line_styles[line["kernel"]]
        places = [one["sizes"].index(spot["size"]) for spot in line["points"]]
        axes.plot(places, [spot["measured"] for spot in line["points"]], **line_style)
        for place, spot in zip(places, line["points"]):
            style.range_bar(axes, place, spot["ends"], False, line_style["color"])
        predicted = [
            (place, spot["predicted"])
            for place, spot in zip(places, line["points"])
            if spot["predicted"]
        ]
        axes.plot(
            [place for place, _ in predicted],
            [value for _, value in predicted],
            color=line_style["color"],
            linestyle=(0, (2, 2)),
            linewidth=1,
        )
    axes.set_xticks(range(len(one["sizes"])), one["sizes"])
    axes.set_xlim(-0.4, len(one["sizes"]) - 0.6)
    axes.set_xlabel(
        "size, m = n = k" if all(size.isdigit() for size in one["sizes"]) else "size, m×n×k"
    )
    axes.set_ylabel("share of peak, %")
    axes.set_ylim(bottom=0)


def draw_bars(axes, one, style):
    """Draw one size: a bar per kernel, and a tick at the model's prediction."""
    spots = [line["points"][0] for line in one["lines"]]
    for place, (line, spot) in enumerate(zip(one["lines"], spots)):
        axes.barh(
            place,
            spot["measured"],
            height=0.62,
            **(style.LIBRARY if line["yardstick"] else style.CLASSIC),
        )
        style.range_bar(axes, place, spot["ends"])
        if spot["predicted"]:
            axes.plot(
                [spot["predicted"]] * 2, [place - 0.42, place + 0.42], color="black", linewidth=1.8
            )
    axes.set_xlim(0, max(105, axes.get_xlim()[1]))
    axes.set_xlabel("share of peak, %")
    style.bar_axis(
        axes,
        [line["kernel"] for line in one["lines"]],
        [f"{spot['measured']:.1f}%" for spot in spots],
        "of peak",
    )


def legend(panels, lines, line_styles, style):
    """Draw the legend: the kernels of panels with lines, and the meaning of bars and ticks."""
    from matplotlib import patches

    bars, curves = (
        [line for one in panels if (len(one["sizes"]) == 1) == is_bar for line in one["lines"]]
        for is_bar in (True, False)
    )
    handles = [
        lines.Line2D([], [], label=kernel, **line_styles[kernel])
        for kernel in dict.fromkeys(line["kernel"] for line in curves)
    ]
    if curves:
        handles.append(
            lines.Line2D(
                [], [], label="predicted", color="black", linestyle=(0, (2, 2)), linewidth=1
            )
        )
    for is_library, label in ((False, "kernels of the suite"), (True, "reference library")):
        if any(line["yardstick"] == is_library for line in bars):
            handles.append(
                patches.Patch(label=label, **(style.LIBRARY if is_library else style.CLASSIC))
            )
    if any(line["points"][0]["predicted"] for line in bars):
        handles.append(
            lines.Line2D(
                [],
                [],
                label="predicted by the model",
                color="black",
                linestyle="none",
                marker="|",
                markersize=11,
                markeredgewidth=1.8,
            )
        )
    if any(point["ends"] for line in bars + curves for point in line["points"]):
        handles.append(
            lines.Line2D(
                [], [], label="90% of the timed blocks", color="black", marker="|", linewidth=1
            )
        )
    return handles


def draw(panels, title, name):
    from matplotlib import lines, pyplot
    import style

    kernels = dict.fromkeys(
        (line["kernel"], line["yardstick"]) for one in panels for line in one["lines"]
    )
    black = {"color": "black", "marker": "x", "linestyle": "-", "linewidth": 1, "markersize": 6}
    line_styles = {
        kernel: black if is_library else style.line(index)
        for index, (kernel, is_library) in enumerate(kernels)
    }
    columns = min(2, len(panels))
    handles = legend(panels, lines, line_styles, style)
    figure, grid = pyplot.subplots(
        -(-len(panels) // columns),
        columns,
        squeeze=False,
        figsize=(
            5.2 * columns,
            3.9 * -(-len(panels) // columns) + 0.7 + 0.1 * len(handles) / columns,
        ),
    )
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, one in zip(grid.flat, panels):
        if len(one["sizes"]) == 1:
            draw_bars(axes, one, style)
        else:
            draw_lines(axes, one, style, line_styles)
            style.whole_markers(axes)
        size = f", size {one['sizes'][0]}" if len(one["sizes"]) == 1 else ""
        axes.set_title(
            f"{one['name']}{size}: peak {memory.rate_text(one['peak'], 'FLOPS')}",
            loc="left",
            fontsize=9,
        )
    style.save(
        figure,
        name,
        style.caption([one["origin"] for one in panels]),
        title,
        legend_rows=style.legend(figure, handles),
    )
