# SPDX-License-Identifier: MIT
"""Pair matrices and size curves of comm-gpu's documents, for scripts/plot paths."""
import documents

# A curve is drawn with at least so many sizes.
CURVE_POINTS = 4
MATRICES_MAX = 4


def fitted(path, size):
    return path["fit"]["latency_seconds"] + size / path["fit"]["bytes_per_second"]


def curve(path, name):
    return {"name": name, "bytes": [one["bytes"] for one in path["points"]],
            "seconds": [one["seconds"] for one in path["points"]], "fit": path["fit"] and {
                "ends": [path["points"][0]["bytes"], path["points"][-1]["bytes"]],
                "seconds": [fitted(path, path["points"][0]["bytes"]), fitted(path, path["points"][-1]["bytes"])]}}


def pair_name(path):
    company = "" if path["company"] == "alone" else ", all pairs at once"
    way = ", one way" if path["direction"] == "one" else ""
    return f"{path['way']} {path['rank']}–{path['peer']}{way}{company}"


def curves(document):
    """Rank 0's host paths alone, then each transport's fullest pairs."""
    found = [curve(path, f"{path['way']} host memory, {path['direction']}") for path in document["host"]
             if path["rank"] == 0 and path["company"] == "alone" and path["direction"] != "both"]
    seen = set()
    most = max((len(path["points"]) for path in document["pairs"]), default=0)
    for path in document["pairs"]:
        key = path["way"], path["company"], path["direction"]
        if key not in seen and len(path["points"]) == most and most >= min(CURVE_POINTS, most):
            seen.add(key)
            found.append(curve(path, pair_name(path)))
    return found


def matrix(document, way):
    """Microseconds of the smallest transfer above the diagonal, GB/s of the largest below."""
    ranks = len(document["ranks"])
    cells = {}
    for path in document["pairs"]:
        if path["way"] != way or path["direction"] != "both":
            continue
        low, high = sorted((path["rank"], path["peer"]))
        if (low, high) in cells and path["company"] != "alone":
            continue
        cells[low, high] = path["points"][0]["seconds"] * 1e6
        cells[high, low] = path["points"][-1]["gbps"]
    return {"way": way, "ranks": ranks, "cells": cells}


def one(document):
    ways = list(dict.fromkeys(path["way"] for path in document["pairs"]))
    return {"matrices": [matrix(document, way) for way in ways], "curves": curves(document),
            "origin": documents.origin(document, document["ranks"][0]["device"]),
            "backend": document["config"]["backend"]}


def read(read_documents):
    """What is drawn of one document."""
    path, document = documents.only(read_documents, "comm-gpu", "paths are")
    data = documents.described(path, document, one)
    if not data["curves"]:
        raise documents.BadInput(f"{path}: it measured no path between host and device or between devices")
    return data


def draw_matrix(axes, matrix_data, limit):
    n, cells = matrix_data["ranks"], matrix_data["cells"]
    shown = [[cells.get((row, column), float("nan")) if row > column else float("nan") for column in range(n)] for row in range(n)]
    axes.imshow(shown, cmap="Blues", vmin=0, vmax=1.6 * limit)
    for (row, column), value in cells.items():
        axes.text(column, row, f"{value:.3g}", ha="center", va="center", fontsize=max(5, 9 - n // 4))
    axes.set_xticks(range(n))
    axes.set_yticks(range(n))
    axes.grid(visible=False)
    axes.set_title(f"{matrix_data['way']}\nµs of the smallest above, GB/s of the largest below", fontsize=8.5)


def draw_curves(axes, data, style):
    for index, found in enumerate(data["curves"]):
        look = dict(style.line(index), markersize=4, linestyle="none")
        axes[0].plot(found["bytes"], [1e6 * value for value in found["seconds"]], label=found["name"], **look)
        axes[1].plot(found["bytes"], [size / value / 1e9 for size, value in zip(found["bytes"], found["seconds"])], **look)
        if found["fit"]:
            draw_fit(axes, found["fit"], style.line(index))
    for panel, label in zip(axes, ("µs a transfer (lines: latency + bytes / bandwidth)", "GB/s one way")):
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_xlabel("bytes that each rank sends")
        panel.set_ylabel(label)


def draw_fit(axes, fit, look):
    low, high = fit["ends"]
    slope = (fit["seconds"][1] - fit["seconds"][0]) / max(high - low, 1)
    sizes = [low * (high / low) ** (step / 60) for step in range(61)]
    seconds = [fit["seconds"][0] + slope * (size - low) for size in sizes]
    thin = {"color": look["color"], "linewidth": 0.9, "linestyle": look["linestyle"]}
    axes[0].plot(sizes, [1e6 * value for value in seconds], **thin)
    axes[1].plot(sizes, [size / value / 1e9 for size, value in zip(sizes, seconds)], **thin)


def draw(data, title, name):
    from matplotlib import pyplot
    import style
    matrices = data["matrices"][:MATRICES_MAX]
    rows = -(-len(data["curves"]) // 3)
    height = (3.4 if matrices else 0) + 4.2 + 0.22 * rows
    figure = pyplot.figure(figsize=(11, height))
    grid = figure.add_gridspec(2 if matrices else 1, 12, height_ratios=[3, 4] if matrices else [1])
    limit = max((value for one in matrices for (row, column), value in one["cells"].items() if row > column), default=1)
    for place, one_matrix in enumerate(matrices):
        width = 12 // len(matrices)
        draw_matrix(figure.add_subplot(grid[0, place * width:(place + 1) * width]), one_matrix, limit)
    last = 1 if matrices else 0
    draw_curves([figure.add_subplot(grid[last, :6]), figure.add_subplot(grid[last, 6:])], data, style)
    figure.legend(loc="lower center", ncols=3, bbox_to_anchor=(0.5, 0.24 / height))
    style.save(figure, name, style.caption([data["origin"]], f" · {data['backend']}"), title, legend_rows=rows)
