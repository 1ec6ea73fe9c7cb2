# SPDX-License-Identifier: MIT
"""Writes a self-contained HTML file with its style, figures and the code that sorts tables."""

import html
import re

# Colours of the light and dark schemes. Minimum contrast to the background: text 4.5, lines 2.3.
NAMES = [
    *"ink dim line good bad mark flag page band".split(),
    *(f"line{n}" for n in range(12)),
    *(f"part{n}" for n in range(4)),
]
LIGHT = dict(
    zip(
        NAMES,
        (
            "#1a1f26 #5b6672 #d9dee4 #2f7d4f #b3392a #1b3a5c #fbe3c8 #ffffff #f5f7f9 "
            "#1b3a5c #c8562d #4f8f6b #8a6fb0 #c9a227 #6f7b85 #2a8fbd #9c3b58 #7a4b21 #d0659a "
            "#0f6e6e #8a9a2b #8d99a6 #56636f #b8336a #e9a1c1"
        ).split(),
    )
)
DARK = dict(
    zip(
        NAMES,
        (
            "#e4e8ec #a4afba #3a434d #5fbf86 #ef7f6f #8fb8e8 #5c3f17 #14181d #1d232a "
            "#8fb8e8 #f0946c #7cc79b #bfa3e6 #e6c552 #a7b3bd #5fb4e0 #e58aa3 #c99a6b #f09cc6 "
            "#4fbdbd #c3d36a #6f7b87 #aab5c0 #e0609a #8f4a6c"
        ).split(),
    )
)


def scheme(colours):
    return ":root { " + " ".join(f"--{name}: {colour};" for name, colour in colours.items()) + " }"


# Printed pages have a white background in both schemes.
SCHEMES = f"{scheme(LIGHT)}\n@media screen and (prefers-color-scheme: dark) {{ {scheme(DARK)} }}\n"
STYLE = (
    SCHEMES
    + """
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: var(--ink);
  background: var(--page); max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; border-bottom: 2px solid var(--mark);
  padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
h3::first-letter { text-transform: uppercase; }
p { max-width: 60rem; }
.dim { color: var(--dim); }
ul.headline, ul.verdicts, ul.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap;
  gap: .8rem; }
ul.headline li { flex: 1 1 16rem; border-top: 4px solid var(--mark); background: var(--band);
  padding: .7rem 1rem; }
ul.headline strong { display: block; font-size: 1.5rem; line-height: 1.3;
  font-variant-numeric: tabular-nums; }
ul.headline b { display: block; }
ul.verdicts li { border: 1px solid var(--line); border-left: 6px solid var(--dim);
  border-radius: 4px; padding: .5rem .9rem; background: var(--band); }
ul.verdicts li.good { border-left-color: var(--good); }
ul.verdicts li.bad { border-left-color: var(--bad); }
ul.verdicts b { display: block; }
ul.legend { gap: .2rem 1.2rem; margin: .2rem 0; font-size: .85rem; }
ul.legend svg { vertical-align: -1px; margin-right: .4rem; }
ul.legend i { display: inline-block; width: 1.6em; height: .8em; margin-right: .4rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr));
  gap: .8rem; }
.charts svg { width: 100%; height: auto; }
svg text { fill: var(--ink); }
svg g:has(> title):hover { opacity: .6; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .8rem; }
th, td { padding: .28rem .4rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th { text-align: right; white-space: normal; vertical-align: bottom; background: var(--band);
  position: sticky; top: 0; }
tbody tr:hover { background: var(--band); }
td.text, th.text { text-align: left; }
td.mark { background: var(--flag); font-weight: 600; }
td.long { white-space: normal; overflow-wrap: break-word; }
td.long:last-child { width: 30%; }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid var(--mark); }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
pre { background: var(--band); border: 1px solid var(--line); padding: .8rem; white-space: pre-wrap;
  overflow-wrap: anywhere; font-size: .8rem; }
@media screen and (max-width: 48rem) {
  table.sorts, table.sorts tbody, table.sorts td { display: block; }
  table.sorts thead { display: none; }
  table.sorts tr { display: grid; grid-template-columns: 1fr 1fr;
    border-bottom: 2px solid var(--mark); }
  table.sorts td { text-align: right; white-space: normal; }
  table.sorts td.long:last-child { width: auto; }
  table.sorts td::before { content: attr(data-head); float: left; margin-right: .5rem;
    color: var(--dim); font-weight: normal; }
  table.sorts td.long { grid-column: 1 / -1; text-align: left; }
  table.sorts td.long::before { float: none; }
  body { padding: 1rem .8rem 3rem; }
}
@page { size: A4; margin: 12mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2, h3, ul.legend { break-after: avoid; }
  .wide { overflow: visible; }
  table { font-size: 6.5pt; width: 100%; }
  th { position: static; }
  th button { display: contents; }
  th, td { padding: 1.5pt 3pt; white-space: normal; }
  tr, svg, ul, ul li { break-inside: avoid; }
  .charts { display: block; orphans: 1; widows: 1; }
  .charts svg { width: 49%; }
  ul.headline li { flex-basis: 11rem; }
  ul.headline strong { font-size: 1.15rem; }
  ul.headline, ul.verdicts { gap: .4rem; margin: .4rem 0; }
  ul.headline li, ul.verdicts li { flex-grow: 1; padding: .3rem .6rem; font-size: 9pt; }
  h2 { margin-top: 1.2rem; }
  pre { font-size: 7pt; orphans: 6; widows: 6; }
  .screen { display: none; }
  * { print-color-adjust: exact; }
}
"""
)

SCRIPT = """
document.querySelectorAll('table.sorts').forEach(table => {
  const body = table.tBodies[0], order = [...body.rows];
  table.querySelectorAll('th').forEach((head, column) => {
    const button = document.createElement('button');
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      table.querySelectorAll('th').forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const value = row => row.cells[column].textContent, number = text => parseFloat(text);
      order.sort((a, b) => {
        const x = number(value(a)), y = number(value(b));
        const both = isNaN(x) || isNaN(y) ? value(a).localeCompare(value(b)) : x - y;
        return up ? both : -both;
      });
      body.append(...order);
    });
  });
});
document.documentElement.dataset.charts = [...document.querySelectorAll('.charts svg')]
  .filter(one => one.getBoundingClientRect().width > 200).length;
"""


def escaped(value):
    return html.escape(str(value))


def is_text(value):
    return isinstance(value, str) and not re.match(r"[-+±]? ?\d", value)


def table(head, rows, marks=(), wraps=False, texts=()):
    """Return an HTML table. `marks` are highlighted cells (row, column). Columns of text and the
    columns `texts` are left-aligned. With `wraps`, long text is broken into lines."""
    left = [
        column in texts or all(is_text(row[column]) for row in rows) for column in range(len(head))
    ]

    def cell(tag, value, column, marked=False):
        classes = " ".join(
            name
            for name, on in (
                ("text", left[column]),
                ("long", wraps and left[column]),
                ("mark", marked),
            )
            if on
        )
        given = (f' class="{classes}"' if classes else "") + (
            f' data-head="{escaped(head[column])}"' if tag == "td" else ""
        )
        return f"<{tag}{given}>{escaped(value)}</{tag}>"

    heads = "".join(cell("th", value, column) for column, value in enumerate(head))
    body = "\n".join(
        "<tr>"
        + "".join(
            cell("td", value, column, (place, column) in marks) for column, value in enumerate(row)
        )
        + "</tr>"
        for place, row in enumerate(rows)
    )
    return (
        f"<div class=wide tabindex=0><table class=sorts><thead>"
        f"<tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def facts(pairs):
    rows = "\n".join(
        f'<tr><th class=text scope=row>{escaped(name)}</th><td class="text '
        f'long">{escaped(value)}</td></tr>'
        for name, value in pairs
    )
    return f"<div class=wide tabindex=0><table><tbody>\n{rows}\n</tbody></table></div>"


def verdicts(checks):
    """Return a list in HTML. A check is (name, True if good, False if bad or None if unknown, what
    was found) and sometimes a word that replaces yes, no or unknown."""
    classes = {True: ("good", "yes"), False: ("bad", "no"), None: ("open", "unknown")}
    items = "\n".join(
        f"<li class={classes[good][0]}><b>{escaped(name)}: "
        f"{escaped([*word, classes[good][1]][0])}</b>{escaped(what)}</li>"
        for name, good, what, *word in checks
    )
    return f"<ul class=verdicts>\n{items}\n</ul>"


def headline(figures):
    """Return (name, figure, explanation)"""
    items = "\n".join(
        f"<li><b>{escaped(name)}</b><strong>{escaped(figure)}</strong><span>{escaped(what)}</span></li>"
        for name, figure, what in figures
    )
    return f"<ul class=headline>\n{items}\n</ul>"


def charts(drawings):
    return "<div class=charts>\n" + "\n".join(drawings) + "\n</div>"


def group(*parts):
    return "<div class=group>\n" + "\n".join(parts) + "\n</div>"


def heading(text):
    return f"<h3>{escaped(text)}</h3>"


def section(title, *parts):
    return f"<section>\n<h2>{escaped(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def paragraph(text, style=""):
    return f"<p{f' class={style}' if style else ''}>{escaped(text)}</p>"


def preformatted(lines):
    return "<pre>" + escaped("\n".join(lines)) + "</pre>"


def page(title, subtitle, parts):
    return (
        "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta name=viewport "
        'content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escaped(title)}</h1>\n{paragraph(subtitle, 'dim')}\n"
        + "\n".join(parts)
        + f"\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
