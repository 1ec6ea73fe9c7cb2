#!/bin/sh
# SPDX-License-Identifier: MIT
# Epilog= of slurm.conf: checks the node after a job, as prolog.sh does before.
/usr/bin/env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" SLURMD_NODENAME="$SLURMD_NODENAME" \
  /bin/sh "$(/usr/bin/dirname "$(/usr/bin/readlink -f "$0")")/node.sh" epilog
case $? in 10) exit 1 ;; esac
exit 0
