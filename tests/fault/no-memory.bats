# SPDX-License-Identifier: MIT
# An allocation fails: whichever it is, the program ends with exit 3 and one message.
load ../clock/clock

setup() {
  cd "$BATS_TEST_TMPDIR"
  launcher=() first=1
  without_sanitizers "their library has to come first"
  export OMPI_MCA_orte_tmpdir_base=$PWD HIMENO_QUIET=1 CLOCK_MACHINE="usual read=0.015625 written=0.046875 host=1048576"
}

# short_of PLACE COMMAND...: runs the command, whose first allocation at that place fails. The file count then has the number of
# places.
short_of() {
  timeout $((60 * SLOWNESS)) "${launcher[@]}" env LD_PRELOAD="$LD_PRELOAD:$top_builddir/tests/fault/no_memory.so" NO_MEMORY_COUNT=count NO_MEMORY="$@"
}

# each_fails_well COUNT COMMAND...: wherever the command allocates memory, a failure must end it with exit 3 and one message. At
# most COUNT places may give up an optional value instead.
each_fails_well() {
  local n code optional=0 given_up=$1 all text
  shift
  short_of 0 "$@" >whole # it leaves a document, so that others write no partial one
  all=$(cat count)
  echo "$all places"
  [ "$all" -ge 8 ] # otherwise nothing was counted
  for ((n = first; n <= all; n++)); do
    code=0
    text=$(short_of "$n" "$@" 2>&1 >/dev/null) || code=$?
    case "$code $(grep -cE '^[a-z]+-[a-z]+: ' <<<"$text") $(grep -cE '^[a-z]+-[a-z]+: .*memory' <<<"$text")" in
    "3 1 1" | "3 2 2" | "3 3 1") ;; # both ranks may fail before they agree, or one gets no backend
    "0 0 0") optional=$((optional + 1)) ;;
    *) printf 'place %s: exit code %s\n%s\n' "$n" "$code" "$text" && return 1 ;;
    esac
  done
  echo "$optional given up"
  [ "$optional" -le "$given_up" ]
}

@test "himeno-gpu, and himeno-judge of its document" {
  local run=("$top_builddir/tests/clock/himeno-gpu" -b null -s 18x18x34 --block 5 -t 0.1 --json run.json)
  each_fails_well 3 "${run[@]}"
  short_of 0 "${run[@]}" >whole
  each_fails_well 1 "$judge" run.json --against run.json --json judged.json
}

@test "gemm-gpu" { each_fails_well 2 "$top_builddir/tests/clock/gemm-gpu" -b null -s 16 -t 0.01 --json run.json; }

@test "comm-gpu" { each_fails_well 2 "$top_builddir/tests/clock/comm-gpu" -b null --parts host --max 64 --samples 1 --json run.json; }

@test "mem-gpu" { each_fails_well 0 "$top_builddir/tests/clock/mem-gpu" -b cpu --host -t 0.01 --json run.json; }

@test "qpu-as" { each_fails_well 1 "$top_builddir/gpu/qpu/qpu-as" -i "$top_srcdir/himeno/kernels/qpu/naive.qasm" -o words; }

@test "two ranks that exchange halos" {
  launcher=("$MPIRUN" -np 2)
  each_fails_well 3 "$himeno" -b null -s 3x4x5 -n 2 --verify off -x staged
  first=35 # the places before do not depend on the transport
  each_fails_well 3 "$himeno" -b null -s 3x4x5 -n 2 --verify off -x p2p
}
