# SPDX-License-Identifier: MIT
"""Draws the kinds "ladder" and "sizes" of scripts/plot."""

import collections
import statistics

from matplotlib import lines, patches, pyplot

import style

UNVERIFIED = " · * result not verified"


# ---- ladder: a panel of bars per document ----


def bar_style(rung, best):
    if rung["class"]:
        return style.TEMPORAL
    return style.BEST if rung is best else style.CLASSIC


def bar_label(rung):
    share = "" if rung["share"] is None else f"  {100 * rung['share']:.1f}%"
    digits = 0 if rung["gflops"] >= 100 else 2
    return f"{rung['gflops']:.{digits}f}{share}{'' if rung['verified'] else ' *'}"


def bar_name(rung):
    return f"{rung['kernel']}\n({rung['class']})" if rung["class"] else rung["kernel"]


def draw_panel(axes, panel):
    rungs = panel["rungs"]
    best = max(
        (rung for rung in rungs if not rung["class"]), key=lambda rung: rung["gflops"], default=None
    )
    ceiling = statistics.median(rung["ceiling"] for rung in rungs)
    for place, rung in enumerate(rungs):
        axes.barh(place, rung["gflops"], height=0.66, **bar_style(rung, best))
        style.range_bar(axes, place, rung["ends"])
    if ceiling:
        axes.axvline(ceiling, **style.CEILING)
    axes.set_xlim(
        0, 1.04 * max([ceiling] + [max((rung["gflops"], *rung["ends"])) for rung in rungs])
    )
    axes.set_title(panel["name"], loc="left")
    axes.set_xlabel("GFLOPS (34 flop per point)")
    style.bar_axis(
        axes,
        [bar_name(rung) for rung in rungs],
        [bar_label(rung) for rung in rungs],
        "GFLOPS, % of ceiling" if ceiling else "GFLOPS",
    )


def panel_grid(panels):
    """Return (rows, columns): a row per backend if all backends have as many panels."""
    widths = set(collections.Counter(panel["order"][:2] for panel in panels).values())
    columns = min(4, widths.pop() if len(widths) == 1 else min(3, len(panels)))
    return -(-len(panels) // columns), columns


def ladder_legend(panels):
    handles = [
        patches.Patch(label="classic: one sweep per pass over memory", **style.CLASSIC),
        patches.Patch(label="fastest classic kernel", **style.BEST),
    ]
    if any(rung["class"] for panel in panels for rung in panel["rungs"]):
        handles.append(
            patches.Patch(label="temporal: T sweeps per pass, share as if one", **style.TEMPORAL)
        )
    if any(rung["ends"] for panel in panels for rung in panel["rungs"]):
        handles.append(
            lines.Line2D(
                [], [], label="90% of the timed blocks", color="black", marker="|", linewidth=1
            )
        )
    handles.append(lines.Line2D([], [], label="ceiling for one sweep per pass", **style.CEILING))
    return handles


def draw_ladders(panels, title, name):
    rows, columns = panel_grid(panels)
    tallest = max(len(panel["rungs"]) for panel in panels)
    handles = ladder_legend(panels)
    height = rows * (0.42 * tallest + 0.95) + 0.6 + (1.1 if columns == 1 else 0.7)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(5.4 * columns + 0.6, height), squeeze=False
    )
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, panels):
        draw_panel(axes, panel)
    legend_rows = style.legend(figure, handles)
    unverified = any(not rung["verified"] for panel in panels for rung in panel["rungs"])
    text = style.caption([panel["origin"] for panel in panels], UNVERIFIED if unverified else "")
    style.save(figure, name, text, title, legend_rows=legend_rows)


# ---- sizes: a line per backend and kernel ----


def merged(points, sizes):
    """Return the rates of a series and its median share of the ceiling in %, per size."""
    found = []
    for place, size in enumerate(sizes):
        here = [one for one in points if one["size"] == size]
        if here:
            shares = [one["share"] for one in here if one["share"] is not None]
            found.append(
                {
                    "place": place,
                    "gflops": [one["gflops"] for one in here],
                    "share": 100 * statistics.median(shares) if shares else None,
                }
            )
    return found


def draw_line(axes, found, line_style, label):
    middles, places = (
        [statistics.median(one["gflops"]) for one in found],
        [one["place"] for one in found],
    )
    axes[0].plot(places, middles, label=label, **line_style)
    for place, one in zip(places, found):
        style.range_bar(
            axes[0],
            place,
            (min(one["gflops"]), max(one["gflops"])) if len(one["gflops"]) > 1 else (),
            False,
            line_style["color"],
        )
    shared = [one for one in found if one["share"] is not None]
    axes[1].plot([one["place"] for one in shared], [one["share"] for one in shared], **line_style)


def draw_sizes(points, title, name):
    ranks = {}
    for one in points:
        ranks[one["size"]] = max(one["rank"], ranks.get(one["size"], 0))
    sizes = sorted(ranks, key=ranks.get)
    names = sorted(
        dict.fromkeys((one["temporal"], one["order"], one["series"]) for one in points),
        key=lambda name: name[:2],
    )
    kernels, groups = (
        list(
            dict.fromkeys(one[key] for name in names for one in points if one["series"] == name[2])
        )
        for key in ("kernel", "group")
    )
    figure, axes = pyplot.subplots(2, 1, sharex=True, figsize=(7.2, 6.5 + 0.08 * len(names)))
    for temporal, _, label in names:
        mine = [one for one in points if one["series"] == label]
        star = "" if all(one["verified"] for one in mine) else " *"
        line_style = style.line(kernels.index(mine[0]["kernel"]), groups.index(mine[0]["group"]))
        line_style.update({"markerfacecolor": "white"} if temporal else {})
        draw_line(axes, merged(mine, sizes), line_style, label + star)
    axes[0].set_ylabel("GFLOPS (34 flop per point)")
    temporal = any(one["temporal"] for one in points)
    axes[1].set_ylabel(
        "share of the ceiling, %" + ("\n(temporal: as if one pass per sweep)" if temporal else "")
    )
    axes[1].axhline(100, **style.CEILING)
    long = sum(len(size) + 2 for size in sizes) > 55
    axes[1].set_xticks(
        range(len(sizes)),
        sizes,
        **({"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if long else {}),
    )
    axes[1].set_xlim(-0.4, len(sizes) - 0.6)
    axes[1].set_xlabel("grid size")
    for panel in axes:
        panel.set_ylim(0, panel.get_ylim()[1])
        style.whole_markers(panel)
    legend_rows = style.legend(figure, style.labelled(axes[0]))
    star = "" if all(one["verified"] for one in points) else UNVERIFIED
    style.save(
        figure,
        name,
        style.caption([one["origin"] for one in points], star),
        title,
        legend_rows=legend_rows,
    )
