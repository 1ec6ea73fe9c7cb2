# SPDX-License-Identifier: MIT
"""What --level stands for: values of options by their names, the sweeps of a block, and himeno-gpu's --timeout."""

# Each ends in time however its hosts behave: a launcher that is ended may take ten seconds more.
# A block of 36 sweeps has stored values for L per rank on up to 16 ranks: no CPU computes a reference.
# A rank that waits for its own device reports a hang before the step's limit.
LEVELS = {
    1: {"stages": ["alone"], "block": 36, "timeout": 10, "seconds": 5, "limit": 38, "budget": 48},
    2: {"block": 36, "seconds": 5, "limit": 90, "budget": 580},
    3: {"soak": 3 * 3600, "seconds": 20, "rounds": 15, "budget": 4 * 3600 - 20},
}


def at_level(a):
    """Sets what the level says and no option does."""
    a.block = a.timeout = None
    for name, value in LEVELS.get(a.level, {}).items():
        if f"--{name}" not in getattr(a, "given", {}):
            setattr(a, name, value)
