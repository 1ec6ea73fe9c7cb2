# SPDX-License-Identifier: MIT
"""guide.py PAGE TREE SECTION: makes the edits of a section of doc/how-to/extending.md in TREE, and
prints the files that it changed. A block of sh is run in TREE. After "In `FILE`, after `TEXT`:" the
next block is inserted below the only line with TEXT; after "replace `TEXT`:" it replaces TEXT. A
block without such a sentence is an error, so that no edit is missed."""

import pathlib
import re
import subprocess
import sys

STEP = re.compile(
    r"(?:^In `([^`]+)`, (after|replace) `([^`]+)`:\n\n)?^```(\w+)\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def edited(text, how, at, block):
    lines = text.splitlines(keepends=True)
    found = [n for n, line in enumerate(lines) if at in line]
    if len(found) != 1:
        sys.exit(f"{len(found)} lines have {at}")
    lines[found[0]] = (
        lines[found[0]] + block
        if how == "after"
        else lines[found[0]].replace(at, block.rstrip("\n"))
    )
    return "".join(lines)


def main():
    page, tree, section = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    text = re.search(
        rf"^## {section}\n(.*?)(?=^## |\Z)", page.read_text(), re.MULTILINE | re.DOTALL
    )[1]
    changed = []
    for file, how, at, language, block in STEP.findall(text):
        if language == "sh":
            subprocess.run(["sh", "-euc", block], cwd=tree, check=True)
        elif not file:
            sys.exit(f"{section}: where does this go? {block}")
        else:
            (tree / file).write_text(edited((tree / file).read_text(), how, at, block))
            changed.append(file)
    print("\n".join(dict.fromkeys(changed)))


if __name__ == "__main__":
    main()
