# SPDX-License-Identifier: MIT
"""Names of transports and drivers in studies, tables and pages."""

import re

# Suffix of the name if halos are sent only after all computing.
NO_OVERLAP = "-no-overlap"


def transport_of(config):
    return config["transport"] + ("" if config.get("overlap", True) else NO_OVERLAP)


def driver_of(text):
    """The driver without the word that a document has in front of its version."""
    return re.sub("^driver ", "", text)
