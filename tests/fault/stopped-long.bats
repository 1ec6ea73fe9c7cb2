# SPDX-License-Identifier: MIT
# Stops each rank in each part of each program: the line must be printed once, in time, and the job
# must end.
load ../helper

stopped() {
  run "$PYTHON" "$top_srcdir/tests/fault/stopped.py" "$1"
  echo "$output"
  [ "$status" = 0 ]
}

@test "ranks of himeno-gpu" { stopped himeno-gpu; }
@test "ranks of gemm-gpu" { stopped gemm-gpu; }
@test "ranks of comm-gpu" { stopped comm-gpu; }
