# SPDX-License-Identifier: MIT
"""Ends a script: exit status, one line for the user after an error, no leftover files."""

import os
import signal
import sys


# If one exit status stands for several, it is the first of these that occurred.
GRAVEST = (7, 6, 4, 3, 2, 8, 5)

# Characters that a stream's encoding lacks are escaped, so that printing works in every locale.
for stream in filter(None, (sys.stdout, sys.stderr)):
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


class BadInput(Exception):
    """An invalid option or input. Its text is one line for the user; the exit status is 2."""


class Trouble(Exception):
    """The environment lacks something. Its text is one line for the user; the exit status is 3."""


class Fault(Exception):
    """A program that the script ran has failed. Its text is one line for the user; the exit status
    is 7."""


def end_cleanly():
    """Let signals end the script through its finally blocks, which remove drafts and stop its
    programs."""

    def end(number, _):
        sys.exit(128 + number)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, end)


def status_of(action, stopped=None):
    """Return the exit status of an action: what the action returns, or 0 for None. If a signal ends
    the action, print `stopped` and return 8."""
    if stopped:
        for number in (signal.SIGHUP, signal.SIGTERM):
            # a signal that nohup ignores stays ignored
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
