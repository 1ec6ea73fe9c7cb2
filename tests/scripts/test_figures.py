#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares all that scripts/plot draws with tests/golden/figures.txt. After an intended change,
look at the figures, and run the test with GOLDEN_WRITE=1."""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import runpy
import shutil
import sys

import helper

PYTHON = "/usr/bin/python3"
GOLDEN = helper.SOURCE / "tests/golden/figures.txt"


def rounded(values, digits=4):
    """Return a few values as text; of many values their number, both ends and the mean."""
    values = [float(one) for one in values]
    if len(values) > 6:
        values = [len(values), values[0], values[-1], sum(values) / len(values)]
    return " ".join(f"{one:.{digits}g}" for one in values)


def look(one):
    """Return how a line, a bar or a legend's handle is drawn."""
    names = "color marker markerfacecolor markeredgewidth linestyle linewidth markersize clip_on"
    names = [f"get_{name}" for name in f"{names} hatch facecolor edgecolor".split()]
    values = [getattr(one, name)() for name in names if hasattr(one, name)]
    offset, dashes = getattr(one, "_unscaled_dash_pattern", (0, ()))
    values.append((offset, *(dashes or ())))
    values = [rounded(one) if isinstance(one, tuple) else str(one) for one in values]
    return " ".join(values)


def legend_of(legend):
    handles = getattr(legend, "legend_handles", None) or legend.legendHandles
    return ", ".join(f"{text.get_text()}: {look(one)}" for text, one in zip(legend.texts, handles))


def shown_by(axes):
    """Yield a text for each artist of a panel."""
    title = axes.get_title("left") + axes.get_title()
    labels = title, axes.get_xlabel(), axes.get_ylabel()
    yield f"{'|'.join(labels)}|{rounded(axes.get_position().bounds, 2)}"
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        places = zip(axis.get_ticklabels(), axis.get_ticklocs())
        ticks = ",".join(one.get_text() for one, at in places if limits[0] <= at <= limits[1])
        yield f"{axis.get_scale()} {rounded(limits)}: {ticks}"
    for one in axes.lines:
        label = f"{look(one)} {one.get_label()}".partition(" _child")[0]
        yield f"line {label}: {rounded(one.get_xdata())}; {rounded(one.get_ydata())}"
    for one in axes.patches:
        yield f"bar {look(one)}: {rounded(one.get_bbox().bounds)}"
    for one in axes.collections:
        places = zip(*(place for path in one.get_paths() for place in path.vertices))
        yield f"area {rounded(one.get_facecolor().flat)}: {'; '.join(map(rounded, places))}"
    for one in axes.images:
        values = [float(value) for value in one.get_array().flat if value == value]
        yield f"image {one.get_cmap().name} {rounded(one.get_clim())}: {rounded(values)}"
    for one in axes.texts:
        places = getattr(one, "xy", one.get_position()), getattr(one, "xyann", ())
        looks = one.get_ha(), one.get_va(), f"{one.get_rotation():.0f}", one.get_fontsize()
        yield f"text {one.get_text()!r} {[rounded(place, 2) for place in places]} {looks}"
    if axes.get_legend():
        yield f"legend {legend_of(axes.get_legend())}"


def edited(document, **changes):
    """Return a copy of a document, with changed values of sections."""
    document = json.loads(json.dumps(document))
    for section, values in changes.items():
        document[section].update(values)
    return document


class Figures(helper.Case):
    def files(self, *documents):
        """Write documents; return their paths."""
        paths = [f"{place}.json" for place, _ in enumerate(documents)]
        for path, document in zip(paths, documents):
            with open(path, "w") as file:
                json.dump(document, file)
        return paths

    def drawn(self, kind, *files, **more):
        """Return a line for a figure and a line for each of its panels."""
        import style

        found = []
        self.replace(style, "save", lambda *given, **named: found.append((*given, named)))
        script = runpy.run_path(str(helper.SCRIPTS / "plot"))
        given = argparse.Namespace(kind=kind, files=list(files), output="out", title="Head", **more)
        script["draw"](given)
        ((figure, *texts),) = found
        figure.canvas.draw()
        legend = ", ".join(map(legend_of, figure.legends))
        foot = [f"{one.get_text()!r} {rounded(one.get_position(), 2)}" for one in figure.texts]
        tips = getattr(figure, "titles", {}).values()
        lines = [f"{kind} {rounded(figure.get_size_inches())} {texts} {legend} {foot}"]
        lines += [" / ".join(shown_by(axes)) for axes in figure.axes if axes.get_visible()]
        lines += ["; ".join(dict.fromkeys(tips))] * bool(tips)
        style.pyplot.close("all")
        return [line.replace("\n", " ") for line in lines]

    def figures(self):
        """Yield the lines of each kind of figure."""
        of = {path.stem: json.loads(path.read_text()) for path in helper.DOCUMENTS.glob("*.json")}
        h100, run, ladder = self.recorded("h100-2026-11"), of["himeno-gpu-2"], of["himeno-ladder-1"]
        paths = json.loads((helper.SOURCE / "doc/results/h100-x4-2026-11/paths.json").read_text())
        epyc = self.recorded("epyc-2026-11")["ladder-opencl-M"]
        ladder["rungs"][0].update(verified="no", samples=[1, 1.1, 1.2])
        ladder["rungs"][1]["verdict"] = "wrong"
        yield self.drawn("ladder", *self.files(ladder, epyc))
        again = edited(run, result={"gflops": 5e3, "verified": "no", "ceiling_share": None})
        sizes = again, edited(run, config={"kernel_choice": "trial"}), of["himeno-gpu-1"], ladder
        yield self.drawn("sizes", *self.files(run, *sizes, epyc))
        yield self.drawn("paths", *self.files(paths))
        yield self.drawn("host", *self.files(paths))
        products = h100["gemm-ladder-cuda-4096"]
        sizes = edited(products, config={"ranks": 2})
        sizes["sizes"].append({**sizes["sizes"][0], "m": 64})
        yield self.drawn("products", *self.files(products, sizes, of["gemm-ladder-1"]))
        yield self.drawn("products", *self.files(sizes))
        for kind in ("copies", "latency", "roofline"):
            yield self.drawn(kind, *self.files(h100[f"mem-{kind}"]))
        runs = {**self.recorded("hosts-x8-2026-11"), **self.recorded("h200-x4-2026-11-later")}
        runs = [runs[name] for name in runs if re.match("strong-S-[12]-.*(none|p2p)|.*96x64", name)]
        model = of["himeno-predict-1"]
        one = {**model["predictions"][0], "size": "96x64x128", "transport": "staged-no-overlap"}
        model["predictions"] = [
            {**one, "ranks": ranks, "seconds": 1e-3 / ranks} for ranks in (1, 2, 4, 8, 16)
        ]
        yield self.drawn("scaling", *self.files(*runs, model))
        shutil.copytree(helper.DOCUMENTS / "study", "study")
        study = json.loads(pathlib.Path("study/study.json").read_text())
        point = study["points"][0]
        name = point["name"][:-1]
        study["points"] += [{**point, "name": "none", "transport": "p2p"}]
        study["points"] += [{**point, "name": f"{name}2", "repeat": 2}]
        study["options"]["transports"] += ["p2p"]
        first = pathlib.Path(f"study/runs/{name}1.json").read_text()
        slower = edited(json.loads(first), result={"samples": [1e-3]})
        for path, document in (("study", study), (f"runs/{name}2", slower)):
            pathlib.Path(f"study/{path}.json").write_text(json.dumps(document))
        yield self.drawn("transports", "study", with_report=True)

    def test_figures(self):
        """each kind of figure shows what it did before"""
        if not importlib.util.find_spec("matplotlib"):
            self.skipTest("there is no Python with matplotlib")
        from matplotlib import __version__

        lines = [f"matplotlib {__version__}"]
        lines += [line for figure in self.figures() for line in figure]
        if helper.WRITE:
            GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")
        wanted = GOLDEN.read_text(encoding="utf-8").splitlines()
        if wanted[0] != lines[0]:  # other versions place panels and logarithmic ticks differently
            lines[0], other = wanted[0], r"(\||log [-+.\de ]+:)[-+.\de, ]+ / "
            lines, wanted = (
                [re.sub(other, r"\1 / ", one) for one in all] for all in (lines, wanted)
            )
        self.assertEqual(*([line.split(" / ") for line in one] for one in (lines, wanted)))


if __name__ == "__main__":
    if not importlib.util.find_spec("matplotlib") and PYTHON != sys.executable:
        os.execv(PYTHON, [PYTHON, "-B", *sys.argv])
    helper.main()
