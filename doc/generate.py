# SPDX-License-Identifier: MIT
"""generate.py SITE SOURCE PROGRAM...: writes the generated pages of the site: reference/options.md
from each program's --help, reference/fields-*.md from the schemas of documents."""

import json
import pathlib
import subprocess
import sys

DOCUMENTS = {
    "result": "himeno-gpu",
    "ladder": "himeno-gpu --ladder",
    "soak": "himeno-gpu --soak",
    "gemm": "gemm-gpu",
    "gemm-ladder": "gemm-gpu --ladder",
    "comm": "comm-gpu",
    "mem": "mem-gpu",
    "predict": "himeno-predict",
    "accept": "scripts/accept",
    "inventory": "scripts/accept --write-inventory",
}


def options(programs):
    """Yield the Markdown text of options.md: the output of each program's --help."""
    yield "# Options\n"
    yield "The output of `--help`. Installed programs have the same text as a man page.\n"
    for program in programs:
        text = subprocess.run(
            [program, "--help"], check=True, capture_output=True, text=True
        ).stdout
        yield f"## {pathlib.Path(program).name}\n\n```text\n{text.rstrip()}\n```\n"


def kind_of(node):
    """Return the type of a schema's field in words."""
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "enum" in node:
        return ", ".join(f"`{json.dumps(one)}`" for one in node["enum"])
    kinds = node.get("type", "any")
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


def rows(node, path, root):
    """Yield one table row per field: path, type, whether it is required, meaning."""
    while "$ref" in node:
        node = {**root["$defs"][node["$ref"].rsplit("/", 1)[1]], **node}
        del node["$ref"]
    for name, field in node.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        meaning = field.get("description", "").replace("|", "\\|")
        needed = "yes" if name in node.get("required", ()) else ""
        yield f"| `{at}` | {kind_of(field)} | {needed} | {meaning} |"
        yield from rows(field, at, root)
    if isinstance(node.get("items"), dict):
        yield from rows(node["items"], f"{path}[]", root)
    if isinstance(node.get("additionalProperties"), dict):
        yield from rows(node["additionalProperties"], f"{path}.*", root)


def fields(schema, program):
    """Yield the page of one document type: a table of the fields that its schema declares."""
    yield f"# Fields: {program}\n"
    yield f"{schema.get('description', schema['title'])}\n"
    yield "| field | type | required | meaning |\n| --- | --- | --- | --- |"
    yield from rows(schema, "", schema)


def main(site, source, *programs):
    reference = pathlib.Path(site) / "reference"
    (reference / "options.md").write_text("\n".join(options(programs)))
    for name, program in DOCUMENTS.items():
        schema = json.loads((pathlib.Path(source) / f"doc/{name}.schema.json").read_text())
        page = "\n".join(fields(schema, program)) + "\n"
        (reference / f"fields-{name}.md").write_text(page)


main(*sys.argv[1:])
