# SPDX-License-Identifier: MIT
"""Names of transports and drivers in studies, tables and pages."""

import re

# Suffix of a transport's name if halos are sent only after all computation.
NO_OVERLAP = "-no-overlap"


def transport_of(config):
    return config["transport"] + ("" if config.get("overlap", True) else NO_OVERLAP)


def driver_of(text):
    """Return the driver's version; some documents have the word "driver" before it."""
    return re.sub("^driver ", "", text)
