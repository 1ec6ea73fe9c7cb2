# SPDX-License-Identifier: MIT
"""Reads figures of matplotlib: values and positions of what they show, by the axes' ticks."""

import math
import re
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "B": 1}


def number(text):
    """Return the value of a text such as 57 KiB, 1/16 or 1000."""
    found = re.fullmatch(r"(?:(1)/)?([\d.]+)(?: ([KMG]iB|B))?", text)
    return (
        (1 / float(found[2]) if found[1] else float(found[2])) * UNITS.get(found[3], 1)
        if found
        else None
    )


def identity(element):
    return re.sub(r"^\w+-", "", element.get("id") or "")


def groups(element, start):
    return [one for one in element.iter(f"{SVG}g") if identity(one).startswith(start)]


def places(path):
    return [
        (float(x), float(y)) for x, y in re.findall(r"[ML] ([-\d.e]+) ([-\d.e]+)", path.get("d"))
    ]


class Axis:
    """Converts positions to values by the first and the last tick that is a number."""

    def __init__(self, panel, name, log):
        self.ticks = []
        for tick in groups(panel, f"{name}tick_"):
            label, mark = tick.find(f".//{SVG}text"), tick.find(f".//{SVG}use")
            if label is not None and mark is not None:
                self.ticks.append((float(mark.get(name)), "".join(label.itertext()).strip()))
        known = [(place, number(text)) for place, text in self.ticks if number(text) is not None]
        self.to, self.back = (math.log, math.exp) if log else (float, float)
        self.ends = (known[0], known[-1]) if len(known) > 1 else None

    def value(self, place):
        (low, first), (high, last) = self.ends
        return self.back(
            self.to(first) + (self.to(last) - self.to(first)) * (place - low) / (high - low)
        )

    def label(self, place):
        return min(self.ticks, key=lambda tick: abs(tick[0] - place))[1]


class Panel:
    def __init__(self, element, log):
        self.element = element
        self.x, self.y = (Axis(element, name, name in log) for name in "xy")
        self.lines = [
            one
            for one in element.findall(f"{SVG}g")
            if identity(one).startswith(("line2d_", "t")) and not identity(one).startswith("text")
        ]
        box = places(element.find(f"{SVG}g/{SVG}path"))
        self.left, self.right = (pick(x for x, _ in box) for pick in (min, max))
        self.top, self.bottom = (pick(y for _, y in box) for pick in (min, max))

    def texts(self):
        return ["".join(one.itertext()).strip() for one in self.element.iter(f"{SVG}text")]


def panels(root, log=""):
    root = xml.etree.ElementTree.parse(root).getroot() if isinstance(root, str) else root
    return [Panel(one, log) for one in groups(root, "axes_")]


def line_of(group):
    """Return the positions of a line's corners; none if it has only markers."""
    path = group.find(f"{SVG}path")
    return [] if path is None else places(path)


def markers_of(group):
    return [(float(use.get("x")), float(use.get("y"))) for use in group.iter(f"{SVG}use")]


def style_of(group, name):
    for one in group.iter():
        found = re.search(rf"(?:^|; )?{name}: ([^;]+)", one.get("style") or "")
        if found:
            return found[1]
    return None
