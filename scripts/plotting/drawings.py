# SPDX-License-Identifier: MIT
"""The plots of scripts/plot."""
import statistics

from matplotlib import lines, patches, pyplot

import style

UNVERIFIED = " · * not verified"


# ---- ladder: a panel of bars a document ----

def bar_style(rung, best):
    if rung["class"]:
        return style.TEMPORAL
    return style.BEST if rung is best else style.CLASSIC


def bar_label(rung):
    share = "" if rung["share"] is None else f"  {100 * rung['share']:.1f}%{' nominal' if rung['class'] else ''}"
    return f"{rung['gflops']:.{0 if rung['gflops'] >= 100 else 2}f}{share}{'' if rung['verified'] else ' *'}"


def draw_bar(axes, place, rung, best, longest):
    """The label stands in the bar, or beside one that is too short for it."""
    axes.barh(place, rung["gflops"], height=0.66, **bar_style(rung, best))
    inside = rung["gflops"] > 0.35 * longest
    look = {"color": "white" if inside and rung is best else "black", "ha": "right" if inside else "left"}
    if not inside:
        look.update(bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}, zorder=4)
    elif rung["class"]:
        look["bbox"] = {"facecolor": style.TEMPORAL["facecolor"], "edgecolor": "none", "pad": 1}
    axes.annotate(bar_label(rung), (rung["gflops"], place), xytext=(-5 if inside else 5, 0), textcoords="offset points",
                  va="center", fontsize=8.5, **look)


def draw_panel(axes, panel):
    rungs = panel["rungs"]
    best = max((rung for rung in rungs if not rung["class"]), key=lambda rung: rung["gflops"], default=None)
    ceiling = statistics.median(rung["ceiling"] for rung in rungs)
    longest = max([ceiling] + [rung["gflops"] for rung in rungs])
    for place, rung in enumerate(rungs):
        draw_bar(axes, place, rung, best, longest)
    axes.axvline(ceiling, **style.CEILING)
    axes.set_yticks(range(len(rungs)), [bar_name(rung) for rung in rungs])
    axes.set_ylim(-0.6, len(rungs) - 0.4)
    axes.set_xlim(0, longest * 1.04)
    axes.grid(axis="y", visible=False)
    axes.set_title(panel["name"], loc="left")
    axes.set_xlabel("GFLOPS (34 flop a point)")


def bar_name(rung):
    return f"{rung['kernel']}\n({rung['class']})" if rung["class"] else rung["kernel"]


def panel_grid(panels):
    """A row a backend where every backend has the same number of panels."""
    backends = {}
    for panel in panels:
        backends.setdefault(panel["order"][:2], []).append(panel)
    widths = {len(row) for row in backends.values()}
    columns = widths.pop() if len(widths) == 1 else min(3, len(panels))
    columns = min(columns, 4)
    return -(-len(panels) // columns), columns


def ladder_legend(panels):
    handles = [patches.Patch(label="classic: one sweep a pass over memory", **style.CLASSIC),
               patches.Patch(label="the fastest classic kernel", **style.BEST)]
    if any(rung["class"] for panel in panels for rung in panel["rungs"]):
        handles.append(patches.Patch(label="temporal: T sweeps a pass, another class", **style.TEMPORAL))
    handles.append(lines.Line2D([], [], label="ceiling of one sweep a pass; labels: GFLOPS and share of it", **style.CEILING))
    return handles


def draw_ladders(panels, title, name):
    rows, columns = panel_grid(panels)
    tallest = max(len(panel["rungs"]) for panel in panels)
    handles = ladder_legend(panels)
    height = rows * (0.42 * tallest + 0.95) + 0.6 + (0.8 if columns == 1 else 0.4) + (0.3 if title else 0)
    figure, grid = pyplot.subplots(rows, columns, figsize=(4.7 * columns + 0.6, height), squeeze=False)
    for axes in grid.flat[len(panels):]:
        axes.set_visible(False)
    for axes, panel in zip(grid.flat, panels):
        draw_panel(axes, panel)
    legend_rows = style.legend(figure, handles)
    unverified = any(not rung["verified"] for panel in panels for rung in panel["rungs"])
    text = style.caption([panel["origin"] for panel in panels], UNVERIFIED if unverified else "")
    style.save(figure, name, text, title, legend_rows=legend_rows)


# ---- sizes: a line a backend and kernel ----

def merged(points, sizes):
    """Medians of a series' points by size, in the order of sizes; also how far they spread."""
    found = []
    for place, size in enumerate(sizes):
        here = [one for one in points if one["size"] == size]
        if here:
            shares = [one["share"] for one in here if one["share"] is not None]
            found.append({"place": place, "gflops": [one["gflops"] for one in here],
                          "share": 100 * statistics.median(shares) if shares else None})
    return found


def draw_line(axes, found, look, label):
    middles = [statistics.median(one["gflops"]) for one in found]
    below = [middle - min(one["gflops"]) for middle, one in zip(middles, found)]
    above = [max(one["gflops"]) - middle for middle, one in zip(middles, found)]
    places = [one["place"] for one in found]
    axes[0].plot(places, middles, label=label, **look)
    if any(below + above):
        axes[0].errorbar(places, middles, yerr=[below, above], capsize=3, fmt="none", ecolor=look["color"])
    shared = [one for one in found if one["share"] is not None]
    axes[1].plot([one["place"] for one in shared], [one["share"] for one in shared], **look)


def draw_sizes(points, title, name):
    ranks = {}
    for one in points:
        ranks[one["size"]] = max(one["rank"], ranks.get(one["size"], 0))
    sizes = sorted(ranks, key=ranks.get)
    names = sorted(dict.fromkeys((one["temporal"], one["order"], one["series"]) for one in points), key=lambda name: name[:2])
    figure, axes = pyplot.subplots(2, 1, sharex=True, figsize=(7.2, 6.2 + 0.08 * len(names)))
    for index, (temporal, _, label) in enumerate(names):
        mine = [one for one in points if one["series"] == label]
        star = "" if all(one["verified"] for one in mine) else " *"
        look = dict(style.line(index), markerfacecolor="white") if temporal else style.line(index)
        draw_line(axes, merged(mine, sizes), look, label + star)
    axes[0].set_ylabel("GFLOPS (34 flop a point)")
    nominal = any(one["temporal"] for one in points)
    axes[1].set_ylabel("share of the ceiling, %" + ("\n(temporal: nominal)" if nominal else ""))
    axes[1].axhline(100, **style.CEILING)
    long = sum(len(size) + 2 for size in sizes) > 55
    axes[1].set_xticks(range(len(sizes)), sizes, **({"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if long else {}))
    axes[1].set_xlim(-0.4, len(sizes) - 0.6)
    axes[1].set_xlabel("size (valid extents)")
    for panel in axes:
        panel.set_ylim(0, panel.get_ylim()[1])
        style.whole_markers(panel)
    legend_rows = style.legend(figure, style.labelled(axes[0]))
    star = "" if all(one["verified"] for one in points) else UNVERIFIED
    style.save(figure, name, style.caption([one["origin"] for one in points], star), title, legend_rows=legend_rows)
