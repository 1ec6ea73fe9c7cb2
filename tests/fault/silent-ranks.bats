# SPDX-License-Identifier: MIT
# A rank stops answering, or dies, during a run: the job must end within the deadline, report which
# rank waits for which, and leave no process.
load ../helper
bats_require_minimum_version 1.5.0

setup() { mark=$BATS_TEST_TMPDIR/json; }
teardown() { [ -z "$(ranks)" ] || kill -KILL $(ranks); }

# ranks: prints the processes of this test's job, whose command lines have the test's folder.
ranks() { pgrep -f "(himeno|comm|gemm)-gpu .*$mark" | while read -r pid; do grep -qz OMPI_COMM_WORLD_RANK= "/proc/$pid/environ" 2>/dev/null && echo "$pid"; done; }

# pid_of RANK: prints the process of a rank.
pid_of() {
  local pid
  for pid in $(ranks); do
    grep -qzx "OMPI_COMM_WORLD_RANK=$1" "/proc/$pid/environ" && echo "$pid" && return
  done
  return 1
}

# in_mid_run RANKS SIGNAL RANK PROGRAM OPTION...: calls signal_sent 1.5 s after the start of all ranks. If they had not reached
# their sweeps, it repeats the run with 6 s.
in_mid_run() {
  local lead
  for lead in 1.5 6; do
    signal_sent "$lead" "$@"
    grep -q 'waits for all ranks' <<<"$text" || return 0
  done
}

# signal_sent SECONDS RANKS SIGNAL RANK PROGRAM OPTION...: starts the job, sends a signal to a rank SECONDS (of an idle machine)
# after all ranks have started, and waits for the end. Sets code; text; spoken and gone, the milliseconds from the signal to the
# program's line and to the end; and stall, for how many of these the processors stood still. Calls the function after_stop, if
# there is one, after the signal.
signal_sent() {
  local lead=$1 n=$2 signal=$3 victim=$4 job
  shift 4
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  "$MPIRUN" -np "$n" "$@" --json "$mark" > >(stamp >"$BATS_TEST_TMPDIR/out") 2>&1 3>&- &
  job=$!
  for _ in $(seq $((600 * SLOWNESS))); do
    [ "$(ranks | wc -l)" -eq "$n" ] && pid_of "$victim" >/dev/null && break
    sleep 0.1
  done
  pid_of "$victim" >/dev/null || skip "this launcher does not tell the ranks of its processes"
  for _ in $(seq "$SLOWNESS"); do sleep "$lead"; done
  local begin
  stalls_watched
  begin=$(now)
  kill -"$signal" "$(pid_of "$victim")"
  ! declare -F after_stop >/dev/null || after_stop
  code=0
  wait "$job" || code=$?
  gone=$(($(now) - begin))
  # Let the process that adds times read the remaining lines: the launcher does not wait for it.
  sleep 0.2
  stall=$(stalled)
  spoken=$(sed -n 's/^\([0-9]*\) [a-z]*-gpu: rank .*/\1/p' "$BATS_TEST_TMPDIR/out" | head -n 1)
  spoken=$((${spoken:-0} - begin))
  text=$(cut -d ' ' -f 2- "$BATS_TEST_TMPDIR/out")
}

now() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }
stamp() { local line; while read -r line; do echo "$(now) $line"; done; }

# one_message PATTERN DEADLINE: the job ended with 6 and a line with PATTERN within two seconds after the deadline; three seconds
# later no rank is left. The limits are for an idle machine, without time in which the processors stood still.
one_message() {
  echo "exit code $code, the line after $spoken ms, gone after $gone ms, stalled for $stall ms"
  echo "$text"
  [[ "$code" -eq 6 && "$(grep -cE '^[a-z]+-gpu: rank' <<<"$text")" -eq 1 ]]
  grep -qE "^[a-z]+-gpu: $1" <<<"$text"
  [ "$spoken" -ge $(($2 * 1000 - 500)) ]
  within $((spoken - $2 * 1000 - stall)) 2000
  within $((gone - $2 * 1000 - stall)) 5000 && [ -z "$(ranks)" ]
}

host=$(uname -n)
# for_rank RANK FACE: prints a pattern of the wait for a stopped neighbour: for its halo or, if the
# halo had left already, for the next step.
for_rank() { echo "waits in sweep [0-9]+ for (rank $1 on host $host, halo of face $2|all ranks \\(the sum of gosa\\))"; }
long=("$himeno" -n 1000000 --verify off) # one block

@test "staged, a rank stopped: exit 6 within the deadline, right names, all ranks gone" {
  in_mid_run 3 STOP 2 "${long[@]}" -b null -s S -p 3x1x1 -x staged --timeout 4
  one_message "rank [01] on host $host $(for_rank 2 'i\+'), .*over 4 s; silent: rank 2 on host $host; also rank [01]" 4
}

@test "p2p, a rank stopped: its neighbours find its flags missing" {
  in_mid_run 3 STOP 2 "${long[@]}" -b null -s S -p 3x1x1 -x p2p --timeout 2
  one_message "rank 1 on host $host waits in sweep [0-9]+ for rank 2 on host $host, halo of face i\+, .*over 2 s; silent: rank 2 on host $host; also rank 0" 2
}

@test "the first rank stopped: another one reports" {
  in_mid_run 2 STOP 0 "${long[@]}" -b null -s S -p 1x2x1 -x staged --timeout 1
  one_message "rank 1 on host $host $(for_rank 0 j-), .*silent: rank 0" 1
}

@test "a rank killed: the job fails, all ranks gone" {
  local x
  for x in staged p2p; do
    in_mid_run 3 KILL 1 "${long[@]}" -b null -s S -x $x --timeout 5
    [[ "$code" -ne 0 && -z "$(ranks)" ]]
  done
}

@test "comm-gpu, a rank stopped while a pair of others waits for it: exit 6, and its number in the whole job" {
  signal_sent 1 3 STOP 1 "$top_builddir/comm-gpu" -b cpu --parts pairs -x staged --samples 100 --timeout 2
  one_message "rank [02] on host $host waits .*silent: rank 1 on host $host" 2
}

@test "comm-gpu, a rank stopped that measures alone while all others are idle" {
  signal_sent 1 4 STOP 3 "$top_builddir/comm-gpu" -b cpu --parts host --samples 100 --timeout 3
  one_message "rank [012] on host $host waits .*silent: rank 3 on host $host" 3
}

@test "gemm-gpu, a rank stopped: --timeout, and one line that names it" {
  signal_sent 1 3 STOP 0 "$top_builddir/gemm-gpu" -b cpu -s 128 -t 100 --timeout 1
  one_message "rank [12] on host $host waits .*, for over 1 s; silent: rank 0 on host $host" 1
}

@test "gemm-gpu --distributed, a rank stopped within a ring: reported once; killed: no process is left" {
  signal_sent 1 3 STOP 1 "$top_builddir/gemm-gpu" --distributed -b null -s 96 -p 1x3 -x p2p -t 100 --timeout 1
  one_message "rank [02] on host $host waits .*silent: rank 1 on host $host" 1
  signal_sent 0.5 3 KILL 1 "$top_builddir/gemm-gpu" --distributed -b null -s 96 -p 1x3 -x staged -t 100 --timeout 1
  [ "$code" -ne 0 ]
  [ -z "$(ranks)" ]
}

@test "a ladder by p2p, a rank stopped: reported once" {
  signal_sent 1 2 STOP 1 "$himeno" -b null -s S --ladder -t 100 -x p2p --timeout 1
  one_message "rank 0 on host $host waits .*silent: rank 1 on host $host" 1
}

@test "a rank that hangs after SIGTERM: reported as well" {
  after_stop() { kill -TERM $(ranks); }
  signal_sent 1 2 STOP 1 "$himeno" -b null -s S -t 100 --verify off -x staged --timeout 1
  one_message "rank 0 on host $host waits .*silent: rank 1 on host $host" 1
}

@test "all ranks suspended for longer than the deadline, and continued, twice: no hang" {
  after_stop() {
    local all
    all=$(ranks)
    for _ in 1 2; do
      kill -STOP $all
      sleep 2.5
      kill -CONT $all
      sleep 0.3
    done
    kill -TERM $all
  }
  signal_sent 1 2 0 1 "$himeno" -b null -s XS -t 100 --verify off -x staged --timeout 2
  echo "$text"
  [ "$code" -eq 8 ]
}
