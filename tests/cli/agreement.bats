# SPDX-License-Identifier: MIT
# Ranks started differently end with 2 and one message: the name, both values and both hosts.
load ../helper

export OMP_NUM_THREADS=1
host=$(uname -n)

# each_own COMMAND... : COMMAND...: starts one rank per command.
each_own() {
  local command=() word
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  command=("$MPIRUN" -np 1)
  for word; do
    command+=("$word")
    [ "$word" != : ] || command+=(-np 1)
  done
  run timeout $((60 * SLOWNESS)) "${command[@]}"
}

# refused NAME FIRST SECOND: the last run ended with 2 and one message with name and both values.
refused() {
  local all said
  expect_status 2
  all=$(grep -E '^(himeno|gemm|comm)-gpu: ' <<<"$output")
  said=${all#*-gpu: }
  [ "$said" = "$1 differs between ranks: $2 for rank 0 on host $host, $3 for rank 1 on host $host${4-}" ] || { echo "$output"; return 1; }
}

@test "ranks with any different option are refused by himeno-gpu, gemm-gpu and comm-gpu, before any other error is reported" {
  local one=("$himeno" -b cpu -s XS -n 3) gemm=$top_builddir/gemm-gpu comm=$top_builddir/comm-gpu
  each_own "$himeno" -s XS : "$himeno" -s S
  refused --size XS S
  each_own "${one[@]}" : "$himeno" -b null -s XS -n 3
  refused --backend cpu null
  each_own "${one[@]}" --data dense : "${one[@]}"
  refused --data dense 'not given'
  each_own "${one[@]}" : "${one[@]}" -x p2p
  refused --transport 'not given' p2p
  each_own "${one[@]}" : "${one[@]}" --json "$BATS_TEST_TMPDIR/x.json"
  refused --json 'not given' "$BATS_TEST_TMPDIR/x.json"
  [ ! -e "$BATS_TEST_TMPDIR/x.json" ]
  each_own "$himeno" -s XS -w : "$himeno" -s XS --accept -k stream
  refused --weak given 'not given' '; so does --kernel, --accept'
  each_own "$himeno" -s XS --help : "$himeno" -s XS
  refused --help given 'not given'
  each_own "$gemm" --distributed -s 64 : "$gemm" --distributed -s 65
  refused --size 64 65
  each_own "$comm" -b cpu --parts host : "$comm" -b cpu --parts halo
  refused --parts host halo
}

@test "the same value written differently, or a default that is given explicitly, is no difference" {
  each_own "$himeno" -b cpu -s XS -n 3 -t auto : "$himeno" -b cpu -s XS -n 3
  expect_status 2 # -t takes no auto: the one rank's error, with its name
  [[ $output == *"rank 0, host $host: --time \"auto\": must be"* ]]
  each_own "$himeno" -b cpu --size XS -n 3 --no-tune : "$himeno" -k auto --no-tune -n3 -b cpu -x auto -s 32x32x64 -p auto --data standard --timeout 1m
  expect_status 0
  [[ $output == *PASS*"2 ranks on 1 host"* ]]
}

@test "each rank may name its own device" {
  each_own "$himeno" -b null -s XS -n 3 --verify off --no-tune --device 1 : "$himeno" -b null -s XS -n 3 --verify off --no-tune --device 0
  expect_status 0
}

@test "an invalid command line on one rank is reported once, with its own error" {
  each_own "$himeno" -s XS : "$himeno" -s 0x4x4
  expect_status 2
  [ "$(grep '^himeno-gpu: ' <<<"$output")" = "himeno-gpu: rank 1, host $host: --size 0x4x4: each extent must be at least 3" ]
}

@test "variables that all ranks must share are compared, planted faults and paths are not" {
  local one=("$himeno" -b null -s XS -n 3 -x staged --no-tune --verify off)
  each_own "${one[@]}" : env HIMENO_CPU_FETCH=1 "${one[@]}"
  refused HIMENO_CPU_FETCH 'not given' 1
  each_own env HIMENO_SLAB_QUEUE=1 "${one[@]}" : env HIMENO_SLAB_QUEUE=0 "${one[@]}"
  refused HIMENO_SLAB_QUEUE 1 0
  each_own "${one[@]}" : env HIMENO_NULL_DEVICES=1 HIMENO_HALO_CORRUPT=5:1 HIMENO_SYSFS=/nonexistent HIMENO_QUIET=0 "${one[@]}"
  expect_status 0
}

@test "other programs and other builds are refused" {
  local pair gemm=$top_builddir/gemm-gpu comm=$top_builddir/comm-gpu other=$BATS_TEST_TMPDIR/himeno-gpu id
  each_own "$himeno" -b cpu : "$gemm" -b cpu
  refused program himeno-gpu gemm-gpu
  each_own "$gemm" -b cpu -s 64 : "$comm" -b cpu
  refused program gemm-gpu comm-gpu
  each_own "$comm" -s x : "$himeno"
  refused program comm-gpu himeno-gpu
  "$PYTHON" - "$himeno" "$other" "$("$himeno" --version | cut -d ' ' -f 2)" <<'END'
import os, sys
program, other, version = sys.argv[1:]
bytes_of = open(program, "rb").read()
changed = bytes_of.replace(version.encode() + b"\0", b"9" + version.encode()[1:] + b"\0")
assert changed != bytes_of
open(other, "wb").write(changed)
os.chmod(other, 0o755)
END
  each_own "$himeno" -b cpu : "$other" -b cpu
  expect_status 2
  [[ $output =~ "himeno-gpu: version differs between ranks: "[0-9.]+" for rank 0 on host $host, 9"[0-9.]*" for rank 1" ]]
}

@test "builds with other code are recognised by the linker's ID" {
  local other=$BATS_TEST_TMPDIR/himeno-gpu
  id=$(readelf -n "$himeno" 2>/dev/null | sed -n 's/.*Build ID: //p')
  [ -n "$id" ] || skip "the linker wrote no build ID"
  "$PYTHON" - "$himeno" "$other" "$id" <<'END'
import os, sys
program, other, name = sys.argv[1:]
bytes_of = open(program, "rb").read()
changed = bytes_of.replace(bytes.fromhex(name), bytes(len(name) // 2))
assert changed != bytes_of
open(other, "wb").write(changed)
os.chmod(other, 0o755)
END
  each_own "$himeno" -b cpu -s XS : "$other" -b cpu -s XS
  refused build "$id" "$(printf '0%.0s' $(seq ${#id}))"
}

@test "of many ranks the first that differs is named" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  run "$MPIRUN" -np 3 "$himeno" -b cpu -s XS : -np 2 "$himeno" -b cpu -s 32x32x64 : -np 2 "$himeno" -b cpu -s M : -np 1 "$himeno" -b cpu -s L
  expect_status 2
  [ "$(grep '^himeno-gpu: ' <<<"$output")" = "himeno-gpu: --size differs between ranks: XS for rank 0 on host $host, M for rank 5 on host $host" ]
}
