# SPDX-License-Identifier: MIT
"""Draws the copies between host and device of a comm-gpu document, for scripts/plot host."""

import documents
import memory

LOADS = {"alone": "one device at a time", "all": "all devices at once"}
DIRECTIONS = {"in": "host to device", "out": "device to host", "both": "both directions at once"}


def spread(paths):
    """Return the lowest and highest rate over the ranks, at each size that all ranks have."""
    rates = [{point["bytes"]: point["gbps"] for point in path["points"]} for path in paths]
    sizes = [size for size in rates[0] if all(size in one for one in rates)]
    return {
        "bytes": sizes,
        "least": [min(one[size] for one in rates) for size in sizes],
        "most": [max(one[size] for one in rates) for size in sizes],
    }


def panels(document):
    """Return {load: {(memory, direction): rates}}."""
    found = {}
    for path in document["host"]:
        found.setdefault(path["company"], {}).setdefault(
            (path["way"], path["direction"]), []
        ).append(path)
    return {
        "panels": {
            load: {key: spread(paths) for key, paths in lines.items()}
            for load, lines in found.items()
        },
        "ranks": len(document["ranks"]),
        "backend": document["config"]["backend"],
        "origin": documents.origin(document, document["ranks"][0]["device"]),
    }


def read(read_documents):
    path, document = documents.only(read_documents, "comm-gpu", "host")
    if not document.get("host"):
        raise documents.BadInput(f"{path}: no host copies in it: run comm-gpu --parts host")
    return documents.described(path, document, panels)


def draw_panel(axes, lines, style):
    for kind, direction in sorted(
        lines, key=lambda key: (key[0] != "pinned", list(DIRECTIONS).index(key[1]))
    ):
        found, index = lines[kind, direction], list(DIRECTIONS).index(direction)
        line_style = dict(
            style.line(index), linestyle="-" if kind == "pinned" else "--", markersize=4.5
        )
        if kind != "pinned":
            line_style["markerfacecolor"] = "white"
        axes.plot(
            found["bytes"], found["least"], label=f"{kind}, {DIRECTIONS[direction]}", **line_style
        )
        axes.fill_between(
            found["bytes"],
            found["least"],
            found["most"],
            color=line_style["color"],
            alpha=0.15,
            linewidth=0,
        )
    style.whole_markers(axes)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("size of a copy")
    memory.label_bytes(axes)


def draw(data, title, name):
    from matplotlib import pyplot
    import style

    loads = [load for load in LOADS if load in data["panels"]]
    figure, grid = pyplot.subplots(
        1, len(loads), figsize=(5.6 * max(len(loads), 1.3), 4.9), squeeze=False, sharey=True
    )
    for axes, load in zip(grid[0], loads):
        draw_panel(axes, data["panels"][load], style)
        axes.set_title(LOADS[load], loc="left")
    grid[0, 0].set_ylim(bottom=0)
    grid[0, 0].set_ylabel("GB/s per direction" + (", slowest rank" if data["ranks"] > 1 else ""))
    rows = style.legend(figure, style.labelled(*grid[0]))
    extra = f" · {data['ranks']} ranks; bands: slowest to fastest rank" if data["ranks"] > 1 else ""
    style.save(
        figure,
        name,
        style.caption([data["origin"]], f" · {data['backend']}{extra}"),
        title,
        legend_rows=rows,
    )
