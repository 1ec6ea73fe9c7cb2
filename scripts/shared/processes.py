# SPDX-License-Identifier: MIT
"""Launchers that have to be ended."""
import os
import signal
import subprocess


def end(process, patience=10):
    """The launcher's whole group: first politely, so that it ends its ranks, then, seconds later, by force."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return
