# SPDX-License-Identifier: MIT
"""Replaces files atomically and reads documents, by the rules of base/file.c."""

import contextlib
import errno
import json
import math
import os
import re
import select
import stat
import sys
import time

from endings import BadInput, Trouble

READER_TENTHS = 20  # time to wait for a pipe's reader, in tenths of a second
NO_SPACE = errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO


def no_number(name):
    raise ValueError(f"{name} is no JSON")


def finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is no number that a double holds")
    return value


def row_complete(row, common):
    for key, value in common.items():
        if key in row and isinstance(value, dict):
            row_complete(row[key], value)
        row.setdefault(key, value)


def rows_completed(document):
    """Add to each row the fields that a document with many ranks stores in ranks_common."""
    if isinstance(document, dict) and isinstance(document.get("ranks_common"), dict):
        for row in document.get("ranks", []):
            row_complete(row, document["ranks_common"])
    return document


def parsed(data):
    """Parse bytes as JSON. Raises ValueError, whose text is one line."""
    try:
        text = data.decode("utf-8-sig")
        return rows_completed(json.loads(text, parse_constant=no_number, parse_float=finite))
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8") from error
    except RecursionError as error:
        raise ValueError("brackets within brackets, too deep to be read") from error


def open_input(path):
    """Open a file for reading bytes. The writer of a pipe may start at the same time; a pipe that
    has no writer within two seconds is empty."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        waiting.poll(2000)
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "rb")


def read_parsed(path):
    """Parse a file as JSON. Raises OSError or ValueError."""
    with open_input(path) as file:
        return parsed(file.read())


def read_document(path):
    """Return a complete JSON document; None if it is missing or truncated."""
    try:
        found = read_parsed(path)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def keep_inputs(outputs, inputs):
    """Refuse an output that is the same file as one of the inputs."""
    for output in outputs:
        for one in inputs:
            with contextlib.suppress(OSError):
                if os.path.samefile(output, one) and stat.S_ISREG(os.stat(one).st_mode):
                    raise BadInput(f"{output}: is also read, as {one}")


def descriptor_of(path):
    """Return the descriptor that a path such as /dev/stdout or /dev/fd/3 means, or None."""
    for _ in range(40):
        found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", path)
        if found or not os.path.islink(path):
            return int(found[1]) if found else None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return None


def open_into(path):
    """Open a path that cannot be replaced, such as a pipe. A pipe's reader may start at the same
    time; the wait for it is limited."""
    for last in [False] * (READER_TENTHS - 1) + [True]:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
            os.set_blocking(descriptor, True)
            return descriptor
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if last:
                raise OSError(errno.ENXIO, "no process reads this pipe") from error
        time.sleep(0.1)


def write_into(path, descriptor, data):
    """Write to a file that is not regular, is open already, or cannot be replaced."""
    sys.stdout.flush()
    with os.fdopen(open_into(path) if descriptor is None else os.dup(descriptor), "wb") as file:
        file.write(data)
        if descriptor is None and stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.truncate(len(data))


def replace(path, before, data):
    """Replace a file by a draft, which has no name before it is complete, if possible."""
    draft = f"{os.path.dirname(path) or '.'}/.{os.getpid()}-{os.urandom(4).hex()}.new"
    try:
        descriptor, named = (
            os.open(os.path.dirname(path) or ".", os.O_TMPFILE | os.O_WRONLY, 0o666),
            False,
        )
    except OSError:
        descriptor, named = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), True
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if before:
                with contextlib.suppress(OSError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
                os.fchmod(file.fileno(), before.st_mode & 0o777)
            file.flush()
            os.fsync(file.fileno())
            if not named:
                # src_dir_fd makes os.link follow the symbolic link in /proc.
                os.link(f"/proc/self/fd/{file.fileno()}", draft, src_dir_fd=file.fileno())
        os.replace(draft, path)
    finally:
        with contextlib.suppress(OSError):
            os.remove(draft)


def write_whole(path, data):
    """Write text or bytes. A file is replaced atomically, through symbolic links, and keeps its
    permissions. If it cannot be replaced, it is overwritten, with a warning. To anything else, such
    as a pipe, the data are written."""
    data = data.encode(errors="backslashreplace") if isinstance(data, str) else data
    try:
        descriptor = descriptor_of(path)
        try:
            before = os.stat(path)
        except FileNotFoundError:
            before = None
        if descriptor is not None or before and not stat.S_ISREG(before.st_mode):
            write_into(path, descriptor, data)
        else:
            if before and not os.access(path, os.W_OK):
                raise PermissionError(0, "Permission denied")
            try:
                replace(os.path.realpath(path), before, data)
            except OSError as error:
                if not before or error.errno in NO_SPACE:
                    raise
                write_into(path, None, data)
                print(
                    f"{os.path.basename(sys.argv[0])}: warning: {path}: "
                    f"overwritten in place, because it cannot be replaced: {error.strerror}",
                    file=sys.stderr,
                )
    except OSError as error:
        raise Trouble(f"{path}: {error.strerror}") from error
