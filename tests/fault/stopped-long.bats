# SPDX-License-Identifier: MIT
# Each rank stopped in each part of each program: the line is printed once, in time, and the job
# ends.
load ../helper

stopped() {
  run "$PYTHON" "$top_srcdir/tests/fault/stopped.py" "$1"
  echo "$output"
  [ "$status" = 0 ]
}

@test "ranks of himeno-gpu" { stopped himeno-gpu; }
@test "ranks of gemm-gpu" { stopped gemm-gpu; }
@test "ranks of comm-gpu" { stopped comm-gpu; }
