# SPDX-License-Identifier: MIT
# himeno-gpu with the virtual clock: the figures of whole runs are exact. A sweep takes 10 ns per
# point unless a test sets another time: 3.4 GFLOPS and 5.6 GB/s per device. XS has 55800 interior
# points; a cut along i has a face of 1860 points.
load clock

alone="sweep=10 ceiling=7 worn=1.142857142857142857"
together="ceiling=7 pack=0.5 unpack=0.25 copy=1000 in=0.25 out=0.125 peer=0.0625 latency=2000 link=3 reduce=5000 barrier=4000"

@test "one rank: ten blocks of 10 sweeps in the requested time, their noise, and a ceiling from before and after them" {
  export CLOCK_MACHINE="$alone jitter=0.01"
  LC_ALL=C clocked 1 himeno-gpu -b null -s XS --block 10 -t 0.0535 --verbose
  figures <<'FIGURES'
d.result.blocks, d.config.sweeps, d.result.seconds = 10, 100, 0.0559116
sorted(d.result.samples) = [0.0054684, 0.0054684, 0.0055242, 0.0055242, 0.00558, 0.00558, 0.0056358, 0.0056358, 0.0057474, 0.0057474]
[d.result[r] for r in "gflops gbps ceiling_gbps ceiling_share".split()] = [3.393213572854, 5.588822355289, 7.5, 0.745176314039]
[r.gflops for r in d.ranks] = [3.393213572854]
d.phases.interior = {"min": 0.000559116, "median": 0.000559116, "max": 0.000559116}
d.phases.exposed.max = 0.0
FIGURES
  [[ $output == *"time per sweep 559.116 us; phases may overlap;"$'\n'* ]]
  report_has "interior          559.116 us  ################################"$'\n'"    boundary                -"$'\n' \
    "speed      3.39 GFLOPS, 5.59 GB/s, 74.5% of the ceiling" "ceiling    7.50 GB/s over all ranks, by a kernel that reads 13 arrays" \
    "timed      100 sweeps in 10 blocks: 0.056 s; checks between blocks are not timed" "noise      standard deviation of the blocks' times: at most 4.7%"
}

@test "a noisy run is reported as noisy, and a quiet one is not" {
  local himeno=$top_builddir/tests/clock/himeno-gpu
  CLOCK_MACHINE="usual noise=0.1" run "$himeno" -b null -s 16x16x32 --block 5 -t 0.1
  expect_status 0
  [[ $output == *"WARNING    noisy: a difference of less than "*" from another run may be noise"* ]]
  CLOCK_MACHINE="usual noise=0.9" run "$himeno" -b null -s 16x16x32 --block 5 -t 0.1
  [[ $output == *"WARNING    this speed is too noisy to compare: "* ]]
  CLOCK_MACHINE="usual noise=0.001" run "$himeno" -b null -s 16x16x32 --block 5 -t 0.1
  expect_status 0
  [[ $output != *WARNING*nois* ]]
}

@test "work other than sweeps is in no sample, and counts towards the requested time" {
  export CLOCK_MACHINE="$alone fill=2000000 checksum=1000000"
  clocked 1 himeno-gpu -b null -s XS --block 10 -t 0.05
  figures <<'FIGURES'
sorted(set(round(s, 12) for s in d.result.samples)) = [0.00558]
d.result.gflops = 3.4
d.result.blocks < 0.05 / 0.00858 + 1 = True
FIGURES
  report_has "speed      3.40 GFLOPS, 5.60 GB/s"
}

@test "a rank with a transient slowdown is named with begin and end, and not accepted; a run too short to judge has none" {
  needs_results
  export CLOCK_MACHINE="sweep=5000 $together jitter=0.001 slow@1=1.25 from=20 to=35"
  echo '{"episodes_max": 0}' >policy.json
  for transport in staged p2p; do
    run on 2 "$top_builddir/tests/clock/himeno-gpu" -b null -s XS -p 2x1x1 --block 2 -t 60 -x $transport --accept policy.json --json d.json
    expect_status 5
    report_has "  SLOW ONCE  rank 1 on " "compute was 1.25 times its usual from second " "its device reported no difference" "NOT ACCEPTED: 1 of 1 checks failed"
    figures <<'FIGURES'
[(e.rank, e.of, round(e.slowness, 2)) for e in d.episodes] = [(1, "compute", 1.25)]
[e for e in d.episodes if not 14 < e.end - e.begin < 16] = []
[b for b, sample in enumerate(d.result.samples) if sample > 0.2875] = list(range(d.episodes[0].first_block, d.episodes[0].last_block + 1))
[c.outcome for c in d.result.accept.checks] = ["fail"]
d.series.ends[d.series.blocks.index(d.episodes[0].first_block - 1)] = d.episodes[0].begin
d.series.ends[d.series.blocks.index(d.episodes[0].last_block)] = d.episodes[0].end
1.24 < max(d.series.compute[1]) / min(d.series.compute[1]) < 1.27 and max(d.series.compute[1]) > 1.05 * max(d.series.compute[0]) = True
max(d.series.exchange[1]) < min(d.series.compute[0]) = True
len(d.series.ends) = d.result.blocks
FIGURES
    grep 'SLOW ONCE' <<<"$output" >told
    run --separate-stderr "$judge" d.json --policy policy.json
    expect_status 5
    grep -q '^d.json: himeno-gpu, 2 ranks, .*: fail$' <<<"$output"
    grep 'SLOW ONCE' <<<"$output" | cmp - told
  done
  recorded h200-x2-2026-11/runs.jsonl accept-slow >accept-slow.json
  run --separate-stderr "$judge" accept-slow.json --policy policy.json
  expect_status 2
  grep -A1 'temporary slowdowns .* unknown:' <<<"$output" | grep -q 'needs 3 timed blocks'
  echo '{"episodes_max": 0, "device_noise_max": 0.5}' >policy.json
  clocked 2 himeno-gpu -b null -s XS -p 2x1x1 --block 2 -t 6 -x p2p --accept policy.json
  figures <<'FIGURES'
d.episodes = []
[c.why for c in d.result.accept.checks if c.check == "slow for a while"] = ["needs at least 10 s of blocks"]
FIGURES
}

@test "a soak names a rank that was slow for a while, and a policy does not accept it" {
  export CLOCK_MACHINE="sweep=1000 $together jitter=0.001 slow@1=1.25 from=10 to=25"
  echo '{"episodes_max": 0}' >policy.json
  run on 2 "$top_builddir/tests/clock/himeno-gpu" -b null -s XS -p 2x1x1 --block 10 -x p2p --soak 40 --accept policy.json --json d.json
  expect_status 5
  report_has "  SLOW ONCE  rank 1 on " "compute was 1.25 times its usual from second " "NOT ACCEPTED: 1 of 1 checks failed"
  figures <<'FIGURES'
[(e.rank, e.of, round(e.slowness, 2), 14 < e.end - e.begin < 16, 9 < e.begin < 11) for e in d.episodes] = [(1, "compute", 1.25, True, True)]
d.result.soak.wrong_blocks = 0
FIGURES
}

@test "a stored run is judged by its own telemetry; lines of runs.jsonl are read, and damaged ones are refused in one line" {
  export CLOCK_MACHINE="sweep=1000 $together jitter=0.001 slow@1=1.25 from=20 to=35"
  HIMENO_NULL_DEVICES=2 HIMENO_NVML=$top_builddir/tests/unit/fake_nvml.so clocked 2 himeno-gpu -b null -s XS -p 2x1x1 --block 10 -t 60 -x p2p
  "$PYTHON" - <<'PY'
import copy, json
good = json.load(open("d.json"))
def make(name, change):
    document = copy.deepcopy(good)
    change(document)
    json.dump(document, open(name, "w"))
    return document
def told(document):
    episode, telemetry = document["episodes"][0], document["ranks"][1]["telemetry"]
    assert telemetry["blocks"]["each"] == 1
    for block in range(episode["first_block"], episode["last_block"] + 1):
        telemetry["blocks"]["sm_mhz"][block], telemetry["blocks"]["celsius"][block] = 1400, 91
        telemetry["blocks"]["throttled"][block] = "power cap, thermal"
    telemetry["changes"] += [{"block": episode["last_block"], "of": "nvlink_crc", "from": 0, "to": 7, "detail": ""},
                             {"block": episode["last_block"] + 1, "of": "xids", "from": 0, "to": 1, "detail": ""}]
told = make("told.json", told)
def linked(document):
    series, episode = document["series"], document["episodes"][0]
    for rank in 0, 1:
        series["compute"][rank] = [1e-3] * len(series["ends"])
        series["exchange"][rank] = [4e-5 if episode["first_block"] <= block <= episode["last_block"] else 1e-5 for block in series["blocks"]]
make("linked.json", linked)
with open("runs.jsonl", "w") as lines:
    for name, document in ("first", good), ("other", {"program": "gemm-gpu"}), ("second", told):
        lines.write(json.dumps({"name": name, "command": "himeno-gpu", "document": document}) + "\n")
make("2-none.json", lambda d: d.pop("series"))
make("2-null.json", lambda d: d.update(series=None))
make("3-ends.json", lambda d: d["series"]["ends"].__setitem__(3, "late"))
make("3-blocks.json", lambda d: d["series"]["blocks"].pop())
make("3-many.json", lambda d: [d["series"].__setitem__(key, list(range(257))) for key in ("ends", "blocks")])
make("3-ranks.json", lambda d: d.update(ranks=[]))
make("3-rank.json", lambda d: d["series"]["exchange"].pop())
make("3-short.json", lambda d: d["series"]["compute"][1].pop())
make("3-negative.json", lambda d: d["series"]["compute"][0].__setitem__(0, -1))
open("3-other.json", "w").write('{"name": "other", "document": {"program": "gemm-gpu"}}')
open("3-torn.json", "w").write(json.dumps(good)[:-1])
open("3-more.json", "w").write(json.dumps(good) + "more")
open("3-empty.json", "w").write(" \n")
open("3-deep.json", "w").write("[" * 100000)
PY
  echo '{"episodes_max": 0}' >policy.json
  run --separate-stderr "$judge" --policy policy.json told.json
  expect_status 5
  report_has ", clock 1400 MHz (otherwise 1980), 91 C (otherwise 55), throttled only then (power cap, thermal), nvlink_crc changed"
  run --separate-stderr "$judge" runs.jsonl d.json --policy policy.json
  expect_status 5
  [ "$(sed -n 's/: himeno-gpu, 2 ranks, .*: fail$//p' <<<"$output" | paste -sd,)" = "runs.jsonl first,runs.jsonl second,d.json" ]
  run --separate-stderr "$judge" --policy policy.json linked.json
  expect_status 5
  report_has "; so was its neighbour i+, rank 1 on " "; so was its neighbour i-, rank 0 on " ": exchange was 4.00 times its usual from second "
  mkdir 3-folder
  for file in 2-* 3-* 3-nowhere; do
    run --separate-stderr "$judge" --policy policy.json $file
    expect_status "${file%%-*}"
    [ "$(wc -l <<<"$stderr") $(grep -c -- "$file: \|policy.json: nothing in it could be checked" <<<"$stderr")" = "1 1" ] || { echo "$file: $stderr"; return 1; }
  done
}

@test "a clean soak of two CPUs excludes a rate by the seconds of its sweeps" {
  export CLOCK_MACHINE="sweep=1000 $together checksum=1000000"
  clocked 2 himeno-gpu -b cpu -k wavefront -s XS -p 2x1x1 --block 10 --soak 2 -x p2p
  figures <<'FIGURES'
d.result.soak.power_share, d.phases.interior.max = None, 13.95e-3
round(d.result.soak.device_days * 86400 / d.result.seconds, 9) = 2.0
round(d.result.soak.excluded_per_1000_device_days * d.result.seconds / 129415634.21753241, 9) = 1.0
FIGURES
  report_has "load       unknown: a device reports no power or no power limit"
}

@test "pauses at check points, where 12 sweeps last 20 ms, are in no sample" {
  for sweep in 25 50; do
    export CLOCK_MACHINE="sweep=$sweep ceiling=7 checksum=1000000"
    clocked 1 himeno-gpu -b null -s XS -n 120
    figures <<FIGURES
d.result.checks.timed = $([ $sweep = 50 ] && echo True || echo False)
d.result.seconds = round(120 * 55800 * $sweep * 1e-9, 12)
d.phases.interior.median = round(55800 * $sweep * 1e-9, 12)
d.phases.exposed.max = 0.0
FIGURES
  done
}

@test "a busy host makes no rank slow: run again, unless the policy allows as much noise" {
  local policy='{"device_gflops_min": 1000, "efficiency_min": 2, "stragglers_max": 0}'
  export CLOCK_MACHINE="sweep=10 ceiling=10 $together starved=0.01 starved@1=0.3"
  echo "$policy" >policy.json
  clocked_to 3 2 himeno-gpu -b null -s XS -p 2x1x1 -x staged --block 10 -t 0.02 --accept policy.json
  report_has "WARNING    the host was busy: rank 1 on " " waited for a core for 30.0% of its time" \
    "NOISY" "the host is busy, rank 1 waited 30.0% for a core: run again"
  figures <<'FIGURES'
[r.starved for r in d.ranks] = [0.01, 0.3]
d.result.verdict = "noisy"
{c.check: (c.outcome, c.rank) for c in d.result.accept.checks} = {"device": ("noisy", None), "efficiency": ("noisy", None), "stragglers": ("inapplicable", None)}
FIGURES
  follows result d.json
  echo "${policy%?}, \"noise_max\": 0.3}" >policy.json
  CLOCK_MACHINE=${CLOCK_MACHINE/0.01/0.3} clocked_to 5 2 himeno-gpu -b null -s XS -p 2x1x1 -x staged --block 10 -t 0.02 --accept policy.json
  report_has "the host was busy: rank 0 on "
  CLOCK_MACHINE="sweep=10 ceiling=10 $together starved=0.049"
  echo "$policy" >policy.json
  clocked_to 5 2 himeno-gpu -b null -s XS -p 2x1x1 -x staged --block 10 -t 0.02 --accept policy.json
}

@test "up to a limit blocks are added until their noise is known" {
  local blocks words options
  echo '{"efficiency_min": 0.1}' >noisy.json
  echo '{"devices_unshared": true}' >any.json
  # The time between blocks counts too: 0.2 s in addition to 0.56 s per block.
  while read -r -u 4 blocks words options; do
    export CLOCK_MACHINE="sweep=1000 ceiling=1000 jitter=${words/,/ }"
    clocked 1 himeno-gpu -b null -s XS --block 10 -t 0.5 $options
    figures <<<"d.result.blocks = $blocks"
  done 4<<<"6 0.01 --accept noisy.json
12 0.2 --accept noisy.json
10 0.2,fill=200000000 --accept noisy.json
3 0.2 --accept any.json
1 0.2"
}

@test "every run of ten seconds or more is searched for transient slowdowns" {
  export CLOCK_MACHINE="sweep=1000 ceiling=1000 fill=300000000"
  local options
  echo '{"episodes_max": 0}' >policy.json
  for options in "" "-t 12"; do
    clocked 1 himeno-gpu -b null -s XS --block 10 $options --accept policy.json
    figures <<'FIGURES'
[(c.check, c.outcome) for c in d.result.accept.checks] = [("slow for a while", "pass")]
d.result.seconds < 10 = True
FIGURES
  done
}

@test "the ceiling is measured with both data sets, and memory that compresses is reported" {
  export CLOCK_MACHINE="sweep=10 ceiling=7 dense=1.019"
  for data in standard dense; do
    clocked 1 himeno-gpu -b null -s XS --block 10 -t 0.05 --data $data
    figures <<'FIGURES'
{k: round(v, 4) for k, v in d.result.ceilings.items()} = {"standard": 8.0, "dense": 7.8508}
round(d.result.ceiling_gbps, 4) = 7.8508 if d.config.data == "dense" else 8.0
FIGURES
    ! grep -q compresses <<<"$output" || return 1
  done
  export CLOCK_MACHINE="sweep=10 ceiling=7 dense=1.021"
  clocked 1 himeno-gpu -b null -s XS --block 10 -t 0.05
  report_has "WARNING    the memory compresses data: ceiling 8.00 GB/s with standard data, 7.84 with dense data"
  clocked 1 himeno-gpu -b null -s XS --block 10 -t 0.05 --data dense
  report_has "WARNING    the memory compresses data: ceiling 7.84 GB/s with dense data, 8.00 with standard data"
}

@test "energy is that of sweeps between steps of the counter, without pauses; runs below ten seconds have none" {
  # A sweep of this grid takes as long as one of XS at 100 ns per point, and is computed faster.
  local power="idle=100 load=500 step=500000000 poll=50000000"
  export CLOCK_MACHINE="sweep=681.1523 ceiling=7 fill=200000000 $power"
  clocked 1 himeno-gpu -b null -s 18x18x34 -t 9.9
  figures <<<'d.result.energy = {"joules_per_sweep": None, "gflops_per_watt": None, "idle_watts": None, "devices": 1, "note": "too short"}'
  report_has "energy     unknown: too short"$'\n'
  CLOCK_MACHINE="sweep=681.1523 ceiling=7 step=1e15 poll=1000000" clocked 1 himeno-gpu -b null -s 18x18x34 -t 10 # the counter never changes
  figures <<<'d.result.energy = None'
  # The energy counter lags. It is read only after it includes all earlier sweeps.
  CLOCK_MACHINE="sweep=681.1523 ceiling=7 fill=200000000 idle=100 load=500 step=20000000 poll=1000000 lag=100000000" clocked 1 himeno-gpu -b null -s 18x18x34 -t 10
  figures <<<'100 < d.result.energy.idle_watts < 105 = True'
  CLOCK_MACHINE="sweep=681.1523 ceiling=7 fill=800000000 $power" clocked 1 himeno-gpu -b null -s 18x18x34 -t 10
  report_has "energy     unknown: mostly pauses"
  CLOCK_MACHINE="sweep=681.1523 ceiling=7 fill=20000000 load@1=300 $power" clocked 2 himeno-gpu -b null -s 18x18x34 -p 2x1x1 -n 4000 --verify off
  figures <<'FIGURES'
d.result.energy.idle_watts, d.result.energy.devices = None, 2
abs(d.result.energy.joules_per_sweep / (1000 * 2.79e-3) - 1) < 0.02 = True
FIGURES
  report_has "2 devices (a device by the clock)"$'\n'"             includes the time between blocks"
  CLOCK_MACHINE="sweep=681.1523 ceiling=7 step@0=500000000 poll=50000000 idle=100" clocked 2 himeno-gpu -b null -s 18x18x34 -p 2x1x1 -t 10
  report_has "energy     unknown: not every device has a counter"$'\n'
  # A rank whose counter changes rarely begins later, and still measures ten seconds.
  CLOCK_MACHINE="sweep=681.1523 ceiling=7 fill=20000000 $power step@1=900000000" clocked 2 himeno-gpu -b null -s 18x18x34 -p 2x1x1 -t 10
  figures <<'FIGURES'
d.result.energy.note = ""
min(r.energy.seconds for r in d.ranks) >= 10 = True
FIGURES
}

@test "three sweeps per pass are temporal, and the report says what one pass per sweep would need" {
  export CLOCK_MACHINE="$alone"
  clocked 1 himeno-gpu -b cpu -s XS -k wavefront3 --block 12 -t 0.0215
  figures <<'FIGURES'
[d.result[r] for r in "blocks seconds gflops gbps ceiling_gbps ceiling_share".split()] = [10, 0.02232, 10.2, 16.8, 7.5, 2.24]
d.config["class"] = "temporal"
d.config.T = 3
FIGURES
  report_has "wavefront3 (temporal: 3 sweeps per pass over memory), as requested" "10.20 GFLOPS; one pass over memory per sweep would need 16.80 GB/s"
}

# A pass takes 55.8 us. After twice three passes, 359 last 20 ms; with 4 sweeps each 300 are 1200 sweeps.
@test "a trial's block of fast sweeps lasts 20 ms, or has 1200 sweeps if these are fewer" {
  export CLOCK_MACHINE="sweep=1 ceiling=7"
  clocked 1 himeno-gpu -b cpu -s XS -t 0.01
  figures <<<'[w.seconds for w in d.result.wall if w.phase == "trying kernels"] = [(4 * 6 + 3 * 300 + (3 + 1 + 1) * 359) * 55.8e-6]'
}

@test "during the blocks of a CPU there is a batch of the ceiling every half second" {
  export CLOCK_MACHINE="sweep=10000 ceiling=7 worn=1.142857142857142857"
  clocked 1 himeno-gpu -b cpu -s XS -k reference --block 1 -t 5.3
  figures <<'FIGURES'
[d.result[r] for r in "blocks seconds ceiling_gbps".split()] = [10, 5.58, 7.0]
d.phases.interior.max = 0.558
FIGURES
}

@test "a ladder: each rung by its own blocks in three rounds, of which the first is not timed, and one ceiling" {
  export CLOCK_MACHINE="$alone" LC_ALL=C
  clocked 1 himeno-gpu -b cpu -s XS --ladder --block 12 -t 0.0255
  report_has "ceiling    7.00 GB/s +-0.0%, measured 50 times between the kernels" \
    "reference            3.4  +-0.0%       5.6    80.0%" "wavefront4          13.6  +-0.0%      22.4   320.0%"
  [[ $output != *noisy* ]]
  export CLOCK_MACHINE="sweep=10 sweep@1=13 jitter=0.01 $together"
  clocked 2 himeno-gpu -b null -s XS -p 2x1x1 -x staged --ladder --block 10 -t 0.0169
  figures <<'FIGURES'
d.rungs[0].blocks = 6
d.rungs[0].gflops = 5.05959262438767
d.rungs[0].noise = 0.0215112300714565
d.rungs[0].ceiling_share = 0.5208404172164
FIGURES
  report_has "reference            5.1  +-2.2%" "WARNING    noisy ladder: blocks of reference vary by 2.2%"
}

@test "a ladder's block has as many sweeps as the first one allows, and each is verified" {
  export CLOCK_MACHINE="sweep=10000 ceiling=7"
  clocked 1 himeno-gpu -b cpu -s XS --ladder
  figures <<'FIGURES'
[(r.block, r.blocks, r.verdict, r.verified) for r in d.rungs] = [(1, 3, "pass", "known"), (1, 3, "pass", "known"), (2, 3, "pass", "reference"), (3, 3, "pass", "known"), (4, 3, "pass", "reference")]
[r.gflops for r in d.rungs] = [0.0034, 0.0034, 0.0068, 0.0102, 0.0136]
FIGURES
  export CLOCK_MACHINE="sweep=100 ceiling=7"
  clocked 1 himeno-gpu -b cpu -s 34x35x66 --data dense --ladder
  figures <<<'[(r.block, r.blocks, r.verified) for r in d.rungs] = [(48, 6, "reference"), (48, 6, "reference"), (96, 6, "reference"), (120, 6, "reference"), (120, 6, "reference")]'
}

@test "SIGTERM ends the ladder after its rung, with what it has: exit 8, incomplete" {
  export CLOCK_MACHINE="$alone stop=400000000"
  clocked_to 8 1 himeno-gpu -b cpu -s XS --ladder -t 0.1 --block 10
  report_has "INCOMPLETE: a signal ended the ladder early"
  figures <<'FIGURES'
d.partial = True
[(r.kernel, r.verdict, r.blocks) for r in d.rungs] = [("reference", "pass", 6), ("stream", "pass", 6), ("wavefront", "pass", 1)]
FIGURES
  follows ladder d.json
}

@test "a run that reaches its planned end after a signal is complete; one that it ended has the rates of what it had done" {
  export CLOCK_MACHINE="$alone stop=1000000"
  clocked 1 himeno-gpu -b null -s XS -n 10
  figures <<<'(d.partial, d.result.verdict) = (False, "pass")'
  CLOCK_MACHINE="$alone stop=60000000"
  clocked_to 8 1 himeno-gpu -b null -s XS --block 10 -t 1000
  figures <<'FIGURES'
d.partial = True
d.result.verdict = "incomplete"
d.result.seconds / d.result.blocks = 0.00558
[d.result[r] for r in "gflops ceiling_gbps ceilings".split()] = [3.4, 7.5, None]
d.phases.interior.median = 0.000558
FIGURES
}

@test "if the reference would take longer than 5 s and than the timed part, a shorter block is compared, before those that are timed" {
  export CLOCK_MACHINE="sweep=50000"
  clocked 1 himeno-gpu -b null -k reference -s 24x24x40 --data dense -n 10
  figures <<'FIGURES'
d.result.verified = "reference"
d.result.seconds = 9.196
d.config.sweeps = 10
FIGURES
  report_has "PASS: the first 4 of 10 sweeps equal those of the CPUs; all blocks are alike"
  clocked 1 himeno-gpu -b null -k reference -s 24x24x40 --data dense --block 10 -t 8
  report_has "PASS: the first 7 of 10 sweeps equal"
  CLOCK_MACHINE="sweep=100000" clocked 1 himeno-gpu -b cpu -k wavefront4 -s 24x24x40 --data dense -n 24 # one pass at least
  report_has "PASS: the first 4 of 24 sweeps equal"
  clocked 1 himeno-gpu -b null -k reference -s 24x24x40 --data dense -n 10 --verify full
  report_has "PASS: all results match the checksum that the CPUs computed"
  CLOCK_MACHINE="sweep=200000" clocked 1 himeno-gpu -b null -k reference -s 24x24x40 --official
  report_has "PASS: the rehearsal has" # the rehearsal has three sweeps, however long they take
  HIMENO_FLIP="p 5,6,7 22 2" run on 1 "$top_builddir/tests/clock/himeno-gpu" -b null -k reference -s 24x24x40 --data dense -n 10
  expect_status 4
  [[ $output == *"check block: "*" after 4 sweeps, must be "*"(reference value)"* ]]
}

# progress LINE...: standard error must have these lines, and no others.
progress() { diff <(printf '%s\n' "$@") <(sed 's/^ *//' <<<"$stderr"); }

@test "standard error shows progress from three seconds on: one rank of all, and none with --quiet" {
  export CLOCK_MACHINE="sweep=10000 begin=1000"
  clocked 1 himeno-gpu -b null -s XS --block 10 -t 20
  progress "about 23 s expected" "verifying, 17 s left" "timing, 15 s left" "timing, 9 s left, 1 block, 0.0034 GFLOPS" \
    "timing, 4 s left, 2 blocks, 0.0034 GFLOPS" "timing, 2 s longer than expected, 3 blocks, 0.0034 GFLOPS"
  clocked 2 himeno-gpu -b null -s 34x35x66 --data dense -p 2x1x1 -x staged -n 24
  grep -qx " *computing the reference result, 13 sweeps on the CPUs, for [0-9]* s" <<<"$stderr"
  grep -qx "  verifying, for [0-9]* s" <<<"$stderr"
  [ "$(sort <<<"$stderr" | uniq -d)" = "" ]
  CLOCK_MACHINE="sweep=4000" clocked 1 himeno-gpu -b null --ladder -s 18x18x34 -t 9
  grep -qx " *about 10 s expected" <<<"$stderr"
  grep -qx "  rung 1 of 1, round 3 of 3, reference: verifying, 6 s left" <<<"$stderr"
  for options in "-n 1" "--block 10 -t 20 --quiet"; do
    clocked 1 himeno-gpu -b null -s XS $options
    [ "$stderr" = "" ]
  done
  HIMENO_QUIET=1 clocked 1 himeno-gpu -b null -s XS --block 10 -t 20
  [ "$stderr" = "" ]
}

@test "a long run reports less and less often" {
  export CLOCK_MACHINE="sweep=600000"
  clocked 1 himeno-gpu -b null -s 18x18x34 --block 1 -t 6000
  lines=$(wc -l <<<"$stderr")
  [[ $lines -gt 50 && $lines -lt 110 && $stderr == 'about 1.7 h expected'*' 99 min left'*'  timing, 5 min left, 1161 blocks, '* ]]
}

@test "on a terminal one line changes in place, and is gone before anything else is written" {
  cat >terminal.py <<'PY'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
printed = b""
try:
    while more := os.read(terminal, 4096):
        printed += more
except OSError:
    pass
os.waitpid(pid, 0)
print("\n".join(part.rstrip(" ") for part in printed.decode().replace("\r\n", "\n").split("\r")))
PY
  CLOCK_MACHINE="sweep=10000" run "$PYTHON" terminal.py "$top_builddir/tests/clock/himeno-gpu" -b null -s XS --block 10 -t 10 --accept --no-tune
  # The progress line is cleared before a warning, the expected time and the report.
  [ "$(sed '/^himeno-gpu [0-9]/,$d' <<<"$output" | tr '\n' '|')" = "|  finding devices||himeno-gpu: warning: --no-tune: ignored, not \
read by --accept||  choosing the grid||  about 12 s expected||  preparing, kernel reference, 12 s left|  measuring the ceiling, \
12 s left|  verifying, 12 s left|  verifying, 6 s left|  measuring idle power, 6 s left|  timing, 10 s left|  timing, 5 s left|  \
timing, 1 s longer than expected, 1 block, 0.0034 GFLOPS|  timing, 6 s longer than expected, 2 blocks, 0.0034 GFLOPS|  measuring \
the ceiling, 6 s longer than expected||" ] || { echo "$output"; return 1; }
}
