# SPDX-License-Identifier: MIT
"""What studies, tables and plots call a run's transport."""

# Behind its name: everything is computed first, and halos travel then.
NO_OVERLAP = "-no-overlap"


def transport_of(config):
    return config["transport"] + ("" if config.get("overlap", True) else NO_OVERLAP)
