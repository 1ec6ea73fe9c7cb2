#!/bin/sh
# SPDX-License-Identifier: MIT
# HealthCheckProgram= of slurm.conf: if a check finds a fault, drains the node and sets the reason.
# It always exits with 0, because slurmd waits for that before it registers.
/usr/bin/env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" SLURMD_NODENAME="$SLURMD_NODENAME" \
  /bin/sh "$(/usr/bin/dirname "$(/usr/bin/readlink -f "$0")")/node.sh" health
exit 0
