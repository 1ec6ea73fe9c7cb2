# SPDX-License-Identifier: MIT
# Little memory, few open files, full disks, read-only folders: one line names the cause, the exit code is right, and no file is
# incomplete. Limits also hold for root: a folder below a file, or a separate file system in a mount namespace.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  export OMP_NUM_THREADS=1
}

# limited OPTION VALUE PROGRAM [ARGUMENT]...: runs one rank with a limit of ulimit, which the launcher does not have.
limited() {
  local option=$1 value=$2
  shift 2
  run --separate-stderr on 1 bash -c 'ulimit "$1" "$2" && shift 2 && exec "$@"' limited "$option" "$value" "$@"
}

# on_disk small|full|ro SCRIPT [ARGUMENT]...: runs a shell script with the program $himeno and the folder disk, a file system of
# one page that is empty, full or read-only.
on_disk() {
  local kind=$1 script=$2
  shift 2
  unshare -m true 2>/dev/null || skip "no mount namespace is allowed here"
  mkdir -p disk
  himeno=$himeno run --separate-stderr unshare -m bash -c '
    mount -t tmpfs -o size=4k tmpfs disk || exit 77
    case $1 in
      full) head -c 4096 /dev/zero >disk/filling ;;
      ro) mount -o remount,ro disk || exit 77 ;;
    esac
    script=$2; shift 2; eval "$script"' bash "$kind" "$script" "$@"
  [ "$status" -ne 77 ] || skip "no file system can be mounted here"
}

@test "a run needs no core file, no locked memory and few open files" {
  ulimit -c 0
  ulimit -l 0
  limited -n 40 "$himeno" -b cpu -s XS -k stream -n 1
  expect_status 0
}

@test "a file beyond the size limit is an error like a full disk" {
  truncate -s 40M log
  echo >>log
  limited -f 40960 "$himeno" -b null -s 20x20x36 --block 10 --soak 5s --soak-log log
  expect_status 3
  one_error '--soak-log log: File too large'
}

@test "on a full or read-only disk no document is written, and none is lost" {
  for kind in full ro; do
    on_disk $kind '"$himeno" -b cpu -s XS -n 1 --json disk/r.json; code=$?; ls -A disk >left; exit $code'
    expect_status 3
    one_error 'cannot write "disk/r.json": (No space left on device|Read-only file system)'
    [ "$(cat left)" = "$([ $kind = ro ] || echo filling)" ]
  done
  run --separate-stderr "$top_builddir/comm-gpu" -b cpu --json /dev/null/r.json
  expect_status 3
  one_error 'cannot write "/dev/null/r.json": Not a directory'
}

@test "a disk that fills up keeps the last whole document, and no draft" {
  # The soak has 60 blocks of 50 ms each in simulated time.
  himeno=$top_builddir/tests/clock/himeno-gpu CLOCK_MACHINE="usual block=50000000" \
    on_disk small '"$himeno" -b null -s 20x20x36 --block 10 --soak 3s --json disk/r.json; code=$?; ls -A disk >left; cp disk/r.json .; exit $code'
  expect_status 3
  one_error 'cannot write ".*disk/r.json": No space left on device'
  [ "$(cat left)" = r.json ]
  [ "$("$PYTHON" -c 'import json; print(json.load(open("r.json"))["partial"])')" = True ]
}

# acceptance FOLDER [LAUNCHER]: prints the command of an acceptance of two simulated hosts.
acceptance() {
  printf '%s\n' "$top_srcdir/scripts/accept" "$1" --hosts n1,n2 --program "$top_builddir/tests/clock/himeno-gpu" --size 18x18x34 --seconds 0.05 --parallel 2 --limit $((20 * SLOWNESS)) \
    --stages alone --options "-b null --block 5" --launcher "${2:-$top_srcdir/tests/sites/fake-cluster {list\} {per_host\}}"
}

@test "scripts/accept blames no host if its own folder cannot be written" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  export MPIRUN
  mapfile -t words < <(acceptance disk)
  for kind in full ro; do
    on_disk $kind '"$@"; code=$?; find disk -name "*.new" >left; exit $code' "${words[@]}"
    expect_status 3
    one_error '(disk|disk/.*|output): (No space left on device|Read-only file system)'
    [ ! -s left ]
    refute grep -q drain <<<"$output"
  done
  mapfile -t words < <(acceptance /dev/null/folder)
  run --separate-stderr "${words[@]}"
  expect_status 3
  one_error '/dev/null/folder: Not a directory'
}

@test "scripts/accept drains no host if none starts, or if the options are wrong" {
  mapfile -t words < <(acceptance out 'false {list}')
  run --separate-stderr "${words[@]}"
  expect_status 7
  grep -q 'did not start on any host; check host names' <<<"$output"
  refute grep -q -e 'drain:' -e ' pass' <<<"$output"
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  export MPIRUN
  mapfile -t words < <(acceptance options)
  run --separate-stderr "${words[@]}" --policy nowhere
  expect_status 3
  refute grep -q 'drain:' <<<"$output"
  run --separate-stderr "${words[@]/--block/--blick}"
  expect_status 2
}

@test "scripts/scaling names the file that could not be written, and leaves no draft" {
  words=("$top_srcdir/scripts/scaling" run --program "$himeno" --options '-b null --verify off' --kernels auto --sizes XS --ranks 1 --seconds 0.1 --repeat 1 --no-paths)
  for folder in disk /dev/null/folder; do
    on_disk full '"$@"; code=$?; find disk -name "*.new" >left; exit $code' "${words[@]}" "$folder"
    expect_status 3
    one_error "$folder.*: (No space left on device|Not a directory)"
    [ ! -s left ]
  done
}
