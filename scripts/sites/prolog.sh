#!/bin/bash
# SPDX-License-Identifier: MIT
# Slurm's prolog, by Prolog= in slurm.conf: a node where level 1 finds a fault fails it within a minute, and Slurm drains the node.
# Slurm runs it as root, with little more than PATH. If this script or the suite cannot start, read, write or finish, the node passes, and that
# is logged.
export PATH=$PATH:/usr/bin:/bin # slurmd sets none, and Open MPI looks for ssh

# pass WHY: nothing is known against this node.
pass() {
  echo "prolog.sh: ${SLURMD_NODENAME:-${HOSTNAME:-this node}}: run again: $*" >&2
  logger -t himeno-prolog "run again: $*" 2>/dev/null
  exit 0
}

# gpus: how many NVIDIA GPUs the PCI bus lists, whatever the driver shows; nothing if it lists devices of others that may be GPUs, which are for
# himeno-gpu to count.
gpus() {
  local device class vendor n=0 others=
  for device in "${HIMENO_SYSFS:-/sys}"/bus/pci/devices/*; do
    class='' vendor=''
    [ -r "$device/class" ] && [ -r "$device/vendor" ] && read -r class <"$device/class" && read -r vendor <"$device/vendor"
    case $vendor:$class in
      0x10de:0x03*) n=$((n + 1)) ;;
      0x1002:0x0380* | 0x1002:0x12* | 0x8086:0x0380*) others=1 ;;
    esac
  done
  [ "$n" = 0 ] && [ -n "$others" ] || echo "$n"
}

# A job without GPUs on a shared node: they compute for other jobs, which a test would disturb and be disturbed by.
if [ -z "${SLURM_JOB_GPUS-}" ] && busy=$(timeout 10 nvidia-smi --query-compute-apps=pid --format=csv,noheader 2>/dev/null) && [ -n "$busy" ]; then
  pass "other jobs compute on the GPUs: process" $busy
fi
tree=$(readlink -f "$(dirname "$(readlink -f "$0")")/../..")
[ -r "$tree/scripts" ] || pass "$tree/scripts is not readable"
for place in "${TMPDIR:-/tmp}" /tmp /run /dev/shm; do
  folder=$(mktemp -d "$place/himeno-prolog-XXXXXX" 2>/dev/null) && break
done
[ -n "$folder" ] || pass "no folder for temporary files is writable"
trap 'rm -rf "$folder"' EXIT
# The number that Slurm or the bus lists, not the one that drivers show. All else of the job is left out: this node alone is tested.
for name in "${!SLURM_@}"; do
  case $name in SLURM_GPUS_ON_NODE | SLURM_JOB_GPUS) ;; *) unset "$name" ;; esac
done
[ -n "${SLURM_GPUS_ON_NODE-}${SLURM_JOB_GPUS-}" ] || SLURM_GPUS_ON_NODE=$(gpus)
export SLURM_GPUS_ON_NODE
# On a shared node the other GPUs are another job's. Slurm numbers GPUs in the order of the bus.
if [ -n "${SLURM_JOB_GPUS-}" ] && [ -z "${CUDA_VISIBLE_DEVICES+set}" ]; then
  export CUDA_VISIBLE_DEVICES=$SLURM_JOB_GPUS CUDA_DEVICE_ORDER=PCI_BUS_ID
fi
[ "${SLURM_GPUS_ON_NODE-}" != 0 ] || export SLURM_NTASKS_PER_NODE=1 # the CPU
more=()
eval "more=(${HIMENO_ACCEPT_OPTIONS-})" || pass "HIMENO_ACCEPT_OPTIONS is not readable"
TMPDIR=$folder timeout -k 5 75 "$tree/scripts/accept" "$folder/accept" --level 1 --hosts localhost "${more[@]}" "$@"
status=$?
[ -s "$folder/accept/accept.json" ] || pass "there is no verdict: exit status $status"
! grep -q '"drain_list": "[^"]' "$folder/accept/accept.json" || exit 1
[ "$status" = 0 ] || pass "not accepted, and nothing is known against it: exit status $status"
