# SPDX-License-Identifier: MIT
# A device call fails: whichever call it is, the run ends with the right exit code and one message, and frees its memory (which
# the sanitizer builds check).
load ../helper
bats_require_minimum_version 1.5.0

# With the virtual clock a run always has the same calls.
himeno=$top_builddir/tests/clock/himeno-gpu
export CLOCK_MACHINE="sweep=10 ceiling=1000000 shared=1"

# fails_well N COMMAND...: if the Nth device call fails, COMMAND must end with 3 or 7 and one message with the call's name.
# Returns 1 if the run has fewer calls, and passes.
fails_well() {
  local n=$1 code=0
  shift
  text=$(HIMENO_NULL_FAIL=$n "$@" 2>&1 >/dev/null) || code=$?
  [ "$code" -ne 0 ] || return 1
  if [ "$code" -ne 3 ] && [ "$code" -ne 7 ]; then
    printf 'call %s: exit code %s\n%s\n' "$n" "$code" "$text" >&2
    return 2
  fi
  if [ "$(grep -c '^himeno-gpu:' <<<"$text")" -ne 1 ] || [[ $text == *Sanitizer* ]]; then
    printf 'call %s: not one message, or a leak:\n%s\n' "$n" "$text" >&2
    return 2
  fi
}

@test "each device call of a whole run on one rank, if it fails, ends the run with one message" {
  local n=0 code=0 text=
  while [ "$code" -eq 0 ]; do
    fails_well $((++n)) "$himeno" -b null -s 3x4x5 -n 2 --verify off || code=$?
  done
  [ "$code $n" = "1 256" ]
}

# two_ranks TRANSPORT CALL...: if a CALL fails on rank 1, the job must end with 3 or 7 and name the rank. The last CALL is the first
# one after a run's end: no call may be missing.
two_ranks() {
  local n transport=$1
  shift
  export HIMENO_NULL_RANK=1
  for n in "$@"; do
    HIMENO_NULL_FAIL=$n run --separate-stderr timeout $((60 * SLOWNESS)) "$MPIRUN" -np 2 "$himeno" -b null -s 6x5x4 -n 4 -x "$transport" --verify off
    [ "$status" -eq 0 ] && break
    [ "$status" -eq 3 ] || [ "$status" -eq 7 ] || { printf 'call %s: %s\n%s\n' "$n" "$status" "$stderr"; return 1; }
    [[ $stderr == *"rank 1"* ]] || { printf 'call %s does not name the rank:\n%s\n' "$n" "$stderr"; return 1; }
  done
  [ "$status $n" = "0 ${!#}" ]
}

@test "a call that fails on one of two ranks ends both, and names the rank" {
  two_ranks staged 1 9 25 41 55 60 70 80 90 100 130 160 200 300 400 494 495
  two_ranks p2p 44 50 56 62 68 74 80 90 100 200 323 324
  two_ranks mpi 54 55 56 57 58 59 60 61 62 63 64 66 70 100 494 495 # the first ones are in a trial of MPI on device memory
}

@test "a fault on all ranks names each rank" {
  HIMENO_NULL_FAIL=2 run --separate-stderr on 2 "$himeno" -b null -s XS -n 1 --verify off
  expect_status 7
  [ "$(grep -cE '^himeno-gpu: rank 0, .*; rank 1, .*memory_free' <<<"$stderr")" = 1 ]
}
