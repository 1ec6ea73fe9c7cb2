# SPDX-License-Identifier: MIT
"""Installed scripts import this first: an older Python prints one line and exits with 3."""

import sys


def refuse_older():
    if sys.version_info < (3, 8):  # noqa: UP036
        found = ".".join(map(str, sys.version_info[:2]))
        sys.stderr.write(
            f"{sys.argv[0]}: needs Python 3.8 or later, and {sys.executable} is {found}\n"
        )
        sys.exit(3)


refuse_older()
