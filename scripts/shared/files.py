# SPDX-License-Identifier: MIT
"""Files of which a reader sees the old or the new, and never a part."""
import contextlib
import os


class Trouble(Exception):
    """The environment lacks something: its text is one line for the user; exit status 3."""


def write_whole(path, text):
    """A file is replaced whole or not at all."""
    draft = f"{path}.{os.getpid()}.new"
    try:
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(draft)
        raise Trouble(f"{path}: {error.strerror}") from error
