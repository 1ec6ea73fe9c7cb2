#!/bin/sh
# SPDX-License-Identifier: MIT
# Prolog= of slurm.conf: fails the node if something is known against it, by its exit status alone.
# Whatever else goes wrong passes the node, and is logged.
/usr/bin/env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" SLURMD_NODENAME="$SLURMD_NODENAME" \
  /bin/sh "$(/usr/bin/dirname "$(/usr/bin/readlink -f "$0")")/node.sh" prolog
case $? in 10) exit 1 ;; esac
exit 0
