# SPDX-License-Identifier: MIT
"""Compares the fields of documents with the schemas of doc/. Every field of a document must be
declared in its schema. Every declared field must be written by some document, or be listed in
`unwritten` with the reason."""

import json
import pathlib
import re

try:
    import jsonschema
except ImportError:
    jsonschema = None

UNWRITTEN = pathlib.Path(__file__).parent / "unwritten"
LINE_OF_A_LOG = "soak-log"  # name of a schema whose lines do not name it


def roots_of(source):
    """Return {schema of a document: (kind, whole file)}."""
    roots = {}
    for path in sorted(source.glob("doc/*.schema.json")):
        whole = json.loads(path.read_text())
        schema = whole["properties"].get("schema", {})
        for name in schema.get("enum", [schema.get("const", LINE_OF_A_LOG)]):
            roots[name] = path.name.split(".")[0], whole
    return roots


def resolved(whole, nodes):
    """Yield all schema nodes that apply to the same value."""
    for node in nodes:
        yield node
        more = [part for word in ("anyOf", "allOf") for part in node.get(word, [])]
        if "$ref" in node:
            more.append(whole["$defs"][node["$ref"].split("/")[-1]])
        yield from resolved(whole, more)


def children(whole, nodes):
    """Return {key: nodes} for the values of an object, with "*" for other keys and "[]" for the
    elements of an array."""
    found = {}
    for node in resolved(whole, nodes):
        for key, inner in node.get("properties", {}).items():
            found.setdefault(key, []).append(inner)
        for word, key in (("additionalProperties", "*"), ("items", "[]")):
            if isinstance(node.get(word), dict):
                found.setdefault(key, []).append(node[word])
    return found


def spot(whole, nodes, path, key):
    """Return a name for a property. Equal objects of one schema have the same name everywhere."""
    words = ("properties", "items", "additionalProperties")
    return (
        path.split(".")[0]
        + key
        + json.dumps([{word: node.get(word) for word in words} for node in resolved(whole, nodes)])
    )


def unknown(whole, nodes, value, path, written):
    """Yield the parts of a value that no schema declares, and add to `written` the names (see spot)
    of the parts that one declares."""
    known = children(whole, nodes)
    for key, inner in (
        value.items()
        if isinstance(value, dict)
        else [("[]", one) for one in value]
        if isinstance(value, list)
        else []
    ):
        place = key if key in known or isinstance(value, list) else "*"
        if place in known:
            written.add(spot(whole, nodes, path, place))
            yield from unknown(whole, known[place], inner, f"{path}.{place}", written)
        else:
            yield f"{path}.{key}"


def silent(whole, nodes, path, written):
    """Yield the properties that no document has, but not their parts. A property of several places
    counts as written if one of them has it."""
    for key, inner in children(whole, nodes).items():
        below = f"{path}.{key}"
        if spot(whole, nodes, path, key) not in written:
            written.add(spot(whole, nodes, path, key))
            yield below
        else:
            yield from silent(whole, inner, below, written)


def faults(roots, kind, document):
    """Yield texts on where a document does not follow its schema; none without jsonschema."""
    name = document.get("schema", kind.split()[0])
    if jsonschema and name in roots:
        for error in jsonschema.Draft202012Validator(roots[name][1]).iter_errors(document):
            yield f"{'.'.join(map(str, error.absolute_path)) or 'document'}: {error.message[:200]}"


def differences(source, documents, skipped):
    """Yield the differences as texts. `documents` are those of one run of tests/golden/commands,
    {kind: [file of documents]}. Some documents of the kinds in `skipped` could not be made."""
    roots, written, stray = roots_of(source), set(), {}
    for kind, document in (
        (kind, one) for kind, files in documents.items() for file in files for one in file
    ):
        name = document.get("schema", kind.split()[0])
        if name in roots:
            _, whole = roots[name]
            stray.update(dict.fromkeys(unknown(whole, [whole], document, name, written)))
    yield from (f"{path} is written and stands in no schema" for path in stray)
    excused = {
        row.split()[0] for row in UNWRITTEN.read_text().splitlines() if not row.startswith("#")
    }
    for name, (kind, whole) in roots.items():
        newest = whole["properties"].get("schema", {}).get("enum", [name])[0]
        if kind in skipped or name != newest or re.search(r"-[0-9]+$", kind):
            continue
        found = set(silent(whole, [whole], name, written))
        yield from (
            f"{path} stands in a schema and is written by no document"
            for path in sorted(found - excused)
        )
        yield from (
            f"{path} stands in tests/golden/unwritten and is written"
            for path in sorted(excused - found)
            if path.startswith(name + ".")
        )
