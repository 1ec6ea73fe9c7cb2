# SPDX-License-Identifier: MIT
# The QPU's backend on the emulator: verified, counted, and never with a speed.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  document=$BATS_TEST_TMPDIR/result.json
  export HIMENO_QPU=emulator
}

# has_no_speed TEXT: no rate in it but those of the model.
has_no_speed() {
  ! sed '/^  model/,+1d; /^ *rank  host/d' <<<"$1" | grep -E 'FLOPS|GB/s'
}

@test "XS for 10 sweeps is the default, verified by the model, with gosa near the reference" {
  run --separate-stderr on 1 "$himeno" -b qpu --json "$document"
  expect_status 0
  [[ $output == *"PASS: every block equals a CPU model that rounds toward zero"*"XS: 32 x 32 x 64"*"10 sweeps"* ]]
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
counts = [float(n) for n in re.findall(r"^ +\d+  \w+ +([\d.]+) +[\d.]+%  correct", sys.argv[1], re.M)]
assert len(counts) == 2 and counts[0] > 2 * counts[1] > 144, counts
PY
}

@test "--list shows the device, its kernels and the choice" {
  run on 1 "$himeno" --list
  expect_status 0
  [[ $output == *"qpu:"*"VideoCore IV, emulated"*"12 compute units"*"naive"*"stream"* ]]
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
