# SPDX-License-Identifier: MIT
"""One style for all plots: readable in black and white, on a page and on a screen."""
import io

import matplotlib
from files import write_whole

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

# Far apart in lightness, so that they differ without colour too; lines differ by marker and dashes besides.
COLOURS = ("#1b3a5c", "#c8562d", "#4f8f6b", "#8a6fb0", "#c9a227", "#6f7b85", "#2a8fbd", "#9c3b58")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", "-.", ":")
CLASSIC = {"facecolor": "#9fb4c9", "edgecolor": "#1b3a5c", "linewidth": 0.8}
BEST = {"facecolor": "#1b3a5c", "edgecolor": "#1b3a5c", "linewidth": 0.8}
TEMPORAL = {"facecolor": "#f4d9cc", "edgecolor": "#c8562d", "linewidth": 0.8, "hatch": "///"}
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
    for kind, metadata in (("png", None), ("svg", {"Date": None}), ("pdf", {"CreationDate": None})):
        drawn = io.BytesIO()
        figure.savefig(drawn, format=kind, metadata=metadata)
        write_whole(f"{name}.{kind}", drawn.getvalue())
        print(f"{name}.{kind}")
