# SPDX-License-Identifier: MIT
"""Sphinx's settings for `make site`, which builds a copy of doc/ with pages of the root folder in
project/ and generated pages in reference/."""

import os
import re

project = "himeno-gpu"
author = "the himeno-gpu authors"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "himeno-gpu"
html_show_copyright = False
html_copy_source = False
myst_heading_anchors = 4
exclude_patterns = ["kernel-template.*"]
suppress_warnings = ["misc.highlighting_failure"]

# Base address of links to files of the source repository that are no pages of the site.
with open("address") as file:
    repository = file.read().strip()
LINK = re.compile(r"(?<=\])\(([^)\s#]+)(#[^)\s]*)?\)")
ANCHOR = re.compile(r"<a id=\"([^\"]+)\"></a>\n?")
CODE = re.compile(r"(^```.*?^```|^    [^\n]*|`[^`\n]*`)", re.M | re.S)


# For each index: pages that its table of contents lists in addition to the pages that it links to.
GENERATED = {"reference/index": ["options", "fields-*"], "results/README": ["*/README"]}


def on_site(app, path):
    """Return the path in the site of a file of the source tree, or None if the site lacks it. For a
    folder it is the path of its README. Pages of the root folder are in project/."""
    inside = path[4:] if path.startswith("doc/") else f"project/{path}"
    if os.path.isdir(os.path.join(app.srcdir, inside)):
        inside += "/README.md"
    return inside if os.path.exists(os.path.join(app.srcdir, inside)) else None


def rewrite(app, page, source):
    """Rewrite the links of one page to paths in the site, and give an index its table of
    contents."""
    folder = os.path.dirname(page)
    was = "" if folder == "project" else os.path.join("doc", folder)
    linked = []

    def leads(link):
        path, anchor = link[1], link[2] or ""
        if re.match(r"\w+:", path):
            return link[0]
        to = os.path.normpath(os.path.join(was, path))
        inside = on_site(app, to)
        if not inside:
            return f"({repository}/{to})"
        inside = os.path.relpath(inside, folder or ".")
        linked.append(inside)
        return f"({inside}{anchor})"

    parts = CODE.split(source[0])
    parts[::2] = (ANCHOR.sub(r"(\1)=\n", LINK.sub(leads, part)) for part in parts[::2])
    pages = [one[:-3] for one in dict.fromkeys(linked) if one.endswith(".md")]
    if os.path.basename(page) == "index" or page in GENERATED:
        pages += GENERATED.get(page, ())
        inner = [one for one in pages if page != "results/README" or "*" in one]
        parts += ["\n\n```{toctree}\n:hidden:\n:glob:\n\n", *(f"{one}\n" for one in inner), "```\n"]
    source[0] = "".join(parts)


def setup(app):
    app.connect("source-read", rewrite)
