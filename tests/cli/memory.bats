# SPDX-License-Identifier: MIT
# If memory is too small, the error names the limit, the rank, host and device, and what uses the rest. A grid of --fill fits.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  export OMP_NUM_THREADS=1
  host=$(uname -n)
}

teardown() {
  [ -z "${group-}" ] || rmdir "$group"
}

# grouped MIB COMMAND...: runs the command in a control group with this memory limit.
grouped() {
  local limit=$(($1 << 20))
  shift
  group=/sys/fs/cgroup/memory/himeno-test-$BASHPID
  mkdir "$group" 2>/dev/null && echo $limit >"$group/memory.limit_in_bytes" || { group=; skip "no control group of version 1 can be made here"; }
  run --separate-stderr bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' grouped "$group" "$@"
}

# in_group LIMIT HIGH USED COMMAND...: runs the command with simulated files of control groups version 2, in bytes or "max".
in_group() {
  unshare -m true 2>/dev/null || skip "no mount namespace is allowed here"
  run --separate-stderr unshare -m bash -c '
    mount -t tmpfs tmpfs /sys/fs/cgroup && cd /sys/fs/cgroup || exit 77
    echo "$1" >memory.max; echo "$2" >memory.high; echo "$3" >memory.current; echo "inactive_file 1048576" >memory.stat
    cd "$4"; shift 4; exec "$@"' in_group "$1" "$2" "$3" "$PWD" "${@:4}"
  [ "$status" -ne 77 ] || skip "no file system can be mounted here"
}

@test "--fill takes a grid that the ranks of a control group hold, whatever is tried meanwhile" {
  without_sanitizers "the address sanitizer needs memory of its own"
  for fill in 90 100; do
    grouped 400 "$MPIRUN" -np 4 "$himeno" -b cpu --fill $fill -n 2 --verify off --json r$fill.json
    expect_status 0
    [ "$(cat "$group/memory.failcnt" "$group/memory.oom_control" | tr '\n' ' ' | grep -c 'oom_kill 0')" = 1 ]
    rmdir "$group"
    group=
    [ "$(json r$fill.json '80 * 2**20 < d["result"]["memory"]["bytes"] < 100 * 2**20')" = True ]
  done
  grouped 400 "$MPIRUN" -np 4 "$himeno" -b cpu --fill 100 --no-tune -n 2
  expect_status 0
  grep -q 'PASS: all results match the checksum that the CPUs computed' <<<"$output"
}

@test "a soak keeps its reference in the memory of a CPU, and --fill leaves it there" {
  without_sanitizers "the address sanitizer needs memory of its own"
  grouped 200 "$MPIRUN" -np 1 "$himeno" -b cpu -k stream --fill 90 --block 2 --soak 1s
  expect_status 0
}

@test "the limit that was hit is named: a control group of either version, its soft limit, the process's own" {
  without_sanitizers "the address sanitizer needs all of the address space"
  grouped 300 "$MPIRUN" -np 2 "$himeno" -b cpu -s L -n 1
  expect_status 3
  one_error "^himeno-gpu: rank 0, host $host, device CPU-[0-9a-f]+; rank 1, .*: size L needs 9[0-9]{2}\.. MiB per rank, but only 1[0-3].\.. MiB can be used: .* of 300\.0 MiB free in control group /himeno-test-[0-9]+ for 2 ranks; use"
  in_group $((400 << 20)) max $((101 << 20)) "$MPIRUN" -np 2 "$himeno" -b cpu -s L -n 1
  expect_status 3
  one_error ': 300\.0 MiB of 400\.0 MiB free in control group / for 2 ranks; use'
  in_group $((400 << 20)) $((200 << 20)) $((101 << 20)) "$himeno" -b cpu -s L -n 1
  one_error '87\.5 MiB can be used: 100\.0 MiB of 200\.0 MiB free in control group /; use'
  for limit in 'v|address space' 'd|data'; do
    ulimit=${limit%|*} run --separate-stderr bash -c 'ulimit -$ulimit 700000 && exec "$@"' _ "$himeno" -b cpu -k stream -s L -n 1
    expect_status 3
    one_error "^himeno-gpu: host $host, device CPU-.*: .* of 683\.6 MiB free within the ${limit#*|} of this process \(ulimit -${limit%|*}\)"
  done
}

@test "every program names host, device and limit; of several ranks only those that lack memory are named" {
  without_sanitizers "the address sanitizer needs all of the address space"
  little() { run --separate-stderr bash -c 'ulimit -v 2000000 && exec "$@"' _ "$@"; } # CUDA's libraries take more than 1 GB of the address space
  who="host $host, device CPU-[0-9a-f]+: .* free within the address space"
  little "$top_builddir/mem-gpu" -b cpu --copies --sizes 2G
  one_error "^mem-gpu: $who"
  little "$top_builddir/gemm-gpu" -b cpu -s 16384
  one_error "^gemm-gpu: $who"
  in_group $((60 << 20)) max $((31 << 20)) "$top_builddir/gemm-gpu" -b cpu -s 64 # too little for the arrays that measure its ceilings
  one_error '^gemm-gpu: host .*: too little host memory: 64\.0 MiB more needed, 30\.0 MiB of 60\.0 MiB free in control group /$'
  in_group $((60 << 20)) max $((31 << 20)) "$top_builddir/mem-gpu" -b cpu --latency --strides 1M --copies --streams 1 --pace free -t 0.02 --json d.json
  # 80% of 30 are below the next size of a chase, 26; two arrays of a copy take 90%.
  [ "$(json d.json '*(max(p["bytes"] for p in points) / 2**20 for points in (d["latency"]["curves"][0]["points"], d["copies"]["points"]))')" = "22.0 13.5" ]
  in_group $((60 << 20)) max $((31 << 20)) "$top_builddir/comm-gpu" -b cpu --parts allreduce --samples 3 --json d.json # six buffers
  [ "$(json d.json 'd["config"]["max_bytes"] >> 20')" = 4 ]
  little "$top_builddir/comm-gpu" -b cpu --max 1G
  one_error "^comm-gpu: $who"
  run --separate-stderr "$MPIRUN" -np 1 "$himeno" -b cpu -s L -n 1 : -np 1 bash -c 'ulimit -v 700000 && exec "$@"' _ "$himeno" -b cpu -s L -n 1
  expect_status 3
  one_error "^himeno-gpu: rank 1, $who"
}

@test "a device whose memory others hold is named with them: process, name and bytes" {
  export HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so FAKE_NVML="holder@1=$$ holder_mib@1=74752"
  run --separate-stderr on 2 "$himeno" -b null -s 512x512x2300 -n 1
  expect_status 3
  grep -Eq "^himeno-gpu: rank 0, host $host, device [0-9a-f]{32}: .* 16\.0 GiB of 16\.0 GiB free on device 0000:10:00\.0; use" <<<"$stderr"
  grep -Eq "^himeno-gpu: rank 1, host $host, device [0-9a-f]{32}: .* free on device 0000:11:00\.0; held by process $$ \($(cat /proc/$$/comm), 73\.0 GiB\); use" <<<"$stderr"
  run --separate-stderr "$top_builddir/gemm-gpu" -b null --device 1 -s 100000
  expect_status 3
  one_error "size 100000x100000x100000 needs .* per rank.* free on device 0000:11:00\.0; held by process $$ "
}
