# SPDX-License-Identifier: MIT
# mem-gpu with the virtual clock: 1/64 ns per byte read, 3/64 ns per byte written, 1/2 ns per floating-point operation.
load clock

setup_file() { export CLOCK_MACHINE="read=0.015625 written=0.046875 flop=0.5 host=1048576"; }

setup() { cd "$BATS_TEST_TMPDIR"; }

measure() {
  run --separate-stderr "$top_builddir/tests/clock/mem-gpu" -b cpu "$@" --json d.json
  expect_status 0
}

@test "latency has the levels where it rises" {
  measure --latency --footprint 2M --strides 64 -t 0.01
  figures <<'FIGURES'
[(p.bytes, round(p.ns, 1)) for p in d.latency.curves[0].points if p.bytes & (p.bytes - 1) == 0] = [(2**n, 1.0 if n < 16 else 8.0 if n < 20 else 80.0) for n in range(12, 22)]
[(l.name, round(l.ns, 1), l.bytes) for l in d.latency.levels] = [("L1", 1.0, 32768), ("L2", 8.0, 524288), ("DRAM", 80.0, None)]
FIGURES
}

@test "each section's time is expected, and a median that is known well enough has no more samples" {
  CLOCK_MACHINE="read=300 written=300 host=50000000 unsteady=0.003" measure --copies --mixes --host --sizes 64K --streams 1,4 --pace free -t 10
  figures <<'FIGURES'
[[p.gbps.samples for p in points] for points in (d.copies.points, d.mixes, d.host)] = [[4, 4, 6, 3], [21, 21, 3, 7, 24], [3, 3, 14, 25, 25, 21]]
FIGURES
  [[ $stderr == *'about 37 s expected'*' 2 of 3: mixes of reads and writes, 18 s left'*" 3 of 3: the host's memory, 9 s left"* ]] || { echo "$stderr"; return 1; }
}
