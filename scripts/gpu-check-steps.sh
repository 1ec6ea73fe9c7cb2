# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The steps of scripts/gpu-check, which runs this file once per step, as a process that it can stop:
#   step=NAME bash gpu-check-steps.sh FUNCTION [ARGUMENT]...
# A step exits with 0 if it passed, 77 if it was skipped, and another status if it failed. Its
# output is its log. `note TEXT` sets the step's line in the summary.
# shellcheck disable=SC2154 # source_folder, build, given_build, out, scratch and step come from gpu-check
set -euo pipefail

note() { printf '%s\n' "$*" >"$out/notes/$step"; }
skip() {
  note "$*"
  exit 77
}
fail() {
  note "$*"
  exit 1
}

# ---- build and machine ----

machine() {
  uname -a
  grep -m 1 'model name' /proc/cpuinfo || true
  nproc
  command -v nvcc && nvcc --version
  command -v nvidia-smi >/dev/null || skip "there is no nvidia-smi"
  nvidia-smi
  nvidia-smi --query-gpu=name,uuid,driver_version,memory.total,clocks.max.sm,clocks.max.memory --format=csv | tee "$out/gpus.csv"
  note "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort | uniq -c | xargs)"
}

build() {
  [ "$given_build" = 0 ] || skip "the build was given"
  cd "$source_folder"
  [ -x configure ] || ./autogen.sh
  mkdir -p "$build"
  cd "$build"
  "$source_folder/configure" --with-cuda-arch=native
  make -s -j "$(nproc)" all
  make -s -j "$(nproc)" check TESTS=
  note "$(sed -n 's/^  \(CUDA\|OpenCL\)  *\(on\|off\) .*/\1 \2/p' "$out/logs/build.log" | paste -sd, | sed 's/,/, /')"
}

# ---- shared by the steps ----

# devices BACKEND: prints how many devices of the backend --list found.
devices() {
  awk -v head="$1:" '/^  [a-z]+: / { on = $1 == head } on && /^    device / { n++ } END { print n + 0 }' "$out/list.txt"
}

# needs BACKEND: ends the step as skipped if there is no such device.
needs() {
  [ -f "$out/list.txt" ] || fail "himeno-gpu --list did not work"
  [ "$(devices "$1")" -gt 0 ] ||
    skip "$1: $(awk -v head="$1:" '/^  [a-z]+: / { on = $1 == head } on && sub(/^    no device: /, "")' "$out/list.txt")"
}

# place BACKEND: prints options for its first device but CPUs, which an OpenCL loader may list too.
place() {
  local device
  device=$(awk -v head="$1:" '/^  [a-z]+: / { on = $1 == head } on && /^    device .* compute units/ { print $2; exit }' "$out/list.txt")
  printf '%s %s' -b "$1"
  [ -z "$device" ] || printf ' %s %s' --device "$device"
}

# launch RANKS PROGRAM [ARGUMENT]...: runs the program by mpirun. A launcher may change the OpenCL loader's variables, so env sets
# them again.
launch() {
  local ranks=$1
  shift
  [ -z "${opencl_driver:-}" ] || set -- env OCL_ICD_VENDORS="$OCL_ICD_VENDORS" OCL_ICD_FILENAMES="$opencl_driver" "$@"
  "$MPIRUN" -np "$ranks" "$@"
}

# expect CODE PATTERN COMMAND...: fails unless the command exits with CODE and prints a line that matches PATTERN.
expect() {
  local code=0 wanted=$1 pattern=$2
  shift 2
  printf '+ %s\n' "$*"
  "$@" >"$scratch/$step.text" 2>&1 || code=$?
  cat "$scratch/$step.text"
  [ $code = "$wanted" ] || fail "exit code $code, not $wanted: $(tail -n 1 "$scratch/$step.text")"
  grep -Eq -- "$pattern" "$scratch/$step.text" || fail "nothing said matches $pattern"
}

# tap COMMAND...: runs a test that prints TAP; fails if the output is incomplete or a case failed.
tap() {
  local code=0 text=$scratch/$step.tap
  "$@" | tee "$text" || code=$?
  local good bad plan
  good=$(grep -c '^ok ' "$text") || true
  bad=$(grep -c '^not ok ' "$text") || true
  plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$text" | tail -n 1)
  [ $code != 77 ] || skip "$(tail -n 1 "$text")"
  [ "$plan" != 0 ] || skip "$(sed -n 's/^1\.\.0 # SKIP //p' "$text")"
  note "$good passed, $bad failed of ${plan:-an unknown number}, exit code $code"
  [ "$code" = 0 ] && [ "$bad" = 0 ] && [ "$good" = "${plan:-none}" ]
}

# ---- tests ----

list() {
  launch 1 "$himeno" --list | tee "$out/list.txt"
  local cuda opencl
  cuda=$(devices cuda) opencl=$(devices opencl)
  note "$cuda CUDA and $opencl OpenCL devices"
  if [ "$cuda" = 0 ] && command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null; then return 1; fi
  [ $((cuda + opencl)) -gt 0 ]
}

# unit WHAT BACKEND: runs tests/unit/test_WHAT_BACKEND.
unit() {
  local program=$build/tests/unit/test_$1_$2
  needs "$2"
  [ -x "$program" ] || skip "tests/unit/test_$1_$2 was not built"
  export CMOCKA_MESSAGE_OUTPUT=tap
  tap "$program"
}

# matrix BACKEND MODE RANKS: runs tests/mpi/matrix; if there are fewer devices than ranks, ranks share them.
matrix() {
  needs "$1"
  export OMP_NUM_THREADS=1
  tap launch "$3" "$build/tests/mpi/matrix" "$source_folder/tests/golden/himeno.csv" "$1" "$2"
}

# cluster BACKEND: runs products over up to four ranks: random shapes, grids and transports, and every third with a flipped bit.
cluster() {
  needs "$1"
  export OMP_NUM_THREADS=1
  tap launch 4 "$build/tests/mpi/cluster" "$1" 48
}

two_gpus() {
  needs cuda
  [ "$(devices cuda)" -ge 2 ] || skip "there is one GPU"
  bench two-gpus-L 2 -b cuda -s L -t 3
  "$python" - "$out/json/two-gpus-L.json" <<'END'
import json, sys
ranks = json.load(open(sys.argv[1]))["ranks"]
sys.exit(len({rank["uuid"] for rank in ranks}) != 2 or any(rank["device_shared"] for rank in ranks))
END
}

# Fails if the second kernel of a pair has more instructions per word in its machine code than the first.
pairs_sass() {
  command -v cuobjdump >/dev/null || command -v nvdisasm >/dev/null || skip "neither cuobjdump nor nvdisasm was found"
  local input=$source_folder/doc/pairs.cu
  command -v nvcc >/dev/null || input=$build/mem-gpu
  "$python" "$source_folder/scripts/isa-report" --isa sass --pairs --json "$out/json/isa-pairs.json" "$input"
  note "$(value isa-pairs '", ".join("%s %.2f to %.2f" % (p["pair"], p["before"], p["after"]) for p in d["inputs"][0]["pairs"] if p["asserted"])') instructions a word"
}

# instrument NAME ARGUMENT...: runs mem-gpu on the first CUDA device.
instrument() {
  local name=$1
  shift
  printf 'mem-gpu -b cuda %s\n' "$*" | tee "$out/json/$name.cmd"
  "$build/mem-gpu" -b cuda "$@" --json "$out/json/$name.json"
}

memory() {
  needs cuda
  [ -x "$build/mem-gpu" ] || skip "mem-gpu was not built"
  instrument memory --copies --mixes --latency --host -t 1
  note "$(value memory '", ".join("%s %.0f ns" % (l["name"], l["ns"]) for l in d["latency"]["levels"])')"
}

# roofline SIZE: measures a roofline on which the ladder of that size is drawn, with measured
# traffic if hardware counters can be read.
roofline() {
  needs cuda
  [ -x "$build/mem-gpu" ] || skip "mem-gpu was not built"
  local kernels=$out/json/ladder-cuda-$1.json
  [ -f "$kernels" ] || kernels=
  if "$source_folder/scripts/dram-traffic" -s "$1" -k stream,temporal2,temporal3 -o "$out/json/traffic.json" "$himeno"; then
    kernels=$kernels${kernels:+,}$out/json/traffic.json
  fi
  instrument roofline --roofline -t 3 ${kernels:+--kernels "$kernels"}
  note "$(value roofline '", ".join("%s %.1f TFLOPS" % (p["type"], p["gflops"] / 1e3) for p in d["roofline"]["peaks"])')"
}

memory_exhausted() {
  needs cuda
  local backend kernel sums=()
  for backend in cuda opencl; do
    # shellcheck disable=SC2046 # several words
    [ "$(devices $backend)" = 0 ] ||
      expect 3 'needs [0-9.]+ [KMGTPE]iB.* [0-9.]+ [KMGTPE]iB free' launch 1 "$himeno" $(place $backend) -s 8000x8000x8000 -n 1
  done
  for kernel in naive stream; do
    bench "fill-95-$kernel" 1 -b cuda --fill 95 -n 3 -k $kernel --verify off
    sums+=("$(value "fill-95-$kernel" 'd["result"]["checksum"]')")
  done
  note "exit 3 beyond the memory; at 95% ($(value fill-95-stream 'd["config"]["size"]')) naive and stream give ${sums[*]}"
  [ "${sums[0]}" = "${sums[1]}" ]
}

# gone: fails if ranks of this build are still running after five seconds.
gone() {
  local n process
  for n in 1 2 3 4 5 0; do
    for process in /proc/[0-9]*; do
      [ "$(readlink "$process/exe" 2>/dev/null)" != "$himeno" ] || break
      process=none
    done
    [ "$process" != none ] || return 0
    [ $n = 0 ] || sleep 1
  done
  fail "process ${process#/proc/} is still there"
}

device_lost() {
  needs cuda
  local arguments=(-b cuda -s S -n 50 -k stream) host transport trap=(env HIMENO_CUDA_TRAP=5)
  host=$(hostname -s)
  expect 7 "himeno-gpu: host $host.*, device .*assert" launch 1 "${trap[@]}" "$himeno" "${arguments[@]}"
  gone
  for transport in staged p2p; do
    expect 7 "rank 0, host $host.*, device .*assert" \
      launch 1 "${trap[@]}" "$himeno" "${arguments[@]}" -x $transport : -np 1 "$himeno" "${arguments[@]}" -x $transport
    gone
    expect 7 "rank 1, host $host.*, device .*assert" \
      launch 1 "$himeno" "${arguments[@]}" -x $transport : -np 1 "${trap[@]}" "$himeno" "${arguments[@]}" -x $transport
    gone
  done
  note "exit 7, with host and device on one rank, and the rank too on each of two, by staged and p2p; no rank is left"
}

# Pattern of the last line of a sanitizer's log without findings.
nothing_found='SUMMARY: 0 (errors|hazards displayed \(0 errors, 0 warnings\))'

# sanitized_well WANTED CODE: succeeds if this step has WANTED logs, each without a finding, and CODE is 0.
sanitized_well() {
  local wanted=$1 code=$2 logs=("$out/logs/$step"-*.log) clean
  tail -n 3 "${logs[@]}"
  clean=$(grep -hEc "$nothing_found" "${logs[@]}" | grep -c 1) || true
  note "$(grep -h SUMMARY "${logs[@]}" | sed 's/^=* //' | sort | uniq -c | xargs), exit code $code"
  [ "$code" = 0 ] && [ "$clean" = "$wanted" ]
}

# sanitizer TOOL: runs every kernel, the halos' packing, the ceiling and the checksum. Racecheck follows each access to shared
# memory, which temporal kernels use most: for them it has a separate step, with small grids.
sanitizer() {
  local tool=$1 guard code=0 wanted=3 kernels=()
  command -v compute-sanitizer >/dev/null || skip "compute-sanitizer was not found"
  needs cuda
  export OMP_NUM_THREADS=1
  [ "$tool" != racecheck ] || kernels=("naive,block16,paced,packed,stream") wanted=2
  guard=(compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 50)
  launch 2 "${guard[@]}" --log-file "$out/logs/$step-matrix.%p.log" \
    "$build/tests/mpi/matrix" "$source_folder/tests/golden/himeno.csv" cuda cuts "${kernels[@]}" || code=$?
  [ "$tool" = racecheck ] || launch 1 "${guard[@]}" --log-file "$out/logs/$step-ladder.%p.log" \
    "$himeno" -b cuda -s XS --ladder -t 0.01 --block 2 --data dense || code=$?
  sanitized_well $wanted $code
}

# temporal_sanitizer TOOL: runs kernels of several sweeps per pass, with and without bulk copies, concurrently on a grid of a
# few tiles; checks the ceiling and the checksum too.
temporal_sanitizer() {
  local bulk kernel process running=() code=0
  command -v compute-sanitizer >/dev/null || skip "compute-sanitizer was not found"
  needs cuda
  export OMP_NUM_THREADS=1
  for bulk in 1 0; do
    for kernel in temporal2 temporal3 temporal4 resident; do
      launch 1 env HIMENO_CUDA_BULK=$bulk compute-sanitizer --tool "$1" --error-exitcode 99 --print-limit 50 \
        --log-file "$out/logs/$step-$kernel-$bulk.log" "$himeno" -b cuda -s 8x20x70 --data dense -k $kernel -n 12 </dev/null &
      running+=($!)
    done
  done
  for process in "${running[@]}"; do wait "$process" || code=$?; done
  sanitized_well 8 $code
}

# cluster_sanitizer TOOL: runs one product over two ranks, by several transports.
cluster_sanitizer() {
  local code=0
  command -v compute-sanitizer >/dev/null || skip "compute-sanitizer was not found"
  needs cuda
  export OMP_NUM_THREADS=1
  launch 2 compute-sanitizer --tool "$1" --error-exitcode 99 --print-limit 50 --log-file "$out/logs/$step-rank.%p.log" \
    "$build/tests/mpi/cluster" cuda 9 || code=$?
  sanitized_well 2 $code
}

# ---- benchmarks: each writes NAME.json, and its command line into NAME.cmd ----

bench() {
  local name=$1 ranks=$2
  shift 2
  printf 'mpirun -np %s himeno-gpu %s\n' "$ranks" "$*" | tee "$out/json/$name.cmd"
  launch "$ranks" "$himeno" "$@" --json "$out/json/$name.json"
}

# value NAME EXPRESSION: prints a Python expression, in which d is the document NAME.json.
value() {
  "$python" -c "import json, sys; d = json.load(open(sys.argv[1])); print($2)" "$out/json/$1.json"
}

copy_rate() {
  needs cuda
  [ -x "$build/tests/gpu/copy_rate" ] || skip "tests/gpu/copy_rate was not built"
  echo 'tests/gpu/copy_rate M L XL' >"$out/json/copy-rate.cmd"
  "$build/tests/gpu/copy_rate" M L XL | tee "$out/json/copy-rate.json"
  note "$(value copy-rate '", ".join("%s %.0f GB/s" % (c["size"], c["gbps"]) for c in d["copies"])')"
}

run() {
  needs "$1"
  # shellcheck disable=SC2046 # several words
  bench "$step" 1 $(place "$1") -s "$2" -k "$3" -t "$4"
  note "$(value "$step" '"%s: %.0f GFLOPS, %.1f%% of the ceiling of %.0f GB/s" % (d["config"]["kernel"],
    d["result"]["gflops"], 100 * d["result"]["ceiling_share"], d["result"]["ceiling_gbps"])')"
}

ladder() {
  needs "$1"
  # shellcheck disable=SC2046 # several words
  bench "$step" 1 $(place "$1") -s "$2" --ladder
  note "$(value "$step" '", ".join("%s %.0f" % (r["kernel"], r["gflops"]) for r in d["rungs"] if r["verdict"] == "pass")') GFLOPS"
  # Rungs for which this device has too little memory have the verdict "environment".
  [ "$(value "$step" '{r["verdict"] for r in d["rungs"]} - {"environment"} == {"pass"}')" = True ]
}

# ---- half and double precision, and the tensor cores ----

tensor_kernels="f16x2 wmma-warp wmma mma dmma wgmma"

tensor_studies() {
  needs cuda
  [ -x "$build/tests/unit/test_gemm_tensor" ] || skip "tests/unit/test_gemm_tensor was not built"
  "$build/gemm-gpu" --fragment-map
  export CMOCKA_MESSAGE_OUTPUT=tap
  tap "$build/tests/unit/test_gemm_tensor"
}

# Prints a product per line: KERNEL TYPE SIZE SECONDS [OPTION]... Each alternates with cuBLAS, for a longer time if both are
# similarly fast. Kernels that this chip lacks are left out.
tensor_products() {
  cat <<END
wgmma f16 4096 2
wgmma f16 8192 2
wgmma f16 4095x4097x4099 0.5
wgmma bf16 4095x4097x4099 0.5
wgmma f16 8191 0.5
wgmma f16 8192 1 --trans NT
wgmma bf16 4096 2
wgmma bf16 8192 2
wgmma bf16 8191 0.5
wgmma tf32 4096 0.5
wgmma tf32 8192 0.5
mma bf16 8192 0.5
dmma f64 1024 0.5
dmma f64 2048 0.5
dmma f64 4096 0.5
dmma f64 8192 0.5
dmma f64 3001x2999x3003 0.5 --trans TN
wmma f16 8192 0.5
wmma f16-f16 8192 0.5
f16x2 f16-f16 8192 0.5
END
}

tensor() {
  local kernel type size seconds options name code arguments shares=()
  needs cuda
  while read -r kernel type size seconds options; do
    name=tensor-$kernel-$type-$size$(tr -d -- '- ' <<<"${options#--trans}")
    # shellcheck disable=SC2206 # several words
    arguments=(-b cuda -k "$kernel" --type "$type" -s "$size" -t "$seconds" $options)
    printf 'gemm-gpu %s\n' "${arguments[*]}" | tee "$out/json/$name.cmd"
    code=0
    launch 1 "$build/gemm-gpu" "${arguments[@]}" --json "$out/json/$name.json" </dev/null || code=$?
    [ $code = 0 ] || [ $code = 3 ] || fail "$kernel $type $size: exit code $code"
    [ $code = 3 ] || shares+=("$kernel $type $size ${options:+$options }$(value "$name" \
      '" ".join("%.3f" % y["ours_share"] for y in d["yardsticks"] if y["ours_share"])')")
  done < <(tensor_products)
  note "of cuBLAS: $(printf '%s, ' "${shares[@]}" | sed 's/, $//')"
}

# ---- products of floats ----

fp32_kernels="naive regblock local unroll pipeline lds-pipeline warptile"
opencl_kernels="naive regblock local unroll pipeline lds-pipeline small-tiles split-k panel"

# Runs the ladder at the smallest, a middle and the largest size of its plots. CUDA also runs a product whose matrices have more
# than 2^31 elements, if memory suffices.
products() {
  local arguments code=0 large=$scratch/$step.large
  needs "$1"
  if [ "$1" = cuda ]; then
    launch 1 "$build/gemm-gpu" -b cuda -s 64x64x36000000 -t 0.1 --no-reference --json "$out/json/products-large.json" \
      >"$large" 2>&1 || code=$?
    cat "$large"
    [ $code = 0 ] || { [ $code = 3 ] && grep -q memory "$large"; } || fail "matrices of more than 2^31 elements: exit code $code"
  fi
  # shellcheck disable=SC2046,SC2054,SC2207 # several words, and commas in one of them
  arguments=($(place "$1") --ladder --sizes 1024,4096,8192 -t 0.1)
  printf 'gemm-gpu %s\n' "${arguments[*]}" | tee "$out/json/$step.cmd"
  launch 1 "$build/gemm-gpu" "${arguments[@]}" --json "$out/json/$step.json"
  note "$(value "$step" '"; ".join("%d: " % s["m"] + ", ".join("%s %.0f" % (r["kernel"], r["gflops"])
    for r in s["rungs"] if r["verdict"] == "pass") for s in d["sizes"])') GFLOPS"
}

products_right() {
  local names="$fp32_kernels $tensor_kernels"
  needs "$1"
  [ -x "$build/tests/gpu/gemm_products" ] || skip "tests/gpu/gemm_products was not built"
  [ "$1" = cuda ] || names=$opencl_kernels
  # shellcheck disable=SC2086 # several names
  tap together "$1" none $names
}

# shapes_for TOOL KERNEL: prints which set of shapes to run. Slow tools get fewer. Only the set "all" has a shape for which a
# persistent block of wgmma computes a second tile.
shapes_for() {
  case "$1 $2" in
    "none wgmma") echo all ;;
    none* | memcheck*) echo few ;;
    *) echo tiny ;;
  esac
}

# together BACKEND TOOL KERNEL...: runs each kernel in its own process, with a sanitizer's tool or none, and prints their results
# as one TAP list. The processes are concurrent because tools slow them by a large factor, and drivers take long to build OpenCL.
together() {
  local backend=$1 tool=$2 kernel process tests plan=0 code=0 guard running=() text=$out/logs/$step
  shift 2
  for kernel; do
    guard=()
    [ "$tool" = none ] || guard=(compute-sanitizer --tool "$tool" --error-exitcode 99 --print-limit 50
      --log-file "$out/logs/$step-tool-$kernel.log")
    OMP_NUM_THREADS=1 "${guard[@]}" "$build/tests/gpu/gemm_products" "$backend" "$(shapes_for "$tool" "$kernel")" "$kernel" >"$text-$kernel.log" 2>&1 &
    running+=($!)
  done
  for process in "${running[@]}"; do wait "$process" || code=$?; done
  for kernel; do
    grep -v '^1\.\.' "$text-$kernel.log" || true
    tests=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$text-$kernel.log")
    plan=$((plan + ${tests:-0}))
  done
  echo "1..$plan"
  return $code
}

# sanitized TOOL KERNEL...: runs kernels on a few shapes with a sanitizer's tool.
sanitized() {
  local log code=0
  command -v compute-sanitizer >/dev/null || skip "compute-sanitizer was not found"
  needs cuda
  [ -x "$build/tests/gpu/gemm_products" ] || skip "tests/gpu/gemm_products was not built"
  tap together cuda "$@" || code=$?
  for log in "$out/logs/$step"-tool-*.log; do
    tail -n 3 "$log"
    grep -qE "$nothing_found" "$log" || code=1
  done
  return $code
}

# shellcheck disable=SC2086 # several names
tensor_sanitizer() { sanitized "$1" $tensor_kernels; }
# shellcheck disable=SC2086
products_sanitizer() { sanitized "$1" $fp32_kernels; }

himeno=$build/himeno-gpu python=python3
if [ "$1" != machine ] && [ "$1" != build ]; then
  # shellcheck source=/dev/null
  . "$build/tests/env.sh"
  # shellcheck source=tests/settings.sh
  . "$source_folder/tests/settings.sh"
  [ -x "${MPIRUN:-}" ] || MPIRUN=$(command -v mpirun) || fail "no MPI launcher was found"
fi
"$@"
