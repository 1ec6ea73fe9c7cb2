# SPDX-License-Identifier: MIT
"""Names of a run's transport in studies, tables and plots."""

# Suffix of the name if halos are sent only after all computing.
NO_OVERLAP = "-no-overlap"


def transport_of(config):
    return config["transport"] + ("" if config.get("overlap", True) else NO_OVERLAP)
