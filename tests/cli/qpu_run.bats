# SPDX-License-Identifier: MIT
load ../helper
bats_require_minimum_version 1.5.0

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
  run "$qpu_run" -i add.qasm -u 0,5,0 --hazards outside=fault
  expect_status 7
  [[ $output == *"QPU 0 at 0x20001008"*"outside every allocation"* ]]
  run "$qpu_run" -i add.qasm -b 64,64 -u @0+32,5,@1
  expect_status 0
  [[ $output == *"warning: outside at 0x20001008 (+8 in its program) add t0s, r0, unif, 1 times: "* ]]
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

@test "a broken rule is a warning with address and count, of the kind that was chosen" {
  printf 'mov ra1, 3\nmov r1, ra1\nmov r1, ra1\nthrend\nnop\nnop\n' >early.qasm
  run --separate-stderr "$qpu_run" -i early.qasm -q 3
  expect_status 0
  [[ $stderr == *"register at 0x20001008 (+8 in its program) mov r1, ra1, 3 times: a register of file A or B"* ]]
  run --separate-stderr "$qpu_run" -i early.qasm --hazards register=ignore
  expect_status 0
  [ -z "$stderr" ]
  run "$qpu_run" -i early.qasm --hazards warn,register=fault
  expect_status 7
  [[ $output == *"QPU 0 at 0x20001008"*"cannot be read by the instruction after"* ]]
  run "$qpu_run" -i early.qasm --hazards fault
  expect_status 2
  [[ $output == *"early.qasm:2: a register of file A or B"* ]]
  run "$qpu_run" -i early.qasm --hazards speed=fault
  expect_status 2
  run --separate-stderr "$qpu_run" -i early.qasm --tolerate
  expect_status 0
  [[ $stderr == *"--tolerate is the old spelling of --hazards ignore"* ]]
}

# Four jobs, one after the other, add numbers of their own to a quarter of a buffer each.
@test "jobs have places and numbers by their own number, and files their buffer" {
  seq 1 64 | "$PYTHON" -c 'import sys,struct; sys.stdout.buffer.write(b"".join(struct.pack("<I",int(n)) for n in sys.stdin))' >numbers
  run --separate-stderr "$qpu_run" -i add.qasm -j 4 -b 256,256 -u '@0+%*64, 2*%+7-%-2, @1+64*%' -l 0=numbers -s 1=out,0=in.back
  expect_status 0
  [ "$(od -An -v -tu4 -w4 out | awk '{ if ($1 != NR + 5 + int((NR - 1) / 16)) bad = 1 } END { print NR, bad + 0 }')" = "64 0" ]
  cmp numbers in.back
  for uniforms in '@0,1,@1;@0' '@0,1,@u' '@0,%%'; do
    run "$qpu_run" -i add.qasm -j 2 -b 256,256 -u "$uniforms"
    expect_status 2
    [[ $output == *"--uniforms: "* ]]
  done
  run "$qpu_run" -i add.qasm -b 64,64 -u '@0,1,@1' -l 2=numbers
  expect_status 2
  run "$qpu_run" -i add.qasm -b 64,64 -u '@0,1,@1' -l 0+4=numbers
  expect_status 2
  run "$qpu_run" -i add.qasm -b 64,64 -u '@0,1,@1' -s 1=nowhere/out
  expect_status 3
}

@test "uniforms with a point or an exponent are floats" {
  printf 'ldi vw_setup, 0x1a00\nmov vpm, unif\nmov vpm, unif\nldi vw_setup, 0x81104000\nmov vw_addr, unif\nmov -, vw_wait\nthrend\nnop\nnop\n' >own.qasm
  run --separate-stderr "$qpu_run" -i own.qasm -b 128 -u '1.5,-2.5e-1,@0' -s a
  expect_status 0
  [ "$(od -An -tf4 -N4 a | tr -d ' ')" = 1.5 ]
  [ "$(od -An -tf4 -j64 -N4 a | tr -d ' ')" = -0.25 ]
}
