# SPDX-License-Identifier: MIT
# The output of a run: report, JSON document, --list, choices.
load ../helper
bats_require_minimum_version 1.5.0

setup() { document=$BATS_TEST_TMPDIR/result.json; }

@test "the JSON document follows its schema" {
  has_jsonschema
  for options in "-n 3" "-t 0.2 --block 7" "--official -t 0.2" "-w -n 2 --no-overlap -x pageable" "--data dense -n 5 --pad 40 --array-pad 2304"; do
    on 2 "$himeno" -b cpu -s XS $options --json "$document" >/dev/null
    follows result "$document"
    "$PYTHON" - "$document" <<'PY'
import json, sys
result = json.load(open(sys.argv[1]))
assert {"partial", "stragglers"} <= set(result) and "throttled" in result["result"]
assert all("telemetry" in rank for rank in result["ranks"])
PY
  done
}

@test "--array-pad: the same bits by every kernel, memory for the shifts, and what does not fit is refused" {
  local backend pad
  for backend in null cpu opencl qpu; do
    run --separate-stderr on 1 "$himeno" -b $backend -s XS --ladder -t 0.01 --array-pad 2560
    [ "$status" -ne 3 ] || continue
    expect_status 0
  done
  cd "$BATS_TEST_TMPDIR"
  for pad in 0 1048576; do on 1 "$himeno" -b null -s XS -n 1 --array-pad $pad --json $pad.json >/dev/null; done
  [ "$(json 1048576.json 'd["config"]["array_pad"], d["result"]["memory"]["bytes"]')" = "1048576 $(($(json 0.json 'd["result"]["memory"]["bytes"]') + 66 * 1048576))" ]
  run on 1 "$himeno" -b null -s XS -n 1 --array-pad 100
  expect_status 2
  [[ $output == *"--array-pad 100: must be a multiple of 256"* ]]
  run on 1 "$himeno" -b opencl -s XS -n 1 --array-pad 256
  [ "$status" -eq 3 ] || { [ "$status" -eq 2 ] && [[ $output == *"--array-pad 256: must be a multiple of 512 with backend opencl"* ]]; }
}

@test "with --json - the document alone goes to standard output" {
  run --separate-stderr on 2 "$himeno" -b cpu -s XS -n 3 --json -
  expect_status 0
  [[ $stderr == *PASS* ]]
  "$PYTHON" -c 'import json,sys; assert json.loads(sys.argv[1])["result"]["checksum"] == "9d9fcfa656c9df8f"' "$output"
}

@test "OpenCL's launches of many sweeps make blocks of any length" {
  for sweeps in 1 2 3 127 128 129 255; do
    HIMENO_OPENCL_PERSISTENT=1 run --separate-stderr on 1 "$himeno" -b opencl -k stream -s 9x17x40 --data dense -n $sweeps --no-tune
    [ "$status" -ne 3 ] || skip "no OpenCL device here"
    expect_status 0
    [[ $stderr != *"does not build"* ]]
    [[ $output == *"PASS: all results match the checksum that the CPUs computed"* ]]
  done
}

@test "a grid or a block length that is not in the table is verified by the reference kernel" {
  on 3 "$himeno" -b cpu -s 19x23x29 --data dense -n 17 --json "$document" >/dev/null
  [ "$(json "$document" 'd["result"]["verified"]')" = reference ]
  on 1 "$himeno" -b cpu -s XS -n 17 --json "$document" >/dev/null
  [ "$(json "$document" 'd["result"]["verified"]')" = reference ]
}

@test "weak scaling gives every rank the interior of SIZE" {
  on 4 "$himeno" -b cpu -w -s XS -p 2x2x1 -n 1 --json "$document" >/dev/null
  [ "$(json "$document" '[d["config"][x] for x in ("imax","jmax","kmax","procs")]')" = "[62, 62, 64, [2, 2, 1]]" ]
}

@test "--fill takes a grid of about that share of memory" {
  without_sanitizers "grids of hundreds of MiB take the paths of small ones"
  on 1 "$himeno" -b cpu --fill 1 -n 1 --json "$document" >/dev/null
  [ "$(json "$document" 'd["config"]["kmax"] % 32 == 0 and d["config"]["imax"] * 2 >= d["config"]["kmax"]')" = True ]
  run --separate-stderr on 1 "$himeno" -b null --fill 2 -n 1 --verify off --json "$document"
  expect_status 0
  [ "$(json "$document" '0.0196 < d["result"]["memory"]["share"] <= 0.02 and abs(d["result"]["memory"]["bytes"] - d["result"]["memory"]["share"] * 2 ** 34) < 1e3')" = True ]
  grep -qE 'memory     32[0-9]\.[0-9] MiB of 16\.0 GiB on each device, 2\.0%, the sweeps read all of it' <<<"$output"
  # Free memory cannot always be allocated. Call 4 is an allocation of the first attempt; after its
  # failure a smaller grid is tried.
  HIMENO_NULL_FAIL=4 run --separate-stderr on 1 "$himeno" -b null --fill 2 -n 1 --verify off --json "$document"
  expect_status 0
  [ "$(json "$document" '0.019 < d["result"]["memory"]["share"] <= 0.0198')" = True ]
}

@test "ranks that share a device share its memory, and a grid leaves some of it free" {
  without_sanitizers "grids of hundreds of MiB take the paths of small ones"
  for ranks in 1 2; do
    HIMENO_NULL_DEVICES=1 on $ranks "$himeno" -b null --fill 1 -n 1 --verify off --json "$document" >/dev/null
    [ "$(json "$document" 'd["config"]["kmax"]')" = 224 ]
  done
  HIMENO_NULL_DEVICES=2 on 2 "$himeno" -b null --fill 1 -n 1 --verify off --json "$document" >/dev/null
  [ "$(json "$document" 'd["config"]["kmax"]')" = 288 ]
  ulimit -v 8000000 # in case the memory is allocated after all
  run "$himeno" -b null -s 512x512x1152 --block 10000000 # so long a block fits only if the sums of gosa count once
  expect_status 3
  [[ $output == *"needs 15.8 GiB per rank, but only 15.5 GiB can be used: 16.0 GiB of 16.0 GiB free on device"* ]]
}

@test "every neighbour pair's path is in the document" {
  on 8 "$himeno" -b cpu -k stream -s XS -p 2x2x2 -n 1 --json "$document" >/dev/null
  [ "$(json "$document" 'len(d["paths"]), sum(p["bytes"] for p in d["paths"])')" = "48 $((8 * 4 * (15*15 + 2*15*31 + 2*15 + 31)))" ]
}

@test "--list shows every backend, with the reason where one is missing" {
  run on 1 "$himeno" --list
  expect_status 0
  for word in cuda: opencl: cpu: stream reference staged pageable; do [[ $output == *$word* ]]; done
  [[ $output != *null:* ]]
}

@test "--list shows the transports of a device and why others are unavailable; null devices if requested" {
  run --separate-stderr "$himeno" -b null --list
  expect_status 0
  [ "$stderr" = "" ]
  [ "$(grep -c '^  [a-z]*: ' <<<"$output")" = 1 ]
  [ "$(grep -c 'device [0-7]   Null device' <<<"$output")" = 8 ]
  [[ $output == *"    transports staged, staged-mpi, pageable, mpi, "*"p2p"* ]]
  run --separate-stderr "$himeno" -b qpu --list
  [[ $output == *"    transports staged, staged-mpi, pageable"$'\n'* && $output != *null:* ]]
  [[ $output == *"    transport  p2p unavailable: memory of backend qpu cannot be shared between processes"* ]]
  HIMENO_NULL_DEVICES=0 run "$himeno" -b null --list
  [[ $output == *"no device: "* && $output != *"    transports"* ]]
}

@test "for a misspelt option, kernel or transport the right one is suggested, and a time may have a unit" {
  while IFS='|' read -r words message; do
    run --separate-stderr "$himeno" $words
    expect_status 2
    [ "$stderr" = "himeno-gpu: $message" ] || { echo "$words: $stderr"; return 1; }
  done <<'END'
--kernle stream|unknown option "--kernle": did you mean --kernel?
-k strem|--kernel strem: no backend has such a kernel: did you mean stream?
-k magic|--kernel magic: no backend has such a kernel; --list shows them
-b cpu --kernel-file x|--kernel-file: backend cpu cannot run kernels from files; opencl and cuda can
-b cpu -k block16|--kernel block16: backend cpu has no such kernel; --list shows them
--ladder -k stream|--ladder and --kernel exclude each other
--ladder --official|--ladder and --official exclude each other
--soak 0.5 -n 3|--soak and --sweeps exclude each other
--soak 0.5 --data dense|--soak and --data exclude each other
--soak-log log|--soak-log goes with --soak
-x p2q|--transport p2q: there is no such transport: did you mean p2p?
-t 5x|--time "5x": must be a time from 0.01 to 10000000 s: a number, or one with s, m, h or d, as in 90 or 15m
END
  run "$himeno" -b null -s XS -t 0.0003m --timeout 1m
  expect_status 0
}

@test "--help and --version print whole lines and exit 0" {
  run on 2 "$himeno" --help
  expect_status 0
  [[ $output == *"Exit status"* ]]
  for program in himeno-gpu gemm-gpu mem-gpu comm-gpu; do
    [ -z "$("$top_builddir/$program" --help | tail -c 1)" ] # a whole line
  done
  run on 1 "$himeno" --version
  expect_status 0
  [[ $output == "himeno-gpu "[0-9]* ]]
}

@test "a run without a launcher starts no other process" {
  unset HIMENO_QUIET OMPI_MCA_ess_singleton_isolated
  "$himeno" -b null -s XS -t 60 >/dev/null 2>"$document.told" &
  local run=$! tries=0
  until grep -q timing "$document.told" || [ $((++tries)) -gt $((600 * SLOWNESS)) ]; do sleep 0.1; done
  run pgrep -P "$run"
  kill "$run"
  [ -z "$output" ] && grep -q timing "$document.told"
}

@test "ranks of one host take different devices; two that share one are reported" {
  run on 2 env HIMENO_NULL_DEVICES=1 "$himeno" -b null -s XS -n 1
  expect_status 0
  [[ $output == *"  WARNING    rank 1 SHARES its device "*" with 1 other rank"$'\n'*"             The times are not those of a whole device."* ]]
  on 4 "$himeno" -b null -s XS -n 1 --json "$document" >/dev/null
  [ "$(json "$document" 'len({r["uuid"] for r in d["ranks"]})')" = 4 ]
}
