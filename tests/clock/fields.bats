# SPDX-License-Identifier: MIT
# Every field of the programs' documents with the virtual clock agrees with the tables of tests/clock/fields. A new field needs a
# row.
load clock

links="pack=0.5 unpack=0.25 copy=1000 in=0.25 out=0.125 peer=0.0625 latency=2000 link=3 reduce=5000 barrier=4000"

setup() {
  cd "$BATS_TEST_TMPDIR"
  unset CLOCK_MACHINE
  "$top_srcdir"/tests/topo/unfold-sysfs "$top_srcdir"/tests/topo/four-gpus-two-cards.sysfs sysfs
  export HIMENO_SYSFS=$PWD/sysfs HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so HIMENO_NULL_DEVICES=4
}

# agrees PROGRAM TABLE...: d.json must have the fields that the tables list, and no others.
agrees() {
  local program=$1
  shift
  "$PYTHON" -B "$top_srcdir/tests/clock/fields.py" "$top_builddir/tests/clock/$program" d.json "${@/#/$top_srcdir/tests/clock/fields/}"
}

# reads FILE: the report must be that of the file, but for the host's name and cores.
reads() {
  diff "$top_srcdir/tests/clock/fields/$1" <(sed -E "s/$(uname -n) */HOST /; s/(rank  host) */\1 /; s/ [-,0-9]+ +[-0-9]+  0000/ CORES NUMA  0000/
    s/^(himeno-gpu) .*/\1 VERSION/; s/67.434/67.433/; /runs on cores/d; s/ +\$//" <<<"$output") # 67.4335 rounds either way
}

# declared SCHEMA PROGRAM [OPTION]: each field that the schema declares must have a value in a table named SCHEMA.*.
declared() {
  "$top_builddir/$2" "${@:3}" --schema >schema.json
  "$PYTHON" -B "$top_srcdir/tests/clock/fields.py" --schema schema.json "$top_srcdir"/tests/clock/fields/{hardware,frame,"$1".*}
}

@test "himeno-gpu: a run of three ranks, one of them slow, one throttled and each with errors" {
  export FAKE_NVML="celsius-late@1=91 throttle-late@1=32 milliwatts-late@1=420500 clock-late@1=1410 memory-late@1=2600 milliwatts@2=310000 top=2100 \
memory_top=2700 gen=4 width@2=8 links@2=17 links_up@2=16 ecc@2=0 fixed@0=3 fixed-late@0=5 fixed-late@1=4 rows@2=2 link_data-late@1=7 resent-late@2=6 \
broken@0=1 link_replays-late@0=9 link_recoveries-late@2=8 xid-late@0=48 bits=64 cores=16896"
  export CLOCK_MACHINE="sweep=10 sweep@1=13 sweep@2=10.5 ceiling=7 ceiling@1=8 dense=1.05 jitter=0.01 starved@1=0.02 $links reduce@2=6000"
  LC_ALL=C clocked 3 himeno-gpu -b null -s XS -p 3x1x1 -x staged --block 10 -t 0.0252 --verbose
  agrees himeno-gpu frame result.run
  reads report.run
}

@test "himeno-gpu --accept: checks, and where the bytes of each path went" {
  export FAKE_NVML="nvlink=3 nvlink_each=655360 pcie=5 pcie_each=1000 nvlink_each@1=0 pcie_each@1=671088640"
  echo '{"name": "field <b>&\"", "stragglers_max": 0, "ceiling_share_min": 0.1, "efficiency_min": 0.9, "device_spread_max": 0.9, "noise_max": 0.5,
    "device_gflops_min": 1}' >policy.json
  export CLOCK_MACHINE="sweep=10 sweep@1=13 ceiling=7 jitter=0.01 $links"
  clocked_to 5 2 himeno-gpu -b null -s XS -p 2x1x1 --block 10 -t 0.03 --array-pad 256 --accept policy.json
  agrees himeno-gpu result.accept
  # himeno-judge must write the same document after judging it by another policy.
  mv d.json run.json
  echo '{"efficiency_min": 0.5}' >policy.json
  run "$judge" run.json --policy policy.json --json d.json
  expect_status 0
  agrees himeno-gpu result.judged
  "$PYTHON" -c 'import json; run, judged = (json.load(open(f"{name}.json")) for name in ("run", "d"))
for document in run, judged: del document["result"]["accept"], document["result"]["verdict"]
assert run == judged'
}

@test "himeno-gpu: ranks that were slow always, and for a while" {
  export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none # ranks share a core on any machine
  taskset -cp "$("$PYTHON" -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')" $BASHPID # one core would count as no choice
  CLOCK_MACHINE="sweep=100 sweep@1=120 jitter=0.001 $links" clocked 5 himeno-gpu -b null -s XS -p 5x1x1 --block 10 -t 0.5 -x staged
  agrees himeno-gpu result.straggler
  export FAKE_NVML="milliwatts@1=637000 clock@1=1410 memory@1=2600 celsius@1=91 fixed-late@1=4 throttle-late@1=32"
  CLOCK_MACHINE="sweep=5000 jitter=0.001 slow@1=1.25 from=0.6 to=16 $links" clocked 2 himeno-gpu -b null -s XS -p 2x1x1 --block 2 -t 60 -x p2p
  agrees himeno-gpu result.episode
}

@test "himeno-gpu --soak: what it found, and its log" {
  export FAKE_NVML="celsius-late@1=91 throttle-late@1=32 milliwatts=650000 milliwatts-late@1=420500 clock-late@1=1410 memory-late@1=2600 gen=4 width@1=8 \
links@1=17 fixed@0=3 broken-late@1=2 rows-late@1=3 fixed-late@1=4 link_data-late@1=7 resent-late@1=6 link_replays-late@0=9 link_recoveries-late@0=8 \
xid-late@1=48"
  export CLOCK_MACHINE="sweep=10 sweep@1=13 jitter=0.01 $links"
  HIMENO_FLIP="p 5,6,7 22 2" clocked_to 4 2 himeno-gpu -b null -s XS -p 2x1x1 -x staged --soak 0.013 --block 10 --soak-log soak.jsonl
  agrees himeno-gpu result.soak
  report_has "soak       0 s, 4 blocks in both data sets, 1 of them wrong" ": older p has 1 wrong point, first (5, 6, 7): 3e347779 must be 3e747779, 1 bit; does not" \
    "CORRUPTED  block 1, dense data, after sweep 2, rank 0 on " ": p has 18 wrong points, first (4, 5, 7): 3ec238dc must be 3ec2313d, 6 bits; does not repeat"
  "$PYTHON" -c 'import json; json.dump({"log": [json.loads(line) for line in open("soak.jsonl")]}, open("d.json", "w"))'
  agrees himeno-gpu soak.log
  clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -x staged --soak 0.013 --block 10
  agrees himeno-gpu result.soaked
}

@test "himeno-gpu: energy, the original protocol, and the emulator's counts" {
  CLOCK_MACHINE="sweep=100 ceiling=7 fill=200000000 idle=100 load=500 step=500000000 poll=50000000" clocked 1 himeno-gpu -b null -s XS -t 10
  agrees himeno-gpu result.energy
  report_has "energy     3.3480 J per sweep, 0.00 GFLOPS/W, 1 device (a device by the clock)" \
    "             an idle power of 100.0 W is subtracted for the time between blocks"
  CLOCK_MACHINE="sweep=10 ceiling=7" clocked 1 himeno-gpu -b null -s XS --official -t 0.195
  agrees himeno-gpu result.official
  report_has "official   3400.00 MFLOPS, score 41.04 (1 is a Pentium III at 600 MHz, 82.84 MFLOPS)"
  CLOCK_MACHINE="sweep=10" clocked 1 himeno-gpu -b qpu -s 8x8x18 -n 2
  agrees himeno-gpu result.emulator
  report_has "counts     91.2 instructions per 16 points of a sweep, 34.2% of them with float arithmetic" \
    "estimate   264.306 us for 1000 points of a sweep" " for 2 sweeps in 1 block" "are 0.61 to 1.21 GFLOPS; without that limit, 4.5"
  LC_ALL=C CLOCK_MACHINE="sweep=10" clocked 1 himeno-gpu -b qpu -s 8x8x18 -n 2 --ladder
  report_has "data, 1 rank, emulated: no speed" "   1  naive                 176.6        19.9%       312.083  correct" "are 0.61 to 1.21 GFLOPS; without that limit, 4.5"
}

@test "himeno-gpu --ladder: each rung" {
  LC_ALL=C CLOCK_MACHINE="sweep=10 ceiling=7 jitter=0.01" clocked 1 himeno-gpu -b cpu -s XS --ladder --block 12 -t 0.0255
  agrees himeno-gpu frame ladder.cpu
  report_has "  XS: 32 x 32 x 64, standard data, 1 rank"$'\n' "   1  reference            3.4  +-2.9%       5.5    69.3%  correct         ########" \
    "   5  wavefront4          13.6  +-1.5%      22.4   280.0%  correct         ############" "      three sweeps per pass over memory (nominal GB/s)" \
    "      plain loop over the points"$'\n' "noisy ladder: blocks of reference vary by 2.9%, smaller differences are noise"
}

@test "himeno-gpu tries kernels, those with most sweeps per pass first and a lost one for one block" {
  export CLOCK_MACHINE="sweep=1000 ceiling=7"
  clocked 1 himeno-gpu -b cpu -s XS -t 1
  agrees himeno-gpu result.tried
}

@test "gemm-gpu: two ranks, of which one is slower; one product over both; and a ladder" {
  export CLOCK_MACHINE="product=4 product@1=5 jitter=0.01 starved@1=0.02 $links"
  clocked 2 gemm-gpu -b null -s 64 --block 0.001 -t 0.0125
  agrees gemm-gpu frame gemm.run
  clocked 2 gemm-gpu --distributed -b null -s 64 -p 2x1 --panel 16 -x staged --block 0.001 -t 0.0125
  agrees gemm-gpu gemm.distributed
  LC_ALL=C clocked 2 gemm-gpu -b null --ladder --sizes 16,16x8x32 --ceilings 10,20,30,4 --block 0.001 -t 0.0125
  agrees gemm-gpu frame gemm-ladder.null
  export FAKE_NVML="milliwatts=665000 milliwatts@1=637000"
  CLOCK_MACHINE="product=4 product@1=5" clocked 2 gemm-gpu -b null -s 16 --block 0.001 -t 0.1 --accept
  agrees gemm-gpu gemm.worth
  clocked 1 gemm-gpu -b qpu -s 16
  agrees gemm-gpu gemm.emulator
}

@test "comm-gpu: host, pairs, halos, sums and cards" {
  export HIMENO_NULL_DEVICES=2 CLOCK_MACHINE="$links unsteady=0.01"
  clocked 2 comm-gpu -b null --samples 3 --step 16 --min 1K --max 16K -x staged -s XS -p 2x1x1
  agrees comm-gpu frame comm.all
}

@test "comm-gpu: collectives, and peer access that fails between IOMMU and ACS" {
  local gpu=sysfs/devices/pci0000:0d/0000:0d:01.0/0000:0e:00.0/0000:0f:00.0
  mkdir "$gpu/0000:10:00.0/iommu_group"
  echo DMA-FQ >"$gpu/0000:10:00.0/iommu_group/type"
  # Capability 1 is at byte 256 of 512, and 13 at byte 320, with bit 2 in its control word.
  { head -c 256 /dev/zero && printf '\1\0\1\24' && head -c 60 /dev/zero && printf '\15\0\1\0\37\0\4\0' && head -c 184 /dev/zero; } >"$gpu/config"
  HIMENO_NULL_PEER=get HIMENO_NULL_RANK=1 CLOCK_MACHINE=$links clocked 2 comm-gpu -b null --samples 3 --step 16 --max 16K --parts peers,collectives
  agrees comm-gpu comm.peers
  # The other device's bridge
  mv "$gpu/config" sysfs/devices/pci0000:0d/0000:0d:03.0
  HIMENO_NULL_PEER=get HIMENO_NULL_RANK=1 clocked 2 comm-gpu -b null --parts peers
  [[ $output == *"ACS redirects at: 0000:0d:03.0; "* && $(<d.json) == *'"max_bytes": 268435456,'* ]]
}

@test "mem-gpu: copies, mixes, latency, host memory and the roofline" {
  CLOCK_MACHINE="read=0.015625 written=0.046875 host=1048576 unsteady=0.01" run --separate-stderr "$top_builddir/tests/clock/mem-gpu" -b cpu \
    --copies --mixes --latency --host --sizes 1M --streams 1,4 --footprint 64K --strides 64 -t 0.02 --json d.json
  expect_status 0
  agrees mem-gpu frame mem.bandwidth
  report_has "13:1 reads to writes                 55.3 GB/s  (55.1 ... 55.6)"
  CLOCK_MACHINE="read=0.015625 flop=0.5" run --separate-stderr "$top_builddir/tests/clock/mem-gpu" -b cpu --roofline --sizes 1M -t 0.05 --json d.json
  expect_status 0
  agrees mem-gpu mem.roofline
}

@test "himeno-predict: of a model with given terms" {
  [ "$HAVE_CMINPACK" = 1 ] || skip "himeno-predict was not built: no cminpack"
  cp "$top_srcdir/tests/golden/model.json" .
  run --separate-stderr "$top_builddir/himeno-predict" --model model.json -s M -n 1,2,16 -x staged --json d.json
  expect_status 0
  agrees ../../himeno-predict frame predict.model
  local plus="                                 +" # terms after the first one of a part
  report_has "Model: seconds per sweep = max(interior, exchange) + reduction + boundary + synchronisation" \
    "    interior                     = 3 us per launch (fixed)" "$plus 13.1 ps x V (fixed)" \
    "    boundary                     = 15 ps per point next to a halo across i (fixed)" "$plus 30 ps per point next to a halo across j (fixed)" \
    "    reduction                    = 1 us for the sum over all ranks (fixed)" "$plus 0.5 us x log2(ranks) (fixed)" \
    "    synchronisation by staged    = 6 us of host and device (fixed)" "    exchange by staged           = 1 us per message (fixed)" \
    "$plus 1 x latency of the path (fixed)" "$plus 4 us to launch what computes and sends halos (fixed)" \
    "    path by staged within a host: 6.00 us + bytes / 12 GB/s" "    path by staged between hosts: 8.00 us + bytes / 20 GB/s"
  declared predict himeno-predict
}

@test "every field that a program declares has a value in a table, or a reason why not" {
  declared result himeno-gpu
  declared ladder himeno-gpu --ladder
  declared soak himeno-gpu --soak-log -
  declared gemm gemm-gpu
  declared gemm-ladder gemm-gpu --ladder
  declared comm comm-gpu
  declared mem mem-gpu
}
