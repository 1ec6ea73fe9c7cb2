# SPDX-License-Identifier: MIT
"""How a script ends: by its exit status, with one line for the user where something is wrong, and
with nothing left behind."""

import os
import signal
import sys


# The order in which one exit status stands for many.
GRAVEST = (7, 6, 4, 3, 2, 8, 5)

# Print in every locale: characters that a stream cannot encode are escaped.
for stream in filter(None, (sys.stdout, sys.stderr)):
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


class BadInput(Exception):
    """A wrong option or input. Its text is one line for the user; exit status 2."""


class Trouble(Exception):
    """The environment lacks something: its text is one line for the user; exit status 3."""


class Fault(Exception):
    """A program that was run failed: its text is one line for the user; exit status 7."""


def end_cleanly():
    """Signals end the script through its finally blocks, so that no draft and no program of its own
    stays."""

    def end(number, _):
        sys.exit(128 + number)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, end)


def status_of(action, stopped=None):
    """The exit status of an action, which returns its own, or none for 0. `stopped` is printed if a
    signal ends it: then it is 8."""
    if stopped:
        for number in (signal.SIGHUP, signal.SIGTERM):
            if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores one
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
