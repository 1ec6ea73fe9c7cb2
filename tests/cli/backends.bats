# SPDX-License-Identifier: MIT
# Tests which backend a run chooses by itself, and when it refuses: without its GPU, it never uses the CPU instead. Files
# represent the PCI bus.
load ../helper
bats_require_minimum_version 1.5.0

programs=(himeno-gpu gemm-gpu comm-gpu mem-gpu)

# bus FOLDER ADDRESS:CLASS:VENDOR[:WINDOW]...: makes a sysfs with PCI devices. WINDOW is the last address of a memory window.
bus() {
  local root=$1 device address class vendor window at
  shift
  mkdir -p "$root/bus/pci/devices"
  for device; do
    IFS=/ read -r address class vendor window <<<"$device"
    at=$root/bus/pci/devices/$address
    mkdir -p "$at"
    echo "$class" >"$at/class"
    echo "$vendor" >"$at/vendor"
    [ -z "$window" ] || printf '0x0 0x0 0x0\n0x0 %s 0x14220c\n' "$window" >"$at/resource"
  done
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  unset CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES GPU_DEVICE_ORDINAL
  export OMP_NUM_THREADS=1
  bus none 0000:00:00.0/0x060000/0x8086
  bus one 0000:00:00.0/0x060000/0x8086 0000:3b:00.0/0x030200/0x10de
  short=(-s XS -n 1)
}

# usable_gpu: succeeds if this build can use a GPU of this machine, so that no run reads a bus.
usable_gpu() { HIMENO_SYSFS=$PWD/none "$himeno" "${short[@]}" | grep -q 'backend cpu' && return 1 || return 0; }

# quick PROGRAM [OPTION]...: runs a program as briefly as possible.
quick() {
  local program=$1
  shift
  case $program in
  himeno-gpu) set -- -s XS -n 1 "$@" ;;
  gemm-gpu) set -- -s 16 -t 0.01 "$@" ;;
  comm-gpu) set -- --parts host --max 64 --samples 1 "$@" ;;
  mem-gpu) set -- --host -t 0.01 "$@" ;;
  esac
  "$top_builddir/$program" "$@"
}

@test "without a GPU on the bus a run uses the CPU, and report and document say why" {
  ! usable_gpu || skip "there is a GPU"
  for program in "${programs[@]}"; do
    HIMENO_SYSFS=$PWD/none run quick "$program" --json run.json
    expect_status 0
    [[ $output == *"  backend    the CPU ("*"no GPU on the PCI bus"* ]]
    grep -q '"backend_reason": "no GPU on the PCI bus"' run.json
    [ "$program" != mem-gpu ] || continue # its runs are longer
    HIMENO_SYSFS=$PWD/none run quick "$program" -b cpu --json run.json
    expect_status 0
    [[ $output != *"  backend    "* ]]
    grep -q '"backend_reason": null' run.json
  done
}

@test "a ladder reports why it is on the CPU" {
  ! usable_gpu || skip "there is a GPU"
  HIMENO_SYSFS=$PWD/none run "$himeno" --ladder -s XS -t 0.01
  expect_status 0
  [[ $output == *"  backend    the CPU ("*"no GPU on the PCI bus"* ]]
  HIMENO_SYSFS=$PWD/none run "$top_builddir/gemm-gpu" --ladder -s 32 -t 0.01
  expect_status 0
  [[ $output == *"  backend    the CPU ("*"no GPU on the PCI bus"* ]]
}

@test "a GPU on the bus that no driver opens ends a run with exit 3, host, device and driver error; with -b cpu it runs" {
  ! usable_gpu || skip "there is a GPU"
  mkdir -p drivers/nouveau
  ln -s "$PWD/drivers/nouveau" one/bus/pci/devices/0000:3b:00.0/driver
  for program in "${programs[@]}"; do
    SLURMD_NODENAME=n1.rack HIMENO_SYSFS=$PWD/one run quick "$program" --json run.json
    expect_status 3
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == "$program: host n1.rack: a GPU on the PCI bus cannot be used (NVIDIA 0000:3b:00.0, kernel driver nouveau): cuda: "*"-b cpu"* ]]
    [ ! -e run.json ]
    [ "$program" != mem-gpu ] || continue
    HIMENO_SYSFS=$PWD/one run quick "$program" -b cpu
    expect_status 0
  done
  SLURMD_NODENAME=n1.rack HIMENO_SYSFS=$PWD/one run on 2 "$himeno" "${short[@]}" --expect 1
  [[ $output == *"himeno-gpu: host n1.rack (from rank 0 on, 2 ranks): a GPU on the PCI bus"* && $output != *PASS* ]]
}

@test "--expect does not count a CPU that is used because no GPU was found" {
  ! usable_gpu || skip "there is a GPU"
  for program in himeno-gpu gemm-gpu; do
    SLURMD_NODENAME=n1.rack HIMENO_SYSFS=$PWD/none run quick "$program" --expect 1
    expect_status 3
    [[ $output == "$program: host n1.rack: no GPU on the PCI bus, but --expect asks for 1. "* ]]
    HIMENO_SYSFS=$PWD/none run quick "$program" --expect 1 -b cpu
    expect_status 0
    HIMENO_SYSFS=$PWD/none run quick "$program" --expect 2 -b cpu
    expect_status 3
  done
}

@test "only GPUs among the devices of the PCI bus count as GPUs" {
  ! usable_gpu || skip "there is a GPU"
  local gpu=(3b:00.0/0x030000/0x10de 3b:00.0/0x038000/0x10de 3b:00.0/0x038000/0x1002/0xfffffffff 3b:00.0/0x120000/0x1002 3b:00.0/0x038000/0x8086)
  local other=(3b:00.0/0x040300/0x10de 3b:00.0/0x068000/0x10de 03:00.0/0x030000/0x1a03 03:00.0/0x030000/0x102b 03:00.0/0x030000/0x1002
    00:02.0/0x030000/0x8086 00:02.0/0x038000/0x8086 05:00.0/0x038000/0x1002/0xfffffff 00:0b.0/0x120000/0x8086/0x7ffffff 01:00.0/0x030000/0x1234)
  for device in "${gpu[@]}" "${other[@]}"; do
    rm -rf bus && bus bus "0000:$device"
    HIMENO_SYSFS=$PWD/bus run "$himeno" "${short[@]}"
    [[ " ${gpu[*]} " == *" $device "* ]] && expect=3 || expect=0
    expect_status "$expect" || { echo "$device"; return 1; }
  done
}

@test "if the job's environment hides all GPUs on all ranks, a run uses the CPU and says why" {
  ! usable_gpu || skip "there is a GPU"
  export HIMENO_SYSFS=$PWD/one
  for value in '' -1 -1,0 none NoDevFiles; do
    CUDA_VISIBLE_DEVICES=$value run "$himeno" "${short[@]}" --json run.json
    expect_status 0
    [[ $output == *"  backend    the CPU ("*"CUDA_VISIBLE_DEVICES hides all GPUs)"* ]]
    grep -q '"backend_reason": "CUDA_VISIBLE_DEVICES hides all GPUs"' run.json
  done
  for value in 0 7 GPU-dead 0,-1; do
    CUDA_VISIBLE_DEVICES=$value run "$himeno" "${short[@]}"
    expect_status 3
  done
  ROCR_VISIBLE_DEVICES='' run "$himeno" "${short[@]}"
  expect_status 3
  CUDA_VISIBLE_DEVICES='' run on 2 "$himeno" "${short[@]}"
  expect_status 0
}

@test "ranks that would use different backends end with exit 3, which names hosts and reasons" {
  ! usable_gpu || skip "there is a GPU"
  for program in himeno-gpu gemm-gpu comm-gpu; do
    run on 1 env SLURMD_NODENAME=n1.rack HIMENO_SYSFS="$PWD/none" "$top_builddir/$program" : \
      -np 2 env SLURMD_NODENAME=n2.rack HIMENO_SYSFS="$PWD/one" "$top_builddir/$program"
    expect_status 3
    [[ $output == *"$program: the ranks would use different backends, which are never mixed."* ]]
    [[ $output == *"$program: host n1.rack (rank 0) would use backend cpu: no GPU on the PCI bus"* ]]
    [[ $output == *"$program: host n2.rack (from rank 1 on, 2 ranks): a GPU"* ]]
    [ "$(grep -c "^$program:" <<<"$output")" -eq 3 ]
  done
  run on 1 "$himeno" "${short[@]}" -b cpu : -np 1 "$himeno" "${short[@]}" -b null
  [[ $status -ne 0 && $output != *PASS* ]]
}

@test "a requested backend without a device ends with exit 3, which names the host" {
  HIMENO_NULL_DEVICES=0 SLURMD_NODENAME=n1.rack run "$himeno" "${short[@]}" -b null
  expect_status 3
  [ "$output" = "himeno-gpu: host n1.rack: backend null: HIMENO_NULL_DEVICES asks for none" ]
  SLURMD_NODENAME=n1.rack HIMENO_NULL_DEVICES=0 run on 1 "$himeno" "${short[@]}" -b null : -np 1 env HIMENO_NULL_DEVICES=1 "$himeno" "${short[@]}" -b null
  expect_status 3
  [[ $output == *"himeno-gpu: host n1.rack (rank 0): backend null: HIMENO_NULL_DEVICES asks for none"* ]]
  [[ $output == *"himeno-gpu: host n1.rack (rank 1) would use backend null"* ]]
}

@test "a stub, an empty or an old driver library is reported with its reason" {
  "$himeno" --list | grep -q 'not built: configured without CUDA' && skip "built without CUDA"
  ! usable_gpu || skip "there is a GPU"
  declare -A code=([stub]='int cuDriverGetVersion(int *v) { return 34; } int cuInit(unsigned f) { return 34; }' [empty]='int cuInit;'
    [old]='int cuInit(unsigned f) { return 0; } int cuDriverGetVersion(int *v) { *v = 9020; return 0; }') \
    says=([stub]="CUDA toolkit's stub" [empty]="is not NVIDIA's driver" [old]='the NVIDIA driver is too old: it serves CUDA 9.2')
  for kind in stub empty old; do
    mkdir "$kind"
    ${CC:-cc} -shared -fPIC -x c -o "$kind/libcuda.so.1" - <<<"${code[$kind]}"
    for program in "${programs[@]}"; do
      LD_LIBRARY_PATH=$PWD/$kind HIMENO_SYSFS=$PWD/one run quick "$program"
      expect_status 3
      [[ $output == *"cannot be used (NVIDIA 0000:3b:00.0, no kernel driver): cuda: "*"${says[$kind]}"* ]] || { echo "$output"; return 1; }
    done
  done
}

@test "ranks share a GPU only if the host shows all GPUs, or if devices are chosen" {
  bus two 0000:3b:00.0/0x030200/0x10de 0000:5e:00.0/0x030200/0x10de
  export HIMENO_NULL_DEVICES=1 HIMENO_SYSFS=$PWD/two SLURMD_NODENAME=n1.rack
  for program in himeno-gpu gemm-gpu comm-gpu; do
    run on 2 "$top_builddir/$program" -b null --timeout 20
    expect_status 3
    [[ $output == *"$program: host n1.rack: 2 ranks would share 1 GPU, but the PCI bus lists 2 (NVIDIA 0000:3b:00.0, no kernel driver; NVIDIA 0000:5e:00.0"* ]]
  done
  run on 2 "$himeno" -b null "${short[@]}" --device 0
  expect_status 0
  CUDA_VISIBLE_DEVICES=0 run on 2 "$himeno" -b null "${short[@]}"
  expect_status 0
  HIMENO_SYSFS=$PWD/one run on 2 "$himeno" -b null "${short[@]}"
  expect_status 0
  run on 1 "$himeno" -b null "${short[@]}"
  expect_status 0
}

@test "devices of a host that no rank uses are counted in report and document" {
  local unused='import json, sys; print([r["host_devices_unused"] for r in json.load(open("run.json"))["ranks"]])'
  for program in himeno-gpu gemm-gpu comm-gpu; do
    [ "$program" = comm-gpu ] && options=(--parts pairs --max 64 --samples 1) || options=(-s 32x32x64 -t 0.01)
    SLURMD_NODENAME=n1.rack HIMENO_NULL_DEVICES=4 run on 2 "$top_builddir/$program" -b null "${options[@]}" --json run.json
    expect_status 0
    [[ $output == *"  unused     devices that no rank uses: 2 on n1.rack"* ]]
    [ "$($PYTHON -c "$unused")" = '[2, 2]' ]
  done
  HIMENO_NULL_DEVICES=2 run on 2 "$himeno" "${short[@]}" -b null --json run.json
  [[ $output != *"  unused     "* && $($PYTHON -c "$unused") = '[0, 0]' ]]
  HIMENO_NULL_DEVICES=4 run "$himeno" "${short[@]}" -b null --device 3 --json run.json
  [[ $output != *"  unused     "* && $($PYTHON -c "$unused") = '[0]' ]]
}

@test "full host names are printed, and ranks with different names may be on one host" {
  local long=rack1.a-name-that-is-longer-than-any-column.example names='import json; print(*(r["host"] for r in json.load(open("run.json"))["ranks"]))'
  run on 1 env SLURMD_NODENAME=rack1.n1 "$himeno" -b null "${short[@]}" --json run.json : \
    -np 1 env SLURMD_NODENAME=$long "$himeno" -b null "${short[@]}" --json run.json
  expect_status 0
  [[ $output == *"2 ranks on 1 host,"* && $output == *" rack1.n1  "* && $output == *" $long  "* ]]
  [ "$($PYTHON -c "$names")" = "rack1.n1 $long" ]
}

@test "a host name with control characters or bytes that are not UTF-8 is printed harmlessly" {
  for program in himeno-gpu gemm-gpu; do
    SLURMD_NODENAME=$'n1\e[31m\n\xff' run quick "$program" -b cpu --json run.json
    expect_status 0
    [[ $output != *$'\e'* ]]
    "$PYTHON" -c 'import json; json.load(open("run.json", encoding="ascii"))'
  done
  SLURMD_NODENAME=$'n1\e[31m\n\xff' run on 2 "$himeno" "${short[@]}" -b cpu --json run.json
  [[ $output == *" n1?[31m??  "* && $output != *$'\e'* ]]
}

@test "a mask of one core is kept without a launcher, and widened if mpirun set it" {
  unset OMP_NUM_THREADS
  [ "$(nproc)" -ge 2 ] || skip "one core"
  local cpus='import json; print([r["cpus"] for r in json.load(open("run.json"))["ranks"]])' last
  last=$(taskset -cp $$ | sed 's/.*[ ,-]//')
  taskset -c "$last" "$himeno" -b cpu "${short[@]}" --json run.json
  [ "$($PYTHON -c "$cpus")" = "['$last']" ]
  taskset -c "$last" "$himeno" -b cpu "${short[@]}" --bind share --json run.json
  [ "$($PYTHON -c "$cpus")" != "['$last']" ]
  OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 taskset -c "$last" "$himeno" -b cpu "${short[@]}" --json run.json
  [ "$($PYTHON -c "$cpus")" != "['$last']" ]
}

@test "a program of one process refuses to run as several ranks" {
  echo before >run.json
  run on 2 "$top_builddir/mem-gpu" -b cpu --host --json run.json
  expect_status 2
  [ "$(grep -c '^mem-gpu: ' <<<"$output")" -eq 1 ]
  [[ $output == *': 2 ranks were started (OMPI_COMM_WORLD_SIZE), but mem-gpu runs as one process: '* || $MPI_FLAVOUR != openmpi ]]
  [ "$(cat run.json)" = before ]
  SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=3 run "$top_builddir/mem-gpu" -b cpu --host # only the first rank prints the message
  expect_status 2
  [ -z "$output" ]
  PMI_SIZE=2 PMI_RANK=0 run "$top_builddir/mem-gpu" -b cpu --host
  expect_status 2
  [[ $output == *': 2 ranks were started (PMI_SIZE), but mem-gpu'* ]]
  OMPI_COMM_WORLD_SIZE=2 run "$top_builddir/mem-gpu" --list
  expect_status 0
}
