# SPDX-License-Identifier: MIT
load ../helper

setup() {
  qpu_run=$top_builddir/gpu/qpu/qpu-run
  cd "$BATS_TEST_TMPDIR" || exit 1
  # Adds the second uniform to 16 words of buffer 0 and stores them in buffer 1.
  cat >add.qasm <<'END'
  shl r0, elem_num, 2
  add t0s, r0, unif
  ldi vw_setup, 0x1a00
  nop; ldtmu0
  add vpm, r4, unif
  ldi vw_setup, 0x80904000
  mov vw_addr, unif
  mov -, vw_wait
  thrend
  nop
  nop
END
  printf '\1\0\0\0\2\0\0\0\3\0\0\0%052d' 0 >in
}

@test "a program works on buffers, and its instructions are counted" {
  run "$qpu_run" -i add.qasm -b 64,64 -u @0,5,@1 -l in -s out
  expect_status 0
  [[ $output == *"counts of instructions and turns, not times"* ]]
  [[ $output == *"issued                  11 instructions"* ]]
  [ "$(od -An -tu4 -N12 out | tr -s ' ')" = " 6 7 8" ]
}

@test "machine code runs like its source" {
  "$top_builddir/gpu/qpu/qpu-as" -i add.qasm -f hex -o add.hex
  run "$qpu_run" -i add.hex -b 64,64 -u @0,5,@1 -l in -s out
  expect_status 0
  [ "$(od -An -tu4 -N12 out | tr -s ' ')" = " 6 7 8" ]
}

@test "the trace shows instructions with what they write" {
  run "$qpu_run" -i add.qasm -b 64,64 -u @0,5,@1 --trace
  expect_status 0
  [[ $output == *"QPU  0.0 0x20001000  shl r0, elem_num, 2"* ]]
  [[ $output == *"r0 = 00000000 00000004 00000008"* ]]
}

@test "faults and deadlocks have exit codes of their own" {
  run "$qpu_run" -i add.qasm -u 0,5,0
  expect_status 7
  [[ $output == *"QPU 0 at 0x20001008"*"outside every allocation"* ]]
  printf 'sacq -, 3\nthrend\nnop\nnop\n' >wait.qasm
  run "$qpu_run" -i wait.qasm -q 2
  expect_status 6
  [[ $output == *"QPU 0 waits for semaphore 3 (value 0)"*"QPU 1 waits"* ]]
}

@test "what cannot be is refused" {
  run "$qpu_run"
  expect_status 2
  run "$qpu_run" -i add.qasm -b nothing
  expect_status 2
  run "$qpu_run" -i add.qasm -u @3
  expect_status 2
  [[ $output == *"there is no buffer '@3'"* ]]
  run "$qpu_run" -i nowhere.hex
  expect_status 3
}
