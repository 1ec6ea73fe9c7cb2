# SPDX-License-Identifier: MIT
"""One HTML file that needs nothing else: style, pictures and the tables' sorting are inside."""
import html

# Light and dark: of text at least 4.5 to 1 against what it stands on, of lines 2.3.
LIGHT = {"ink": "#1a1f26", "dim": "#5b6672", "line": "#d9dee4", "good": "#2f7d4f", "bad": "#b3392a", "mark": "#1b3a5c", "flag": "#fbe3c8", "page": "#ffffff",
         "band": "#f5f7f9", "line0": "#1b3a5c", "line1": "#c8562d", "line2": "#4f8f6b", "line3": "#8a6fb0", "line4": "#c9a227", "line5": "#6f7b85",
         "line6": "#2a8fbd", "line7": "#9c3b58"}
DARK = {"ink": "#e4e8ec", "dim": "#a4afba", "line": "#3a434d", "good": "#5fbf86", "bad": "#ef7f6f", "mark": "#8fb8e8", "flag": "#5c3f17", "page": "#14181d",
        "band": "#1d232a", "line0": "#8fb8e8", "line1": "#f0946c", "line2": "#7cc79b", "line3": "#bfa3e6", "line4": "#e6c552", "line5": "#a7b3bd",
        "line6": "#5fb4e0", "line7": "#e58aa3"}


def scheme(colours):
    return ":root { " + " ".join(f"--{name}: {colour};" for name, colour in colours.items()) + " }"


# Paper is white whatever the screen is.
SCHEMES = f"{scheme(LIGHT)}\n@media screen and (prefers-color-scheme: dark) {{ {scheme(DARK)} }}\n"
STYLE = SCHEMES + """
:root { color-scheme: light dark; } * { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: var(--ink); background: var(--page); max-width: 76rem;
  margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; border-bottom: 2px solid var(--mark); padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; } h3::first-letter { text-transform: uppercase; }
p { max-width: 60rem; } .dim { color: var(--dim); }
ul.headline, ul.verdicts, ul.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .8rem; }
ul.headline li { flex: 1 1 16rem; border-top: 4px solid var(--mark); background: var(--band); padding: .7rem 1rem; }
ul.headline strong { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums; } ul.headline b { display: block; }
ul.verdicts li { border: 1px solid var(--line); border-left: 6px solid var(--dim); border-radius: 4px; padding: .5rem .9rem; background: var(--band); }
ul.verdicts li.good { border-left-color: var(--good); } ul.verdicts li.bad { border-left-color: var(--bad); }
ul.verdicts b { display: block; }
ul.legend { gap: .2rem 1.2rem; margin: .2rem 0; font-size: .85rem; } ul.legend svg { vertical-align: -1px; margin-right: .4rem; }
ul.legend i { display: inline-block; width: 1.6em; height: .8em; margin-right: .4rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16rem), 1fr)); gap: .8rem; } .charts svg { width: 100%; max-width: 32rem; height: auto; }
svg text { fill: var(--ink); } svg g:has(> title):hover { opacity: .6; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .88rem; }
th, td { padding: .28rem .65rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th { text-align: right; background: var(--band); position: sticky; top: 0; } tbody tr:hover { background: var(--band); }
td.text, th.text { text-align: left; } td.mark { background: var(--flag); font-weight: 600; } td.long { white-space: normal; overflow-wrap: break-word; }
th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid var(--mark); }
th[aria-sort=ascending] button::after { content: " \\2191"; } th[aria-sort=descending] button::after { content: " \\2193"; }
pre { background: var(--band); border: 1px solid var(--line); padding: .8rem; overflow: auto; max-height: 28rem; font-size: .8rem; }
@page { size: A4 landscape; margin: 12mm; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere; } h2, h3 { break-after: avoid; }
  .wide { overflow: visible; } table { font-size: 7pt; width: 100%; } th { position: static; } th button { display: contents; } th, td { padding: 1.5pt 3pt; white-space: normal; }
  tr, .together, ul.headline li, ul.verdicts li { break-inside: avoid; } .charts { grid-template-columns: repeat(4, 1fr); } * { print-color-adjust: exact; } }
"""

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
document.documentElement.dataset.pictures = [...document.querySelectorAll('.charts svg')].filter(one => one.getBoundingClientRect().width > 200).length;
"""


def escaped(value):
    return html.escape(str(value))


def is_text(value):
    return isinstance(value, str) and not any(character.isdigit() for character in value[:2].lstrip("+-"))


def table(head, rows, sorts=True, marks=(), wraps=False, texts=()):
    """Cells (row, column) of `marks` stand out; texts are broken into lines where it wraps, and stand left, as the columns `texts` do."""
    left = [column in texts or all(is_text(row[column]) for row in rows) for column in range(len(head))]
    def cell(tag, value, column, marked=False):
        classes = " ".join(name for name, on in (("text", left[column]), ("long", wraps and left[column]), ("mark", marked)) if on)
        given = f' class="{classes}"' if classes else ""
        return f"<{tag}{given}>{escaped(value)}</{tag}>"
    heads = "".join(cell("th", value, column) for column, value in enumerate(head))
    body = "\n".join("<tr>" + "".join(cell("td", value, column, (place, column) in marks) for column, value in enumerate(row)) + "</tr>"
                     for place, row in enumerate(rows))
    return (f"<div class=wide tabindex=0><table{' class=sorts' if sorts else ''}><thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>")


def facts(pairs):
    rows = "\n".join(f"<tr><th class=text scope=row>{escaped(name)}</th><td class=\"text long\">{escaped(value)}</td></tr>" for name, value in pairs)
    return f"<div class=wide tabindex=0><table><tbody>\n{rows}\n</tbody></table></div>"


def verdicts(checks):
    classes = {True: "good", False: "bad", None: "open"}
    marks = {True: "yes", False: "no", None: "not shown"}
    items = "\n".join(f"<li class={classes[good]}><b>{escaped(name)}: {marks[good]}</b>{escaped(what)}</li>" for name, good, what in checks)
    return f"<ul class=verdicts>\n{items}\n</ul>"


def headline(figures):
    """Name, the figure, and what it is of."""
    items = "\n".join(f"<li><b>{escaped(name)}</b><strong>{escaped(figure)}</strong><span>{escaped(what)}</span></li>" for name, figure, what in figures)
    return f"<ul class=headline>\n{items}\n</ul>"


def charts(pictures):
    return "<div class=charts>\n" + "\n".join(pictures) + "\n</div>"


def together(*parts):
    """On one sheet of paper."""
    return "<div class=together>\n" + "\n".join(parts) + "\n</div>"


def heading(text):
    return f"<h3>{escaped(text)}</h3>"


def section(title, *parts):
    return f"<section>\n<h2>{escaped(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def paragraph(text, style=""):
    return f"<p{f' class={style}' if style else ''}>{escaped(text)}</p>"


def preformatted(lines):
    return "<pre>" + escaped("\n".join(lines)) + "</pre>"


def page(title, subtitle, parts):
    return (f"<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
            f"<title>{escaped(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escaped(title)}</h1>\n{paragraph(subtitle, 'dim')}\n"
            + "\n".join(parts) + f"\n<script>{SCRIPT}</script>\n</body>\n</html>\n")
