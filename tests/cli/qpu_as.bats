# SPDX-License-Identifier: MIT
load ../helper

setup() {
  qpu_as=$top_builddir/gpu/qpu/qpu-as
  cd "$BATS_TEST_TMPDIR" || exit 1
  printf '%s\n' '  mov r0, 3' '::loop sub.setf r0, r0, 1' '  brr.allnz -, r:loop' '  nop' '  nop' '  nop' '  thrend' '  nop' '  nop' >count.qasm
}

@test "a program becomes a C array with its exported labels" {
  run "$qpu_as" -i count.qasm -n count
  expect_status 0
  [[ $output == *"static const uint64_t count[] = {"* ]]
  [[ $output == *"count_words = 9,"* ]]
  [[ $output == *"count_loop = 8,"* ]]
}

@test "a mistake names file and line, and leaves no output" {
  echo 'mov r0, nowhere' >>count.qasm
  run "$qpu_as" -i count.qasm -o count.h
  expect_status 2
  [[ $output == *"count.qasm:10: 'nowhere' is no register"* ]]
  [ ! -e count.h ]
}

@test "a hazard is refused, or let through when asked" {
  printf 'mov ra1, r0\nmov r1, ra1\nthrend\nnop\nnop\n' >hazard.qasm
  run "$qpu_as" -i hazard.qasm
  expect_status 2
  [[ $output == *"hazard.qasm:2: a register of file A or B"* ]]
  run "$qpu_as" -i hazard.qasm --unchecked
  expect_status 0
}

@test "symbols can be defined from outside" {
  printf 'ldi r0, VALUE\nthrend\nnop\nnop\n' >value.qasm
  run "$qpu_as" -i value.qasm -f hex --define VALUE=0x1234
  expect_status 0
  [ "${lines[0]}" = "0x00001234, 0xe0020827," ]
}

@test "files that cannot be read or written are the environment's fault" {
  run "$qpu_as" -i nowhere.qasm
  expect_status 3
  run "$qpu_as" -i count.qasm -o nowhere/count.h
  expect_status 3
  run "$qpu_as"
  expect_status 2
}

@test "folders and symbols may be given several times" {
  mkdir -p one two
  echo '.set FIRST, A' >one/first.qinc
  echo '.set SECOND, B' >two/second.qinc
  printf '.include "first.qinc"\n.include "second.qinc"\nldi r0, FIRST + SECOND\nthrend\nnop\nnop\n' >both.qasm
  run "$qpu_as" -i both.qasm -f hex -I one -I two -D A=0x100 -D B=0x20
  expect_status 0
  [ "${lines[0]}" = "0x00000120, 0xe0020827," ]
  run "$qpu_as" -i both.qasm -f hex -I one -D A=1
  expect_status 3
  run "$qpu_as" -i both.qasm -i both.qasm
  expect_status 2
  [[ $output == *"--input is given twice"* ]]
}
