# SPDX-License-Identifier: MIT
"""Panels of scripts/plot scaling as SVG for a page, with the page's colours, and a tooltip at every
point."""

import html
import io
import re
import xml.etree.ElementTree as tree

import scaling
import style
from matplotlib import pyplot

SVG, LINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
tree.register_namespace("", SVG)
tree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
# {colour of a plot: the page's CSS variable}, which page.py sets for both colour schemes.
VARIABLES = {
    **{colour: f"var(--line{index})" for index, colour in enumerate(style.COLOURS)},
    **{colour: f"var(--part{index})" for index, colour in enumerate(style.PARTS)},
    "#ffffff": "var(--page)",
    "#000000": "var(--ink)",
    "#d8d8d8": "var(--line)",
    "#505050": "var(--ink)",
    "#404040": "var(--ink)",
}
# Size of a panel in inches, which is readable at the width of a phone.
PANEL = (3.7, 2.6)


def adapted(text, prefix):
    """Return SVG text with the page's colours and font. References to ids get the prefix."""
    text = text.replace("url(#", f"url(#{prefix}")
    text = re.sub(r"#[0-9a-f]{6}", lambda found: VARIABLES.get(found[0], found[0]), text)
    return re.sub(r"'DejaVu Sans',[^;]*", "system-ui, 'DejaVu Sans', sans-serif", text)


def inline(figure, prefix, label):
    """Return the figure as inline SVG. Its ids get a prefix, and its artists their tooltips."""
    file = io.BytesIO()
    figure.patch.set_visible(False)
    figure.savefig(
        file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    pyplot.close(figure)
    root, titles = tree.fromstring(file.getvalue()), vars(figure).get("titles", {})
    for parent in root.iter():
        for child in [child for child in parent if child.tag.endswith("metadata")]:
            parent.remove(child)
        text = titles.get(parent.get("id"))
        if text:
            title = tree.Element(f"{{{SVG}}}title")
            title.text = text
            parent.insert(0, title)
        for name, value in list(parent.items()):
            if name == "id":
                parent.set(name, prefix + value)
            elif name == LINK:
                parent.set(name, value.replace("#", f"#{prefix}", 1))
            elif name in ("style", "clip-path", "fill", "stroke"):
                parent.set(name, adapted(value, prefix))
    for name in ("width", "height", "version"):
        del root.attrib[name]
    root.attrib |= {"role": "img", "aria-label": label}
    return tree.tostring(root, encoding="unicode")


def panels(draw_into, prefix, labels):
    """Return one SVG for each panel that `draw_into` draws. The part of a label after the colon is
    its title. Empty panels are left out."""
    made = [pyplot.subplots(figsize=PANEL) for _ in labels]
    draw_into(*(axes for _, axes in made))
    for (figure, axes), label in zip(made, labels):
        axes.set_title(label.partition(": ")[2], loc="left")
        axes.set_facecolor("none")
        for _ in range(2):  # the first pass may change the ticks, and so the space for labels
            figure.tight_layout(pad=0.4)
    return [
        inline(figure, f"{prefix}{place}-", label)
        for place, ((figure, _), label) in enumerate(zip(made, labels))
        if "titles" in vars(figure)
    ]


def swatch(handle):
    """Return a legend's entry in HTML: line, marker and label."""
    colour = (
        VARIABLES.get(handle.get_color() if hasattr(handle, "get_color") else None)
        or VARIABLES["#505050"]
    )
    mark = {
        "o": "●",
        "s": "■",
        "^": "▲",
        "v": "▼",
        "<": "◀",
        ">": "▶",
        "P": "✚",
        "X": "✖",
        "D": "◇",
        "x": "×",
    }.get(handle.get_marker(), "")
    stroke = {"-": "", "None": "none", "-.": "2 2 6 2"}.get(handle.get_linestyle(), "4 2")
    line = (
        f'<path d="M0 6H28" stroke="{colour}" stroke-width="2" stroke-dasharray="{stroke}"/>'
        if stroke != "none"
        else ""
    )
    return (
        f'<li><svg viewBox="0 0 28 12" width="28" height="12" aria-hidden="true">{line}<text '
        'x="14" y="10" text-anchor="middle" font-size="11" '
        f'style="fill: {colour}">{mark}</text></svg>{html.escape(handle.get_label())}</li>'
    )


def parts(points):
    """Return the legend of the bars' colours in HTML. Hatched bars are predicted."""
    items = "".join(
        f'<li><i style="background: var(--part{index})"></i>{html.escape(label)}</li>'
        for index, _, label in scaling.parts(points)
    )
    hatched = (
        "<li>hatched: predicted</li>"
        if any(point["kind"] == scaling.PREDICTED for point in points)
        else ""
    )
    return f"<ul class=legend>{items}{hatched}</ul>"


def groups(points):
    """Yield for each group of lines its title, its legends, and its panels: time, efficiency, and
    the phases of each line."""
    for number, group in enumerate(scaling.groups(points)):
        mode, name, keys = group
        mine = [point for point in points if any(scaling.fits(point, mode, *key) for key in keys)]
        legend = "".join(
            swatch(handle)
            for handle in scaling.legend(mine, keys, style, scaling.line_styles_of(points, style))
        )
        title = f"{mode} scaling, {name}"
        drawn = panels(
            lambda time, efficiency, group=group: scaling.draw_curves(
                time, efficiency, points, group, style
            ),
            f"g{number}c",
            (f"{title}: time per {scaling.step(points)}", f"{title}: efficiency"),
        )
        keys = scaling.with_phases(points, group)
        for place, key in enumerate(keys):
            drawn += panels(
                lambda axes, key=key, mode=mode: scaling.draw_phases(
                    axes, points, mode, key, style
                ),
                f"g{number}p{place}",
                [f"phases of a {scaling.step(points)} over ranks: {key[0]}, {title}"],
            )
        yield title, f"<ul class=legend>{legend}</ul>", parts(mine) if keys else "", drawn


def overview(points, group, colours):
    """Return the measured time and efficiency of a group as one figure."""
    points = [point for point in points if point["kind"] == scaling.MEASURED]
    figure, (time, efficiency) = pyplot.subplots(1, 2, figsize=(8.4, 3.3))
    scaling.draw_curves(time, efficiency, points, group, style)
    for axes in (time, efficiency):
        axes.set_facecolor("none")
    mode, _, keys = group
    rows = style.legend(
        figure, scaling.legend(points, keys, style, scaling.line_styles_of(points, style))
    )
    figure.tight_layout(rect=(0, (0.2 + 0.22 * rows) / 3.3, 1, 1))
    text = inline(
        figure,
        "",
        f"{mode} scaling, {group[1]}: time per {scaling.step(points)} and efficiency over ranks",
    )
    start = text.index(">") + 1
    return (
        f"{text[:start]}<style>{colours} svg {{ background: var(--page); }} text {{ fill: "
        f"var(--ink); }}</style>{text[start:]}\n"
    )
