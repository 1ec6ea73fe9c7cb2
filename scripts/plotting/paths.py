# SPDX-License-Identifier: MIT
"""Draws the matrices of pairs and the curves of a comm-gpu document, for scripts/plot paths."""

import documents
import host
import memory

CURVES_MAX = 4
LEGEND_SHARE = 0.45  # part of a panel's height, above the points, for the legend
# A fit is not drawn if the root mean square of its relative errors exceeds this.
FIT_POOR = 0.2
# ABREAST: matrices per row. HALVES: latencies are above the diagonal, bandwidths below.
ABREAST = 4
HALVES = (
    (lambda row, column: row < column, "Oranges"),
    (lambda row, column: row > column, "Blues"),
)


def fitted(path):
    """Return [(bytes, seconds)] along the fit, or None if there is no fit or it is poor."""
    low, high = path["points"][0]["bytes"], path["points"][-1]["bytes"]
    sizes = [low * (high / low) ** (step / 60) for step in range(61)]
    fit = path["fit"]
    return (
        None
        if not fit or fit["residual"] > FIT_POOR
        else [(size, fit["latency_seconds"] + size / fit["bytes_per_second"]) for size in sizes]
    )


def curve(path, name, kind):
    return {
        "name": name,
        "kind": kind,
        "series": name if kind == "host" else path["way"],
        "fit": fitted(path),
        "bytes": [one["bytes"] for one in path["points"]],
        "seconds": [one["seconds"] for one in path["points"]],
    }


def pair_name(path):
    load = "" if path["company"] == "alone" else ", all pairs at once"
    direction = ", one direction" if path["direction"] == "one" else ""
    return f"{path['way']}, ranks {path['rank']}–{path['peer']}{direction}{load}"


def curves(document):
    """Return the curves of rank 0's isolated host copies, and per transport, load and direction the
    curve of the pair with the most sizes."""
    found = [
        curve(path, f"{path['way']} host memory, {host.DIRECTIONS[path['direction']]}", "host")
        for path in document["host"]
        if path["rank"] == 0 and path["company"] == "alone" and path["direction"] != "both"
    ]
    alike = {}
    for path in document["pairs"]:
        alike.setdefault((path["way"], path["company"], path["direction"]), []).append(path)
    for key, paths in alike.items():
        longest = max(paths, key=lambda path: len(path["points"]))
        found.append(curve(longest, pair_name(longest), key[1:]))
    return found


def matrix(document, transport):
    """Return a transport's matrix: µs of the smallest transfer above the diagonal, GB/s of the
    largest below."""
    ranks = len(document["ranks"])
    cells = {}
    for path in document["pairs"]:
        if path["way"] != transport or path["direction"] != "both":
            continue
        low, high = sorted((path["rank"], path["peer"]))
        if (low, high) in cells and path["company"] != "alone":
            continue
        cells[low, high] = path["points"][0]["seconds"] * 1e6
        cells[high, low] = path["points"][-1]["gbps"]
    return {"transport": transport, "ranks": ranks, "cells": cells}


def one(document):
    transports = list(dict.fromkeys(path["way"] for path in document["pairs"]))
    return {
        "matrices": [matrix(document, transport) for transport in transports],
        "curves": curves(document),
        "origin": documents.origin(document, document["ranks"][0]["device"]),
        "backend": document["config"]["backend"],
    }


def read(read_documents):
    """Return the data of exactly one document."""
    path, document = documents.only(read_documents, "comm-gpu", "paths")
    data = documents.described(path, document, one)
    if not data["curves"]:
        raise documents.BadInput(
            f"{path}: no path between host and device or between devices was measured"
        )
    return data


def draw_matrix(axes, matrix_data, limits):
    """Draw each half in its own colour map, darker for larger values. Pairs without a measurement
    stay empty."""
    n, cells = matrix_data["ranks"], matrix_data["cells"]
    for (is_half, colours), limit in zip(HALVES, limits):
        shown = [
            [
                cells.get((row, column), float("nan")) if is_half(row, column) else float("nan")
                for column in range(n)
            ]
            for row in range(n)
        ]
        axes.imshow(shown, cmap=colours, vmin=0, vmax=1.8 * limit)
    for (row, column), value in cells.items():
        axes.text(
            column, row, f"{value:.3g}", ha="center", va="center", fontsize=max(4, 9 - n // 3)
        )
    axes.set_xticks(range(n))
    axes.set_yticks(range(n))
    axes.grid(visible=False)
    axes.set_title(f"{matrix_data['transport']}: µs \\ GB/s", fontsize=9)
    axes.set_xlabel("rank")
    axes.set_ylabel("rank")


def title_of(kind):
    if kind == "host":
        return "between host and device"
    company, direction = kind
    return (
        f"{'one pair' if company == 'alone' else 'all pairs at once'}, "
        f"{'both directions at once' if direction == 'both' else 'one direction'}"
    )


def draw_curves(axes, found, line_styles, style):
    """Draw at most CURVES_MAX curves: times in the left panel, rates in the right one."""
    for one in found:
        line_style = dict(line_styles[one["series"]], markersize=4, linestyle="none")
        axes[0].plot(
            one["bytes"], [1e6 * value for value in one["seconds"]], label=one["name"], **line_style
        )
        axes[1].plot(
            one["bytes"],
            [size / value / 1e9 for size, value in zip(one["bytes"], one["seconds"])],
            **line_style,
        )
        if one["fit"]:
            thin = {"color": line_style["color"], "linewidth": 0.9}
            axes[0].plot(*zip(*((size, 1e6 * seconds) for size, seconds in one["fit"])), **thin)
            axes[1].plot(
                *zip(*((size, size / seconds / 1e9) for size, seconds in one["fit"])), **thin
            )
    for panel, label, what in zip(
        axes, ("µs per transfer", "GB/s per direction"), ("time", "bandwidth")
    ):
        panel.set_title(f"{title_of(found[0]['kind'])}: {what}", loc="left", fontsize=9)
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_xlabel("message size per rank")
        panel.set_ylabel(label)
        memory.label_bytes(panel)
        low, high = panel.get_ylim()
        panel.set_ylim(low, high * (high / low) ** LEGEND_SHARE)
        style.plain_ticks(panel.yaxis)
        style.whole_markers(panel)
    axes[0].legend(loc="upper left")


def rows_of(curves):
    """Return lists of at most CURVES_MAX curves of the same kind, one list per row of panels."""
    kinds = {}
    for one in curves:
        kinds.setdefault(one["kind"], []).append(one)
    return [
        some[first : first + CURVES_MAX]
        for some in kinds.values()
        for first in range(0, len(some), CURVES_MAX)
    ]


def draw(data, title, name):
    from matplotlib import pyplot
    import style

    matrices = [one for one in data["matrices"] if one["cells"] and one["ranks"] > 2]
    bands = [matrices[first : first + ABREAST] for first in range(0, len(matrices), ABREAST)]
    rows = rows_of(data["curves"])
    line_styles = {
        name: style.line(index)
        for index, name in enumerate(dict.fromkeys(one["series"] for one in data["curves"]))
    }
    heights = [2.9] * len(bands) + [3.4] * len(rows)
    figure = pyplot.figure(figsize=(11, sum(heights) + 0.8))
    grid = figure.add_gridspec(len(heights), 12, height_ratios=heights)
    limits = [
        max(
            (value for one in matrices for cell, value in one["cells"].items() if is_half(*cell)),
            default=1,
        )
        for is_half, _ in HALVES
    ]
    for line, band in enumerate(bands):
        for place, one in enumerate(band):
            draw_matrix(figure.add_subplot(grid[line, 3 * place : 3 * place + 3]), one, limits)
    for line, some in enumerate(rows, len(bands)):
        draw_curves(
            [figure.add_subplot(grid[line, :6]), figure.add_subplot(grid[line, 6:])],
            some,
            line_styles,
            style,
        )
    matrices = (
        ""
        if not bands
        else " · matrices: µs of the smallest message above the diagonal, GB/s of the largest below"
    )
    fits = (
        " · lines: latency + size / bandwidth" if any(one["fit"] for one in data["curves"]) else ""
    )
    style.save(
        figure,
        name,
        style.caption([data["origin"]], f" · {data['backend']}{fits}{matrices}"),
        title,
        legend_rows=0,
    )
