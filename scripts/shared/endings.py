# SPDX-License-Identifier: MIT
"""Ends a script: exit status, one line for the user after an error, and no leftover files."""

import os
import signal
import sys


# The order of severity in which one exit status represents several.
GRAVEST = (7, 6, 4, 3, 2, 8, 5)

# Make printing work in every locale: characters that a stream cannot encode are escaped.
for stream in filter(None, (sys.stdout, sys.stderr)):
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


class BadInput(Exception):
    """Invalid option or input. Its text is one line for the user; exit status 2."""


class Trouble(Exception):
    """The environment lacks something. Its text is one line for the user; exit status 3."""


class Fault(Exception):
    """A program that the script ran has failed. Its text is one line for the user; exit status
    7."""


def end_cleanly():
    """Makes signals end the script through its finally blocks, which remove drafts and end its
    programs."""

    def end(number, _):
        sys.exit(128 + number)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, end)


def status_of(action, stopped=None):
    """The exit status of an action, which returns it, or None for 0. If a signal ends the action,
    prints `stopped` and returns 8."""
    if stopped:
        for number in (signal.SIGHUP, signal.SIGTERM):
            # nohup ignores SIGHUP, which stays ignored
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, signal.default_int_handler)
    try:
        return action() or 0
    except BadInput as error:
        code, why = 2, error
    except Trouble as error:
        code, why = 3, error
    except Fault as error:
        code, why = 7, error
    except OSError as error:
        code, why = 3, f"{error.filename or 'output'}: {error.strerror or error}"
    except KeyboardInterrupt:
        if not stopped:
            raise
        code, why = 8, stopped
    print(f"{os.path.basename(sys.argv[0])}: {' '.join(str(why).splitlines())}", file=sys.stderr)
    return code
