#!/bin/sh
# SPDX-License-Identifier: MIT
# active.sh [OPTION]...: submits a job that tests the node, an active check, to each idle node; for root's crontab. Options, such
# as --policy FILE, are passed to scripts/accept. The jobs run active.sh --here [OPTION]...
mode=submit
case $1 in --here) mode=active && shift ;; esac
exec /usr/bin/env -i PATH="$PATH" SLURM_CONF="$SLURM_CONF" SLURMD_NODENAME="$SLURMD_NODENAME" \
  /bin/sh "$(/usr/bin/dirname "$(/usr/bin/readlink -f "$0")")/node.sh" $mode "$@"
