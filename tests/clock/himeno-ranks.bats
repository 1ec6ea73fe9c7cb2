# SPDX-License-Identifier: MIT
# himeno-gpu on several ranks with the virtual clock: halos by each transport, shared devices, weak scaling. The machine is that
# of himeno.bats. XS has 55800 interior points; a cut along i has a face of 1860 points.
load clock

together="ceiling=7 pack=0.5 unpack=0.25 copy=1000 in=0.25 out=0.125 peer=0.0625 latency=2000 link=3 reduce=5000 barrier=4000"

@test "two ranks without overlap: each phase of an exchange, by staged and pageable" {
  export CLOCK_MACHINE="sweep=10 $together"
  for transport in staged pageable; do
    clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -x $transport --no-overlap -n 10
    figures <<'FIGURES'
[d.result[r] for r in "blocks seconds gflops".split()] = [1, 0.003155909, 6.011580181684]
[d.result[r] for r in "gbps ceiling_gbps ceiling_share".split()] = [9.901426181597, 16.0, 0.61883913635]
d.config.overlap = False
[d.phases[p].median for p in "interior boundary pack d2h wait".split()] = [0.0, 279e-6, 3.72e-6, 1.93e-6, 2e-6]
[d.phases[p].median for p in "transfer h2d unpack reduce exposed".split()] = [22.32e-6, 2.86e-6, 1.86e-6, 0.8999e-6, 36.5909e-6]
[r.gflops for r in d.ranks] = [3.4, 3.4]
FIGURES
  done
}

@test "two ranks that share memory: packed to where the neighbour reads, and copied in once" {
  export CLOCK_MACHINE="sweep=10 shared=1 $together"
  clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -x staged --no-overlap -n 10
  figures <<'FIGURES'
[d.phases[p].median for p in "pack d2h wait".split()] = [3.72e-6, 0.0, 0.0]
[d.phases[p].median for p in "transfer h2d unpack exposed".split()] = [0.0, 2.86e-6, 1.86e-6, 10.3409e-6]
FIGURES
}

@test "two ranks with overlap: messages travel while the rest is computed" {
  export CLOCK_MACHINE="sweep=10 $together"
  clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -x staged -n 10
  figures <<'FIGURES'
d.result.seconds = 0.002912709
[d.phases[p].median for p in "interior boundary wait".split()] = [260.4e-6, 18.6e-6, 260.4e-6]
[d.phases[p].median for p in "transfer h2d unpack exposed".split()] = [0.0, 2.86e-6, 1.86e-6, 12.2709e-6]
FIGURES
}

@test "on two ranks with a slow link, time that overlaps with computation is not exposed" {
  export CLOCK_MACHINE="sweep=10 ${together/link=3/link=40}"
  clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -x staged -n 10
  figures <<'FIGURES'
d.result.seconds = 0.003304709
[d.phases[p].median for p in "wait transfer exposed".split()] = [260.4e-6, 39.2e-6, 51.4709e-6]
FIGURES
}

@test "ranks of one device measure the ceiling in turn: eight ranks on two devices have the ceiling of two, and no share of it" {
  export CLOCK_MACHINE="sweep=10 ceiling=7" HIMENO_NULL_DEVICES=2
  run --separate-stderr on 8 "$top_builddir/tests/clock/himeno-gpu" -b null -s XS -p 8x1x1 --block 10 -t 0.02 --accept default --json d.json
  expect_status 5
  figures <<'FIGURES'
d.result.ceiling_gbps = 16.0
{(round(r.ceiling_gbps, 9), r.ceiling_share) for r in d.ranks} = {(8.0, None)}
{c.check: c.outcome for c in d.result.accept.checks if c.check in ("share of ceiling", "spread of devices", "device unshared")} = {"share of ceiling": "inapplicable", "spread of devices": "inapplicable", "device unshared": "fail"}
d.config.transport = "staged"
FIGURES
}

@test "an acceptance measures each transport that is used, by itself, and its devices by their own time" {
  local used='{p.used: (round(p.latency * 1e9), round(p.gbps, 6)) for p in d.paths}' pairs='sorted((p.rank, p.peer) for p in d.paths)'
  export CLOCK_MACHINE="sweep=10 ceiling=10 $together" HIMENO_NULL_DEVICES=4
  CLOCK_MACHINE="sweep=10 ceiling=10 $together" clocked 4 himeno-gpu -b null -s XS -p 2x2x1 --block 10 -t 0.02 --accept default
  figures <<FIGURES
d.config.transport = "p2p"
$used = {"p2p": (2000, 16.0)}
$pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
{round(r.ceiling_share, 3) for r in d.ranks} = {0.997}
FIGURES
  CLOCK_MACHINE="sweep=10 ceiling=10 $together" clocked 2 himeno-gpu -b null -s XS -p 2x1x1 --block 10 -t 0.02 --accept default -x staged
  figures <<FIGURES
d.config.transport = "staged"
$used = {"staged": (4017, 0.242424)}
FIGURES
  HIMENO_NULL_DEVICES=9 HIMENO_NULL_APART=4 clocked 9 himeno-gpu -b null -s XS -p 3x3x1 --block 10 -t 0.02 --accept default
  figures <<FIGURES
$used = {"p2p": (2000, 16.0), "staged": (4017, 0.242424)}
{p.used for p in d.paths if 4 in (p.rank, p.peer)} = {"staged"}
d.result.accept.accepted = True
FIGURES
  [ "$(grep -cE '^  path +ranks ([0-3] and 4|4 and [5-8]), ' <<<"$output") $(grep -c '^  path ' <<<"$output")" = "8 8" ] # as many as are listed
}

@test "two ranks by links: waiting is for the neighbour's flag, transfer is storing or copying" {
  export CLOCK_MACHINE="sweep=10 $together"
  clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -x p2p --no-overlap -n 10
  figures <<'FIGURES'
d.result.seconds = 0.00282066
[d.phases[p].median for p in "interior wait transfer exposed".split()] = [279e-6, 2e-6, 0.465e-6, 3.066e-6]
FIGURES
  clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -n 10
  figures <<'FIGURES'
d.result.seconds = 0.00280066
d.phases.wait.median = 0.0
d.config.transport, [w.seconds for w in d.result.wall if w.phase == "trying transports"] = "p2p", [0.01345463]
FIGURES
  HIMENO_NULL_RANK=1 HIMENO_NULL_FAIL=40 clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -n 10 # one rank lacks memory for the first trial
  figures <<<'[w.seconds for w in d.result.wall if w.phase == "trying transports"] = [0.007855154]'
  clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -x ipc --no-overlap -n 10
  figures <<'FIGURES'
d.result.seconds = 0.00288646
[d.phases[p].median for p in "interior wait transfer".split()] = [280.86e-6, 2e-6, 5.185e-6]
FIGURES
}

@test "weak scaling: every rank has all of XS" {
  export CLOCK_MACHINE="sweep=10 sweep@1=13 $together"
  clocked 2 himeno-gpu -b null -s XS -w -x staged --no-overlap -n 10
  figures <<'FIGURES'
[d.result[r] for r in "seconds gflops".split()] = [0.007401029, 5.126854658]
d.config.imax = 62
[r.gflops for r in d.ranks] = [3.4, 34 / 13]
d.phases.boundary = {"min": 558e-6, "median": 641.7e-6, "max": 725.4e-6}
d.phases.exposed = {"min": 14.7029e-6, "median": 98.4029e-6, "max": 182.1029e-6}
FIGURES
}
