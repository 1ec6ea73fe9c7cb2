# SPDX-License-Identifier: MIT
"""What --level sets: options by their names, the sweeps of a block, and himeno-gpu's --timeout."""

# Budgets leave ten seconds for a launcher that has to be ended, so that a level ends in time even
# if hosts hang. Blocks of 36 sweeps have stored values for L per rank on up to 16 ranks, so no CPU
# computes a reference. With the timeout a rank that waits for its own device reports the hang
# before the step's limit.
LEVELS = {
    1: {"stages": ["alone"], "block": 36, "timeout": 10, "seconds": 5, "limit": 38, "budget": 48},
    2: {"block": 36, "seconds": 5, "limit": 90, "budget": 580},
    3: {"soak": 3 * 3600, "seconds": 20, "rounds": 15, "budget": 4 * 3600 - 20},
}


def at_level(a):
    """Set the options of the level that were not given."""
    a.block = a.timeout = None
    for name, value in LEVELS.get(a.level, {}).items():
        if f"--{name}" not in getattr(a, "given", {}):
            setattr(a, name, value)
