# SPDX-License-Identifier: MIT
# comm-gpu: its measurements, the detection of damaged data, and its errors about bad input.
load ../helper
bats_require_minimum_version 1.5.0

comm=$top_builddir/comm-gpu
export OMP_NUM_THREADS=1 POCL_MAX_PTHREAD_COUNT=1

setup() { cd "$BATS_TEST_TMPDIR"; }

# quick RANKS ARGUMENT...: runs comm-gpu briefly.
quick() {
  local ranks=$1
  shift
  on "$ranks" "$comm" --samples 1 --step 64 --max 32K -s XS "$@"
}

follows_schema() { has_jsonschema && follows comm "$1"; }

@test "a report with every part, and a document that follows its schema; one rank on CPUs has no neighbour, and two have" {
  run --separate-stderr quick 2 -b cpu --json two.json
  expect_status 0
  [[ $output == *"Halo exchange of size XS over 2x1x1 ranks, 1 layer deep: the busiest rank sends 7.4 kB in"$'\n'"  1 message; us"*"  MPI_Allreduce, sum of doubles in host memory; busbw = 1 x GB/s"* ]]
  follows_schema two.json
  [ "$(json two.json '{p["direction"] for p in d["host"]} == {"in", "out", "both"}, {p["company"] for p in d["host"]} == {"alone", "all"},
    all(p["fit"] is None or p["fit"]["bytes_per_second"] > 0 for p in d["pairs"]), [(h["bytes"], h["messages"]) for h in d["halo"]][0]')" = "True True True (7440, 1)" ]
  quick 1 -b cpu --json one.json >/dev/null
  follows_schema one.json
  [ "$(json one.json 'd["pairs"], d["halo"], len(d["allreduce"])')" = "[] [] 1" ]
}

@test "every pair is measured: of four ranks alone and all at once, by every transport there is; of nine in rounds" {
  quick 4 -b null --parts pairs -t 0 --json four.json >/dev/null # every size is measured, even if this machine is busy
  follows_schema four.json
  [ "$(json four.json 'all({(p["rank"], p["peer"]) for p in d["pairs"] if p["way"] == w and p["company"] == "alone"} == {(a, b) for a in range(4) for b in range(a + 1, 4)}
    for w in d["config"]["transports"]), {(p["rank"], p["peer"]) for p in d["pairs"] if p["company"] == "all"} == {(0, 2), (1, 3)}, {"staged", "pageable"} <= set(d["config"]["transports"])')" = "True True True" ]
  # Nine ranks have too many pairs: they are measured in rounds, each pair once.
  on 9 "$comm" --samples 1 -t 0 -b null --parts pairs -x staged --min 1K --max 1K --json nine.json >/dev/null
  [ "$(json nine.json 'len({(p["rank"], p["peer"]) for p in d["pairs"]}), len(d["pairs"])')" = "36 40" ] # 36, and 4 at once
}

@test "OpenCL devices are measured where there are any" {
  run quick 2 -b opencl --parts pairs,halo --json cl.json
  [ "$status" -ne 3 ] || skip "$output"
  expect_status 0
  follows_schema cl.json
}

@test "the halo part takes cut, depth and weak scaling" {
  on 4 "$comm" --samples 1 -s XS -b cpu --parts halo -x staged -p 1x2x2 --depth 2 -w --json halo.json >report
  grep -A 1 -F 'Halo exchange of size XS over 1x2x2 ranks, 2 layers deep: the busiest rank sends 22.6 kB in' report | grep -q '^  3 messages; us '
  [ "$(json halo.json 'd["config"]["grid"]["jmax"], d["config"]["grid"]["kmax"], d["config"]["max_bytes"] >> 20')" = "62 126 16" ]
  # The messages are faces along j and k, and the edge, each two layers deep.
  [ "$(json halo.json 'd["halo"][0]["messages"], d["halo"][0]["bytes"]')" = "3 $((4 * (2 * 30 * 62 + 2 * 30 * 30 + 4 * 30)))" ]
}

@test "cards of a recorded host are shown with rate, state, errors and the path to each device" {
  needs_results
  "$top_srcdir"/tests/topo/unfold-sysfs "$top_srcdir"/tests/topo/four-gpus-two-cards.sysfs sysfs
  HIMENO_SYSFS=$PWD/sysfs run "$comm" --list
  expect_status 0
  [[ $output == *"mlx5_0/1"*"active, 400 Gbit/s, PCI 0000:18:00.0, 4 errors"* ]]
  HIMENO_SYSFS=$PWD/sysfs quick 4 -b null -x staged --parts pairs,allreduce --json cards.json >report
  follows_schema cards.json
  [[ $(<report) == *"  mlx5_0/1   InfiniBand active   400 Gbit/s  in 0 B, out 0 B, ranks sent 0 B
               path to the device of rank 0: switch, rank 1: root, rank 2: node, rank 3: system
"* ]]
  [ "$(json cards.json '[c["idle"] for c in d["cards"]]')" = "[False, False, False, False]" ]
}

@test "damage of each rank's Nth transfer is found, between host and device, between devices, in halos, sums and all-to-all" {
  while read -r part n backend pattern; do # the 12th collective is the third of all-to-all
    HIMENO_BENCH_CORRUPT=$n run quick 2 -b "$backend" --parts "$part" --json never.json
    expect_status 4
    [[ $output == *"verdict    WRONG: a transfer arrived changed"* && ! -e never.json ]]
    grep -q "$pattern" <<<"$output"
  done <<'END'
host 40 cpu pinned host memory, host to device: of [0-9]* bytes copied the word at byte 0 arrived changed
pairs 3 null transport staged: 8 bytes from rank 1.* (i+) arrived changed, first at point 0,0,32: 3fe0e418 must be 3fe0e419
halo 3 cpu transport staged: 7440 bytes from rank 1.* (i+) arrived changed, first at point 16,1,1: 3f8bbeb7 must be 3f8bbeb6
allreduce 3 cpu MPI_Allreduce: the sum of element 0 is 1390, not 1389
collectives 12 cpu rank 0, .*MPI_Alltoall: element 0 is 140, not 139
END
}

@test "collectives of three ranks, verified, with the rates of nccl-tests" {
  quick 3 -b null --parts collectives --json three.json >/dev/null
  follows_schema three.json
  [ "$(json three.json '[(p["way"], len(p["points"]), round(3 * q["busbw"] / q["gbps"], 6)) for p in d["collectives"] for q in p["points"][:1]]')" = \
    "[('MPI_Allreduce', 3, 4.0), ('MPI_Alltoall', 3, 2.0)]" ]
}

# expect_error CODE PATTERN ARGUMENT...: two ranks end with CODE and a line that matches PATTERN.
expect_error() {
  local code=$1 pattern=$2
  shift 2
  run --separate-stderr on 2 "$comm" -b cpu "$@"
  expect_status "$code"
  one_error "$pattern" comm-gpu:
}

@test "wires and fabric need a second host, and wires takes no other part" {
  "$top_srcdir"/tests/topo/unfold-sysfs "$top_srcdir"/tests/topo/four-gpus-two-cards.sysfs sysfs
  HIMENO_SYSFS=$PWD/sysfs expect_error 2 '--parts wires: needs two hosts with the same number of ranks, found 2 ranks on 1 host$' --parts wires
  expect_error 2 '--parts fabric: needs hosts with the same number of ranks' --parts fabric
  expect_error 2 '--parts wires: no other part, since each rank is bound to one network card' --parts wires,host
}
@test "an unknown part" { expect_error 2 '--parts host,tail: must be host, pairs, halo, allreduce, wires, peers, collectives or fabric' --parts host,tail; }
@test "an unknown transport" { expect_error 2 '--transport pigeon: there is no such transport' -x pigeon; }
@test "a size that is no multiple of 8, or none at all" {
  expect_error 2 '--min 12: must be 8 to 4G' --min 12
  expect_error 2 '--max 9G: must be' --max 9G
  expect_error 2 '--max K: must be' --max K
}
@test "a largest transfer below the smallest" { expect_error 2 '--max 8 is below --min 64' --min 64 --max 8; }
@test "transfers that do not fit" {
  without_sanitizers "the address sanitizer needs all of the address space"
  ulimit -v 4000000
  expect_error 3 'a transfer of 4.0 GiB needs .* free .*; use a smaller --max' --max 4G
}
@test "a cut that does not multiply to the ranks" { expect_error 2 '--procs 2x2x2 needs 8 ranks' -p 2x2x2 -s XS --parts halo; }
@test "a JSON path in a folder that is not there" { expect_error 3 'none/such.json' --json none/such.json; }
@test "an unknown option; help names the test variables and the exit codes" {
  expect_error 2 '--nonsense' --nonsense
  [[ $("$comm" --help) == *HIMENO_SYSFS*HIMENO_BENCH_CORRUPT*"Exit status"* ]]
}
