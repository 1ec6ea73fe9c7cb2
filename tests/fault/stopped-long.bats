# SPDX-License-Identifier: MIT
# Stops each rank in each part of each program: the line must be printed once, in time, and the job
# must end.
load ../helper

stopped() {
  run "$PYTHON" "$top_srcdir/tests/fault/stopped.py" "$1"
  echo "$output"
  [ "$status" = 0 ]
}

@test "stopped ranks of himeno-gpu are reported in time" { stopped himeno-gpu; }
@test "stopped ranks of gemm-gpu are reported in time" { stopped gemm-gpu; }
@test "stopped ranks of comm-gpu are reported in time" { stopped comm-gpu; }
