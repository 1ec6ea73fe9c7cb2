# SPDX-License-Identifier: MIT
# Checks that Slurm runs as root on each node: prolog, epilog, health check and active checks. Each
# runs in a mount namespace with its own PCI bus, kernel log and /var/lib/himeno.
load ../helper
bats_require_minimum_version 1.5.0

sites=$top_srcdir/scripts/sites
state=/var/lib/himeno

setup() {
  [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null || skip "not root, or no mount namespaces"
  cd "$BATS_TEST_TMPDIR"
  chmod 755 .
  mkdir -p bus class/infiniband/mlx5_0/ports/1 class/net bin lib
  for gpu in 10 11; do
    mkdir -p "bus/0000:$gpu:00.0"
    (cd "bus/0000:$gpu:00.0" && echo 0x10de >vendor && echo 0x030200 >class && echo 16 >current_link_width)
  done
  (cd class/infiniband/mlx5_0/ports/1 && echo '400 Gb/sec (4X NDR)' >rate && echo '4: ACTIVE' >state)
  printf '6,%s,1,-;usb 1-1: new device\n' {1..400} >kmsg # more than the log's reader reads at once
  echo '4000.00 1.00' >uptime
  echo 28.39.1002 >class/infiniband/mlx5_0/fw_ver
  cat >bin/nvidia-smi <<'END'
#!/bin/sh
case "$*" in
  *ecc*) printf '00000000:10:00.0, 0, No\n00000000:11:00.0, 0, No\n' ;;
  *name*) printf '00000000:1%s:00.0, NVIDIA H100, 81559, 96.00.30, GPU-9a%s\n' 0 00 1 11 ;;
  nvlink*) for n in 0 1; do printf 'GPU %s: NVIDIA H100 (UUID: GPU-9a%s%s)\n\t Link 0: 26.562 GB/s\n\t Link 1: 26.562 GB/s\n' $n $n $n; done ;;
esac
END
  chmod +x bin/nvidia-smi
  gpu='"model": "NVIDIA H100", "memory_gib": 80, "pcie_width": 16, "nvlinks": 2'
  cat >lib/inventory.json <<END
{"schema": "himeno-inventory/1", "hosts": {"h[1-2]": {
 "gpus": [{"pci": "0000:10:00.0", $gpu}, {"pci": "0000:11:00.0", $gpu}],
 "network": [{"name": "mlx5_0", "rate_gbps": 400, "state": "active", "firmware": "28.39.1002"}]}}}
END
}

# on_node SCRIPT: runs a shell script on a simulated node, whose /var/lib/himeno is the folder lib.
on_node() {
  run unshare --mount sh -ec 'mount -t tmpfs none /var/lib && mkdir /var/lib/himeno && mount --bind lib /var/lib/himeno
    mount --bind kmsg /dev/kmsg && mount --bind bus /sys/bus/pci/devices && mount --bind class /sys/class
    mount --bind uptime /proc/uptime
    exec bash -c "$1" bash' sh "$1"
}

# check NAME [VARIABLE]...: runs prolog, epilog or health as slurmd does.
check() {
  local script=$1
  shift
  on_node "exec env -i PATH='$PWD/bin:/usr/bin:/bin' SLURMD_NODENAME=h1 ${*@Q} '$sites/$script.sh'"
}

# xid LEVEL CODE: adds an Xid to the kernel log, in the kernel's format.
xid() { printf '%s,77,5123,-;NVRM: Xid (PCI:0000:11:00): %s, pid=1, name=x\n SUBSYSTEM=pci\n' "$1" "$2" >>kmsg; }

@test "a sound node passes prolog, epilog and health check within two seconds, and nothing is written" {
  for script in prolog epilog health; do
    begin=$(date +%s%N)
    check $script
    within $((($(date +%s%N) - begin) / 1000000)) 2000
    expect_status 0
    [ -z "$output" ]
  done
  [ "$(ls lib)" = inventory.json ]
}

# faulty PATTERN: prolog and epilog must fail the node by their exit status, and print the fault.
faulty() {
  for script in prolog epilog; do
    check $script
    expect_status 1
    grep -q "^himeno: h1: $1" <<<"$output"
  done
}

@test "each known fault fails the node" {
  cp -r bus sound
  rm -r bus/0000:11:00.0
  sed -i 's/1 11 ;;/;;/; s/\\n00000000:11:00.0, 0, No//' bin/nvidia-smi
  faulty 'GPUs 1, expected 2 (GPU 0000:11:00.0 missing)$'
  [ "$(grep -c . <<<"$output")" = 1 ]
  # The PCI bus lists the device, but the driver does not.
  rm -r bus
  cp -r sound bus
  faulty 'GPU model 1 x NVIDIA H100, expected 2 x NVIDIA H100'
  sed -i 's/11:00.0, NVIDIA/&/; s/ 0 00 ;;/ 0 00 1 11 ;;/' bin/nvidia-smi
  echo 8 >bus/0000:10:00.0/current_link_width
  faulty 'GPU PCIe lanes 1 x 16, 1 x 8, expected 2 x 16'
  echo 16 >bus/0000:10:00.0/current_link_width
  sed -i 's/26.562 GB.s.n/<inactive>\\n/' bin/nvidia-smi
  faulty 'GPU NVLinks 2 x 1, expected 2 x 2'
  sed -i 's/<inactive>/26.562 GB\/s/; s/:10:00.0, 0,/:10:00.0, 3,/' bin/nvidia-smi
  faulty 'GPU 0: uncorrected ECC errors (GPU-9a00)'
  sed -i 's/:10:00.0, 3, No/:10:00.0, 0, Yes/' bin/nvidia-smi
  faulty 'GPU 0: memory row not remapped (GPU-9a00)'
  sed -i 's/Yes/No/' bin/nvidia-smi
  echo '200 Gb/sec (4X HDR)' >class/infiniband/mlx5_0/ports/1/rate
  faulty 'network card rate in Gbit/s 1 x 200, expected 1 x 400'
  echo '400 Gb/sec (4X NDR)' >class/infiniband/mlx5_0/ports/1/rate
  echo '1: DOWN' >class/infiniband/mlx5_0/ports/1/state
  faulty 'network card state 1 x down, expected 1 x active'
  echo '4: ACTIVE' >class/infiniband/mlx5_0/ports/1/state
  echo '{"time": 5, "outcome": "fault", "reason": "GPU 3 slow -13% (GPU-9a)"}' >lib/active.json
  faulty 'GPU 3 slow -13% (GPU-9a)'
  rm lib/active.json
  xid 4 79
  faulty 'GPU 0000:11:00: Xid 79, fallen off the bus'
}

@test "a program's Xid, another service's message, what was reported, and software fail nobody" {
  xid 4 13
  xid 30 79
  echo '{"time": 5, "outcome": "fault", "reason": "slow"}' >lib/active.json
  echo '{"active": 5}' >lib/reported.json
  echo 28.39.9 >class/infiniband/mlx5_0/fw_ver
  check prolog
  expect_status 0
  [ "$output" = "himeno: h1: network card firmware 1 x 28.39.9, expected 1 x 28.39.1002; software is not a fault" ]
  # After a start of the kernel, network links need some minutes.
  echo '1: DOWN' >class/infiniband/mlx5_0/ports/1/state
  echo '299.00 1.00' >uptime
  check prolog
  expect_status 0
  [[ $output == *"network card state 1 x down, expected 1 x active; the network may not be up yet"* ]]
  echo '300.00 1.00' >uptime
  check prolog
  expect_status 1
  echo '4: ACTIVE' >class/infiniband/mlx5_0/ports/1/state
  xid 4 79
  echo "{\"active\": 5, \"boot\": \"$(cat /proc/sys/kernel/random/boot_id)\", \"message\": 77}" >lib/reported.json
  check prolog
  expect_status 0
  echo '{"active": 5, "boot": "an earlier one", "message": 77}' >lib/reported.json
  check prolog
  expect_status 1
}

# passes PATTERN: the broken set-up must be logged; the node passes despite a fault in the kernel
# log.
passes() {
  for script in prolog epilog health; do
    check $script "${variables[@]}"
    expect_status 0
    grep -qE "$1" <<<"$output"
  done
}

@test "a broken set-up drains nobody" {
  variables=()
  echo '{' >lib/inventory.json
  passes 'inventory.json: '
  echo '[]' >lib/inventory.json
  passes 'inventory.json: must hold an object'
  echo '{"schema": "himeno-inventory/1", "hosts": {"h[1-2]": {"gpu": []}}}' >lib/inventory.json
  passes '1-2.: gpu: must be one of gpus, '
  # A check that cannot run does not keep the others from running.
  xid 4 79
  check prolog
  expect_status 1
  rm lib/inventory.json
  for broken in 'chmod 777 lib' 'chmod 775 lib; chgrp 65534 lib' 'chown 65534 lib'; do
    eval "$broken"
    passes "$state: must be a folder that only root can change"
    chmod 755 lib
    chown 0:0 lib
  done
  echo '{}' >lib/reported.json
  for broken in 'chmod 666 lib/reported.json' 'chown 65534 lib/reported.json' 'rm lib/reported.json; mkfifo lib/reported.json'; do
    eval "$broken"
    passes "$state/reported.json: must be a file that only root can change"
    rm lib/reported.json
    echo '{}' >lib/reported.json
  done
  rm lib/reported.json
  ln -s /etc/passwd lib/reported.json
  passes 'symbolic links'
  rm lib/reported.json
  variables=(SLURMD_NODENAME='h1;reboot')
  passes 'SLURMD_NODENAME: is not the name of a node'
  variables=()
  # Copy the scripts without one of their files.
  cp -r "$top_srcdir/scripts" scripts
  sites=$PWD/scripts/sites
  rm scripts/accepting/inventory.py
  passes inventory
  rm scripts/sites/node.py
  passes node.py
  rm scripts/sites/node.sh
  passes node.sh
}

@test "without Slurm the health check only prints its reason, and records nothing; Slurm's file must be root's" {
  xid 4 79
  printf '#!/bin/sh\necho "its file: $SLURM_CONF." >&2\nexit 1\n' >bin/scontrol
  chmod 755 bin/scontrol
  : >slurm.conf
  : >theirs.conf
  chown 65534 theirs.conf
  for conf in slurm.conf theirs.conf none.conf; do
    check health SLURM_CONF="$PWD/$conf"
    expect_status 0
    [ "$output" = "himeno: health: scontrol show node h1: its file: $([ $conf != slurm.conf ] || echo "$PWD/slurm.conf")." ]
  done
  [ ! -e lib/reported.json ]
}

@test "a hanging nvidia-smi neither fails the node nor takes more than two seconds" {
  printf '#!/bin/sh\nexec sleep 60\n' >bin/nvidia-smi
  begin=$(date +%s%N)
  check prolog
  expect_status 0
  within $((($(date +%s%N) - begin) / 1000000 - 500)) 1500
}

@test "no variable is evaluated, and no file that other users can change is run or read" {
  install -d -o 65534 theirs theirs/modules
  printf '#!/bin/sh\ntouch "%s/ran"\n' "$PWD" >theirs/nvidia-smi
  chmod +x theirs/nvidia-smi
  cp theirs/nvidia-smi theirs/python3
  cp theirs/nvidia-smi theirs/scontrol
  echo "open('$PWD/ran', 'w')" | tee theirs/modules/json.py >theirs/modules/sitecustomize.py
  mkdir -p none/bus/pci/devices
  touch=\$\(touch\ "$PWD/ran"\)
  for script in prolog epilog health; do
    check $script PATH="$PWD/theirs:/usr/bin:/bin" HIMENO_POLICY="$touch" SLURM_JOB_COMMENT="$touch" \
      BASH_ENV="$PWD/theirs/nvidia-smi" ENV="$PWD/theirs/nvidia-smi" PYTHONPATH="$PWD/theirs/modules" PYTHONHOME=/nonexistent \
      HIMENO_SYSFS="$PWD/none" TMPDIR="$PWD/theirs" "BASH_FUNC_readlink%%=() { touch $PWD/ran; }" SLURM_CONF="$PWD/theirs/slurm.conf" HOME="$PWD/theirs"
    expect_status 0
    [ -z "$output" ]
  done
  # Of the programs on PATH, the first that only root can change is run.
  sed -i 's/:10:00.0, 0,/:10:00.0, 3,/' bin/nvidia-smi
  check prolog PATH="$PWD/theirs:$PWD/bin:/usr/bin:/bin"
  expect_status 1
  # A file of another user in a folder of root's is not run.
  chown 65534 bin/nvidia-smi
  printf '#!/bin/sh\ntouch "%s/ran"\n' "$PWD" >bin/nvidia-smi
  check prolog
  [ ! -e ran ]
  chown 0 bin/nvidia-smi
  # A file in a folder that another user can change is not run.
  chmod 777 bin
  check prolog
  [ ! -e ran ]
  chmod 755 bin
  # A file of root's is not run by a symbolic link that another user can change.
  mv bin/nvidia-smi bin/smi
  ln -s "$PWD/bin/smi" theirs/smi
  ln -s ../theirs/smi bin/nvidia-smi
  check prolog
  [ ! -e ran ]
  ln -sf ./smi bin/nvidia-smi
  check prolog
  [ -e ran ]
}

# started_here WORD...: runs an active check on a node with two null devices. The function `played` sets which of them is slow.
started_here() {
  on_node "exec env -i PATH='$PWD/bin:/usr/bin:/bin' SLURMD_NODENAME=h1 '$sites/active.sh' --here --size 18x18x34 \
    --seconds 0.05 --policy '$PWD/site.json' --options '-b null --block 5' $*"
}

played() {
  printf '#!/bin/sh\nCLOCK_MACHINE="usual %s" exec "%s" "$@"\n' "$1" "$top_builddir/tests/clock/himeno-gpu" >bin/himeno-gpu
  chmod +x bin/himeno-gpu
}

@test "an active check keeps its verdict, and keeps none if it reaches none" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  echo '{"name": "site", "device_gflops_min": 11.5, "noise_max": 0.2}' >site.json
  played ''
  begin=$SECONDS
  started_here
  expect_status 0
  within $((SECONDS - begin)) 20
  grep -q '"outcome": "pass"' lib/active.json
  [ "$(ls lib)" = $'active.json\ninventory.json' ]
  # The verdict is recent, so the check does not run again.
  played device@1=1.15
  started_here
  grep -q '"outcome": "pass"' lib/active.json
  rm lib/active.json
  started_here
  grep -qE '"reason": "GPU 1 slow -1[0-9]% \([0-9a-f]+\)"' lib/active.json
  check prolog
  expect_status 1
  # A wrong option shows nothing about the node.
  rm lib/active.json
  started_here --nonsense
  expect_status 3
  [ ! -e lib/active.json ]
  grep -q 'himeno: active: the active check has no verdict: exit status 2' <<<"$output"
  chown 65534 site.json
  started_here
  grep -q 'site.json: must be a file that only root can change' <<<"$output"
}

# The number of devices comes from the site's inventory or from Slurm, not from the node.
@test "a node with one device of two fails the active check" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  echo '{"name": "site", "device_gflops_min": 1e-9}' >site.json
  played ''
  sed -i 's/exec/HIMENO_NULL_DEVICES=1 exec/' bin/himeno-gpu
  printf '#!/bin/sh\necho "   Gres=gpu:h100:2(S:0-1)"\n' >bin/scontrol
  chmod +x bin/scontrol
  for _ in inventory Slurm; do
    started_here
    grep -q '"reason": "lost: .*2 ranks would share 1 GPU' lib/active.json
    rm lib/*.json
  done
}

# in_slurm SCRIPT: runs a Slurm of two nodes: h1 with the planted faults, h2 without. FOLDER/setup runs in each node's namespace.
in_slurm() {
  mkdir -p slurm sound
  cp lib/inventory.json sound/
  : >kmsg-h2
  cat >slurm/more.conf <<END
Prolog=$sites/prolog.sh
Epilog=$sites/epilog.sh
HealthCheckProgram=$PWD/slurm/health
HealthCheckInterval=2
END
  printf '#!/bin/sh\nexec "%s/health.sh" 2>>"%s/health.log"\n' "$sites" "$PWD" >slurm/health
  cat >slurm/setup <<'END'
#!/bin/sh -e
cd "$(dirname "$0")/.."
mount --bind slurm /etc/slurm
[ "$1" = h1 ] || { mount --bind sound /var/lib/himeno; mount --bind kmsg-h2 /dev/kmsg; }
END

  chmod +x slurm/setup slurm/health
  cat - >script <<<"until_() { for _ in \$(seq $((40 * SLOWNESS))); do eval \"\$1\" && return; sleep 0.5; done; echo \"never: \$1\"; sinfo -R -o '%E %N'; cat '$PWD/health.log'; exit 1; }
$1"
  [ -d /etc/slurm ] || mkdir -p /etc/slurm
  on_node "timeout $((90 * SLOWNESS)) '$top_srcdir/tests/sites/slurm-here' slurm 2 bash script 3>&-"
  [ "$status" -ne 77 ] || skip "$output"
}

@test "under slurmd the health check alone sets a reason, and only prints how to undrain" {
  in_slurm "
    printf '4,77,5,-;NVRM: Xid (PCI:0000:11:00): 79, pid=1\n' >>kmsg
    until_ 'sinfo -h -R -o \"%E|%N\" | grep -qx \"himeno: GPU 0000:11:00: Xid 79, fallen off the bus|h1\"'
    scontrol update NodeName=h2 State=DRAIN Reason='new disk'
    printf '4,78,5,-;NVRM: Xid (PCI:0000:11:00): 48, pid=1\n' >>kmsg-h2
    sleep 5
    sinfo -h -R -o '%E|%N' | grep -qx 'new disk|h2' || exit 1
    # After the repair, neither fault is reported again.
    scontrol update NodeName=h[1-2] State=RESUME
    until_ 'grep -q \"h2 is drained\" health.log'
    scontrol update NodeName=h2 State=RESUME
    sleep 5
    [ -z \"\$(sinfo -h -R)\" ] || exit 1
    srun -N 2 true"
  expect_status 0
  grep -q 'h1 is drained; after the repair: scontrol update NodeName=h1 State=RESUME' health.log
}

@test "under slurmd an active check runs on idle nodes, and a slow GPU is the reason in sinfo -R" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  echo '{"name": "site", "device_gflops_min": 11.5, "noise_max": 0.2}' >site.json
  played "\$([ \"\$(cat $state/slow 2>/dev/null)\" ] && echo device@1=1.15)"
  echo 1 >lib/slow
  in_slurm "
    # A user's job runs on h2.
    trap 'scancel -u root' EXIT
    srun -w h2 --exclusive sleep 100 >/dev/null 2>&1 3>&- &
    until_ '[ \"\$(squeue -h -t R -o %N)\" = h2 ]'
    '$sites/active.sh' --program '$PWD/bin/himeno-gpu' --size 18x18x34 --seconds 0.05 --policy '$PWD/site.json' --options '-b null --block 5'
    squeue -h -n himeno-active -o '%n'
    until_ 'sinfo -h -R -o \"%E|%N\" | grep -qE \"^himeno: GPU 1 slow -1[0-9]% .[0-9a-f]+.\|h1\"'
    [ \"\$(sinfo -h -R -o %N)\" = h1 ]"
  expect_status 0
  [ "${lines[0]}" = h1 ]
  [ ! -e sound/active.json ]
}

@test "under slurmd a prolog that fails drains its node and no other, and the job goes elsewhere" {
  in_slurm "
    printf 'HealthCheckInterval=0\n' >>slurm/slurm.conf; scontrol reconfigure
    printf '4,77,5,-;NVRM: Xid (PCI:0000:11:00): 79, pid=1\n' >>kmsg
    sbatch -w h1 --wrap true
    until_ 'sinfo -h -R -o \"%E|%N\" | grep -q \"|h1\"'
    srun -N 1 hostname
    sinfo -h -R -o '%N'"
  expect_status 0
  [ "${lines[-1]}" = h1 ]
}

@test "if too many nodes are drained, no more are, and their prolog passes: the set-up may be wrong" {
  in_slurm "
    scontrol update NodeName=h1 State=DRAIN Reason='himeno: GPUs 7, expected 8'
    sed -i 's/: 400/: 800/' sound/inventory.json
    until_ 'grep -q \"not drained, because 1 of 2 nodes are\" health.log'
    srun -w h2 true && sinfo -h -R -o '%N'"
  expect_status 0
  [ "$output" = h1 ]
  grep -q '"held": \["network card rate in Gbit/s 1 x 400, expected 1 x 800"\]' sound/reported.json
}
