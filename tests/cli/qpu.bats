# SPDX-License-Identifier: MIT
# Tests the QPU's backend on the emulator: verified results, counted instructions, no speed.
load ../helper
bats_require_minimum_version 1.5.0

gemm=$top_builddir/gemm-gpu

setup() {
  document=$BATS_TEST_TMPDIR/result.json
  export HIMENO_QPU=emulator
}

# has_no_speed TEXT: the text must have no rate except those of the model.
has_no_speed() {
  ! sed '/^  model/,+1d; /^ *rank  host/d' <<<"$1" | grep -E 'FLOPS|GB/s'
}

@test "XS for 10 sweeps is the default, verified by the model, with gosa near the reference" {
  run --separate-stderr on 1 "$himeno" -b qpu --json "$document"
  expect_status 0
  [[ $output == *"PASS: all results equal a CPU model that rounds toward zero"*"XS: 32 x 32 x 64"*"10 sweeps"* ]]
  [[ $output == *"no speed"*"instructions per 16 points"*"not measured"*"0.61 to 1.21 GFLOPS"* ]]
  has_no_speed "$output"
  [ "$(json "$document" 'd["result"]["verified"], d["result"]["gflops"], d["result"]["ceiling_gbps"], d["ranks"][0]["gflops"]')" = "model None None None" ]
  [ "$(json "$document" 'abs(d["result"]["gosa"] / 5.358265606109e-03 - 1) < 1e-3')" = True ]
}

@test "ranks, cuts and transports give the same bits" {
  on 1 "$himeno" -b qpu -s 19x23x67 --data dense -n 4 --json "$document" >/dev/null
  local one
  one=$(json "$document" 'd["result"]["checksum"]')
  for options in "-p 1x2x2" "-p 4x1x1 -x pageable" "-p 2x1x2 --no-overlap -k naive"; do
    on 4 "$himeno" -b qpu -s 19x23x67 --data dense -n 4 $options --json "$document" >/dev/null
    [ "$(json "$document" 'd["result"]["checksum"]')" = "$one" ]
  done
}

@test "both documents follow their schemas" {
  has_jsonschema
  for options in "result -n 3" "result -t 0.2 --block 2" "result -w -p 2x1x1 -n 1" "ladder --ladder -n 2"; do
    set -- $options
    local schema=$1
    shift
    on 2 "$himeno" -b qpu -s XS "$@" --json "$document" >/dev/null
    follows "$schema" "$document"
  done
}

@test "the ladder counts instructions, fewer on each rung" {
  run --separate-stderr on 1 "$himeno" -b qpu -s XS -n 1 --ladder
  expect_status 0
  has_no_speed "$output"
  "$PYTHON" - "$output" <<'PY'
import re, sys
rungs = re.findall(r"^ +\d+  \w+ +([\d.]+) +[\d.]+% +([\d.]+)  correct", sys.argv[1], re.M)
counts, estimates = zip(*((float(n), float(us)) for n, us in rungs))
assert len(counts) == 2 and counts[0] > 2 * counts[1] > 144, counts
assert estimates[0] > estimates[1] > 40, estimates
PY
}

@test "an estimate is of all launches of a sweep, whatever the ranks" {
  local ranks point
  for ranks in 1 4; do
    on $ranks "$himeno" -b qpu -s XS -p ${ranks}x1x1 -n 2 --json "$document" >/dev/null
    point=$(json "$document" 'd["result"]["counts"]["estimate_point_seconds"] * 1e9')
    # If only a rank's first launch (930 points) counted, the call would take 107 ns per point.
    "$PYTHON" -c "assert 45 < $point < 55 if $ranks == 1 else 55 < $point < 100, $point"
  done
}

@test "gemm-gpu takes the last kernel within 3% of the shortest estimate, by the shape" {
  local size estimate
  for size in 64x64x1000:threads 1:dot 100:67 192:ctmu; do
    "$gemm" -b qpu -s ${size%:*} --json "$document" >/dev/null
    [ "$(json "$document" 'd["config"]["kernel"]')" = ${size#*:} ]
    estimate=$(json "$document" 'd["result"]["counts"]["estimate_seconds"]')
    "$gemm" -b qpu -s ${size%:*} --ladder --json "$document" >/dev/null
    [ "$(json "$document" "$estimate <= 1.03 * min(r['counts']['estimate_seconds'] for r in d['sizes'][0]['rungs'])")" = True ]
  done
  run --separate-stderr "$gemm" -b qpu -s 1x1x4200000
  [[ $status = 2 && $stderr == *"longer than the QPU kernels can step over"* ]]
}

@test "the ladder of products counts instructions, and shows estimates instead of speed" {
  run --separate-stderr "$gemm" -b qpu -s 64x128x32 --ladder --json "$document"
  expect_status 0
  has_no_speed "$output"
  [ "$(json "$document" '"".join("%s %d %.3f\n" % (r["kernel"], r["counts"]["instructions"], 1e3 * r["counts"]["estimate_seconds"]) for r in d["sizes"][0]["rungs"] if r["gflops"] is None)')" = \
    "$(sed -nE 's/^ +[0-9]+  (\w+) +([0-9]+) .* ([0-9.]+)  correct$/\1 \2 \3/p' <<<"$output")" ]
}

@test "--qpus sets how many QPUs a product runs on" {
  local n before=1
  for n in 1 4 12; do
    "$gemm" -b qpu -k threads -s 64x384x64 --qpus $n --json "$document" >/dev/null
    [ "$(json "$document" 'd["config"]["qpus"]')" = $n ]
    "$PYTHON" -c "assert $(json "$document" 'd["result"]["counts"]["estimate_seconds"]') < 0.8 * $before"
    before=$(json "$document" 'd["result"]["counts"]["estimate_seconds"]')
  done
  "$gemm" -b qpu -k threads -s 64x384x64 --json "$document" >/dev/null
  [ "$(json "$document" 'd["config"]["qpus"], d["result"]["counts"]["estimate_seconds"]')" = "12 $before" ]
  "$gemm" -b cpu -s 16 -t 0.01 --json "$document" >/dev/null
  [ "$(json "$document" '"qpus" in d["config"]')" = False ]
  for words in "-b qpu --qpus 13:--qpus 13: must be from 1 to 12" "-b qpu --qpus 0:--qpus" "-b cpu --qpus 4:only with --backend qpu" "--qpus 4:only with --backend qpu"; do
    run "$gemm" ${words%%:*}
    expect_status 2
    [[ $output == *"${words#*:}"* ]]
  done
}

@test "one product over two ranks is counted on both" {
  run --separate-stderr on 2 "$gemm" -b qpu --distributed -s 32x128x40 -p 2x1 --panel 20 -k 67 --json "$document"
  expect_status 0
  [[ $output == *"the slowest of 2 Raspberry Pis"* && $output != *"time per product"* ]]
  has_no_speed "$output"
  # With two panels, each rank has two launches, with a call of 100 us each.
  [ "$(json "$document" '1 <= d["result"]["counts"]["flop"] / (2 * 32 * 128 * 40) < 1.2')" = True ]
  [ "$(json "$document" '2e-4 < d["result"]["counts"]["estimate_seconds"] < 4e-4')" = True ]
  [ "$(json "$document" 'd["result"]["gflops"], "phases" in d, {r["gflops"] for r in d["ranks"]}')" = "None False {None}" ]
  share=$(sed -n 's/.*needs \(.*\)% of what both ALUs can do/\1/p' <<<"$output")
  [ "$(json "$document" "abs(2 * 32 * 128 * 40 / d['result']['counts']['instructions'] / 32 * 100 - $share) < 0.06")" = True ]
  follows gemm "$document"
}

@test "comm-gpu verifies transfers of an emulated device and shows no time of it" {
  run --separate-stderr on 2 "$top_builddir/comm-gpu" -b qpu --samples 1 --step 64 --max 4K -s XS --json "$document"
  expect_status 0
  [[ $output == *"arrived unchanged"*"VideoCore IV, emulated"*"no speed: transfers of the device were verified"*MPI_Allreduce* ]]
  [[ $output != *fastest* && $output != *nan* ]]
  [ "$(grep -c 'GB/s' <<<"$output")" -le 2 ] # only MPI_Allreduce's table and its fit, which is for host memory, may have rates
  [ "$(json "$document" '{p["fit"] for part in ("host", "pairs") for p in d[part]} | {q[n] for part in ("host", "pairs") for p in d[part] for q in p["points"] for n in ("seconds", "best", "noise", "gbps")}')" = "{None}" ]
  [ "$(json "$document" '{h[n] for h in d["halo"] for n in ("seconds", "best", "noise")} | {v for h in d["halo"] for v in h["phases"].values()}')" = "{None}" ]
  [ "$(json "$document" 'd["allreduce"][0]["points"][0]["seconds"] > 0 and len(d["host"]) > 0 and len(d["pairs"]) > 0 and len(d["halo"]) > 0')" = True ]
  follows comm "$document"
}

@test "himeno-predict leaves emulated runs out" {
  mkdir "$BATS_TEST_TMPDIR/study"
  on 1 "$himeno" -b qpu -s 8x8x34 -n 1 --json "$BATS_TEST_TMPDIR/study/one.json" >/dev/null
  run --separate-stderr "$top_builddir/himeno-predict" --study "$BATS_TEST_TMPDIR/study" --comm "$BATS_TEST_TMPDIR/study/one.json"
  expect_status 3
  [[ $stderr == *"no document of a run of himeno-gpu, or gemm-gpu --distributed, that passed"* ]]
}

@test "--list shows the device, its kernels and the choice" {
  run on 1 "$himeno" --list
  expect_status 0
  [[ $output == *"qpu:"*"VideoCore IV, emulated"*"12 compute units"*"naive"*"stream"* ]]
  refute grep -qx ' *no device: *' <<<"$output"
  HIMENO_QPU=pi run on 1 "$himeno" --list
  [[ $output == *"no device: this is no Raspberry Pi"* ]]
}

@test "a Pi that is not there ends the run with its reason" {
  HIMENO_QPU=pi run --separate-stderr on 2 "$himeno" -b qpu -s XS -n 1
  expect_status 3
  [[ $stderr == *"backend qpu: this is no Raspberry Pi 1 to 3"* ]]
}

@test "automatic choice never takes an emulator" {
  run on 1 "$himeno" -s XS -n 1
  expect_status 0
  [[ $output != *"backend qpu"* ]]
}

@test "a study of an emulated device is refused, and so is its table" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  cd "$BATS_TEST_TMPDIR" || return
  run "$top_srcdir/scripts/scaling" run study --program "$top_builddir/himeno-gpu" --launcher "$MPIRUN -np {ranks}" --sizes 18x18x18 --ranks 1 \
    --kernels stream --repeat 1 --no-paths --seconds 0.01 --options "-b qpu"
  [[ $status = 3 && $output == *"r1: the device is emulated and has no speed to study"* ]]
  run "$top_srcdir/scripts/scaling" csv study
  [[ $status = 2 && $output == *"r1.json: the device is emulated and has no speed to study"* ]]
}
