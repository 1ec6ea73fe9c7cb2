# SPDX-License-Identifier: MIT
"""The style of all plots, which is readable in black and white, on a page and on a screen."""

import io

import matplotlib
from files import write_whole

matplotlib.use("Agg")
from matplotlib import pyplot, ticker  # noqa: E402

# The colours differ in lightness, so that they differ in black and white, too. Lines also differ by
# marker and dashes.
COLOURS = (
    "#1b3a5c",
    "#c8562d",
    "#4f8f6b",
    "#8a6fb0",
    "#c9a227",
    "#6f7b85",
    "#2a8fbd",
    "#9c3b58",
    "#7a4b21",
    "#d0659a",
    "#0f6e6e",
    "#8a9a2b",
)
# Parts of a bar: computation is grey, communication red.
PARTS = ("#8d99a6", "#56636f", "#b8336a", "#e9a1c1")
# Markers of series. They lack the diamond of predictions and the star of kernels in a roofline.
MARKERS = ("o", "s", "^", "v", "<", ">", "P", "X")
DASHES = ("-", "--", "-.", ":")
CLASSIC = {"facecolor": "#9fb4c9", "edgecolor": "#1b3a5c", "linewidth": 0.8}
BEST = {"facecolor": "#1b3a5c", "edgecolor": "#1b3a5c", "linewidth": 0.8}
TEMPORAL = {"facecolor": "#f4d9cc", "edgecolor": "#c8562d", "linewidth": 0.8, "hatch": "///"}
LIBRARY = {"facecolor": "#e4e4e4", "edgecolor": "#606060", "linewidth": 0.8}
CEILING = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.2}

pyplot.rcParams.update(
    {
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.titleweight": "bold",
        "figure.titlesize": 12,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.ymargin": 0.1,
        "grid.color": "#d8d8d8",
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "legend.fontsize": 8.5,
        "legend.handlelength": 2.8,
        "svg.fonttype": "none",
        "svg.hashsalt": "himeno",
        "figure.dpi": 100,
        "savefig.dpi": 150,
        "hatch.linewidth": 0.8,
    }
)


def line(index, dash=0):
    """Return colour, marker and dashes of a series. If the colours repeat, the dashes differ."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[(index // len(COLOURS) + dash) % len(DASHES)],
        "markersize": 6,
        "linewidth": 1.5,
    }


def bar_axis(axes, names, values, head):
    """Label bars with names left of their axes and values to the right, where they overlap
    nothing."""
    places = range(len(names))
    axes.set_yticks(places, names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.grid(axis="y", visible=False)
    right = axes.twinx()
    right.set_ylim(axes.get_ylim())
    right.set_yticks(places, values)
    right.tick_params(length=0)
    right.grid(visible=False)
    right.annotate(
        head,
        (1, 1),
        xytext=(4, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=8,
        color="#404040",
    )
    return right


def range_bar(axes, place, ends, across=True, color="black"):
    """Draw a range of values at `place`: horizontally if `across`, otherwise vertically. Draws
    nothing if `ends` is empty."""
    if ends:
        axes.plot(
            *((ends, [place] * 2) if across else ([place] * 2, ends)),
            color=color,
            marker="|" if across else "_",
            markersize=12,
            zorder=4,
            linewidth=1,
        )


def legend(figure, handles):
    """Put a legend at the figure's foot, in as many columns as fit. Return its number of rows,
    which `save` needs."""
    width, height = figure.get_size_inches()
    longest = max((len(handle.get_label()) for handle in handles), default=0)
    columns = max(1, min(len(handles), int((width - 0.2) / (0.068 * longest + 0.8))))
    figure.legend(
        handles=handles, loc="lower center", ncols=columns, bbox_to_anchor=(0.5, 0.24 / height)
    )
    return -(-len(handles) // columns)


def labelled(*axes):
    """Return the handles of all labels on these axes, without duplicates."""
    found = {
        label: handle
        for one in reversed(axes)
        for handle, label in zip(*one.get_legend_handles_labels())
    }
    for label, handle in found.items():
        handle.set_label(label)
    return list(found.values())


def plain_ticks(axis):
    """Label a logarithmic axis with plain numbers instead of powers of ten. A short axis has labels
    at 1, 2 and 5, and one with less than two of them as if it were linear."""
    low, high = axis.get_view_interval()
    locator = ticker.LogLocator(subs=(1, 2, 5) if high < 200 * low else (1,))
    inside = [tick for tick in locator.tick_values(low, high) if low <= tick <= high]
    axis.set_major_locator(locator if len(inside) > 1 else ticker.AutoLocator())
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")


def whole_markers(axes):
    """Do not clip markers at the edges."""
    for drawn in axes.lines:
        if drawn.get_marker() not in (None, "None", "", " "):
            drawn.set_clip_on(False)


def titled(artist, text):
    """Give an artist a tooltip, which is shown by an SVG in a page."""
    titles = vars(artist.figure).setdefault("titles", {})
    artist.set_gid(f"title{len(titles)}")
    titles[artist.get_gid()] = text


def caption(origins, extra=""):
    """Return a text with the devices, dates and versions of the measurements."""

    def listed(key):
        values = sorted({one[key] for one in origins})
        return ", ".join(values) if len(values) < 4 else f"{values[0]} and {len(values) - 1} others"

    dates = sorted({one["date"] for one in origins})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"{listed('device')} · {days} · himeno-gpu {listed('version')}{extra}"


def save(figure, name, text, title, legend_rows):
    """Write NAME.png, NAME.svg and NAME.pdf with the caption at the foot, and above it the
    legend."""
    height = figure.get_size_inches()[1]
    figure.text(0.5, 0.08 / height, text, ha="center", va="bottom", fontsize=8, color="#404040")
    figure.suptitle(title, y=1 - 0.08 / height, va="top").set_in_layout(False)
    figure.tight_layout(rect=(0, (0.3 + 0.22 * legend_rows) / height, 1, 1 - 0.32 / height))
    drawn = {kind: io.BytesIO() for kind in ("png", "svg", "pdf")}
    for kind, metadata in zip(drawn, (None, {"Date": None}, {"CreationDate": None})):
        figure.savefig(drawn[kind], format=kind, metadata=metadata)
    for kind, file in drawn.items():
        write_whole(f"{name}.{kind}", file.getvalue())
        print(f"{name}.{kind}")
