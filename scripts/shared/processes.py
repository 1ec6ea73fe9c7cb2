# SPDX-License-Identifier: MIT
"""Programs that scripts run: finding them, reading their last message, and stopping launchers."""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys

from endings import BadInput, Trouble

STOPPED = "stopped"
# Open MPI and PRRTE do not run as root unless these are set. Checks under Slurm run as root and do
# not set them.
AS_ROOT = {
    f"{runtime}_ALLOW_RUN_AS_ROOT{suffix}": "1"
    for runtime in ("OMPI", "PRTE")
    for suffix in ("", "_CONFIRM")
}
# These launchers do not start without ssh on PATH, even if all ranks are on this host.
NO_SSH = {"OMPI_MCA_plm_rsh_agent": "/bin/false", "PRTE_MCA_plm_ssh_agent": "/bin/false"}


def say(text):
    print(text, flush=True)


def himeno_gpu(given):
    """Return the path of himeno-gpu. `given` is --program or None; if it is None, the current
    folder, this installation, PATH and the build of this source tree are searched."""
    tree = pathlib.Path(__file__).resolve().parents[2]
    installed = os.path.join(os.path.dirname(sys.argv[0]), "himeno-gpu")
    beside = [
        "himeno-gpu",
        "build/himeno-gpu",
        installed,
        shutil.which("himeno-gpu") or "",
        str(tree / "build/himeno-gpu"),
        str(tree / "himeno-gpu"),
    ]
    for path in beside if given is None else [given, shutil.which(given) or ""]:
        if path and os.access(path, os.X_OK) and os.path.isfile(path):
            return os.path.abspath(path)
    raise Trouble(
        f"{'himeno-gpu' if given is None else given} was not found: give its path with --program"
    )


def checked_launcher(given, names, here=True):
    """Return the launcher `given`. It may contain only the placeholders `names`; if `here`, it must
    be a program of this machine."""
    try:
        first = shlex.split(given.format(**dict.fromkeys(names, 1)))[0]
    except (KeyError, IndexError, ValueError) as error:
        held = ", ".join(f"{{{name}}}" for name in names[:-1])
        raise BadInput(
            f"--launcher {given}: may contain only {held} and {{{names[-1]}}}"
        ) from error
    if here and not shutil.which(first):
        raise Trouble(f"{first} was not found: give a launcher with --launcher")
    return given


def last_words(path, leave=("$ ",)):
    """Return the last message, not a warning, of a program of the suite. Without one, return the
    first sentence of the launcher's last framed message, or the last line with text. Lines that
    begin with `leave`, which this script wrote, do not count."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith(leave)]
    errors = [line for line in lines if re.search(r"(himeno|gemm|comm)-gpu: (?!warning)", line)]
    frames = [n for n, line in enumerate(lines) if re.fullmatch(r"-{20,}", line)]
    if (
        not errors
        and len(frames) > 1
        and frames[-1] > frames[-2] + 1
        and frames[-1] >= len(lines) - 2
    ):
        return re.split(r"(?<=[.:!])\s", " ".join(lines[frames[-2] + 1 : frames[-1]]))[0][:300]
    plain = [line for line in lines if not re.fullmatch(r"[-=*\s]*", line)]
    return (errors or plain or [""])[-1][:700]


def output(words, seconds=60):
    """Return the output of a command; None if it does not exist, fails or takes too long."""
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def environment():
    """Return environment variables for launchers."""
    return {
        **(AS_ROOT if os.geteuid() == 0 else {}),
        **({} if shutil.which("ssh") or shutil.which("rsh") else NO_SSH),
        **os.environ,
    }


def launched(words, log, limit, held, running=None):
    """Run a launcher; return its exit status, or STOPPED after `limit` seconds. The command and its
    output go to the log. The launcher inherits the file `held`, and is in the set `running` while
    it runs."""
    log.write("$ " + shlex.join(words) + "\n")
    log.flush()
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        pass_fds=(held.fileno(),) if held else (),
        env=environment(),
    )
    running = set() if running is None else running
    running.add(process)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        end(process)
        log.write(f"stopped after {limit:g} s\n")
        return STOPPED
    except BaseException:
        end(process)
        raise
    finally:
        running.discard(process)


def end(process, patience=10):
    """Stop a launcher's process group: by SIGTERM, after which the launcher stops its ranks, and by
    SIGKILL if it still runs after `patience` seconds."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return
