# SPDX-License-Identifier: MIT
# A rank that stops answering, or dies, in mid-run: the job ends within the deadline, says who waits for whom, and leaves no process behind.
load ../helper
bats_require_minimum_version 1.5.0

setup() { mark=$BATS_TEST_TMPDIR/json; }
teardown() { [ -z "$(ranks)" ] || kill -KILL $(ranks); }

# The processes of this test's job: their command lines have its folder.
ranks() { pgrep -f "(himeno|comm)-gpu .*$mark" | while read -r pid; do grep -qz OMPI_COMM_WORLD_RANK= "/proc/$pid/environ" 2>/dev/null && echo "$pid"; done; }

# pid_of RANK: the process of that rank.
pid_of() {
  local pid
  for pid in $(ranks); do
    grep -qzx "OMPI_COMM_WORLD_RANK=$1" "/proc/$pid/environ" && echo "$pid" && return
  done
  return 1
}

# in_mid_run RANKS SIGNAL RANK PROGRAM OPTION...: signal_sent a while after all ranks have started, and where they say that they had not yet come to
# their sweeps, once more after a longer while.
in_mid_run() {
  local lead
  for lead in 1.5 6 20; do
    signal_sent "$lead" "$@"
    grep -q 'waits for all ranks' <<<"$text" || return 0
  done
}

# signal_sent SECONDS RANKS SIGNAL RANK PROGRAM OPTION...: starts the job, sends the signal to the rank so long after all ranks are there, and
# waits for the end. Sets code, text and seconds from the signal to the end.
signal_sent() {
  local lead=$1 n=$2 signal=$3 victim=$4 job
  shift 4
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  "$MPIRUN" -np "$n" "$@" --json "$mark" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  job=$!
  for _ in $(seq 600); do
    [ "$(ranks | wc -l)" -eq "$n" ] && pid_of "$victim" >/dev/null && break
    sleep 0.1
  done
  pid_of "$victim" >/dev/null || skip "this launcher does not tell the ranks of its processes"
  sleep "$lead"
  local begin=$SECONDS
  kill -"$signal" "$(pid_of "$victim")"
  code=0
  wait "$job" || code=$?
  seconds=$((SECONDS - begin))
  text=$(cat "$BATS_TEST_TMPDIR/out")
}

# one_message PATTERN: exit code 6 and one line of the program's, which matches.
one_message() {
  [ "$code" -eq 6 ] || { printf 'exit code %s\n%s\n' "$code" "$text"; return 1; }
  [ "$(grep -c '^himeno-gpu:' <<<"$text")" -eq 1 ] && grep -qE "^himeno-gpu: $1" <<<"$text" || { echo "$text"; return 1; }
}

host=$(uname -n)
long=("$himeno" -n 1000000 --verify off) # one block

@test "staged, a rank stopped: exit 6 within the deadline, right names, all ranks gone" {
  in_mid_run 3 STOP 2 "${long[@]}" -b null -s S -p 3x1x1 -x staged --timeout 2
  one_message "rank 1 on host $host waits in sweep [0-9]+ for rank 2 on host $host, face i\+, .*over 2 s; silent: rank 2 on host $host; also rank 0"
  [ "$seconds" -le 8 ]
  [ -z "$(ranks)" ]
}

@test "p2p, a rank stopped: its neighbours find its flags missing" {
  in_mid_run 3 STOP 2 "${long[@]}" -b null -s S -p 3x1x1 -x p2p --timeout 2
  one_message "rank 1 on host $host waits in sweep [0-9]+ for rank 2 on host $host, face i\+, .*over 2 s; silent: rank 2 on host $host; also rank 0"
  [ "$seconds" -le 8 ]
  [ -z "$(ranks)" ]
}

@test "the first rank stopped: another one speaks" {
  in_mid_run 2 STOP 0 "${long[@]}" -b null -s S -p 1x2x1 -x staged --timeout 1
  one_message "rank 1 on host $host waits in sweep [0-9]+ for rank 0 on host $host, face j-, .*silent: rank 0"
  [ -z "$(ranks)" ]
}

@test "a rank killed: the job fails, all ranks gone" {
  in_mid_run 3 KILL 1 "${long[@]}" -b null -s S -x staged --timeout 5
  [ "$code" -ne 0 ]
  [ -z "$(ranks)" ]
}

@test "p2p, a rank killed: the job fails, all ranks gone" {
  in_mid_run 3 KILL 1 "${long[@]}" -b null -s S -x p2p --timeout 5
  [ "$code" -ne 0 ]
  [ -z "$(ranks)" ]
}

@test "comm-gpu, a rank stopped while a pair of others waits for it: exit 6, and its number in the whole job" {
  in_mid_run 3 STOP 1 "$top_builddir/comm-gpu" -b cpu --parts pairs -x staged --samples 100 --timeout 2
  cat "$BATS_TEST_TMPDIR/out"
  [ "$code" -eq 6 ]
  grep -qE "^comm-gpu: rank [02] on host $host waits .*rank 1 on host $host" "$BATS_TEST_TMPDIR/out"
}
