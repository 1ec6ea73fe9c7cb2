# SPDX-License-Identifier: MIT
"""Share of peak of gemm-gpu's ladders, measured and predicted, for scripts/plot products."""
import documents

SCHEMAS = ("gemm-ladder/2", "gemm-ladder/1")
# A bar's label takes so much of its axis, which is in percent.
LABEL_WIDTH = 12


def share(value):
    return None if value is None else 100 * value


def point(size, rung):
    """Sizes that are no cubes have their whole name."""
    name = str(size["m"]) if size["m"] == size["n"] == size["k"] else f"{size['m']}x{size['n']}x{size['k']}"
    predicted = rung["predicted"] and share(rung["predicted"]["peak_share"])
    return {"size": name, "measured": share(rung["peak_share"]), "predicted": predicted}


def panel(document):
    """Kernels with their points, in the order of the ladder."""
    config, lines = document["config"], {}
    for size in document["sizes"]:
        for rung in size["rungs"]:
            if rung["verdict"] == "pass" and rung["peak_share"] is not None:
                one = lines.setdefault(rung["kernel"], {"kernel": rung["kernel"], "yardstick": rung["yardstick"], "points": []})
                one["points"].append(point(size, rung))
    ranks = f", {config['ranks']} ranks" if config["ranks"] > 1 else ""
    sizes = list(dict.fromkeys(one["size"] for line in lines.values() for one in line["points"]))
    return {"name": f"{config['backend']}, {config['type']} {config['trans']}{ranks}", "sizes": sizes, "lines": list(lines.values()),
            "peak": document["ceilings"]["gflops"], "origin": documents.origin(document, config["device"])}


def read(read_documents):
    """A panel a document."""
    panels = []
    for path, document in read_documents:
        if document["schema"] not in SCHEMAS:
            raise documents.BadInput(f"{path}: of schema {document['schema']}: products are drawn from {' and '.join(SCHEMAS)}")
        found = documents.described(path, document, panel)
        if not found["lines"]:
            raise documents.BadInput(f"{path}: no rung of it has a share of peak to draw")
        panels.append(found)
    return panels


def draw_lines(axes, one, style, looks):
    """Measured: markers on full lines; predicted: thin dashes of the same colour."""
    for line in one["lines"]:
        look = looks[line["kernel"]]
        places = [one["sizes"].index(spot["size"]) for spot in line["points"]]
        axes.plot(places, [spot["measured"] for spot in line["points"]], **look)
        said = [(place, spot["predicted"]) for place, spot in zip(places, line["points"]) if spot["predicted"]]
        axes.plot([place for place, _ in said], [value for _, value in said], color=look["color"], linestyle=(0, (2, 2)), linewidth=1)
    axes.set_xticks(range(len(one["sizes"])), one["sizes"])
    axes.set_xlim(-0.4, len(one["sizes"]) - 0.3)
    axes.set_xlabel("m = n = k")
    axes.set_ylabel("share of peak, %")
    axes.set_ylim(bottom=0)


def draw_bars(axes, one, style):
    """One size: a bar a kernel, and a tick where the model puts it."""
    for place, line in enumerate(one["lines"]):
        spot = line["points"][0]
        axes.barh(place, spot["measured"], height=0.62, **(style.YARDSTICK if line["yardstick"] else style.CLASSIC))
        ends = [end for end in (spot["measured"], spot["predicted"]) if end]
        beyond = max(ends) if max(ends) - min(ends) < LABEL_WIDTH else spot["measured"]
        axes.annotate(f"{spot['measured']:.1f}", (beyond, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8.5)
        if spot["predicted"]:
            axes.plot([spot["predicted"]] * 2, [place - 0.42, place + 0.42], color="black", linewidth=1.8)
    axes.set_yticks(range(len(one["lines"])), [line["kernel"] for line in one["lines"]])
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, max(105, axes.get_xlim()[1]))
    axes.set_xlabel(f"share of peak, %, {one['sizes'][0]}; black ticks: the model")


def legend(panels, lines, looks):
    """Of the panels with lines; bars have their names beside them."""
    kernels = dict.fromkeys(line["kernel"] for one in panels if len(one["sizes"]) > 1 for line in one["lines"])
    handles = [lines.Line2D([], [], label=kernel, **looks[kernel]) for kernel in kernels]
    if handles:
        handles.append(lines.Line2D([], [], label="predicted", color="#606060", linestyle=(0, (2, 2)), linewidth=1))
    return handles


def draw(panels, title, name):
    from matplotlib import lines, pyplot
    import style
    kernels = dict.fromkeys((line["kernel"], line["yardstick"]) for one in panels for line in one["lines"])
    black = {"color": "black", "marker": "x", "linestyle": "-", "linewidth": 1, "markersize": 6}
    looks = {kernel: black if yardstick else style.line(index) for index, (kernel, yardstick) in enumerate(kernels)}
    columns = min(2, len(panels))
    handles = legend(panels, lines, looks)
    figure, grid = pyplot.subplots(-(-len(panels) // columns), columns, squeeze=False,
                                   figsize=(5.2 * columns, 3.9 * -(-len(panels) // columns) + 0.4 + 0.1 * len(handles) / columns))
    for axes in grid.flat[len(panels):]:
        axes.set_visible(False)
    for axes, one in zip(grid.flat, panels):
        if len(one["sizes"]) == 1:
            draw_bars(axes, one, style)
        else:
            draw_lines(axes, one, style, looks)
            style.whole_markers(axes)
        axes.set_title(f"{one['name']}\npeak {one['peak'] / 1000:.1f} TFLOPS", loc="left", fontsize=9)
    rows = style.legend(figure, handles) if handles else 0
    style.save(figure, name, style.caption([one["origin"] for one in panels]), title, legend_rows=rows)
