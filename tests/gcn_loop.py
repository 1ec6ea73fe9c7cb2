# SPDX-License-Identifier: MIT
"""Counts instructions in the hot loop of a GCN kernel: the innermost loop with the most products.
Prints the number of vector registers, the bytes of scratch memory, and the numbers of the loop's
instructions: of all, of multiply-adds, and of accesses to scratch memory."""

import re
import sys

MULTIPLY_ADD = re.compile(r"v_(mac|fmac|fma|mad)_f32")
SCRATCH = re.compile(r"buffer_(load|store)|scratch_")


def read(path):
    """Return the instructions, {label: index of an instruction}, and the compiler's notes."""
    code, labels, notes = [], {}, {}
    for line in open(path, encoding="utf-8"):
        note = re.match(r"; (NumVgprs|ScratchSize): (\d+)", line)
        label = re.match(r"(\.?\w+):", line)
        if note:
            notes[note.group(1)] = int(note.group(2))
        elif label:
            labels[label.group(1)] = len(code)
        elif re.match(r"\t[a-z]\w*_\w+", line):
            code.append(line.split(";")[0].split())
    return code, labels, notes


def loops(code, labels):
    """Yield (begin, end) of each loop, from a label to a branch back to it."""
    for place, words in enumerate(code):
        if re.match(r"s_c?branch", words[0]) and labels.get(words[-1], place + 1) <= place:
            yield labels[words[-1]], place + 1


def innermost(spans):
    return [
        one
        for one in spans
        if not any(other != one and one[0] <= other[0] and other[1] <= one[1] for other in spans)
    ]


def count(body, kind):
    return sum(bool(kind.match(words[0])) for words in body)


def main():
    code, labels, notes = read(sys.argv[1])
    bodies = [code[begin:end] for begin, end in innermost(list(loops(code, labels)))]
    if not bodies:
        sys.exit(f"{sys.argv[1]}: there is no loop in it")
    hot = max(bodies, key=lambda body: count(body, MULTIPLY_ADD))
    print(
        notes["NumVgprs"],
        notes["ScratchSize"],
        len(hot),
        count(hot, MULTIPLY_ADD),
        count(hot, SCRATCH),
    )


main()
