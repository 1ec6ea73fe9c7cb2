# SPDX-License-Identifier: MIT
# A single bit flip in a run is reported, wherever and whenever it occurs.
load ../helper

# flipped FLIP OPTION...: two ranks must report FLIP as a wrong block. The first block, sweeps 1 to 120, is not timed; timed block
# 2 has sweeps 241 to 360.
flipped() {
  HIMENO_FLIP=$1 run on 2 "$himeno" -b null -s 16x16x32 -t 99 -x staged "${@:2}"
  [ "$status" = 4 ] || { echo "$1 ${*:2}: ended with $status: $output"; false; }
}

@test "a flip of p in block 2 is seen, early and late" {
  for data in standard dense; do
    for sweep in 260 300 350; do
      flipped "p 9,7,11 10 $sweep" --data $data
      [[ $output == *"block 2: this rank's gosa of sweep $((sweep - 240)) is "* ]]
    done
  done
}

@test "a flip in the first block is seen" {
  flipped "p 9,7,11 12 1"
  flipped "p 9,7,11 12 59" --data dense --json "$BATS_TEST_TMPDIR/wrong.json"
  # No block was timed, so no figure was measured.
  [ "$(json "$BATS_TEST_TMPDIR/wrong.json" '[d["result"][key] for key in ("gflops", "gbps", "gosa", "checksum")]')" = "[None, None, None, None]" ]
}

@test "a coefficient that changes is named with its rank, even if its value is zero" {
  for array in a0 b1 wrk1; do
    flipped "$array 3,3,3 10 300"
    [[ $output == *"rank 0, host "*"block 2: array $array has changed on this rank"* ]]
  done
  flipped "b2@1 7,3,3 10 300" # in rank 1's halo, a copy of points that rank 0 owns
}

@test "a flip in a halo is seen on the rank that has the halo" {
  flipped "p@1 7,7,11 10 300" # rank 0 owns planes 1 to 7
  flipped "p@0 8,7,11 14 250" --data dense
  [[ $output == *"rank 0, host "*"block 2: this rank's gosa of sweep 10 is "* ]]
}

@test "a flip at a point that the rank does not have is refused" {
  for flip in "p@0 9,7,11 10 3" "p@2 9,7,11 10 3"; do
    HIMENO_FLIP=$flip run on 2 "$himeno" -b null -s 16x16x32 -n 10
    [ "$status" = 2 ]
    [[ $output == *"HIMENO_FLIP: rank 0 holds no copy of that point"* || $output == *"HIMENO_FLIP: there is no rank 2, only 2 ranks"* ]]
  done
}

@test "a flip in the field before the last sweep is seen at points that no sweep writes" {
  flipped "older-p 0,7,11 10 300"
  flipped "p 0,7,11 10 300"
  [[ $output == *"rank 0, host "*"block 2: checksum "*" of this rank's field before the last sweep, but was "*" in the first block"* ]]
  flipped "older-p@0 0,0,0 10 300"
}

@test "one halo value corrupted in transit is seen after 120 sweeps" {
  for x in staged p2p; do
    HIMENO_HALO_CORRUPT=1:5 run on 3 "$himeno" -b null -s XS -n 120 -x $x
    [ "$status" = 4 ]
  done
  HIMENO_HALO_CORRUPT=3:5 run on 3 "$himeno" -b null -s XS -n 120 -x p2p # a neighbour that does not exist
  [ "$status" = 0 ]
}

@test "a run without a fault lists what was checked" {
  run on 2 "$himeno" -b null -s 16x16x32 -t 0.1 --json "$BATS_TEST_TMPDIR/r.json"
  [ "$status" = 0 ]
  [[ $output == *"compared   field p with the reference every 12 sweeps"*"and after each block;"*"gosa of every sweep on each rank; all 12 arrays of coefficients"* ]]
  "$PYTHON" - "$BATS_TEST_TMPDIR/r.json" <<'PY'
import json, sys
checks = json.load(open(sys.argv[1]))["result"]["checks"]
assert [point["sweeps"] for point in checks["points"]] == list(range(12, 121, 12)) and checks["every"] == 12
PY
  run on 1 "$himeno" -b null -s 16x16x32 -n 3 --verify off
  [[ $status == 0 && $output == *"NOT VERIFIED"* && $output != *"compared "* ]]
}
