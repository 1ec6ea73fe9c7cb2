# SPDX-License-Identifier: MIT
# Halos that cannot use the requested transport, and halos that arrive damaged.
load ../helper

# paths FILE: prints each pair of neighbours once, as "0-1 p2p: REASON".
paths() { json "$1" '"\n".join("%d-%d %s: %s" % (p["rank"], p["peer"], p["used"], p["why"]) for p in d["paths"] if p["rank"] < p["peer"])'; }

setup() { json=$BATS_TEST_TMPDIR/run.json; }

@test "each pair takes the transport that it can: p2p if memory is reached, otherwise staged, and the report says why" {
  HIMENO_NULL_APART=3 run on 4 "$himeno" -b null -s XS -n 3 -p 4x1x1 -x p2p --json "$json"
  expect_status 0
  [[ $output == *"path       ranks 2 and 3, face i+: staged, because: no peer access between the devices, on demand"* ]]
  [[ $output != *"ranks 0 and 1"* ]]
  [[ $output == *"PASS"* ]]
  [ "$(paths "$json")" = "0-1 p2p: as requested
1-2 p2p: as requested
2-3 staged: no peer access between the devices, on demand" ]
}

# handovers FILE: prints how pairs hand over staged halos, and why.
handovers() { json "$1" '"; ".join(sorted({p["handover"] + ", " + p["handover_why"] for p in d["paths"] if p["used"].startswith("staged")}))'; }

@test "staged halos go through shared memory within a host, by staged-mpi through MPI, and the report says which of them" {
  run on 2 "$himeno" -b null -s XS -n 3 -p 2x1x1 -x staged --json "$json"
  expect_status 0
  [[ $output == *"staging    1 pair through shared memory"* ]]
  [ "$(handovers "$json")" = "shared memory, on one host" ]
  run on 2 "$himeno" -b null -s XS -n 3 -p 2x1x1 -x staged-mpi --json "$json"
  expect_status 0
  [[ $output == *"staging    1 pair by MPI, because: no memory is shared"* ]]
  [ "$(handovers "$json")" = "MPI, no memory is shared" ]
  [ "$(json "$json" '{p["memory"] + "; " + p["mover"] for p in d["paths"] if "memory" in p}')" = "{'pinned host memory; MPI, also within a host'}" ]
}

@test "no memory to share: staged halos go by MPI, as the report says" {
  run on 2 bash -c 'ulimit -f 7168; exec "$@"' - "$himeno" -b null -s 6x1024x1026 -n 1 -p 2x1x1 -x staged
  expect_status 0
  [[ $output == *"staging    1 pair by MPI, because: the host has no "*" to share"* ]]
  [[ $output == *"PASS"* ]]
}

@test "memory that a device refuses to lock, the own or the neighbour's: halos go by MPI, and the reason is reported" {
  local who
  for who in 0 1; do
    run on 2 "$top_builddir/tests/mpi/one-way" null staged "refused-by-$who"
    [ "$status" -eq 0 ] || { echo "$who: $output"; return 1; }
    [[ $output == *"handed over by MPI, no more memory may be locked"* ]] || { echo "$who: $output"; return 1; }
  done
}

# with_little_shm COMMAND...: runs it with a page of /dev/shm and no lockable memory; prints what is left in /dev/shm.
with_little_shm() {
  unshare -m true 2>/dev/null || skip "no mount namespace is allowed here"
  run unshare -m bash -c 'mount -t tmpfs -o size=4k tmpfs /dev/shm || exit 77
    ulimit -l 0
    "$@"
    code=$?
    for left in $(ls -A /dev/shm); do echo "left: $left"; done
    exit $code' little "$@"
  [ "$status" -ne 77 ] || skip "no file system can be mounted here"
}

@test "staged halos need no space in /dev/shm and no locked memory, and leave nothing, whether a rank is killed or not" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  [ "$MPI_FLAVOUR" = openmpi ] || skip "only Open MPI is told to do without shared memory"
  export OMPI_MCA_btl=tcp,self
  with_little_shm "$MPIRUN" -np 2 "$himeno" -b null -s XS -n 3 -p 2x1x1 -x staged
  expect_status 0
  [[ $output == *"staging    1 pair through shared memory"* && $output == *PASS* && $output != *"left: "* ]]
  with_little_shm "$MPIRUN" -np 2 bash -c '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exec timeout -s KILL 4 "$@"; exec "$@"' - "$himeno" \
    -b null -s XS -t 100 --verify off -p 2x1x1 -x staged --timeout 5
  [ "$status" -ne 0 ]
  [[ $output != *"left: "* ]]
}

@test "ranks that each have process numbers of their own never take their own memory for a neighbour's" {
  [ "$MPI_FLAVOUR" = openmpi ] || skip "only Open MPI is told to do without shared memory"
  unshare -Urpf --mount-proc setarch -R true 2>/dev/null || skip "no namespaces here"
  local x
  for x in staged p2p; do
    OMPI_MCA_btl=tcp,self run on 2 unshare -Urpf --mount-proc setarch -R "$himeno" -b null -s XS -n 3 -p 2x1x1 -x $x
    expect_status 0
    [[ $output == *"staging    1 pair by MPI, because: the neighbour's memory "* ]]
  done
}

# steps FILE: prints at which step the proof of each pair ended.
steps() { json "$1" '[(p["rank"], p["peer"], p["step"]) for p in d["peers"]]'; }

@test "if peer access gives wrong data, comm-gpu names the step that failed, and pairs that cannot use it are staged" {
  local lie
  run on 3 "$top_builddir/comm-gpu" -b null --parts peers --json "$json"
  expect_status 0
  [ "$(steps "$json")" = "[(0, 1, 'proven'), (0, 2, 'proven'), (1, 2, 'proven')]" ]
  for lie in "attach open" "store store" "put put" "get get" "flags flags" "faces flags"; do
    HIMENO_NULL_PEER=${lie% *} HIMENO_NULL_RANK=1 run on 3 "$top_builddir/comm-gpu" -b null --parts peers,pairs -x p2p --max 1K --step 128 \
      --samples 1 --json "$json"
    expect_status 0
    [[ $output == *"FINDING    ranks 0 and 1 failed step ${lie#* }: "*"(shared: unknown; IOMMU: none; ACS redirects at: -; driver none)"* ]] || { echo "$lie: $output"; return 1; }
    [ "$(steps "$json")" = "[(0, 1, '${lie#* }'), (0, 2, 'proven'), (1, 2, '${lie#* }')]" ]
    [ "$(json "$json" '{(p["rank"], p["peer"], p["used"]) for p in d["pairs"]} == {(0, 1, "staged"), (0, 2, "p2p"), (1, 2, "staged")}')" = True ]
  done
}

@test "comm-gpu --parts peers names devices without peer access, and ends with exit 4 if its control fails" {
  HIMENO_NULL_APART=1 run on 3 "$top_builddir/comm-gpu" -b null --parts peers --json "$json"
  expect_status 0
  [[ $output == *"FINDING    ranks 0 and 1 failed step open: no peer access between the devices, on demand (shared: "* ]]
  [ "$(steps "$json")" = "[(0, 1, 'open'), (0, 2, 'proven'), (1, 2, 'open')]" ]
  without_sanitizers "their library has to come first"
  run on 2 env LD_PRELOAD="$LD_PRELOAD:$top_builddir/tests/fault/short_message.so" CHANGED_BYTES=262144 "$top_builddir/comm-gpu" -b null --parts peers
  expect_status 4
  [[ $output == *"through the host, of 256 KiB the word at byte 0 arrived changed"* ]]
}

@test "copies that arrive changed end with exit 4 by ipc; with --accept they are a warning, and staged halos give right bits" {
  export HIMENO_NULL_PEER=put HIMENO_NULL_RANK=1
  run on 2 "$himeno" -b null -s XS -n 3 -x ipc --data dense
  expect_status 4
  echo '{"devices_unshared": true}' >"$BATS_TEST_TMPDIR/policy"
  run on 2 "$himeno" -b null -s XS -n 3 -x ipc --accept "$BATS_TEST_TMPDIR/policy" --json "$json"
  expect_status 0
  [[ $output == *"warning: peer access of ranks 0 and 1 failed, step put: of 256 KiB the word at byte 131072 arrived changed"*"PASS: all results"* ]]
  [[ $(paths "$json") == "0-1 staged: of 256 KiB the word at byte 131072"* ]]
}

@test "if no rank reaches the other's memory the run goes on with staged halos" {
  HIMENO_NULL_APART=0 run on 2 "$himeno" -b null -s XS -n 3 -x ipc --json "$json"
  expect_status 0
  [[ $(paths "$json") == "0-1 staged: no peer access"* ]]
}

@test "device memory that MPI changes on one rank: all pairs are staged, and each has the reason" {
  without_sanitizers "their library has to come first"
  run on 3 env LD_PRELOAD="$LD_PRELOAD:$top_builddir/tests/fault/short_message.so" CHANGED_BYTES=262144 "$himeno" -b null -s XS -n 3 -p 3x1x1 -x mpi --json "$json"
  expect_status 0
  [ "$(paths "$json")" = "0-1 staged: device memory came through MPI with other content
1-2 staged: device memory came through MPI with other content elsewhere" ]
}

@test "without -x the fastest of a trial carries the halos" {
  run on 2 "$himeno" -b cpu -s XS -n 3 --json "$json"
  expect_status 0
  [[ $output =~ "transport  "(staged|mpi|ipc|p2p)" (fastest in a short trial)" ]]
  [[ $(paths "$json") == "0-1 ${BASH_REMATCH[1]}: fastest in a short trial" ]]
}

@test "a bit that changes in transit, below anything that could notice, ends with 4 on every transport" {
  local x
  for x in staged staged-mpi pageable mpi ipc p2p; do
    HIMENO_HALO_CORRUPT=1:2 run on 2 "$himeno" -b null -s XS -n 4 --data dense -x "$x"
    expect_status 4
    [[ $output == *WRONG* || $output == *wrong* || $output == *differs* ]] || { echo "$x: $output"; return 1; }
  done
}

@test "a transport that the backend lacks is refused with the reason" {
  run on 2 "$himeno" -b cpu -s XS -n 1 -x nccl
  expect_status 3
  [[ $output == *"--transport nccl: "*CUDA* ]]
}

@test "a neighbour that never sends ends the run with exit 6 and its name, whether it has stopped or does something else" {
  local x how sweep host
  host=$(uname -n)
  for x in staged staged-mpi ipc p2p; do
    run on 2 "$top_builddir/tests/mpi/silent" null "$x" stop
    expect_status 6
    [[ $output == *"rank 0 on host $host waits for rank 1 on host $host, halo of face i+"*"silent: rank 1"* ]] || { echo "$x: $output"; return 1; }
  done
  for x in "staged sleep" "p2p kernel in sweep 3"; do
    read -r x how sweep <<<"$x"
    stalls_watched
    run on 2 "$top_builddir/tests/mpi/silent" null "$x" "$how"
    expect_status 6
    [[ $output == *"rank 0 on host $host waits${sweep:+ $sweep} for rank 1 on host $host, halo of face i+, for over 2 s; also rank 1 on host $host computes"* ]]
    # The deadline is two seconds; a rank reports within two more.
    [[ $output =~ after\ ([0-9]+)\.([0-9])\ s ]]
    local after=$((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2] * 100)) stall
    stall=$(stalled)
    echo "$x: after $after ms, stalled for $stall ms"
    [ $after -ge 2000 ]
    within $((after - 2000 - stall)) 2000
  done
}

@test "a rank that only sends waits for a slow receiver, overwrites nothing that is not yet read, and frees what it allocates" {
  local how
  for how in "null "{staged,staged-mpi,pageable,mpi,ipc,p2p}" reopen" "opencl "{staged,pageable,staged-mpi,"staged-mpi wide"}; do
    case $how in
      null*) run on 2 "$top_builddir/tests/mpi/one-way" $how ;;
      *) [ "$HAVE_OPENCL" != 0 ] || skip "no device that runs behind its host" ;;&
      opencl*) run on 2 "$top_builddir/tests/mpi/one-way" $how ;;
    esac
    [ "$status" -ne 3 ] || skip "no OpenCL device"
    [ "$status" -eq 0 ] || { echo "$how: $output"; return 1; }
    case $how in
      *wide) [[ $output == *"handed over by MPI"* && $output == *"copied by rows"* ]] ;;
      *staged-mpi*) [[ $output == *"handed over by MPI"* && $output == *packed* ]] ;;
      *staged*) [[ $output == *"handed over by shared memory"* ]] ;;
    esac || { echo "$how: $output"; return 1; }
  done
}

@test "a halo that is shorter than expected is refused before memory is shared" {
  run on 2 "$top_builddir/tests/mpi/one-way" null staged longer
  expect_status 4
  grep -qE 'wrong halo from rank 0 on host [^ ]+, face i-: [0-9]+ floats instead of [0-9]+' <<<"$output"
}

@test "a neighbour in a communicator of two of three: named by its number in the whole job" {
  local host
  host=$(uname -n)
  run on 3 "$top_builddir/tests/mpi/silent" null staged stop
  expect_status 6
  [[ $output == *"rank 1 on host $host waits for rank 2 on host $host, halo of face i+"*"silent: rank 2"* ]] || { echo "$output"; return 1; }
}

@test "the rank that asks other hosts reports, not a rank of its host that computes" {
  local pair=("$top_builddir/tests/mpi/silent" null staged sleep)
  run on 2 env SLURMD_NODENAME=n1 "${pair[@]}" : -np 1 env SLURMD_NODENAME=n2 "${pair[@]}"
  expect_status 6
  [[ $output == *"rank 1 on host n1 waits for rank 2 on host n2, halo of face i+, for over 2 s; silent: rank 2 on host n2; also rank 0 on host n1 computes"* ]]
}

@test "a rank that stops while the others make a communicator ends the job with exit 6 and one line that names it" {
  local absent host
  host=$(uname -n)
  for absent in 1 0; do
    run on 3 "$top_builddir/tests/mpi/silent" stop $absent
    expect_status 6
    [ "$(grep -c '^silent: ' <<<"$output")" -eq 1 ]
    grep -qE "^silent: rank [012] on host $host waits for all ranks \(MPI_Comm_split_type\), for over 2 s; silent: rank $absent on host $host; also" <<<"$output"
  done
}

@test "a rank that works for three deadlines while the others wait for all is no hang" {
  run on 3 "$top_builddir/tests/mpi/silent" work 1
  expect_status 0
}

# short NTH FLOATS PROGRAM...: rank 1's message NTH lacks FLOATS floats. The job must end with 4 and one line that names the
# sender.
short() {
  local nth=$1 fewer=$2 host begin seconds
  host=$(uname -n)
  shift 2
  begin=$(date +%s)
  run on 2 env LD_PRELOAD="$LD_PRELOAD:$top_builddir/tests/fault/short_message.so" SHORT_MESSAGE="$nth:$fewer" "$@" -b null --timeout 4
  seconds=$(($(date +%s) - begin))
  [ "$status" -eq 4 ] && [ "$(grep -cE '^[a-z]+-gpu: ' <<<"$output")" -eq 1 ] && [[ $output != *NBC* ]] && within "$seconds" 15 &&
    [[ $output =~ -gpu:\ rank\ 0,\ host\ .*:\ wrong\ halo\ from\ rank\ 1\ on\ host\ ${host%%.*},\ face\ [ij]\+:\ (.*)\ floats\ instead\ of\ ([0-9]+) ]] &&
    [ "${BASH_REMATCH[1]}" = "$(case $fewer in -1) echo more ;; 1) echo $((BASH_REMATCH[2] - 1)) ;; *) echo $((BASH_REMATCH[2] - 1)).5 ;; esac)" ] ||
    { echo "$*, message $nth: exit code $status after $seconds s: $output"; return 1; }
}

@test "a halo that is shorter or longer than it must be: exit 4 and who sent it, at any position and by any transport" {
  without_sanitizers "their library has to come first"
  local nth x
  for nth in 1 4 12 13 30 100; do short $nth 1 "$himeno" -s XS -t 5 -x staged-mpi; done
  for x in staged-mpi pageable mpi; do
    short 4 -1 "$himeno" -s XS -n 4 -x $x
    short 4 0.5 "$himeno" -s XS -n 4 -x $x
    short 12 1 "$himeno" -s XS -n 24 -x $x
  done
}

@test "a halo that is too short is found in trials, soaks, ladders and other programs" {
  without_sanitizers "their library has to come first"
  local nth
  for nth in 1 9 50; do short $nth 1 "$himeno" -s XS -t 5 -x staged-mpi; done
  for nth in 1 7; do short $nth 1 "$himeno" -s M -n 3 --verify off -x staged-mpi; done
  for nth in 7 20; do short $nth 1 "$himeno" -s XS -t 1 --accept -x staged-mpi; done
  short 9 1 "$himeno" -s XS --soak 5 -x staged-mpi
  short 9 1 "$himeno" -s XS --ladder -t 2 -x staged-mpi
  short 5 1 "$top_builddir/gemm-gpu" --distributed -s 64 -t 1 -x staged-mpi
  short 5 1 "$top_builddir/gemm-gpu" --distributed -s 64 -t 1 -x pageable
  short 5 1 "$top_builddir/comm-gpu" --parts pairs --max 64K -x staged-mpi
  short 9 1 "$top_builddir/comm-gpu" --parts halo -s XS -x staged-mpi
}

@test "CUDA support of UCX is found if MPI sends by UCX, whatever the library reports" {
  ompi_info 2>&1 | grep -q "MCA pml: ucx" || skip "no Open MPI with UCX"
  run on 1 env OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any "$top_builddir/tests/unit/test_bench"
  expect_status 0
  [[ $output == *"OK ] ucx_with_cuda_is_found"* ]]
}

@test "if a rank fails long after another one did, both errors are reported, and the worse one is the exit code" {
  run on 3 "$top_builddir/tests/mpi/silent" fail 1
  expect_status 7
  [[ $output == *"rank 0 fails at once"* && $output == *"rank 1 fails late"* ]] || { echo "$output"; return 1; }
}

@test "a neighbour that is ready to run and gets no processor is no hang" {
  local busy=() one
  [ -r /proc/self/schedstat ] || skip "the kernel does not report it"
  for one in $(seq $((3 * $(nproc)))); do
    timeout $((60 * SLOWNESS)) bash -c 'while :; do :; done' 3>&- &
    busy+=($!)
  done
  run on 2 "$top_builddir/tests/mpi/silent" null staged starve
  kill "${busy[@]}" || true
  expect_status 0
}

@test "a device that never answers: exit 6, and the line names the rank that waits for its own device" {
  local host
  host=$(uname -n)
  run on 2 env HIMENO_NULL_HANG=300 HIMENO_NULL_RANK=1 "$himeno" -b null -s XS -t 60 --verify off -x staged --timeout 2
  expect_status 6
  grep -qE "^himeno-gpu: rank 0 on host $host waits .*rank 1 on host $host waits for its own device" <<<"$output" || { echo "$output"; return 1; }
}
