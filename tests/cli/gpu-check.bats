# SPDX-License-Identifier: MIT
# scripts/gpu-check without a GPU. On a machine with a GPU, scripts/gpu-check itself is the test.
load ../helper
bats_require_minimum_version 1.5.0

check=$top_srcdir/scripts/gpu-check

# expect_error PATTERN ARGUMENT...: gpu-check must end with 2 or 3 and a line with PATTERN.
expect_error() {
  local pattern=$1
  shift
  run "$check" "$@"
  [ "$status" -eq 2 ] || [ "$status" -eq 3 ]
  [[ $output == "gpu-check: "$pattern ]] || { printf '%s\ndoes not match %s\n' "$output" "$pattern"; return 1; }
}

@test "wrong options are named" {
  expect_error '*--fast*' --fast out
  expect_error '*where should the result go*'
  expect_error '*--seconds*' --seconds 0 out
  expect_error '--build wants a value*' --build
  expect_error '*--only magic: there is no such step*' --only magic out
  expect_error '*none/such: there is no himeno-gpu' --build none/such "$BATS_TEST_TMPDIR/out"
  expect_error 'one folder OUT*' one two
}

@test "--help and --steps describe what it does" {
  expect 0 "$check" --help
  [[ $output == *"gpu-check-HOST-DATE.tar.gz"* ]]
  expect 0 "$check" --steps
  [[ $output == *racecheck*" s"* ]]
}

@test "without a GPU nothing is begun, and one line has the messages of CUDA and OpenCL" {
  CUDA_VISIBLE_DEVICES= OCL_ICD_VENDORS=/nonexistent run "$check" "$BATS_TEST_TMPDIR/out"
  expect_status 3
  [[ $output == "gpu-check: no GPU was found: CUDA: "*"; OpenCL: "* && ${#lines[@]} = 1 ]]
  [ ! -e "$BATS_TEST_TMPDIR/out" ]
  CUDA_VISIBLE_DEVICES= run "$check" --build "$top_builddir" --only machine,racecheck "$BATS_TEST_TMPDIR/out"
  expect_status 3
}

@test "with a GPU the check goes on, and steps that find none of the devices they need are skipped" {
  cd "$BATS_TEST_TMPDIR"
  echo 'int cuInit(int flags) { return flags; } int cuDeviceGetCount(int *count) { return *count = 1, 0; }' >driver.c
  cc -shared -fPIC -o libcuda.so.1 driver.c
  LD_LIBRARY_PATH=$PWD CUDA_VISIBLE_DEVICES= run "$check" --build "$top_builddir" --only racecheck out
  [ "$status" -ne 3 ]
  [[ $output == *"racecheck  "*" skip "* ]]
}

@test "what needs no GPU runs without one, and one archive holds it all" {
  CUDA_VISIBLE_DEVICES= run "$check" --build "$top_builddir" --only machine,build "$BATS_TEST_TMPDIR"
  cd "$BATS_TEST_TMPDIR"
  [ "$(ls gpu-check-*.tar.gz | wc -l)" = 1 ]
  tar xzf gpu-check-*.tar.gz
  cmp summary.json gpu-check-*/summary.json
  "$PYTHON" - <<'PY'
import json
summary = json.load(open("summary.json"))
assert summary["schema"] == "himeno-gpu-check/1"
steps = {step["name"]: step for step in summary["steps"]}
assert list(steps) == ["machine", "build", "list"], steps
assert steps["list"]["outcome"] in ("pass", "fail"), steps
assert steps["build"]["outcome"] == "skip" and steps["build"]["note"] == "the build was given", steps
assert all(step["seconds"] <= step["limit"] for step in summary["steps"])
PY
  [ -s gpu-check-*/logs/list.log ]
}

@test "a step that has no time left fails, and the others are still reported" {
  expect 1 "$check" --build "$top_builddir" --seconds 1 --only machine "$BATS_TEST_TMPDIR"
  [[ $output == *"no time was left for it"* ]]
  [ -s "$BATS_TEST_TMPDIR/summary.json" ]
}
