#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes configure in a checkout. Release tarballs have it already.
set -eu
cd "$(dirname "$0")"
autoreconf --install
