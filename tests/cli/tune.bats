# SPDX-License-Identifier: MIT
# -k auto tries kernels and chooses one.
load ../helper
bats_require_minimum_version 1.5.0

# tuned PATTERN [OPTION]...: a run passes, and its line about the kernel matches PATTERN.
tuned() {
  local pattern=$1
  shift
  run --separate-stderr on "${ranks:-1}" "$himeno" -q -b cpu -s XS -n 3 "$@"
  expect_status 0
  grep -Eq "^  kernel .*$pattern" <<<"$output" || { printf 'not %s:\n%s\n%s\n' "$pattern" "$output" "$stderr"; return 1; }
  [ -z "$stderr" ]
}

@test "kernels are tried, by one rank and by two, but not with --no-tune or --kernel" {
  tuned 'fastest in a short trial'
  ranks=2 tuned 'fastest in a short trial'
  tuned 'the default' --no-tune
  tuned 'as requested' -k reference
}

@test "a planted fault is found in the run, since the trial before it does not use it up" {
  HIMENO_FLIP="p 5,5,5 30 3" run on 1 "$himeno" -q -b cpu -s XS -n 9
  expect_status 4
  [[ $output == *"fastest in a short trial"* ]]
}
