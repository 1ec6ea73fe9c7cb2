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

@test "an instruction that breaks a rule is refused" {
  printf 'mov r0, r1\nmov t0s, r0; mov t1s, r1\nthrend\nnop\nnop\n' >rule.qasm
  run "$qpu_as" -i rule.qasm
  expect_status 2
  [[ $output == *"rule.qasm:2: an instruction has one of these accesses only"* ]]
}

@test "a program without an instruction runs off its end" {
  echo '# nothing' >empty.qasm
  run "$qpu_as" -i empty.qasm -o empty.h
  expect_status 2
  [[ $output == *"empty.qasm: there is no instruction: the program runs off its end"* ]]
  [ ! -e empty.h ]
}

@test "files that cannot be read or written are the environment's fault" {
  run "$qpu_as" -i nowhere.qasm
  expect_status 3
  run "$qpu_as" -i count.qasm -o nowhere/count.h
  expect_status 3
  run "$qpu_as"
  expect_status 2
}
