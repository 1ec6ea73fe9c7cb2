# SPDX-License-Identifier: MIT
"""Records the settings of a session: those of MPI, UCX and NCCL, and the versions of the
communication libraries."""

import hashlib
import os
import platform
import re

from processes import output

# Only environment variables that match this pattern are recorded.
ALLOWED = re.compile(
    r"(OMPI_MCA|PMIX_MCA|PRTE_MCA|UCX|NCCL|MPICH|MPIR_CVAR|FI|I_MPI|MV2|OMP|GOMP|KMP)_\w+|"
    r"CUDA_(VISIBLE_DEVICES|MPS_\w+|DEVICE_\w+)|SLURM_(JOB_ID|JOB_NUM_NODES|JOB_PARTITION|NTASKS_PER_NODE)|HIMENO_\w+"
)


def first_line(*command):
    lines = [
        line.strip("# ").strip()
        for line in (output(command, 20) or "").splitlines()
        if line.strip("# ").strip()
    ]
    return lines[0] if lines else None


def digest(path):
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


def gather(options):
    environment = {
        name: value for name, value in sorted(os.environ.items()) if ALLOWED.fullmatch(name)
    }
    launcher = options["launcher"].split()[0]
    return {
        "environment": environment,
        "host": platform.node().split(".")[0],
        "kernel": platform.release(),
        "program": first_line(options["program"], "--version"),
        "program_sha256": digest(options["program"]),
        "launcher": first_line(launcher, "--version"),
        "ucx": first_line("ucx_info", "-v"),
        "gpu_driver": first_line(
            "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"
        ),
    }


def differences(before, now):
    """Return texts about the settings that differ from those of an earlier session."""
    found = []
    for key in ("program_sha256", "launcher", "ucx", "gpu_driver", "host"):
        if before.get(key) != now.get(key):
            found.append(f"{key.replace('_sha256', '')} was {before.get(key)}, is {now.get(key)}")
    for name in sorted({*before["environment"], *now["environment"]}):
        old, new = before["environment"].get(name), now["environment"].get(name)
        if old != new and not name.startswith("SLURM_JOB_ID"):
            found.append(f"{name} was {old}, is {new}")
    return found
