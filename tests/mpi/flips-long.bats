# SPDX-License-Identifier: MIT
# A thousand flips for each kernel and data set, of which 990 must be reported: the table in doc/lab/acceptance-power.md.
load ../helper

@test "990 of 1000 flips are reported, on null and CPU, for kernels of one sweep and of many" {
  FLIPS=1000 FLIPS_SIZE=32x32x64 run "$top_srcdir/tests/mpi/flips-few"
  echo "$output"
  [ "$status" = 0 ]
}
