# SPDX-License-Identifier: MIT
"""Options that name their readers, so that a warning can list given options that nothing reads."""

import argparse
import os
import pathlib
import re
import sys

ALWAYS = frozenset({"always"})


def add_version(parser):
    """Add --version with the suite's version, from a file with the same relative path in the source
    tree and in an installation."""
    citation = pathlib.Path(__file__).resolve().parents[2] / "CITATION.cff"
    found = re.search(r"^version: *(\S+)", citation.read_text(), re.M).group(1)
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {found}", help="show the version and exit"
    )


class Parser(argparse.ArgumentParser):
    """A parser in which each option has `reads`: ALWAYS, or the names of the modes, stages or
    inputs that read the option."""

    def __init__(self, *rest, formatter_class=argparse.RawDescriptionHelpFormatter, **keywords):
        super().__init__(*rest, formatter_class=formatter_class, **keywords)
        add_version(self)

    def add_argument(self, *names, reads=None, **keywords):
        action = super().add_argument(*names, **keywords)
        if names[0].startswith("-") and action.dest not in ("help", "version"):

            class Given(type(action)):
                def __call__(self, parser, namespace, *rest):
                    namespace.given = {
                        **getattr(namespace, "given", {}),
                        self.option_strings[-1]: frozenset(reads),
                    }
                    super().__call__(parser, namespace, *rest)

            if not reads:
                raise TypeError(f"{names[0]}: who reads it?")
            action.__class__ = Given
        return action


def ignored(arguments, readers, asked):
    """Print one warning that lists the given options that no reader reads; return their names."""
    names = [
        name
        for name, reads in getattr(arguments, "given", {}).items()
        if not reads & (ALWAYS | set(readers))
    ]
    if names:
        print(
            f"{os.path.basename(sys.argv[0])}: warning: {', '.join(names)}: "
            f"ignored, not read by {asked}",
            file=sys.stderr,
        )
    return names
