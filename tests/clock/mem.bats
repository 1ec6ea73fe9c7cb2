# SPDX-License-Identifier: MIT
# mem-gpu by the virtual clock: a byte that is read takes 1/64 ns, one that is written 3/64 ns, a floating-point operation 1/2 ns.
load clock

setup_file() { export CLOCK_MACHINE="read=0.015625 written=0.046875 flop=0.5 host=1048576"; }

setup() { cd "$BATS_TEST_TMPDIR"; }

measure() {
  run --separate-stderr "$top_builddir/tests/clock/mem-gpu" -b cpu "$@" --json d.json
  expect_status 0
}

@test "copies count what is read and what is written" {
  measure --copies --sizes 1M,2M --streams 1,4 --pace free --assign cyclic -t 0.05
  figures <<'FIGURES'
[(p.bytes, p.streams, p.gbps.median) for p in d.copies.points] = [(1048576, 1, 32.0), (1048576, 4, 32.0), (2097152, 1, 32.0), (2097152, 4, 32.0)]
[(w.native_gbps.median, w.babelstream_gbps.median, w.tuned_gbps.median, w.best_point_gbps.median, w.share) for w in d.copies.ways] = [(32.0, 32.0, 32.0, 32.0, 1.0)] * 2
FIGURES
}

@test "mixes of reads and writes" {
  measure --mixes --sizes 1M -t 0.05
  figures <<'FIGURES'
[(m.reads, m.writes, m.gbps.median) for m in d.mixes] = [(1, 0, 64.0), (0, 1, 21.333333333333), (1, 1, 32.0), (3, 1, 42.666666666667), (13, 1, 56.0)]
FIGURES
  says "13:1 reads to writes              56.0 GB/s  (56.0 ... 56.0)"
}

@test "latency, and the levels where it rises" {
  measure --latency --footprint 2M --strides 64 -t 0.01
  figures <<'FIGURES'
[(p.bytes, round(p.ns, 1)) for p in d.latency.curves[0].points if p.bytes & (p.bytes - 1) == 0] = [(2**n, 1.0 if n < 16 else 8.0 if n < 20 else 80.0) for n in range(12, 22)]
[(l.name, round(l.ns, 1), l.bytes) for l in d.latency.levels] = [("L1", 1.0, 32768), ("L2", 8.0, 524288), ("DRAM", 80.0, None)]
FIGURES
}

@test "host memory: bytes of the loop, a millisecond each" {
  measure --host --sizes 1M -t 0.05
  figures <<'FIGURES'
{p.access: p.gbps.median for p in d.host} = {"COPY": 2.0, "TRIADD": 3.0, "READ": 1.0, "MEMCPY": 2.0}
FIGURES
}

@test "the roofline: ceilings, and operations a byte" {
  measure --roofline --sizes 1M -t 0.05
  figures <<'FIGURES'
[(l.level, l.gbps.median) for l in d.roofline.levels] = [("L1", 64.0), ("memory", 64.0)]
[(p.intensity, p.gflops.median) for p in d.roofline.points[:3]] = [(0.0625, 4 / 3), (0.125, 1.6), (0.25, 16 / 9)]
FIGURES
}
