#!/bin/sh
# SPDX-License-Identifier: MIT
# The most telling rows of the table of sick and sound sites.
exec python3 "$(dirname "$0")/sites.py"
