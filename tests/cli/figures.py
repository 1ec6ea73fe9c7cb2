#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares figures on the pages of doc/ with doc/results/*/figures.csv, and figures.csv with the
documents in its folder.

A row of figures.csv is one figure of one page:
  page, line   the page of doc/, and words that only one of its paragraphs or rows of a table has
  value, unit  as the page writes it: 2687, 99.0%, 0.27
  document     a file of that folder, or the name of a line of one of its *.jsonl, or with ../
               one of another folder; empty for a figure by others, which cannot be checked
  where        the place in the document: keys separated by dots; [key=value,...] for the element
               of a list with these members, [n] for its nth element; after a document's name
               and a colon, a place in that document; for plain text "WORDS #N", number N (from
               0, without sign) of the lines with WORDS; several places with " / ", " * ", " + "
               or " - " between them are computed from left to right
  command      the command that made the document, as in runs.jsonl or the .cmd file
Usage: figures.py SOURCE-TREE; prints a line per error; the exit status is 1 if there is one."""

import csv
import json
import pathlib
import re
import sys

# On a page with the comment WHOLE, every figure in a table is listed in a figures.csv, except in
# rows with MARK, which has figures without a stored document.
WHOLE = "<!-- all figures: results/*/figures.csv -->"
MARK = "†"
FIELDS = ["page", "line", "value", "unit", "document", "where", "command"]
NUMBER = re.compile(r"(?<![\w.\-_/])(?<!\d×)\d+(?:\.\d+)?%?(?![\w×])")
documents = {}


def recorded(folder):
    """Return {name: entry with command and document} of the lines in a folder's *.jsonl."""
    if folder not in documents:
        lines = [
            line
            for path in sorted(folder.glob("*.jsonl"))
            for line in path.read_text().splitlines()
        ]
        documents[folder] = {record["name"]: record for record in map(json.loads, lines)}
    return documents[folder]


def document(folder, name):
    """Return a document and its command, or None if the command is unknown."""
    path = folder / name
    if path not in documents:
        command = path.with_suffix(".cmd")
        if path.is_file():
            text = path.read_text()
            documents[path] = (
                json.loads(text) if path.suffix == ".json" else text,
                command.read_text().strip() if command.is_file() else None,
            )
        else:
            record = recorded(path.parent)[path.name]
            documents[path] = record["document"], record["command"]
    return documents[path]


def chosen(items, words):
    """Return the element of a list with these members, or with this index."""
    if words.isdigit():
        return items[int(words)]
    wanted = dict(word.split("=", 1) for word in words.split(","))
    found = [
        item
        for item in items
        if all(json.dumps(item[key]).strip('"') == value for key, value in wanted.items())
    ]
    if len(found) != 1:
        raise ValueError(f"[{words}] fits {len(found)} of a list")
    return found[0]


def value_at(at, where):
    if isinstance(at, str):
        words, _, number = where.rpartition(" #")
        lines = "\n".join(line for line in at.splitlines() if words in line)
        return float(NUMBER.findall(re.sub(r" -(?=\d)", " ", lines))[int(number)].rstrip("%"))
    for key, words in re.findall(r"([^.\[\]]+)|\[([^\]]+)\]", where):
        at = chosen(at, words) if words else at[key]
    return float(at)


def term(folder, name, words):
    if re.fullmatch(r"[\d.e+-]+", words):
        return float(words)
    other, _, where = words.rpartition(":")
    return value_at(document(folder, other or name)[0], where)


def measured(folder, row):
    words = re.split(r" ([-+*/]) ", row["where"])
    value = term(folder, row["document"], words[0])
    for operation, word in zip(words[1::2], words[2::2]):
        other = term(folder, row["document"], word)
        value = {
            "/": value / other if other else float("nan"),
            "*": value * other,
            "-": value - other,
            "+": value + other,
        }[operation]
    return value


def said(text, value):
    """Return True if the value, rounded to the digits of `text`, is that text."""
    plain = text.rstrip("%")
    digits = len(plain.partition(".")[2])
    return f"{value * (100 if text.endswith('%') else 1):.{digits}f}" == plain


def row_faults(folder, row):
    if not row["document"]:
        if row["where"] or not row["command"]:
            yield "without a document it has no place in one, and says in `command` whose it is"
        return
    try:
        command = document(folder, row["document"])[1]
        if command is not None and row["command"] != command:
            yield f"the document was made by: {command}"
        value = measured(folder, row)
        if not said(row["value"], value):
            yield f"the document has {value:.6g}"
    except (KeyError, IndexError, TypeError, ValueError) as error:
        yield f"nothing there: {error}"


def numbers(line):
    """Return the numbers of a line that are figures, without those in back quotes. In a row of a
    table the first cell does not count."""
    cells = line.split("|")
    text = "|".join(cells[2:]) if line.startswith("|") else line
    return [found.strip() for found in NUMBER.findall(re.sub(r"`[^`]*`|\]\([^)]*\)", "", text))]


def units(text):
    """Return the paragraphs, list items and rows of tables, each on one line."""
    return re.sub(r"(?<=[^|\n])\n {0,3}(?=[^\s|#])(?![*-] |\d+\. |```)", " ", text).splitlines()


def page_faults(name, text, rows):
    cited = {}
    for row in rows:
        lines = [line for line in units(text) if row["line"] in line]
        if len(lines) != 1:
            yield f'{name}: {len(lines)} lines have "{row["line"]}"'
        else:
            cited.setdefault(lines[0], []).append(row["value"])
    for line, values in cited.items():
        there = numbers(line)
        for value in sorted(set(values) | set(there)):
            whole = WHOLE in text and line.startswith("|") and MARK not in line
            if there.count(value) < values.count(value) or (
                whole and there.count(value) > values.count(value)
            ):
                yield (
                    f"{name}: {there.count(value)} times {value} in a line, "
                    f"{values.count(value)} in figures.csv: {line[:70]}"
                )
        if MARK in line and sorted(there) == sorted(values):
            yield f"{name}: marked, but figures.csv has all of it: {line[:70]}"
    lines = text.splitlines() if WHOLE in text else []
    heads = {number for number, line in enumerate(lines) if line.startswith("| ---")}
    for number, line in enumerate(lines, 1):
        if (
            line.startswith("|")
            and number not in heads
            and numbers(line)
            and line not in cited
            and MARK not in line
        ):
            yield f"{name}:{number}: a figure that no figures.csv has: {line[:70]}"


def main(source):
    faults, pages = [], {}
    for path in sorted((source / "doc/results").glob("*/figures.csv")):
        with path.open(newline="") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != FIELDS:
                faults.append(f"{path}: its columns are not {','.join(FIELDS)}")
                continue
            for number, row in enumerate(reader, 2):
                faults += [
                    f"{path}:{number}: {row['value']}: {fault}"
                    for fault in row_faults(path.parent, row)
                ]
                pages.setdefault(row["page"], []).append(row)
    for page, rows in sorted(pages.items()):
        faults += page_faults(page, (source / "doc" / page).read_text(), rows)
    print(
        "\n".join(faults)
        if faults
        else f"{sum(map(len, pages.values()))} figures of {len(pages)} pages"
    )
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
