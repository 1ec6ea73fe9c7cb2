# SPDX-License-Identifier: MIT
"""Compares the pairs of kernels in doc/pairs.*: instructions per word before and after."""

import flow

ROWS = (
    ("pointer", "index product, pointer increment", ("sass", "ptx", "gcn")),
    ("row", "pixel a thread, row a thread", ("sass", "ptx", "gcn")),
    ("column", "pixel a thread, column a thread", ("sass", "ptx", "gcn")),
    ("scalar", "vector address, scalar address", ("gcn",)),
    ("byte", "vector address, byte pointer", ("gcn",)),
    ("shared", "two shared arrays, one with constant offsets", ("sass", "ptx", "gcn")),
)
BEFORE = {"column": "row", "byte": "scalar"}


def vector(counted):
    """Return the number of instructions that the vector unit of a GCN chip issues. Scalar work,
    scalar control and waits do not count."""
    return sum(
        one.split()[1].startswith(("v_", "ds_", "global_", "flat_", "buffer_"))
        for one in counted["text"]
    )


def measured(counted, pair, isa):
    """Return instructions per stored word; only vector ones for the pairs about scalar work."""
    words = counted["words"] or 1
    if isa == "gcn" and pair in ("scalar", "byte"):
        return vector(counted) / words
    return counted["loop"] / words


def beginning(counted, letter):
    """Return the instructions per word whose names begin with `letter`, as the article counts
    GCN's: "v_" for vector instructions; "s_" for scalar ones, waits and branches."""
    return sum(one.split()[1].startswith(letter) for one in counted["text"]) / (
        counted["words"] or 1
    )


def table(kernels, isa):
    """Return rows with a pair's name, what is counted, the counts before and after, and whether the
    count must not rise. Raises LookupError if a kernel is missing."""
    by_name = {kernel.name: flow.count(kernel) for kernel in kernels}
    rows = []
    for pair, about, strict in ROWS:
        names = (f"pair_{BEFORE.get(pair, pair)}_before", f"pair_{pair}_after")
        missing = [name for name in names if name not in by_name]
        if missing:
            raise LookupError(missing[0])
        before, after = (measured(by_name[name], pair, isa) for name in names)
        unit = (
            "vector instructions" if isa == "gcn" and pair in ("scalar", "byte") else "instructions"
        )
        rows.append(
            {
                "pair": pair,
                "about": about,
                "counted": f"{unit} a word",
                "before": before,
                "after": after,
                "asserted": isa in strict,
                "spoiled": isa in strict and after > before,
            }
        )
        for letter in ("v_", "s_") if unit != "instructions" else ():
            rows.append(
                {
                    "pair": pair,
                    "about": about,
                    "counted": f"{letter} instructions a word",
                    **{
                        when: beginning(by_name[name], letter)
                        for when, name in zip(("before", "after"), names)
                    },
                    "asserted": None,
                    "spoiled": False,
                }
            )
    return rows
