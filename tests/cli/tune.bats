# SPDX-License-Identifier: MIT
# -k auto: a trial of the kernels, remembered in a file that may be damaged.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  export HIMENO_TUNE_CACHE=$BATS_TEST_TMPDIR/tune.json
}

# tuned PATTERN [OPTION]...: a run passes and says of its kernel's choice what matches PATTERN.
tuned() {
  local pattern=$1
  shift
  run --separate-stderr on 1 "$himeno" -q -b cpu -s XS -n 1 "$@"
  expect_status 0
  grep -Eq "^  kernel .*$pattern" <<<"$output" || { printf 'not %s:\n%s\n%s\n' "$pattern" "$output" "$stderr"; return 1; }
}

# cache EXPRESSION: of the document d in the cache, which must be whole.
cache() { "$PYTHON" -c "import json,os; d=json.load(open(os.environ['HIMENO_TUNE_CACHE'])); print($1)"; }

@test "a trial is made once and remembered; --tune forces another" {
  tuned 'fastest in a short trial'
  [ "$(cache 'd["schema"], len(d["choices"])')" = "himeno-tune/1 1" ]
  [ "$(cache 'all(c["kernel"] and c["gflops"] > 0 and c["time"] for c in d["choices"].values())')" = True ]
  tuned 'remembered from an earlier trial'
  [ "$(cache 'list(d["choices"].values())[0]["kernel"]')" = "$(sed -n 's/^  kernel  *\([^ ]*\) .*/\1/p' <<<"$output")" ]
  tuned 'fastest in a short trial' --tune
  [ -z "$stderr" ]
}

@test "a planted fault is in the run, not in the trial before it" {
  HIMENO_FLIP="p 5,5,5 30 3" run on 1 "$himeno" -q -b cpu -s XS -n 9
  expect_status 4
  [[ $output == *"fastest in a short trial"* ]]
}

@test "what is remembered holds for its data, size and switches only" {
  tuned 'fastest in a short trial'
  tuned 'fastest in a short trial' --data dense
  HIMENO_CPU_SIMD=generic tuned 'fastest in a short trial'
  HIMENO_CPU_SIMD=generic tuned 'remembered from an earlier trial'
  tuned 'remembered from an earlier trial'
  [ "$(cache 'len(d["choices"])')" = 3 ]
}

@test "--no-tune and --kernel try nothing and write nothing" {
  tuned 'the default' --no-tune
  tuned 'as requested' -k reference
  [ ! -e "$HIMENO_TUNE_CACHE" ]
}

@test "a damaged cache is ignored with a warning, and replaced" {
  for damage in '' '{"schema": "himeno-tune/1"}' '{"schema": "himeno-tune/1", "choices": 7}'; do
    printf '%s' "$damage" >"$HIMENO_TUNE_CACHE"
    tuned 'fastest in a short trial'
    [[ $stderr == *"tune.json: it is damaged: no choice of kernel is remembered"* ]]
    [ "$(cache 'len(d["choices"])')" = 1 ]
  done
}

@test "a file that is no cache stays as it is, also through a link, and gets no lock file" {
  mkdir "$BATS_TEST_TMPDIR/other"
  ln -s other/file "$HIMENO_TUNE_CACHE"
  for text in garbage $'\n' '[]' '{"schema": "other/1", "choices": {}}' '{"schema": "himeno-tune/2", "choices": {}}' \
    '{"schema": "himeno-tune/1", "choices": {}} more' '{"schema": "himeno-tune/1", "choices": {'; do
    for named in "$HIMENO_TUNE_CACHE" "$BATS_TEST_TMPDIR/other/file"; do
      printf '%s' "$text" >"$BATS_TEST_TMPDIR/other/file"
      HIMENO_TUNE_CACHE=$named tuned 'fastest in a short trial' --tune
      [[ $stderr == *"the choice of kernel is not remembered: $named: it is not a file of remembered kernels, so it is not changed"* ]]
      printf '%s' "$text" | cmp - "$BATS_TEST_TMPDIR/other/file"
      [ -L "$HIMENO_TUNE_CACHE" ]
      [ "$(ls -A "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/other" | grep -c lock)" = 0 ]
    done
  done
}

@test "a cache that a link leads to is replaced there, and the link stays" {
  mkdir "$BATS_TEST_TMPDIR/other"
  ln -s other/file "$HIMENO_TUNE_CACHE"
  tuned 'fastest in a short trial'
  tuned 'remembered from an earlier trial'
  [ -L "$HIMENO_TUNE_CACHE" ] && [ -f "$BATS_TEST_TMPDIR/other/file" ]
}

@test "a remembered kernel that does not exist is tried anew" {
  tuned 'fastest in a short trial'
  sed -i 's/"kernel": "[^"]*"/"kernel": "of-yesterday"/' "$HIMENO_TUNE_CACHE"
  tuned 'fastest in a short trial'
  [ "$(cache '"of-yesterday" in str(d)')" = False ]
}

@test "a cache that cannot be written is a warning" {
  mkdir "$HIMENO_TUNE_CACHE"
  tuned 'fastest in a short trial'
  [[ $stderr == *"the choice of kernel is not remembered: "*"tune.json: Invalid argument"* ]]
  echo >"$BATS_TEST_TMPDIR/file"
  export HIMENO_TUNE_CACHE=$BATS_TEST_TMPDIR/file/tune.json
  tuned 'fastest in a short trial'
  [[ $stderr == *"not remembered"*file/tune.json* ]]
}

@test "a folder without permission is a warning" {
  [ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
  mkdir "$BATS_TEST_TMPDIR/closed"
  chmod a-w "$BATS_TEST_TMPDIR/closed"
  export HIMENO_TUNE_CACHE=$BATS_TEST_TMPDIR/closed/tune.json
  tuned 'fastest in a short trial'
  [[ $stderr == *"not remembered"* ]]
}

@test "two writers at once leave both choices" {
  on 1 "$himeno" -b cpu -s XS -n 1 >/dev/null &
  on 1 "$himeno" -b cpu -s 16x20x24 -n 1 >/dev/null
  wait $!
  [ "$(cache 'sorted(key.split("|")[4] for key in d["choices"])')" = "['16x20x24', '32x32x64']" ]
  tuned 'remembered from an earlier trial'
}

@test "two ranks take one choice" {
  run --separate-stderr on 2 "$himeno" -b cpu -s XS -n 3
  expect_status 0
  [[ $output == *"fastest in a short trial"* ]]
  [ "$(cache 'len(d["choices"])')" = 1 ]
  run --separate-stderr on 2 "$himeno" -b cpu -s XS -n 3 -p 1x2x1
  expect_status 0
  [[ $output == *"fastest in a short trial"* ]] # another cut is another question
  [ "$(cache '[key.split("|")[6] for key in sorted(d["choices"])]')" = "['1x2x1', '2x1x1']" ]
}
