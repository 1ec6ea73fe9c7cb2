#!/bin/bash
# SPDX-License-Identifier: MIT
# Slurm's prolog, by Prolog= in slurm.conf: a node where level 1 finds a fault fails it within a minute, and is drained by Slurm.
# What tells nothing, as noise or a wrong option does, drains no node.
tree=$(dirname "$(readlink -f "$0")")/../..
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
devices=${SLURM_GPUS_ON_NODE:-$(nvidia-smi -L 2>/dev/null | wc -l)}
unset "${!SLURM_@}" # this node alone, whatever the job has
eval "more=(${HIMENO_ACCEPT_OPTIONS-})" || exit 0
"$tree/scripts/accept" "$folder/accept" --level 1 --hosts localhost --per-host "$((devices > 0 ? devices : 1))" "${more[@]}" "$@"
! grep -qs '"drain_list": "[^"]' "$folder/accept/accept.json"
