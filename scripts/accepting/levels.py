# SPDX-License-Identifier: MIT
"""Settings of --level: options by name, the sweeps per block, and himeno-gpu's --timeout."""

# Budgets reserve ten seconds to stop a launcher, so that a level ends in time even if hosts hang.
# Blocks of 36 sweeps have stored reference values for size L per rank on up to 16 ranks, so that no
# CPU has to compute a reference. The timeout is shorter than the step's limit: a rank that waits
# for its own device reports the hang before the step is stopped.
LEVELS = {
    1: {"stages": ["alone"], "block": 36, "timeout": 10, "seconds": 5, "limit": 38, "budget": 48},
    2: {"block": 36, "seconds": 5, "limit": 90, "budget": 580},
    3: {"soak": 3 * 3600, "seconds": 20, "rounds": 15, "budget": 4 * 3600 - 20},
}


def at_level(a):
    """Set the options of the level, except those given on the command line."""
    a.block = a.timeout = None
    for name, value in LEVELS.get(a.level, {}).items():
        if f"--{name}" not in getattr(a, "given", {}):
            setattr(a, name, value)
