#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Charts of scripts/report, read back from their SVG and compared with the documents."""

import itertools
import json
import os
import pathlib
import re
import statistics
import sys
from xml.etree.ElementTree import fromstring

import helper

sys.path.insert(0, str(helper.SOURCE / "tests/cli"))
import page
import svg

# Seconds per sweep on one rank, by size.
ALONE = {"8x8x8": 1e-5, "XS": 3e-5, "S": 1e-4, "M": 1e-3, "L": 1e-2}
LEGEND = r'style="fill: (var\(--line\d\))">[^<]*</text></svg>([^<]+)</li>'


def studied(folder):
    """Write a study's documents; return its times by mode, transport, size and ranks."""
    golden = json.loads((helper.SOURCE / "tests/golden/documents/himeno-gpu-2.json").read_text())
    times = {}
    for key in itertools.product(("strong", "weak"), ("p2p", "staged"), ALONE, (1, 2, 4)):
        mode, transport, size, ranks = key
        index, seconds = list(ALONE).index(size), ALONE[size]
        if ranks > 1:
            seconds *= (1.1 + 0.05 * index) * (1 if transport == "p2p" else 2)
            seconds *= 1 / ranks if mode == "strong" else 1.2
        times[key] = seconds
        if ranks == 1 and (mode, transport) != ("strong", "p2p"):
            continue
        one = json.loads(json.dumps(golden))
        one["ranks"] = golden["ranks"][:1] * ranks
        one["config"].update(size=size, weak=mode == "weak", transport=transport, block=10)
        one["config"].update(procs=[ranks, 1, 1], imax=8 << index)
        one["result"].update(samples=[10 * seconds], gflops=1 / seconds)
        one["result"].update(verified="known", verdict="pass")
        one["phases"]["interior"]["median"] = 0.5 * seconds
        one["phases"]["boundary"]["median"] = 0.2 * seconds
        (folder / f"{mode}-{size}-{ranks}-{transport}.json").write_text(json.dumps(one))
    return times


def titled(elements):
    """Return [(title, element)] of the elements that begin with a title."""
    return [(one[0].text, one) for one in elements if len(one) and one[0].tag == f"{svg.SVG}title"]


class Charts(helper.Case):
    def near(self, found, wanted, of):
        self.assertAlmostEqual(found / wanted, 1, delta=0.01, msg=of)


class Report(Charts):
    def test_study(self):
        """points, lines, titles, bars and the headline agree with the study's times"""
        os.mkdir("runs")
        self.times = studied(pathlib.Path("runs"))
        self.run_or_skip(helper.SCRIPTS / "report", ".", "-o", "a.html", "--picture", "a.svg")
        self.page, self.picture = (pathlib.Path(f"a.{end}").read_text() for end in ("html", "svg"))
        self.check_scaling()
        self.check_phases()
        self.check_headline()

    def check_line(self, panel, of, colour, values, microseconds):
        """The line and points of a size must be at these values; the titles have the times."""
        (joined,) = (
            line for line in self.lines(panel, colour, dashed=False) if len(line) == len(values)
        )
        for (x, y), (ranks, value) in zip(joined, values.items()):
            self.near(panel.x.value(x), ranks, of)
            self.near(panel.y.value(y), value, of)
        mine = [(text, one) for text, one in titled(panel.lines) if text.startswith(of)]
        self.assertEqual(len(mine), len(values))
        for text, one in mine:
            ((x, y),) = svg.markers_of(one)
            ranks = int(re.search(r"(\d) rank", text)[1])
            self.near(panel.x.value(x), ranks, text)
            self.near(panel.y.value(y), values[ranks], text)
            shown = re.search(r"([\d.e+]+) µs per sweep.*; 1 run$", text)
            self.near(float(shown[1]), microseconds[ranks], text)

    def lines(self, panel, colour, dashed):
        return [
            svg.line_of(one)
            for one in panel.lines
            if svg.style_of(one, "stroke") == colour
            and (svg.style_of(one, "stroke-dasharray") is not None) == dashed
            and svg.line_of(one)
        ]

    def check_scaling(self):
        """Points, lines, ideal lines and titles must be at their times, in their size's colour."""
        groups = re.findall(
            r"<div class=group>\s*<h3>(strong|weak) scaling, (\w+)</h3>(.*?)</div>\s*</div>",
            self.page,
            re.S,
        )
        # Two modes and two transports, with at most four of the five sizes per panel.
        self.assertEqual(len(groups), 8)
        seen = set()
        for mode, transport, block in groups:
            colours = {size: colour for colour, size in re.findall(LEGEND, block)}
            self.assertIn(len(set(colours.values())), range(1, 5))
            self.assertEqual(len(set(colours.values())), len(colours))
            charts = re.findall(r"<svg [^>]*role=.*?</svg>", block, re.S)[:2]
            (time,) = svg.panels(fromstring(charts[0]), "xy")
            (efficiency,) = svg.panels(fromstring(charts[1]), "x")
            for size, colour in colours.items():
                of, each = f"{size}, {mode}, {transport}", (1, 2, 4)
                ideal = {n: 1e6 * ALONE[size] / (n if mode == "strong" else 1) for n in each}
                times = {n: 1e6 * self.times[mode, transport, size, n] for n in each}
                self.check_line(time, of, colour, times, times)
                (line,) = self.lines(time, colour, dashed=True)
                for (_, y), wanted in zip(line, ideal.values()):
                    self.near(time.y.value(y), wanted, of)
                shares = {n: 100 * ideal[n] / times[n] for n in each}
                self.check_line(efficiency, of, colour, shares, times)
                seen.add(of)
            (line,) = self.lines(efficiency, "var(--ink)", dashed=True)
            for _, y in line:
                self.near(efficiency.y.value(y), 100, mode)
        self.assertEqual(len(seen), 20)

    def check_phases(self):
        """The bars of the phases must be as high as their times, and add up to a sweep."""
        phases = re.findall(r'<svg [^>]*aria-label="phases.*?</svg>', self.page, re.S)
        self.assertEqual(len(phases), 20)
        for root in map(fromstring, phases):
            (panel,) = svg.panels(root)
            label = r"phases of a sweep over ranks: (\w+), (\w+) scaling, (\w+)"
            size, mode, transport = re.match(label, root.get("aria-label")).groups()
            tops = {1: 0, 2: 0, 4: 0}
            for text, one in titled(svg.groups(panel.element, "title")):
                bar = re.fullmatch(
                    rf"{size}, {mode}, {transport}, .*?(\d) ranks?, measured: (.*) ([\d.e+]+) µs.*",
                    text,
                )
                edges = [panel.y.value(y) for _, y in svg.places(one.find(f"{svg.SVG}path"))]
                high = max(edges) - min(edges)
                self.near(high, float(bar[3]), text)
                part = {"interior": 0, "boundary": 1}.get(bar[2], 2)
                self.assertEqual(svg.style_of(one, "fill"), f"var(--part{part})", text)
                tops[int(bar[1])] += high
            for ranks, top in tops.items():
                self.near(top, 1e6 * self.times[mode, transport, size, ranks], (size, ranks))

    def check_headline(self):
        """The headline must have the highest speed, the largest size's and the lowest
        efficiency."""
        speed = f"{max(1 / one for one in self.times.values()):,.0f}".replace(",", " ")
        strong, weak, lowest = (100 / 1.3 / by for by in (1, 1.2, 2.4))
        for words in (
            f"<b>Speed</b><strong>{speed} GFLOPS",
            f"<b>Efficiency</b><strong>{strong:.1f}% strong · {weak:.1f}% weak",
            f"Lowest of all: {lowest:.1f}% (L",
            "<b>Correctness</b><strong>0 of 45 runs wrong",
        ):
            self.assertIn(words, self.page)
        self.assertEqual(len(svg.panels(fromstring(self.picture))), 2)
        self.assertIn(">L, strong, p2p, 4 ranks", self.picture)
        self.assertIn("prefers-color-scheme: dark", self.picture)


class Readme(Charts):
    def test_documents(self):
        """the README's chart agrees with the stored documents"""
        runs = self.recorded("h200-x8-2026-11")
        time, _ = svg.panels(str(helper.SOURCE / "doc/sample-report.svg"), "xy")
        points = titled(time.lines)
        self.assertGreaterEqual(len(points), 12)
        for text, one in points:
            size, mode, transport, ranks, cut, shown = re.match(
                r"(\w+), (\w+), (\w+), (\d) rank(?:s \(([\dx]+)\))?: ([\d.e+]+) µs per sweep", text
            ).groups()
            path = f"{transport}-{cut}" if ranks != "1" else "none-1x1x1"
            name = f"{mode if ranks != '1' else 'strong'}-{size}-{ranks}-stream-{path}"
            found = [runs[f"{name}-r{n}"] for n in (1, 2) if f"{name}-r{n}" in runs]
            wanted = statistics.median(
                1e6 * statistics.median(run["result"]["samples"]) / run["config"]["block"]
                for run in found
            )
            ((x, y),) = svg.markers_of(one)
            self.near(float(shown), wanted, text)
            self.near(time.y.value(y), wanted, text)
            self.assertEqual(round(time.x.value(x)), int(ranks), text)


def light(colour):
    """Return the relative luminance as in the Web Content Accessibility Guidelines."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(one, other):
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


class Colours(helper.Case):
    def test_contrast(self):
        """text contrasts with its background, in light and dark"""
        self.assertEqual(round(contrast("#000000", "#ffffff")), 21)
        texts = set(re.findall(r"(?<![-\w])(?:color|fill): var\(--(\w+)\)", page.STYLE))
        grounds = set(re.findall(r"background: var\(--(\w+)\)", page.STYLE))
        self.assertEqual((texts, grounds), ({"ink", "dim"}, {"page", "band", "flag"}))
        self.assertEqual(list(page.LIGHT), list(page.DARK))
        dark = page.STYLE.partition("@media screen and (prefers-color-scheme: dark)")[2]
        self.assertIn(page.scheme(page.DARK), dark)
        for colours in (page.LIGHT, page.DARK):
            for text, ground in itertools.product(texts, grounds):
                if (text, ground) != ("dim", "flag"):
                    self.assertGreaterEqual(contrast(colours[text], colours[ground]), 4.5)
            for line in (one for one in colours if re.fullmatch("line.+", one)):
                self.assertGreaterEqual(contrast(colours[line], colours["page"]), 2.3, line)


if __name__ == "__main__":
    helper.main()
