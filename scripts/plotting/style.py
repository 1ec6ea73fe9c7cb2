# SPDX-License-Identifier: MIT
"""One style for all plots: readable in black and white, on a page and on a screen."""
import io

import matplotlib
from files import write_whole

matplotlib.use("Agg")
from matplotlib import pyplot, ticker  # noqa: E402

# Far apart in lightness, so that they differ without colour too; lines differ by marker and dashes besides.
COLOURS = ("#1b3a5c", "#c8562d", "#4f8f6b", "#8a6fb0", "#c9a227", "#6f7b85", "#2a8fbd", "#9c3b58")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
CLASSIC = {"facecolor": "#9fb4c9", "edgecolor": "#1b3a5c", "linewidth": 0.8}
BEST = {"facecolor": "#1b3a5c", "edgecolor": "#1b3a5c", "linewidth": 0.8}
TEMPORAL = {"facecolor": "#f4d9cc", "edgecolor": "#c8562d", "linewidth": 0.8, "hatch": "///"}
YARDSTICK = {"facecolor": "#e4e4e4", "edgecolor": "#606060", "linewidth": 0.8}
CEILING = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.2}

pyplot.rcParams.update({
    "font.size": 9, "axes.titlesize": 10, "axes.titleweight": "bold", "figure.titlesize": 12,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "axes.ymargin": 0.1, "grid.color": "#d8d8d8", "grid.linewidth": 0.6,
    "legend.frameon": False, "legend.fontsize": 8.5, "svg.fonttype": "none", "svg.hashsalt": "himeno",
    "figure.dpi": 100, "savefig.dpi": 150, "hatch.linewidth": 0.8,
})


def line(index):
    """How the line of a series is drawn."""
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)],
            "linestyle": DASHES[index // len(COLOURS) % len(DASHES)], "markersize": 6, "linewidth": 1.5}


def legend(figure, handles):
    """At the figure's foot, in as many columns as its width has room for: returns its rows, for `save`."""
    width, height = figure.get_size_inches()
    longest = max((len(handle.get_label()) for handle in handles), default=0)
    columns = max(1, min(len(handles), int((width - 0.2) / (0.068 * longest + 0.62))))
    figure.legend(handles=handles, loc="lower center", ncols=columns, bbox_to_anchor=(0.5, 0.24 / height))
    return -(-len(handles) // columns)


def labelled(*axes):
    """What has a label on any of these axes, once."""
    found = {}
    for one in axes:
        for handle, label in zip(*one.get_legend_handles_labels()):
            found.setdefault(label, handle)
    for label, handle in found.items():
        handle.set_label(label)
    return list(found.values())


def plain_ticks(axis):
    """Of a logarithmic axis: 1000 and not a power of ten, and more than one where it is short."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")


def whole_markers(axes):
    """Markers at an edge are drawn whole."""
    for drawn in axes.lines:
        if drawn.get_marker() not in (None, "None", "", " "):
            drawn.set_clip_on(False)


def titled(artist, text):
    """Its words, for a reader who points at it where the picture can show them."""
    titles = vars(artist.figure).setdefault("titles", {})
    artist.set_gid(f"title{len(titles)}")
    titles[artist.get_gid()] = text


def caption(origins, extra=""):
    """Where and when the figures were measured."""
    def listed(key):
        values = sorted({one[key] for one in origins})
        return ", ".join(values) if len(values) < 4 else f"{values[0]} and {len(values) - 1} others"
    dates = sorted({one["date"] for one in origins})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"{listed('device')} · {days} · himeno-gpu {listed('version')}{extra}"


def save(figure, name, text, title, legend_rows):
    """Writes NAME.png, NAME.svg and NAME.pdf with the caption at the foot and room for the legend above it."""
    height = figure.get_size_inches()[1]
    figure.text(0.5, 0.08 / height, text, ha="center", va="bottom", fontsize=8, color="#404040")
    if title:
        figure.suptitle(title)
    figure.tight_layout(rect=(0, (0.3 + 0.22 * legend_rows) / height, 1, 1))
    drawn = {kind: io.BytesIO() for kind in ("png", "svg", "pdf")}
    for kind, metadata in zip(drawn, (None, {"Date": None}, {"CreationDate": None})):
        figure.savefig(drawn[kind], format=kind, metadata=metadata)
    for kind, file in drawn.items():
        write_whole(f"{name}.{kind}", file.getvalue())
        print(f"{name}.{kind}")
