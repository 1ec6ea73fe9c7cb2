#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs all rows of the table of sites.
exec python3 "$(dirname "$0")/sites.py" --all
