# SPDX-License-Identifier: MIT
# comm-gpu with the virtual clock: each path has the simulated machine's latency and bandwidth.
load clock

setup_file() {
  export CLOCK_MACHINE="copy=1000 in=0.25 out=0.125 pack=0.5 unpack=0.25 peer=0.0625 latency=2000 link=3 reduce=5000 barrier=4000"
}

setup() { cd "$BATS_TEST_TMPDIR"; }

bench() { clocked 2 comm-gpu -b null --samples 3 --step 16 --min 1K --max 16K "$@"; }

@test "the rate between host and device is the slower rank's, at each size" {
  CLOCK_MACHINE+=" in@1=0.5" bench --parts host
  report_has '  isolated    to device        1024         1.51     0.677' '  isolated    to host          1024         1.13     0.908' '  concurrent  both             1024         2.64     0.388'
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
