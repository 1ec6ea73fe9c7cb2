# SPDX-License-Identifier: MIT
# comm-gpu with the virtual clock: each path has the simulated machine's latency and bandwidth.
load clock

setup_file() {
  export CLOCK_MACHINE="copy=1000 in=0.25 out=0.125 pack=0.5 unpack=0.25 peer=0.0625 latency=2000 link=3 reduce=5000 barrier=4000"
}

setup() { cd "$BATS_TEST_TMPDIR"; }

bench() { clocked 2 comm-gpu -b null --samples 3 --step 16 --min 1K --max 16K "$@"; }

@test "host: whole report of a run with too little time, in which each size has the slower rank's rate" {
  HIMENO_SYSFS=/nonexistent SLURMD_NODENAME=node HIMENO_NULL_DEVICES=3 CLOCK_MACHINE+=" in@1=0.5 sync=100" clocked 2 comm-gpu -b null --parts host --samples 3 \
    --step 64 --min 1K --max 64K -t 0.02
  report_is <<'REPORT'
verdict PASS: all 5888 transfers arrived unchanged | where 2 ranks on 1 host, backend null; measured for 0.0 s | unused devices that no rank uses: 1 on node | plan 18 measurements: host 18 within 0.02 s (--time); | left out for lack of time: 3 measurements, 17 transfer sizes of the others
rank 0 node, Null device 0, PCI 0000:10:00.0 | rank 1 node, Null device 1, PCI 0000:11:00.0 | Between host and device: time of the smallest copy, rate of the largest that was measured; both: | both directions at once, rate per direction; isolated: one rank copies; concurrent: all do
measurements for which no time was left have no row | on CPUs, pinned memory is pageable too | rank memory direction mode 1.0 KiB, us largest GB/s | 0 pinned to device isolated 1.36 64.0 KiB 3.75 | 1 pinned to device isolated 1.61 1.0 KiB 0.635 | 0 pinned to device concurrent 1.61 1.0 KiB 0.635
1 pinned to device concurrent 1.61 1.0 KiB 0.635 | 0 pinned to host isolated 1.23 1.0 KiB 0.834 | 1 pinned to host isolated 1.23 1.0 KiB 0.834 | 0 pinned to host concurrent 1.23 1.0 KiB 0.834 | 1 pinned to host concurrent 1.23 1.0 KiB 0.834 | 0 pinned both isolated 2.58 1.0 KiB 0.396 | 1 pinned both isolated 2.84 1.0 KiB 0.361
0 pinned both concurrent 2.84 1.0 KiB 0.361 | 1 pinned both concurrent 2.84 1.0 KiB 0.361 | 0 pageable to device isolated 1.36 1.0 KiB 0.755 | 1 pageable to device isolated 1.61 1.0 KiB 0.635 | 0 pageable to device concurrent 1.61 1.0 KiB 0.635 | 1 pageable to device concurrent 1.61 1.0 KiB 0.635
0 pageable to host isolated 1.23 1.0 KiB 0.834 | 1 pageable to host isolated 1.23 1.0 KiB 0.834 | 0 pageable to host concurrent 1.23 64.0 KiB 7.05 | 1 pageable to host concurrent 1.23 64.0 KiB 7.05 | Between host and device by size, pinned memory, of the slowest rank | mode direction bytes us GB/s
isolated to device 1024 1.61 0.635 | isolated to device 65536 17.48 3.75 | isolated to host 1024 1.23 0.834 | isolated both 1024 2.84 0.361 | concurrent to device 1024 1.61 0.635 | concurrent to host 1024 1.23 0.834 | concurrent both 1024 2.84 0.361 | Between host and device by size, pageable memory, of the slowest rank
mode direction bytes us GB/s | isolated to device 1024 1.61 0.635 | isolated to host 1024 1.23 0.834 | concurrent to device 1024 1.61 0.635 | concurrent to host 1024 1.23 0.834 | concurrent to host 65536 9.29 7.05
REPORT
}

@test "the whole report of four ranks: of transfers without peer access" {
  HIMENO_SYSFS=/nonexistent SLURMD_NODENAME=node HIMENO_NULL_DEVICES=3 HIMENO_NULL_APART=1 clocked 4 comm-gpu -b null --samples 3 --step 16 --min 1K --max 16K \
    -x p2p -s XS -p 4x1x1 --depth 2 --parts pairs,halo,collectives,peers
  report_is <<'REPORT'
verdict PASS: all 64136 transfers arrived unchanged | where 4 ranks on 1 host, backend null; measured for 0.2 s | plan 11 measurements: pairs 8, halo 1, collectives 2 within 30 s (--time) | fastest p2p+staged, for the halo exchange of size XS: 97.31 us
rank 0 node, Null device 0, PCI 0000:10:00.0, SHARED with another rank | rank 1 node, Null device 1, PCI 0000:11:00.0 | rank 2 node, Null device 2, PCI 0000:12:00.0 | rank 3 node, Null device 0, PCI 0000:10:00.0, SHARED with another rank
Between two ranks: us is the time per transfer of several in succession, on the slower rank | (not half a round trip); isolated: one pair sends; concurrent: all pairs do | Between two ranks, transport p2p | on CPUs: stored directly into the other rank's halo
Matrix (rows and columns are ranks), both directions at once: | above the diagonal: us for 1.0 KiB; below: GB/s per direction for the largest transfer of each pair | 0 1 2 3 | 0 - 8.22 2.06 2.06 | 1 0.229 - 8.22 8.22 | 2 5.42 0.229 - 2.06 | 3 5.42 0.229 5.42 -
ranks 0 and 1 used staged instead: no peer access between the devices, on demand | ranks 1 and 2 used staged instead: no peer access between the devices, on demand | ranks 1 and 3 used staged instead: no peer access between the devices, on demand
ranks 1 and 3 used staged instead: no peer access between the devices, on demand | mode direction bytes us GB/s | isolated one 1024 5.11 0.200 | isolated one 16384 49.71 0.330 | isolated both 1024 8.22 0.125 | isolated both 4096 20.90 0.196 | isolated both 16384 71.58 0.229
concurrent both 1024 8.22 0.125 | concurrent both 16384 71.58 0.229 | Halo exchange of size XS over 4x1x1 ranks, 2 layers deep: the busiest rank sends 29.8 kB in | 2 messages; us per exchange: median; last six columns: mean us per phase
transport us per exchange GB/s per rank pack to host wait transfer to device unpack | p2p 97.31 0.306 7.4 2.9 31.7 44.6 4.7 3.7 | used p2p+staged | MPI_Allreduce, doubles in device memory; busbw = 1.5 x GB/s, as in nccl-tests | bytes us GB/s busbw | 8 5.02 0.00159 0.00239
128 5.38 0.0238 0.0357 | 2048 11.14 0.184 0.276 | 16384 54.15 0.303 0.454 | MPI_Alltoall, doubles in device memory; busbw = 0.75 x GB/s, as in nccl-tests | bytes us GB/s busbw | 32 5.07 0.00631 0.00473 | 512 6.15 0.0832 0.0624 | 8192 23.43 0.350 0.262 | 16384 41.86 0.391 0.294
Peer access of 6 pairs of devices. Steps: open the peer's memory; store to it from a kernel; | write (put) and read (get) 256 KiB by copy engines; pass flags between kernels. Each result was | compared with data sent through the host.
FINDING ranks 0 and 1 failed step open: no peer access between the devices, on demand (shared: unknown; IOMMU: none; ACS redirects at: -; driver none) | ranks 0 and 2: all steps passed | ranks 0 and 3: all steps passed
FINDING ranks 1 and 2 failed step open: no peer access between the devices, on demand (shared: unknown; IOMMU: none; ACS redirects at: -; driver none)
FINDING ranks 1 and 3 failed step open: no peer access between the devices, on demand (shared: unknown; IOMMU: none; ACS redirects at: -; driver none) | ranks 2 and 3: all steps passed
REPORT
}

# between PER RANKS OPTION...: runs comm-gpu on hosts of PER ranks, whose memories and cards are their own.
between() {
  printf '%s\n' 'r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}' "export OMPI_COMM_WORLD_LOCAL_RANK=\$((r % $1)) SLURMD_NODENAME=n\$((r / $1))" "export LD_PRELOAD=$top_builddir/tests/fault/apart.so" 'exec "$@"' >played
  HIMENO_NULL_DEVICES=$1 run --separate-stderr on "$2" bash ./played "$top_builddir/tests/clock/comm-gpu" -b null --samples 3 --max 64K --json d.json "${@:3}"
}

@test "streams between hosts: whole reports of cards and of the fabric" {
  "$top_srcdir"/tests/topo/unfold-sysfs "$top_srcdir"/tests/topo/four-gpus-two-cards.sysfs sysfs
  HIMENO_SYSFS=$PWD/sysfs between 2 4 --parts wires
  report_is <<'REPORT'
verdict PASS: all 256 transfers arrived unchanged | where 4 ranks on 2 hosts, backend null; measured for 0.0 s | plan 5 measurements: wires 5 within 30 s (--time) | rank 0 n0, Null device 0, PCI 0000:10:00.0 | rank 1 n0, Null device 1, PCI 0000:11:00.0
rank 2 n1, Null device 0, PCI 0000:10:00.0 | rank 3 n1, Null device 1, PCI 0000:11:00.0 | Network cards: achieved % of the port's rate. isolated: one card and direction at a time; | all: all cards in both directions; -: too noisy, or sent by another card; carried: % of the
rank's bytes that its card counted | rank host card Gbit/s isolated: out in all: out in carried | 0 n0 mlx5_0/1 400 - - - - 0.0 NOT BOUND: MPI sent by another card | 1 n0 mlx5_1/1 400 - - - - 0.0 NOT BOUND: MPI sent by another card
2 n1 mlx5_0/1 400 - - - - 0.0 NOT BOUND: MPI sent by another card | 3 n1 mlx5_1/1 400 - - - - 0.0 NOT BOUND: MPI sent by another card | Network cards: traffic while comm-gpu ran, and what the host's ranks sent to other hosts
n0 mlx5_0/1 InfiniBand active 400 Gbit/s in 0 B, out 0 B, ranks sent 8.0 MiB | path to the device of rank 0: switch, rank 1: root | n0 mlx5_1/1 InfiniBand active 400 Gbit/s in 0 B, out 0 B, ranks sent 8.0 MiB | path to the device of rank 0: system, rank 1: system
n0 mlx5_2/1 InfiniBand down 10 Gbit/s in 0 B, out 0 B, ranks sent 8.0 MiB | path to the device of rank 0: system, rank 1: system | n0 eno1 Ethernet active 25 Gbit/s in 0 B, out 0 B, ranks sent 8.0 MiB | path to the device of rank 0: system, rank 1: system
n1 mlx5_0/1 InfiniBand active 400 Gbit/s in 0 B, out 0 B, ranks sent 8.0 MiB | path to the device of rank 2: switch, rank 3: root | n1 mlx5_1/1 InfiniBand active 400 Gbit/s in 0 B, out 0 B, ranks sent 8.0 MiB | path to the device of rank 2: system, rank 3: system
n1 mlx5_2/1 InfiniBand down 10 Gbit/s in 0 B, out 0 B, ranks sent 8.0 MiB | path to the device of rank 2: system, rank 3: system | n1 eno1 Ethernet active 25 Gbit/s in 0 B, out 0 B, ranks sent 8.0 MiB | path to the device of rank 2: system, rank 3: system
WARNING card mlx5_0/1 of n0 is active but carried no data: other paths carried the traffic | WARNING card mlx5_1/1 of n0 is active but carried no data: other paths carried the traffic | WARNING card eno1 of n0 is active but carried no data: other paths carried the traffic
WARNING card mlx5_0/1 of n1 is active but carried no data: other paths carried the traffic | WARNING card mlx5_1/1 of n1 is active but carried no data: other paths carried the traffic | WARNING card eno1 of n1 is active but carried no data: other paths carried the traffic
REPORT
  figures <<'FIGURES'
[list(r.wire.values()) for r in d.ranks] = [[f"mlx5_{r % 2}/1", (r + 2) % 4, 400.0, 0.0] + [None] * 5 for r in range(4)]
FIGURES
  HIMENO_SYSFS=$PWD/sysfs CLOCK_MACHINE="copy=900000000 latency=900000000 reduce=900000000" between 1 2 --parts host,pairs,halo,allreduce,collectives \
    -x staged -s XS --min 64K -t 0
  [ "$(sed -E 's/.*: //; s/, for .*//' <<<"$stderr" | LC_ALL=C sort -u | paste -sd'|')" = "MPI_Allreduce over all ranks|MPI_Alltoall over all ranks|\
halo exchange by staged|$(for kind in pageable pinned; do printf "host and device, $kind memory, %s|" "both directions" "to device" "to host"; done)\
staged, one pair, both directions|staged, one pair, one direction" ]
  [ "$(json d.json '[c["host_sent_bytes"] for c in d["cards"]] == [16 * 65536 + 8 * 7440] * 4 + [8 * 65536 + 8 * 7440] * 4')" = True ]
  HIMENO_SYSFS=/nonexistent CLOCK_MACHINE+=" path@0-2=3" between 1 3 --parts fabric
  report_is <<'REPORT'
verdict PASS: all 384 transfers arrived unchanged | where 3 ranks on 3 hosts, backend null; measured for 0.1 s | plan 8 measurements: fabric 8 within 30 s (--time) | rank 0 n0, Null device 0, PCI 0000:10:00.0 | rank 1 n1, Null device 0, PCI 0000:10:00.0
rank 2 n2, Null device 0, PCI 0000:10:00.0 | Fabric: streams between hosts in Gbit/s. isolated: one host sends; all: every host sends; | shift: from the Nth host to the (N+shift)th; contention: isolated / all; -: too noisy | shift from rank to rank isolated all contention
1 2 0 2.127 2.127 1 | 1 0 1 2.663 2.663 1 | 1 1 2 2.663 2.663 1 | 2 1 0 2.663 2.663 1 | 2 2 1 2.663 2.663 1 | 2 0 2 2.127 2.127 1
REPORT
  figures <<'FIGURES'
[[list(flow.values()) for flow in r.fabric] for r in d.ranks] = [[[shift, (r - shift) % 3] + [2.126842724433 if {r, (r - shift) % 3} == {0, 2} else 2.663280130856] * 2 for shift in (1, 2)] for r in range(3)]
FIGURES
  HIMENO_SYSFS=/nonexistent HIMENO_BENCH_CORRUPT=20 between 1 3 --parts fabric
  [[ $status = 4 && $stderr == *"rank 1, "*": stream from rank 0: the word at byte 0 arrived changed"* ]]
}

@test "pairs: a transfer to the peer, in both directions at once and in one" {
  bench --parts pairs
  figures <<'FIGURES'
{p.way: [q.seconds for q in p.points] for p in d.pairs if p.direction == "both"} = {"staged": [8.224e-6, 71.584e-6], "staged-mpi": [8.224e-6, 71.584e-6], "pageable": [8.224e-6, 71.584e-6], "mpi": [5.84e-6, 63.44e-6], "ipc": [3.832e-6, 16.312e-6], "p2p": [2.064e-6, 3.024e-6]}
[p.points[1].gbps for p in d.pairs if p.way == "p2p"] = [16.384 / 3.024, 16.384 / 2.512]
{p.way: (p.fit.latency_seconds, p.fit.bytes_per_second) for p in d.pairs if p.direction == "both"} = {"staged": (4e-6, 8e9 / 33), "staged-mpi": (4e-6, 8e9 / 33), "pageable": (4e-6, 8e9 / 33), "mpi": (2e-6, 8e9 / 30), "ipc": (3e-6, 16e9 / 13), "p2p": (2e-6, 16e9)}
{p.way: [q.seconds for q in p.points] for p in d.pairs if p.direction == "one"} = {"staged": [5.114748718e-6, 49.7128e-6], "staged-mpi": [5.114748718e-6, 49.7128e-6], "pageable": [5.114748718e-6, 49.7128e-6], "mpi": [3.922110236e-6, 49.5092e-6], "ipc": [2.916e-6, 10.24742268e-6], "p2p": [2.032e-6, 2.512e-6]}
FIGURES
}

@test "halos: an exchange and its phases" {
  bench --parts halo -s XS -p 2x1x1
  figures <<'FIGURES'
{h.way: h.seconds for h in d.halo} = {"staged": 34.69e-6, "staged-mpi": 34.69e-6, "pageable": 34.69e-6, "mpi": 29.9e-6, "ipc": 9.045e-6, "p2p": 2.465e-6}
{h.way: list(h.phases.values()) for h in d.halo if h.way in ("staged", "mpi", "ipc")} = {"staged": [3.72e-6, 1.93e-6, 2e-6, 22.32e-6, 2.86e-6, 1.86e-6], "mpi": [3.72e-6, 0.0, 2e-6, 22.32e-6, 0.0, 1.86e-6], "ipc": [0.0, 0.0, 2e-6, 5.185e-6, 0.0, 0.0]}
[(h.bytes, h.messages) for h in d.halo] = [(7440, 1)] * 6
{h.way: list(h.stages.values()) for h in d.halo if "stages" in h} = {"staged": [3.72e-6, 1.93e-6, 24.32e-6, 2.86e-6, 1.86e-6, 0.0], "staged-mpi": [3.72e-6, 1.93e-6, 24.32e-6, 2.86e-6, 1.86e-6, 0.0], "pageable": [3.72e-6, 1.93e-6, 24.32e-6, 2.86e-6, 1.86e-6, 0.0], "mpi": [3.72e-6, 0.0, 24.32e-6, 0.0, 1.86e-6, 0.0]}
FIGURES
}

@test "within a time limit sizes that would last too long are left out, and the last ones have fewer batches" {
  export CLOCK_MACHINE="copy=100000 in=25 out=12.5 pack=50 unpack=25 peer=6.25 latency=200000 link=300"
  clocked 2 comm-gpu -b null --parts pairs --max 64K --step 16 -t 4
  figures <<'FIGURES'
[len(p.points) for p in d.pairs] = [5, 5, 5, 5, 5, 5, 2, 2, 5, 5, 3, 1]
[(q.bytes, q.transfers) for q in d.pairs[0].points] = [(8, 28), (128, 28), (2048, 14), (32768, 6), (65536, 6)]
(d.result.curves_left_out, d.result.sizes_left_out) = (0, 12)
FIGURES
  grep -qx ' *about 4 s expected' <<<"$stderr" && grep -qx '  measurement [0-9]* of 12: .*, [01] s left' <<<"$stderr" || { echo "$stderr"; return 1; }
  report_has '  plan       12 measurements: pairs 12 within 4 s (--time);' '             left out for lack of time: 0 measurements, 12 transfer sizes of the others'
  clocked 2 comm-gpu -b null --parts pairs -x staged --max 64K --step 16 -t 0
  figures <<'FIGURES'
[(q.bytes, q.transfers) for q in d.pairs[0].points] = [(8, 28), (128, 28), (2048, 14), (32768, 14), (65536, 14)]
FIGURES
}

# MPI takes 3 ns per byte. Chunks pay off only if copies to the device are slow.
@test "stages sum to the exchange; of four chunks, made if copies are slow, only the last counts as copied in" {
  clocked 2 comm-gpu -b null --samples 3 --min 1M --max 1M --parts pairs -x staged
  figures <<'FIGURES'
[list(q.stages.values()) for p in d.pairs if p.direction == "both" for q in p.points] = [[524.288e-6, 132.072e-6, 3147.728e-6, 263.144e-6, 262.144e-6, 0.0]]
[q.seconds for p in d.pairs if p.direction == "both" for q in p.points] = [4329.376e-6]
["stages" in q for p in d.pairs if p.direction == "one" for q in p.points] = [False]
FIGURES
  CLOCK_MACHINE="in=2 $CLOCK_MACHINE" clocked 2 comm-gpu -b null --samples 3 --min 1M --max 1M --parts pairs -x staged
  figures <<'FIGURES'
[list(q.stages.values()) for p in d.pairs if p.direction == "both" for q in p.points] = [[524.288e-6, 135.072e-6, 3147.728e-6, 525.288e-6, 262.144e-6, 0.0]]
[q.seconds for p in d.pairs if p.direction == "both" for q in p.points] = [4594.52e-6]
FIGURES
}

@test "chunks of a message between hosts are the fastest ones, as the report says" {
  for machine in "in=0.25 messages whole" "in=2 in chunks of 256 KiB"; do
    CLOCK_MACHINE="${machine%% *} $CLOCK_MACHINE" clocked 2 himeno-gpu -b null -s 4x514x514 -n 2 -x staged -p 2x1x1
    report_has "by MPI, because: by the clock; ${machine#* }"
  done
  CLOCK_MACHINE="in=2 $CLOCK_MACHINE" clocked 2 himeno-gpu -b null -s 4x130x258 -n 2 -x staged-mpi -p 2x1x1
  report_has "by MPI, because: no memory is shared; in chunks of 64 KiB"
  clocked 2 himeno-gpu -b null -s 4x66x258 -n 2 -x staged -p 2x1x1
  report_has "by MPI, because: by the clock"
  [[ $output != *chunk* && $output != *whole* ]] # the message is too short for a trial of chunks
}
