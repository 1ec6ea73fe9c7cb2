# SPDX-License-Identifier: MIT
# Bad input must give one clear line for all ranks and the right exit code, and leave no file.
load ../helper

# expect_error CODE PATTERN ARGUMENT...: himeno-gpu on two ranks ends with CODE and prints one line that matches PATTERN.
expect_error() {
  local code=$1 pattern=$2
  shift 2
  run --separate-stderr on 2 "$himeno" -b cpu "$@"
  expect_status "$code"
  one_error "$pattern" himeno-gpu:
  [ -z "$output" ]
}

bats_require_minimum_version 1.5.0

@test "ranks that were started by a launcher of another MPI are refused once" {
  for program in himeno-gpu gemm-gpu comm-gpu; do
    OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 run "$top_builddir/$program" -b cpu
    expect_status 3
    [[ $output == "$program: 2 ranks were started (OMPI_COMM_WORLD_SIZE), but each is alone: this program's MPI is "* ]]
    [ "${#lines[@]}" -eq 1 ]
    PMI_SIZE=2 PMI_RANK=1 run "$top_builddir/$program" -b cpu # only the first rank prints the message
    expect_status 3
    [ -z "$output" ]
  done
  SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 run "$himeno" --list
  expect_status 3
  SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 SLURM_PTY_PORT=1 run "$himeno" --list # srun --pty starts a shell with these variables
  expect_status 0
}

# All variables that the sources read, except those that may be any path. Without devices, a wrong value must still be found.
@test "a variable HIMENO_* with an invalid value is refused in one line" {
  local names name program
  names=$(cd "$top_srcdir" && grep -rhoE 'switch_[a-z]+\("HIMENO_[A-Z0-9_]+"' gpu comm suite himeno gemm tools --include='*.c' | cut -d'"' -f2 | sort -u |
    grep -vxE 'HIMENO_(NCCL|NVML|SYSFS)')
  [ "$(wc -w <<<"$names")" -ge 20 ]
  for name in $names; do
    program=himeno-gpu
    [ "$name" != HIMENO_GEMM_FLIP ] || program=gemm-gpu
    run env HIMENO_NULL_DEVICES=0 "$name=1x" "$top_builddir/$program" -b null -s 8x8x8
    expect_status 2
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"$name"*1x*": "* ]] || { echo "$output"; return 1; }
  done
  for program in gemm-gpu mem-gpu comm-gpu; do
    HIMENO_QPU=abacus run "$top_builddir/$program"
    expect_status 2
    [[ $output == *'HIMENO_QPU "abacus": must be pi or emulator'* ]]
  done
  HIMENO_HALO_CORRUPT=1 expect_error 2 'HIMENO_HALO_CORRUPT "1": must be RANK:NUMBER' -s XS
}

@test "an unknown option" { expect_error 2 '--nonsense' --nonsense; }
@test "an abbreviated option" { expect_error 2 '--siz' --siz S; }
@test "a word that is no option" { expect_error 2 'extra' extra; }
@test "an option without its value" { expect_error 2 '--size' -s; }
@test "an option twice" { expect_error 2 '--size' -s S -s M; }
@test "an unknown size" { expect_error 2 '--size.*XXL.*XS, S, M, L, XL' -s XXL; }
@test "an extent below 3" { expect_error 2 '2x8x8.*at least 3' -s 2x8x8; }
@test "a size that overflows" { expect_error 2 '--size 99999999x99999999x99999999' -s 99999999x99999999x99999999; }
@test "a number that overflows" { expect_error 2 '--size' -s 99999999999999999999x8x8; }
@test "a negative number of sweeps" { expect_error 2 '--sweeps.*-1' -n -1; }
@test "a time that is no number" { expect_error 2 '--time.*soon' -t soon; }
@test "a time that is no finite number" { expect_error 2 '--time.*nan' -t nan; }
@test "an unknown kernel" { expect_error 2 '--kernel.*magic' -k magic; }
@test "another backend's kernel" {
  [ "$HAVE_CUDA$HAVE_OPENCL" != 00 ] || skip "no other backend has kernels of its own"
  expect_error 2 '--kernel block16.*cpu' -k block16
}
@test "an unknown transport" { expect_error 2 '--transport.*pigeon' -x pigeon; }
@test "an unknown data set" { expect_error 2 '--data.*sparse.*standard' --data sparse; }
@test "--sweeps with --time" { expect_error 2 '--sweeps and --time' -n 3 -t 3; }
@test "--sweeps with --block" { expect_error 2 '--sweeps and --block' -n 3 --block 3; }
@test "--size with --fill" { expect_error 2 '--size and --fill' -s S --fill 10; }
@test "--official with --sweeps" { expect_error 2 '--official and --sweeps' --official -n 5; }
@test "a cut that does not multiply to the ranks" { expect_error 2 '--procs 2x2x2 needs 8 ranks' -p 2x2x2 -s XS -n 1; }
@test "a cut that is malformed" { expect_error 2 '--procs.*2x1' -p 2x1 -s XS; }
@test "a cut that makes boxes too thin" { expect_error 2 'too thin' -p 2x1x1 -s 3x8x8 -n 1; }
@test "more ranks than any cut allows" { expect_error 2 'cannot be cut for 2 ranks' -s 3x3x3 -n 1; }
@test "a grid that does not fit" { expect_error 3 'needs [0-9.]+ [KMGTPE]iB.*[0-9.]+ [KMGTPE]iB' -s 8000x8000x8000 -n 1; }
@test "a device that is not there" { expect_error 3 '--device 77' --device 77 -s XS; }
@test "a device name that matches none" { expect_error 3 '--device zuse' --device zuse -s XS; }
@test "a host with fewer devices than expected" {
  HIMENO_NULL_DEVICES=2 run on 2 "$himeno" -b null --expect 3 -s XS
  expect_status 3
  [[ $output == *"himeno-gpu: host "*" shows 2 devices of backend null, but --expect asks for 3"* ]]
}
@test "a JSON path in a folder that is not there" { expect_error 3 'none/such.json' --json none/such.json -s XS -n 1; }
@test "a JSON path that is a folder" { expect_error 3 "$BATS_TEST_TMPDIR" --json "$BATS_TEST_TMPDIR" -s XS -n 1; }

@test "a JSON path without permission" {
  [ "$(id -u)" -ne 0 ] || skip "root may write everywhere"
  mkdir "$BATS_TEST_TMPDIR/closed"
  chmod a-w "$BATS_TEST_TMPDIR/closed"
  expect_error 3 'closed/x.json' --json "$BATS_TEST_TMPDIR/closed/x.json" -s XS -n 1
}

@test "an unknown backend" {
  run on 2 "$himeno" -b metal
  expect_status 2
  [[ $output == *"--backend metal: must be one of auto, cuda, opencl, cpu, qpu, null"* ]]
}

@test "a full disk leaves no document" {
  [ -w /dev/full ] || skip "there is no /dev/full"
  run bash -c "'$himeno' -b cpu -s XS -n 1 --json - >/dev/full"
  expect_status 3
}

@test "a report that cannot be written ends with exit 3" {
  [ -w /dev/full ] || skip "there is no /dev/full"
  for command in "himeno-gpu -b cpu -s XS -n 1" "himeno-gpu --list" "gemm-gpu --help" "mem-gpu --version" "comm-gpu --list"; do
    run bash -c "'$top_builddir'/$command >/dev/full"
    expect_status 3
    [[ $output == *'cannot write "standard output": No space left on device'* ]]
  done
}

@test "a run that fails leaves an older document as it was" {
  echo old >"$BATS_TEST_TMPDIR/old.json"
  run on 2 "$himeno" -b cpu -s 8000x8000x8000 --json "$BATS_TEST_TMPDIR/old.json"
  expect_status 3
  [ "$(cat "$BATS_TEST_TMPDIR/old.json")" = old ]
  [ "$(ls "$BATS_TEST_TMPDIR")" = old.json ]
  for call in 5 40 80; do # at call 80 the solver is set up already
    HIMENO_NULL_FAIL=$call run on 1 "$himeno" -b null -s 3x4x5 -n 2 --verify off --json "$BATS_TEST_TMPDIR/old.json"
    [ "$status" -eq 3 ] || [ "$status" -eq 7 ]
    [ "$(cat "$BATS_TEST_TMPDIR/old.json")" = old ]
  done
}

@test "a backend that was not built is reported as such" {
  [ "$HAVE_CUDA" = 0 ] || [ "$HAVE_CUDA" = no ] || skip "CUDA was built"
  run on 1 "$himeno" -b cuda -s XS -n 1
  expect_status 3
  [[ $output == *"not built"* ]]
}
