# SPDX-License-Identifier: MIT
# --soak finds planted bit flips and reports their place. However a run ends, its measurements are stored completely and marked.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  himeno=$top_builddir/tests/clock/himeno-gpu
  export OMP_NUM_THREADS=1 CLOCK_MACHINE="usual seed=4 block=50000000"
}

# Seconds are those of a virtual clock, so that any computer runs the same number of blocks: 10 in half a second.

soak() { run --separate-stderr on 2 "$himeno" -b null -s 20x20x36 --block 10 --soak "$@"; }

# value EXPRESSION: prints an expression of r, the document, and log, the lines of the soak's log.
value() {
  "$PYTHON" -c 'import json, os, sys
r = json.load(open("r.json")) if os.path.exists("r.json") else None
log = [json.loads(line) for line in open("log")] if os.path.exists("log") else None
print(eval(sys.argv[1]))' "$1"
}

# follows_schema: the document, and the log's lines if there are any, must follow their schemas.
follows_schema() {
  has_jsonschema
  "$PYTHON" -c 'import json, os, sys, jsonschema
def texts(path, whole):
    if not os.path.exists(path):
        return []
    text = open(path).read()
    return [text] if whole else text.splitlines()
for path, name in ("r.json", "result"), ("log", "soak"):
    schema = jsonschema.Draft202012Validator(json.load(open(f"{sys.argv[1]}/{name}.schema.json")))
    for text in texts(path, whole=name == "result"):
        schema.validate(json.loads(text))' "$top_srcdir/doc"
}

@test "a clean soak passes with both data sets, and logs a line per block" {
  soak 0.5 --json r.json --soak-log log
  expect_status 0
  grep -q 'soak .* 10 blocks in both data sets, 0 of them wrong' <<<"$output"
  [ "$(value 'len(log), r["result"]["soak"]["blocks"], round(r["result"]["soak"]["seconds"], 3)')" = "(10, 10, 0.502)" ]
  [ "$(value 'sorted({line["data"] for line in log})')" = "['dense', 'standard']" ]
  [ "$(value '{line["verdict"] for line in log}')" = "{'pass'}" ]
  follows_schema
}

@test "a soak takes both data sets, however short it is" {
  soak 0.01 --json r.json --soak-log log
  expect_status 0
  [ "$(value 'r["result"]["soak"]["blocks"] >= 2 and [line["data"] for line in log[:2]]')" = "['dense', 'standard']" ]
  run on 1 "$himeno" -b cpu -s XS -k wavefront4 --block 1 --soak 0.01 # one pass is longer than the block
  expect_status 0
}

@test "a device that fails in a block of a soak ends it" {
  run --separate-stderr env HIMENO_NULL_FAIL=200 "$himeno" -b null -s 20x20x36 --block 10 --soak 0.01
  expect_status 7
  [[ $stderr == *"call 200, "*" fails on demand"* ]]
}

@test "a flipped bit is wrong, with rank, sweep, array, point and bit" {
  HIMENO_FLIP="c1 12,7,30 19 14" soak 0.5 --json r.json --soak-log log
  expect_status 4
  grep -q 'CORRUPTED  block 2, standard data, after sweep 4, rank 1 on .*c1 has 1 wrong point, first (12, 7, 30).*1 bit; does not repeat' <<<"$output"
  [ "$(value '[line["block"] for line in log if line["verdict"] == "wrong"]')" = "[2]" ]
  [ "$(value 'len(log) > 2')" = True ]
  [ "$(value 'r["result"]["verdict"], r["result"]["soak"]["wrong_blocks"]')" = "('wrong', 1)" ]
  # The block that ended after 4 of 10 sweeps counts as one sample, and adds no noise.
  [ "$(value 'len(r["result"]["samples"]) == len(log) and max(r["result"]["samples"]) < 1.1 * min(r["result"]["samples"])')" = True ]
  [ "$(value 'r["system"]["settings"]["HIMENO_FLIP"]')" = "c1 12,7,30 19 14" ]
  follows_schema
}

@test "a line reports whether a device of any rank is throttled, and the document has the devices' telemetry" {
  HIMENO_NULL_DEVICES=4 HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so \
    FAKE_NVML="celsius-late@1=91 throttle-late@1=32 width@0=8 fixed-late@1=4 xid-late@0=79" soak 0.5 --json r.json --soak-log log
  expect_status 0
  [ "$(value 'log[0]["throttled"], log[-1]["throttled"]')" = "(False, True)" ]
  [ "$(value '[rank["telemetry"]["celsius"] for rank in r["ranks"]]')" = "[[55.0, 55.0], [55.0, 91.0]]" ]
  [ "$(value '[rank["telemetry"]["throttled"] > 0 for rank in r["ranks"]], r["ranks"][0]["telemetry"]["link"]["pcie_width"]')" = "([False, True], 8)" ]
  [ "$(value '[(n, c["of"], c["from"], c["to"], c["detail"]) for n, rank in enumerate(r["ranks"]) for c in rank["telemetry"]["changes"]]')" = \
    "[(0, 'xids', 0, 1, 'Xid 79'), (1, 'corrected', 0, 4, '')]" ]
  grep -q 'ERRORS .*rank 0 on .*Xid 79' <<<"$output"
  follows_schema
}

@test "a soak is checked against the rate of NVLink CRC errors, and lower rates are accepted" {
  local crc
  echo '{"counted_max": 0, "nvlink_crc_rate_max": 1000}' >policy.json
  for crc in 900 90000; do
    HIMENO_NULL_DEVICES=4 HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so FAKE_NVML="link_flits-late@1=$crc" \
      soak 0.5 --accept policy.json --json r.json
    [ "$crc" -eq 900 ] && expect_status 0 || expect_status 5
    grep -q "ERRORS .*rank 1 on .*: NVLink CRC errors $crc, since the run began" <<<"$output"
    [ "$(value '[(c["outcome"], c["rank"]) for c in r["result"]["accept"]["checks"] if c["check"] == "errors counted"]')" = "[('pass', None)]" ]
    # The rate is over at least a minute, even if the soak was shorter.
    [ "$(value '[c["value"] == '"$crc"' / 60 and c["value"] == r["ranks"][1]["telemetry"]["nvlink_crc_rate"] for c in r["result"]["accept"]["checks"] if c["unit"] == "1/s"]')" = "[True]" ]
  done
  grep -A1 'NVLink CRC errors per second .*  FAIL' <<<"$output" | grep -q 'rank 1 on '
  follows_schema
}

@test "several bits, a whole warp and a fault that comes back are found, each with its points and bits" {
  # These flips are in the first two blocks, one per data set, which every soak runs.
  local warp="" again="" k
  for k in $(seq 2 33); do warp+="a3 5,6,$k 21 14; "; done
  HIMENO_FLIP="${warp}b1 3,4,5 7 4; b1 3,4,5 9 4; b1 3,4,5 30 4" soak 0.01 --json r.json --soak-log log
  expect_status 4
  grep -q 'CORRUPTED .*a3 has 32 wrong points, first (5, 6, 2): .* 1 bit; does not repeat' <<<"$output"
  grep -q 'CORRUPTED .*b1 has 1 wrong point, first (3, 4, 5): .* 3 bits; does not repeat' <<<"$output"
  # A bit flips in every fourth sweep: blocks are wrong, but not when their first sweeps are repeated.
  for k in $(seq 1 4 80); do again+="c2 7,8,9 12 $k; "; done
  HIMENO_FLIP=${again%; } soak 0.01 --json r.json
  expect_status 4
  [ "$(value '[(f["block"], f["sweep"], f["repeats"]) for f in r["result"]["soak"]["found"] if f["array"] == "c2"][:2]')" = \
    "[(1, 1, False), (2, 3, False)]" ]
  again=
  for k in $(seq 1 40); do again+="c2 7,8,9 12 $k; "; done
  HIMENO_FLIP=${again%; } soak 0.01 --json r.json
  expect_status 4
  [ "$(value '[(f["block"], f["sweep"], f["repeats"]) for f in r["result"]["soak"]["found"] if f["array"] == "c2"][:2]')" = \
    "[(1, 1, True), (2, 1, True)]" ]
}

@test "a multiprocessor that computes a bit wrong is found from its sweep on, and named" {
  HIMENO_FLIP="sm@1 0 14 11" soak 0.2 --json r.json --soak-log log
  expect_status 4
  grep -q 'CORRUPTED  block 1, .* after sweep 10, rank 1 on .*: multiprocessor 0 computes .* wrong points, first (.*: .* 1 bit; REPEATS' <<<"$output" && return 1
  grep -q 'CORRUPTED  block 2, .* after sweep 10, rank 1 on .*: multiprocessor 0 computes .* wrong points, first (.*: .* 1 bit; REPEATS' <<<"$output"
  [ "$(value '{(f["block"] > 1, f["rank"], f["array"], f["points"], int(f["is"], 16) ^ int(f["must_be"], 16)) for f in r["result"]["soak"]["found"]}')" = \
    "{(True, 1, 'multiprocessor 0', 2448, 16384)}" ]
  [ "$(value '[f["first"] for f in r["result"]["soak"]["found"]]')" = "[[10, 1, 1], [12, 1, 1], [17, 1, 1]]" ]
  [ "$(value '[line["verdict"] for line in log][:2]')" = "['pass', 'wrong']" ]
  follows_schema
}

@test "a clean soak reports as its load the power of the device furthest from its limit; a wrong one does not" {
  HIMENO_NULL_DEVICES=2 HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so FAKE_NVML="milliwatts=665000 milliwatts@1=637000" soak 0.5 --json r.json
  expect_status 0
  [ "$(value 'round(r["result"]["soak"]["power_share"], 6)')" = 0.91 ]
  grep -q 'load       0.91 of the power limit$' <<<"$output"
  FAKE_NVML="milliwatts=665000 milliwatts@1=616000" HIMENO_NULL_DEVICES=2 HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so soak 0.5
  grep -q 'load       0.88 of the power limit: NOT STRESSED' <<<"$output"
  HIMENO_FLIP="c1 12,7,30 19 14" soak 0.5 --json r.json
  expect_status 4
  [ "$(value 'r["result"]["soak"]["excluded_per_1000_device_days"]')" = None ]
  refute grep -q 'confidence 95\|  load ' <<<"$output"
  follows_schema
}

@test "devices that report nothing are not throttled in the log" {
  HIMENO_NVML=/nonexistent HIMENO_SYSFS=/nonexistent soak 0.5 --soak-log log
  expect_status 0
  [ "$(value '{line["throttled"] for line in log}')" = "{False}" ]
  follows_schema
}

@test "an invalid HIMENO_FLIP is refused in one line" {
  local text
  for text in 'a3 10,20,30 5 17 x' 'sm 2 32 1' 'sm 2,3 5 1' 'smx 2 5 1' 'a3 10,20,30 5 17;' 'a3 10,20,30 5 17; ; a3 1,1,1 1 1' \
    "$(yes 'a3 1,1,1 1 1;' | head -256) a3 1,1,1 1 1"; do
    HIMENO_FLIP=$text soak 0.5
    expect_status 2
    grep '^himeno-gpu:' <<<"$stderr" >said
    [[ "$(grep -c 'HIMENO_FLIP=.* must be .*, as in' said)" = 1 && "$(wc -l <said)" = 1 ]]
  done
}

@test "a fault to plant outside of the grid is reported in one line and changes nothing" {
  local text
  for text in 'a3 20,0,0 5 17' 'p 0,20,0 5 1' 'older-p 0,0,36 5 1'; do
    HIMENO_FLIP=$text soak 0.5
    expect_status 0
    [ "$(grep -c 'HIMENO_FLIP: point .* is not in a grid of 20 x 20 x 36: no bit is flipped$' <<<"$stderr")" = 1 ]
  done
}

@test "a killed soak leaves whole lines and a valid partial document" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  "$himeno" -b null -s 20x20x36 --block 10 --soak 1000000 --json r.json --soak-log log >/dev/null 2>&1 3>&- &
  for _ in $(seq $((600 * SLOWNESS))); do [ -s log ] && [ -s r.json ] && [ "$(value 'len(log) > 5 and r["result"]["blocks"] > 2')" = True ] && break; sleep 0.1; done
  kill -KILL $!
  wait $! || true
  [ "$(value 'len(log) > 5')" = True ]
  [ "$(value 'r["partial"], r["result"]["verdict"]')" = "(True, 'incomplete')" ]
  # Phases are means over a sweep, even if a signal ended the soak.
  [ "$(value 'r["phases"]["interior"]["max"] < 2 * r["result"]["seconds"] / r["config"]["sweeps"]')" = True ]
  follows_schema
}

@test "a signal ends a run, a soak and a ladder with what they have: exit 8, incomplete" {
  local signal options
  unset HIMENO_QUIET
  while read -r signal options; do
    rm -f r.json
    started "$himeno" -b null -s 20x20x36 --block 10 $options --json r.json
    # A ladder writes its document only at its end.
    until [ -s r.json ] || { [[ $options == *--ladder* ]] && grep -q timing said; }; do sleep 0.1; done
    kill -"$signal" $!
    ended
    [ "$status" = 8 ] || { echo "exit status $status of $options"; cat out said; return 1; }
    grep -q 'INCOMPLETE: a signal ended' out
    [ "$(value 'r["partial"]')" = True ]
    [[ $options != *--ladder* ]] || continue
    [ "$(value 'r["result"]["verdict"], r["result"]["blocks"] > 0')" = "('incomplete', True)" ]
    follows_schema
  done <<'RUNS'
TERM -t 1000000
USR1 -t 1000000 --accept
INT --soak 1000000
TERM --soak 1000000 --accept
TERM --ladder -t 1000000
RUNS
}

@test "SIGTERM at once leaves a valid document too" {
  for wait in 0.05 0.1 0.2 document; do
    rm -f r.json
    "$himeno" -b null -s XS -t 1000000 --json r.json >/dev/null 2>&1 3>&- &
    if [ $wait = document ]; then until [ -e r.json ]; do sleep 0.01; done; else sleep $wait; fi
    kill -TERM $! 2>/dev/null
    wait $! || true
    [ ! -e r.json ] || [ "$(value 'r["partial"]')" = True ]
    ls -A | grep -v -e '^r.json$' && return 1 || true
  done
  [ -e r.json ]
}

@test "a log on standard output is complete, also if that is a file" {
  "$himeno" -b null -s 20x20x36 --block 10 --soak 0.5 --soak-log /dev/stdout >log
  grep -q PASS log
  grep '^{' log >lines && mv lines log
  [ "$(value '[line["block"] for line in log] == list(range(1, len(log) + 1)) and len(log) > 1')" = True ]
}

@test "a full disk under the log is reported once" {
  [ -w /dev/full ] || skip "no /dev/full"
  soak 0.5 --soak-log /dev/full
  expect_status 3
  [ "$(grep -c '^himeno-gpu:.*No space' <<<"$stderr")" -eq 1 ]
  soak 0.5 --soak-log /dev/null/log
  expect_status 3
}
