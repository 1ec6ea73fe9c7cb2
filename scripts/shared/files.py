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

READER_TENTHS = 20  # time for a pipe's reader, in tenths of a second
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
    """Adds to each row the fields that a document of many ranks stores in ranks_common."""
    if isinstance(document, dict) and isinstance(document.get("ranks_common"), dict):
        for row in document.get("ranks", []):
            row_complete(row, document["ranks_common"])
    return document


def parsed(data):
    """Parses bytes as JSON. Raises ValueError, with one line."""
    try:
        text = data.decode("utf-8-sig")
        return rows_completed(json.loads(text, parse_constant=no_number, parse_float=finite))
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start + 1} is not UTF-8") from error
    except RecursionError as error:
        raise ValueError("brackets within brackets, too deep to be read") from error


def open_input(path):
    """Opens a file for reading bytes. The writer of a pipe may start at the same time; a pipe
    without a writer ends after two seconds and is empty."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        waiting.poll(2000)
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "rb")


def read_parsed(path):
    """Parses a file as JSON. Raises OSError or ValueError."""
    with open_input(path) as file:
        return parsed(file.read())


def read_document(path):
    """A complete JSON document; None if missing or truncated."""
    try:
        found = read_parsed(path)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def keep_inputs(outputs, inputs):
    """Refuses an output that is the same file as one of the inputs."""
    for output in outputs:
        for one in inputs:
            with contextlib.suppress(OSError):
                if os.path.samefile(output, one) and stat.S_ISREG(os.stat(one).st_mode):
                    raise BadInput(f"{output}: is also read, as {one}")


def descriptor_of(path):
    """The descriptor that /dev/stdout or /dev/fd/3 refers to; None for other paths."""
    for _ in range(40):
        found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", path)
        if found or not os.path.islink(path):
            return int(found[1]) if found else None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return None


def open_into(path):
    """Opens a path that is not replaced, e.g. a pipe. Its reader may start at the same time; the
    wait is limited."""
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
    """Writes to a file that is not regular, is already open or not replaceable."""
    sys.stdout.flush()
    with os.fdopen(open_into(path) if descriptor is None else os.dup(descriptor), "wb") as file:
        file.write(data)
        if descriptor is None and stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.truncate(len(data))


def replace(path, before, data):
    """Replaces a file by a draft, if possible one without a name until it is complete."""
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
                # src_dir_fd makes os.link follow the link
                os.link(f"/proc/self/fd/{file.fileno()}", draft, src_dir_fd=file.fileno())
        os.replace(draft, path)
    finally:
        with contextlib.suppress(OSError):
            os.remove(draft)


def write_whole(path, data):
    """Writes text or bytes. A file is replaced atomically, through symbolic links, and keeps its
    permissions; if the system does not allow that, it is overwritten, with a warning. Anything
    else, such as a pipe, is written to."""
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
