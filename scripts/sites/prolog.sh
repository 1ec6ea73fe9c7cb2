#!/bin/sh
# SPDX-License-Identifier: MIT
# Prolog= of slurm.conf: if a check finds a fault, fails the node by its exit status alone. If a
# check itself fails, that is logged, and the node passes.
/usr/bin/env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" SLURMD_NODENAME="$SLURMD_NODENAME" \
  /bin/sh "$(/usr/bin/dirname "$(/usr/bin/readlink -f "$0")")/node.sh" prolog
case $? in 10) exit 1 ;; esac
exit 0
