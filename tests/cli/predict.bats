# SPDX-License-Identifier: MIT
# himeno-predict: from real runs to a prediction, the report of 2009, and bad input.
load ../helper
bats_require_minimum_version 1.5.0

predict=$top_builddir/himeno-predict
export OMP_NUM_THREADS=1

# A study by the virtual clock, whose figures do not depend on this machine. Its messages play those through shared memory, which has no
# time there.
setup_file() {
  [ "$HAVE_CMINPACK" = 1 ] || return 0
  export measured=$BATS_FILE_TMPDIR
  local CLOCK_MACHINE="sweep=1 jitter=0.002 fill=1000 checksum=1000 latency=2000 link=0.3 reduce=1000 barrier=1000"
  export CLOCK_MACHINE
  mkdir "$measured/study"
  for size in 28x28x56 XS 40x40x80 S; do
    for ranks in 1 2 3; do
      on $ranks "$top_builddir/tests/clock/himeno-gpu" -b cpu -k stream -x staged -s $size -t 0.02 --block 10 -p ${ranks}x1x1 \
        --json "$measured/study/$size-$ranks.json" >/dev/null
    done
  done
  on 2 "$himeno" -b cpu -k reference -s XS -n 2 --json "$measured/study/other-kernel.json" >/dev/null
  echo '{"schema": "other/1"}' >"$measured/study/other.json"
  on 2 "$top_builddir/tests/clock/comm-gpu" -b cpu --parts pairs -x staged --samples 3 --max 8M --json "$measured/paths.json" >/dev/null
  sed -i 's/"handover": "MPI"/"handover": "shared memory"/' "$measured"/study/*-[123].json "$measured/paths.json"
}

setup() {
  [ "$HAVE_CMINPACK" = 1 ] || skip "himeno-predict was not built: no cminpack"
  cd "$BATS_TEST_TMPDIR"
}

from_study() { "$predict" --study "$measured/study" --comm "$measured/paths.json" "$@"; }

# Of recorded runs the figures count, and not what else runs for them.
for_figures() { without_sanitizers "figures are the same without sanitizers"; }

follows_schema() { has_jsonschema && follows predict "$1"; }

@test "a real study becomes predictions with interval, limit, ends and validation" {
  run --separate-stderr from_study -n 1,2,4 -p auto --json p.json
  expect_status 0
  for word in 'Strong scaling by staged' 'Weak scaling by staged' 'Where strong scaling ends' 'left out of the fit' 'extrapolated'; do
    [[ $output == *"$word"* ]] || { echo "no $word in: $output"; return 1; }
  done
  follows_schema p.json
  [ "$(json p.json 'd["config"]["runs"], sorted(x["as"] for x in d["config"]["left_out"]), d["config"]["kernel"]')" = "12 ['kind', 'no run'] stream" ]
  [ "$(json p.json 'all(q["low"] < q["seconds"] < q["high"] for q in d["predictions"] if "seconds" in q)')" = True ]
  [ "$(json p.json 'sorted({v["kind"] for v in d["validation"]["pairs"]})')" = "['cut', 'ranks', 'size']" ]
}

@test "terms add up to the time, and rates follow from it" {
  from_study -s S -n 2 --scaling strong --json p.json >/dev/null
  [ "$(json p.json 'all(abs(max(t["interior"], t["exchange_latency"] + t["exchange_bytes"]) + t["boundary"] + t["synchronisation"] + t["reduction"] - q["seconds"]) < 1e-9 * q["seconds"] for q in d["predictions"] for t in [q["terms"]])')" = True ]
  [ "$(json p.json 'all(abs(q["gflops"] * q["seconds"] * 1e9 / (62*62*126*34) - 1) < 1e-9 for q in d["predictions"])')" = True ]
  [ "$(json p.json 'all(abs(q[rate] * q[time] / (q["gflops"] * q["seconds"]) - 1) < 1e-9 for q in d["predictions"] for rate, time in (("gflops_low", "high"), ("gflops_high", "low")))')" = True ]
  from_study -s S -n 1,2 --json p.json >/dev/null
  [ "$(json p.json 'all(abs(q["efficiency"] * q["seconds"] * (q["ranks"] if q["scaling"] == "strong" else 1) / d["predictions"][0]["seconds"] - 1) < 1e-9 for q in d["predictions"])')" = True ]
}

@test "options that a model or a check never reads are named, and a model answers for its own kernel only" {
  needs_results
  from_study -s S -n 2 --json p.json >/dev/null
  run --separate-stderr "$predict" --model p.json -k stream --fit-ranks 2 -s S -n 2 --json q.json
  expect_status 0
  [ "$stderr" = "himeno-predict: warning: --fit-ranks: ignored, not read by --model" ]
  [ "$("$PYTHON" -c 'import json; print(json.load(open("p.json"))["ignored"], json.load(open("q.json"))["ignored"])')" = "[] ['--fit-ranks']" ]
  run --separate-stderr "$predict" --model p.json -k temporal2 -s S -n 2
  expect_status 2
  [ "$stderr" = "himeno-predict: --kernel temporal2: p.json is a model of stream" ]
  local recorded=$top_srcdir/doc/results/h200-x4-2026-11
  "$predict" --study "$recorded/runs.jsonl" --comm "$recorded/paths.json" -n 2 --json sealed.json >/dev/null
  run --separate-stderr "$predict" --check sealed.json --against "$recorded/runs.jsonl" --kernel stream --within 1000 -s S -n 2 --scaling weak --fit-ranks 2 \
    -x staged -p auto --per-host 2 --compute-time 2 --exchange-time 2
  expect_status 0
  [ "$stderr" = "himeno-predict: warning: --size, --ranks, --scaling, --fit-ranks, --transport, --procs, --per-host, --compute-time, --exchange-time: ignored, \
not read by --check" ]
}

@test "a model that was written predicts the same without its study, and tells as much of its intervals, as its stored predictions do" {
  from_study -s S -n 2 --json p.json >told
  "$predict" --model p.json -s S -n 2 --json q.json >again
  "$predict" --check p.json --against "$measured/study" >checked
  "$PYTHON" - <<'PY'
import json, re
pairs = [p for p in json.load(open("p.json"))["validation"]["pairs"] if p["inside"] is not None]
groups = {"all": pairs, "1 host": pairs, "one rank": [p for p in pairs if p["ranks"] == 1], "staged": [p for p in pairs if p["ranks"] > 1]}
groups |= {kind: [p for p in pairs if p["kind"] == kind] for kind in ("ranks", "size", "cut")}
wanted = sorted(f"{of} {sum(p['inside'] for p in some)} of {len(some)}" for of, some in groups.items() if some)
for name in "told", "again", "checked":
    line = re.search(r"intervals  (\d+ of \d+) predictions of left-out runs lie inside their 90% interval\n +left out by (.*);\n +of all (.*)", open(name).read())
    assert sorted(["all " + line[1], *line[2].replace("division", "cut").split(", "), *line[3].split(", ")]) == wanted, (name, line[0], wanted)
PY
  "$PYTHON" - <<'PY'
import json
a, b = ([(q["seconds"], q["low"], q["high"]) for q in json.load(open(path))["predictions"]] for path in ("p.json", "q.json"))
assert len(a) == len(b) == 2
assert all(abs(x - y) <= 1e-6 * y for one, other in zip(a, b) for x, y in zip(one, other)), (a, b)
PY
}

@test "stored predictions are compared with the runs that came after" {
  from_study --fit-ranks 2 -n 2,3 -p auto --json stored.json >/dev/null
  run "$predict" --check stored.json --against "$measured/study"
  expect_status 0
  [[ $output == *"predicted  stored.json"*"predicted, median error"* ]]
}

@test "a study may be lines of one file; what is torn there, or has no name, is refused with its line" {
  needs_results
  local recorded=$top_srcdir/doc/results/h200-x4-2026-11 which
  mkdir runs
  recorded h200-x4-2026-11/runs.jsonl '*' runs/
  cp "$recorded/runs.jsonl" .
  for which in runs runs.jsonl; do "$predict" --study $which --comm "$recorded/paths.json" -s L -n 4 --against $which --json of_$which.json >/dev/null; done
  "$PYTHON" -c 'import json; a, b = (json.load(open(f"of_{name}.json")) for name in ("runs", "runs.jsonl"))
assert a["predictions"] == b["predictions"] and len(a["against"]["pairs"]) == len(b["against"]["pairs"]) == 55'
  refuses() {
    run "$predict" --study "$1" --comm "$recorded/paths.json" -s L -n 4
    expect_status "$2"
    [[ $output == *"$1: line 2 $3"* ]]
  }
  { head -n 1 runs.jsonl; echo '{"name": "torn", "docu'; } >torn.jsonl
  refuses torn.jsonl 3 'is no JSON document: '
  { head -n 1 runs.jsonl; echo '{"schema": "himeno-gpu/2"}'; } >bare.jsonl
  refuses bare.jsonl 2 'has no document with a name'
  run "$predict" --study runs.jsonl --comm "$recorded/paths.json" -s L -n 4 --json runs.jsonl
  expect_status 2
  cmp "$recorded/runs.jsonl" runs.jsonl
}

@test "errors beyond --within are exit 5" {
  needs_results
  local recorded=$top_srcdir/doc/results/h200-x4-2026-11
  run "$predict" --study "$recorded/runs.jsonl" --comm "$recorded/paths.json" -s L -n 2 --against "$recorded/runs.jsonl" --within 50
  expect_status 0
  run "$predict" --study "$recorded/runs.jsonl" --comm "$recorded/paths.json" -s L -n 2 --against "$recorded/runs.jsonl" --within 0.01
  expect_status 5
  [[ $output == *"more than the 0.01% that --within allows"* ]]
}

@test "the report of 2009: 25.4 GFLOPS on its cluster, and 170 to 178 with GPUs in it" {
  report() { "$predict" --model "$top_srcdir/doc/report-2009.json" -s L -n 1,4 -p 4x1x1 --scaling strong "$@" --json r.json >/dev/null; }
  report
  [ "$(json r.json '[round(q["gflops"], 1) for q in d["predictions"]]')" = "[6.6, 25.4]" ] # measured: 6.5 and 25.5
  [ "$(json r.json 'round(1e3 * d["predictions"][1]["seconds"], 3)')" = 44.0 ]
  report --compute-time 0.1 --exchange-time 2
  [ "$(json r.json 'round(d["predictions"][1]["gflops"])')" = 178 ]
  report --compute-time 0.1 --exchange-time 2.3
  [ "$(json r.json 'round(d["predictions"][1]["gflops"]), d["predictions"][1]["limit"], d["predictions"][1]["low"]')" = "170 interior None" ]
  follows_schema r.json
}

# errors_of STUDY TRANSPORTS WHAT: of the errors beside the runs on four, in order.
errors_of() {
  run "$predict" --study "$1/runs.jsonl" --comm "$1/paths.json" --include unverified --fit-ranks 3 -n 4 -p 4x1x1 --against "$1/runs.jsonl" --json four.json
  expect_status 0
  json four.json "(lambda e: $3)(sorted(abs(q['error']) for q in d['against']['pairs'] if q['ranks'] == 4 and q['predicted'] and q['transport'] in $2))"
}

@test "four H200 are predicted from one to three, as recorded, S to XL: p2p within 8%, half of all within 5%" {
  needs_results
  for_figures
  recorded=$top_srcdir/doc/results/h200-x4-2026-11
  [ "$(errors_of "$recorded" "('p2p', 'staged')" "(len(e), e[12] < 0.05)")" = "(24, True)" ]
  [ "$(errors_of "$recorded" "('p2p',)" "(len(e), e[-1] < 0.08)")" = "(12, True)" ]
}

@test "and with two runs of each configuration: p2p within 7%, staged within 18%, half of all within 2.5%" {
  needs_results
  for_figures
  recorded=$top_srcdir/doc/results/h200-x4-2026-11/repeated
  [ "$(errors_of "$recorded" "('p2p', 'staged')" "(len(e), e[32] < 0.025)")" = "(64, True)" ]
  [ "$(errors_of "$recorded" "('p2p',)" "(len(e), e[-1] < 0.07)")" = "(32, True)" ]
  [ "$(errors_of "$recorded" "('staged',)" "(len(e), e[-1] < 0.18)")" = "(32, True)" ]
}

@test "four H100 from one to three, as recorded, with one sweep a pass and with four: by p2p half within 2% and 9 of 10 within 8%, by staged 4% and 12%" {
  needs_results
  for_figures
  local later=$top_srcdir/doc/results/h100-x4-2026-11/later kernel
  for kernel in stream temporal4; do
    "$predict" --study "$later/runs.jsonl" --comm "$later/paths.json" --fit-ranks 3 -k $kernel -s S -n 4 --against "$later/runs.jsonl" --json $kernel.json >/dev/null
  done
  "$PYTHON" - <<'END'
import json
for way, half, most in ("p2p", 0.02, 0.08), ("staged", 0.04, 0.12):
    pairs = [q for kernel in ("stream", "temporal4") for q in json.load(open(f"{kernel}.json"))["against"]["pairs"] if q["ranks"] == 4 and q["transport"] == way]
    errors = sorted(abs(q["error"]) for q in pairs if q["predicted"])
    assert len(errors) == 20 and (errors[9] + errors[10]) / 2 < half and errors[17] < most, (way, errors)
    assert sum(q["inside"] for q in pairs) > 17, way
END
}

@test "eight H200 from one to four, as recorded: by p2p half within 2% and all within 6%, by staged half within 4% and 14 of 16 within 9%" {
  needs_results
  for_figures
  recorded=$top_srcdir/doc/results/h200-x8-2026-11
  run "$predict" --study "$recorded/runs.jsonl" --comm "$recorded/paths.json" --include unverified --fit-ranks 4 -n 8 -p 8x1x1 --against "$recorded/runs.jsonl" --json eight.json
  expect_status 0
  errors() { json eight.json "(lambda e: ($2))(sorted(abs(q['error']) for q in d['against']['pairs'] if q['ranks'] == 8 and q['predicted'] and q['transport'] == '$1'))"; }
  [ "$(errors p2p 'len(e), e[7] < 0.02, e[15] < 0.06')" = "(16, True, True)" ]
  [ "$(errors staged 'len(e), e[7] < 0.04, e[13] < 0.09')" = "(16, True, True)" ]
  [ "$(json eight.json "sum(q['inside'] for q in d['against']['pairs'] if q['ranks'] == 8)")" = 32 ]
  [ "$(json eight.json 'd["model"]["tile_points"]')" = 256.0 ]
  follows_schema eight.json
}

@test "one GPU predicts two, as sealed: with what its paths let guess, which the report tells, and of the kernel that was sealed" {
  needs_results
  local sealed=$top_srcdir/doc/results/two-sealed-2026-11 results=$top_srcdir/doc/results kernel
  grep -E '"name": "(one-|bare-1)' "$results/h100-x2-2026-11/runs.jsonl" >one.jsonl
  grep -E '"name": "(two-(M|L|XL)-|strong-.*-(p2p|staged)-auto)' "$results/h100-x2-2026-11/runs.jsonl" >two.jsonl
  for kernel in stream temporal4; do
    run "$predict" --study one.jsonl -k $kernel --fit-ranks 1 --comm "$sealed/paths.json" -s M,L,XL -n 2 -p 2x1x1 --per-host 2 --scaling strong --json again.json
    expect_status 0
    [[ $output == *"up to 1 rank on 1 host"*"only estimated, from comm-gpu's measurements"*"sweep = max(interior, exchange) + reduction + $([ $kernel = stream ] || echo "boundary + ")synchronisation"$'\n'* ]]
    "$PYTHON" - again.json "$sealed/h100-$kernel.json" <<'END'
import json, sys
a, b = ({(p["size"], p["transport"]): p["seconds"] for p in json.load(open(f))["predictions"]} for f in sys.argv[1:])
of = [k for k in a if k[1] == "p2p"]  # by staged the sealed model had no term for what no sweep hides
assert a.keys() == b.keys() and len(of) == 3 and all(abs(a[k] / b[k] - 1) < (0.01 if "stream" in sys.argv[2] else 0.05) for k in of), (a, b)
END
    run "$predict" --check "$sealed/h100-$kernel.json" --against two.jsonl
    expect_status 0
    [[ $output != *"outside its interval"* && $output == *"kernel $([ $kernel = stream ] && echo temporal4 || echo stream), backend cuda"* ]]
  done
}

@test "two GPUs from one, measured later: the log's table is what the seals say" {
  needs_results
  local sealed=$top_srcdir/doc/results/two-sealed-2026-11 kernel
  grep '"name": "seal-' "$top_srcdir/doc/results/h100-x2-2026-11-later/runs.jsonl" >later.jsonl
  for kernel in stream temporal4; do
    "$predict" --check "$sealed/h100-$kernel.json" --against later.jsonl >$kernel
    run ! grep outside $kernel
  done
  "$PYTHON" - "$top_srcdir/doc/prediction-log.md" <<'END'
import re, sys
log = open(sys.argv[1]).read()
rows = re.findall(r"^\| (M|L|XL) \| (\S+)% \| (\S+)% \| (\S+)% \| (\S+)% \|$", log, re.M)
off = {(kernel, size, way): float(error) for kernel in ("stream", "temporal4")
       for size, way, error in re.findall(r"^ +(\S+) +strong +2 +2x1x1 +(\S+) .* ([-+][\d.]+)%$", open(kernel).read(), re.M)}
ways = [(kernel, way) for kernel in ("stream", "temporal4") for way in ("p2p", "staged")]
assert len(rows) == 3 and len(off) == 12, (rows, off)
for size, *shown in rows:
    assert [float(one.replace("−", "-")) for one in shown] == [off[kernel, size, way] for kernel, way in ways], (size, shown)
END
}

@test "each stored run outside its interval stands in the log, with what was found" {
  needs_results
  for_figures
  local results=$top_srcdir/doc/results name of keep n=0
  while read -r name of; do
    for keep in "" "--include unverified,machines"; do
      "$predict" --study "$results/$of/runs.jsonl" --comm "$results/$of/paths.json" $keep -s L -n 1 --scaling strong --json "$name-$((n++ % 2)).json" >/dev/null
    done
  done <<'END'
first h200-x4-2026-11
repeated h200-x4-2026-11/repeated
eight h200-x8-2026-11
hosts hosts-x8-2026-11
END
  "$PYTHON" - "$top_srcdir/doc/prediction-log.md" <<'END'
import json, re, sys
chapter = open(sys.argv[1]).read().split("### Each run outside its interval")[1].split("\n### ")[0]
told, study = [], None
for row in re.findall(r"^\|(.*)\|$", chapter, re.M):
    cells = [cell.strip().replace("`", "") for cell in row.split("|")]
    study = cells[0].removeprefix("four ") or study
    told.append((study, cells[1], cells[3]))
def stands(name, pair):
    cut = "one rank" if pair["ranks"] == 1 else "x".join(map(str, pair["procs"]))
    words = {pair["size"], cut} | ({pair["transport"]} if pair["ranks"] > 1 and name != "hosts" else set())
    return any(name == study and found and all(re.search(rf"\b{word}\b", run) for word in words) for study, run, found in told)
runs = set()
for name in "first", "repeated", "eight", "hosts":
    for kept in 0, 1:
        for pair in json.load(open(f"{name}-{kept}.json"))["validation"]["pairs"]:
            # another processor may round what is at the very edge to its other side
            if pair["predicted"] and not 0.999 * pair["low"] < pair["measured"] < 1.001 * pair["high"]:
                runs.add((name, pair["measured"]))
                assert stands(name, pair), (name, pair)
assert len(runs) > 30, len(runs)
END
}

@test "four and eight H200 beside what was predicted before: as recorded" {
  needs_results
  for_figures
  local sealed results=$top_srcdir/doc/results
  for sealed in "$results"/h200-x8-2026-11/sealed/{8x1x1,2x2x2} "$results"/h200-x4-2026-11{,/repeated}/sealed/{4x1x1,2x2x1}; do
    run "$predict" --check "$sealed.json" --against "${sealed%/sealed/*}/runs.jsonl"
    expect_status 0
    [[ $output == *"$(grep "median error" "$sealed.txt")"* ]]
  done
}

@test "six and eight hosts from one, two and four, as sealed and recorded: half within 10%, all in their intervals" {
  needs_results
  for_figures
  local cut recorded=$top_srcdir/doc/results/hosts-x8-2026-11
  for cut in 6x1x1 8x1x1; do
    run "$predict" --check "$recorded/sealed/$cut.json" --against "$recorded/later.jsonl"
    expect_status 0
    [[ $output == *"8 of 8 predicted, median error "[0-9].[0-9]"%"* && $output != *outside* ]]
  done
  "$predict" --study "$recorded/runs.jsonl" --comm "$recorded/paths.json" --per-host 1 -n 8 -p 8x1x1 --against "$recorded/later.jsonl" --json hosts.json >/dev/null
  [ "$(json hosts.json '(lambda e: (len(e), e[8] < 0.05, e[15] < 0.2))(sorted(abs(q["error"]) for q in d["against"]["pairs"]))')" = "(16, True, True)" ]
  [ "$(json hosts.json 'd["model"]["per_host"], d["model"]["hosts_most"], d["config"]["left_aside"], d["config"]["between"]')" = "1 4 0 None" ]
}

@test "what a fit should not believe is left out and named, with its file, until it is asked for" {
  needs_results
  local recorded=$top_srcdir/doc/results/h200-x4-2026-11
  mkdir runs
  recorded h200-x4-2026-11/runs.jsonl '*' runs/
  "$PYTHON" - <<'END'
import json
def changed(name, how):
    path = f"runs/{name}.json"
    with open(path) as file:
        d = json.load(file)
    how(d)
    with open(path, "w") as file:
        json.dump(d, file)
def times(d, factor):
    d["result"]["samples"] = [factor * one for one in d["result"]["samples"]]
def ranks(d, **what):
    for rank in d["ranks"]:
        rank.update(what)
changed("strong-M-2-p2p-2x1x1", lambda d: times(d, 0.1))
changed("strong-L-3-staged-3x1x1", lambda d: times(d, 2))
changed("strong-S-4-p2p-2x2x1", lambda d: ranks(d, host="other"))
changed("strong-S-4-staged-2x2x1", lambda d: ranks(d, driver="driver 1.2"))
changed("strong-M-4-p2p-4x1x1", lambda d: d["ranks"][0].update(uuid="GPU-of-another-vm"))
changed("strong-M-4-staged-4x1x1", lambda d: ranks(d, device="NVIDIA H100"))
changed("weak-M-3-p2p-3x1x1", lambda d: d["result"].update(checksum="0" * 16, verified="no"))
changed("strong-XL-2-staged-2x1x1", lambda d: [path.update(handover="shared memory", handover_why="on one host") for path in d["paths"]])
with open("runs/strong-L-1-none-1x1x1.json") as one, open("runs/strong-L-1-again.json", "w") as other:
    other.write(one.read().replace("2026-", "2025-"))
END
  run "$predict" --study runs --comm "$recorded/paths.json" -s L -n 2 --json p.json
  expect_status 0
  while IFS='|' read -r file why; do
    grep -Eq "    runs/$file.json: .*$why" <<<"$output" || { printf '%s\nnames no %s: %s\n' "$output" "$file" "$why"; return 1; }
  done <<'END'
strong-M-2-p2p-2x1x1|off by .* times their spread
strong-L-3-staged-3x1x1|off by
strong-S-4-p2p-2x2x1|began on host other, but most runs on vm
strong-S-4-staged-2x2x1|driver 1.2, but most runs' is driver 580
strong-M-4-p2p-4x1x1|another machine named vm: .* GPU-of-another-vm
strong-M-4-staged-4x1x1|NVIDIA H100
strong-18x64x128-1-none-1x1x1|its result was not verified
weak-M-3-p2p-3x1x1|its bits are not those of runs/weak-M-3-staged-3x1x1.json
strong-XL-2-staged-2x1x1|staged through shared memory; the others by MPI alone
strong-L-1-none-1x1x1|the same run as runs/strong-L-1-again.json
END
  [ "$(json p.json 'd["config"]["left_aside"], d["config"]["runs"], [path["staging"] for path in d["model"]["paths"]]')" = "13 43 [None, 'by MPI alone, as before shared memory']" ]
  follows_schema p.json
  "$predict" --study runs --comm "$recorded/paths.json" -s L -n 2 --include unverified,machines,duplicates,outliers --json p.json >/dev/null
  [ "$(json p.json 'sorted(l["as"] for l in d["config"]["left_out"])')" = "['kind', 'staging']" ]
}

@test "a wrong run moves no prediction; where too little is left the reader is told what was there" {
  needs_results
  local recorded=$top_srcdir/doc/results/h200-x4-2026-11 which
  mkdir right wrong
  recorded h200-x4-2026-11/runs.jsonl '*' right/
  rm right/strong-XL-3-p2p-*.json
  recorded h200-x4-2026-11/runs.jsonl '*' wrong/
  sed -i 's/"block": 120/"block": 1200/' wrong/strong-XL-3-p2p-*.json # ten times as fast as it was
  for which in right wrong; do "$predict" --study $which --comm "$recorded/paths.json" -s S,XL -n 4 --json $which.json >/dev/null; done
  "$PYTHON" -c 'import json; a, b = (json.load(open(f))["predictions"] for f in ("right.json", "wrong.json")); assert a == b'
  mkdir few
  cp right/strong-[SML]-1-*.json right/strong-S-2-p2p-2*.json few
  sed -i 's/"host": "vm"/"host": "other"/' few/*-2-*.json
  run "$predict" --study few --comm "$recorded/paths.json" -s S -n 2
  expect_status 3
  [[ $output == *"too little to predict from: 3 runs"*"warning: 1 run was left out (machines), few/strong-S-2-p2p-2x1x1.json: began on host other"*"--include machines"* ]]
}

@test "paths and runs staged in different ways are no one study, nor is a model set beside the others" {
  "$PYTHON" - "$measured" <<'END'
import json, os, sys
os.mkdir("old")
def of_before(d, key):
    for path in d[key]:
        for name in ("handover", "handover_why"):
            path.pop(name, None)
    return d
for name in ("XS-1", "XS-2", "S-1", "S-2", "S-3"):
    with open(f"{sys.argv[1]}/study/{name}.json") as file, open(f"old/{name}.json", "w") as old:
        json.dump(of_before(json.load(file), "paths"), old)
END
  run "$predict" --study old --comm "$measured/paths.json" -s XS -n 4
  expect_status 3
  [[ $output == *"old/"*" has halos staged by MPI alone, as before shared memory, but comm-gpu's document is of halos staged through shared memory"* ]]
  from_study -s XS -n 2 --json sealed.json --against old >against
  grep -q "    old/S-2.json: staged by MPI alone" against
  mkdir fell # a pair of one host that fell back
  sed 's/"handover": *"shared memory"/"handover": "MPI"/g' "$measured/study/S-2.json" >fell/S-2.json
  from_study -s XS -n 2 --json fallen.json --against fell >against
  grep -q "    fell/S-2.json: staged by MPI alone" against
  run "$predict" --check sealed.json --against old
  [[ $output == *"    old/S-2.json: staged by MPI alone"* || $output == *"none of the "*" runs was predicted"* ]]
}

@test "ranks beyond a host need a path between hosts: measured, or given" {
  needs_results
  local eight=$top_srcdir/doc/results/h200-x8-2026-11
  eight() { "$predict" --study "$eight/runs.jsonl" --comm "$eight/paths.json" --include machines -s XL --scaling strong "$@"; }
  run eight -x p2p -n 4096
  expect_status 3
  [[ $output == *"256 hosts, but the path between hosts by staged was never measured"* ]]
  eight -n 8,512 --per-host 8 --network 5,20 --json given.json >/dev/null
  follows_schema given.json
  [ "$(json given.json 'd["config"]["between"]')" = "{'latency_seconds': 5e-06, 'bytes_per_second': 20000000000.0}" ]
  # by p2p a sweep between hosts has the latency of staged, and is never as short as within one host
  [ "$(json given.json '[q["seconds"] > 2e-5 for q in d["predictions"] if q["ranks"] == 512]')" = "[True, True]" ]
  "$predict" --model given.json -s XL -n 512 --scaling strong --per-host 8 --network 500,20 --json far.json >/dev/null
  [ "$(json far.json 'min(q["seconds"] for q in d["predictions"]) > 3e-4')" = True ]
}

@test "the page on a cluster of 512 nodes: its commands print what it shows" {
  needs_results
  ln -s "$top_srcdir/doc" doc
  "$PYTHON" - "$predict" <<'END'
import re, subprocess, sys
number = re.compile(r"[-+]?\d+\.?\d*")
def same(shown, printed):
    """Words as they are; numbers as another processor may round a fit."""
    pairs = [[float(one) for one in number.findall(line)] for line in (shown, printed)]
    return number.sub("#", shown).split() == number.sub("#", printed).split() and all(
        abs(a - b) <= 0.02 * abs(a) + 0.2 for a, b in zip(*pairs))
shown = 0
page = open("doc/cluster-512.md").read()
printed = None
for block in page.split("\n\n"):
    lines = block.strip("\n").split("\n")
    if lines[0].startswith("    himeno-predict "):
        words = lines[0].split()
        printed = subprocess.run([sys.argv[1], *words[1:]], check=True, capture_output=True, text=True).stdout.splitlines()
    elif lines[0].startswith("    ") and printed:
        for line in lines:
            assert any(same(line.strip(), one.strip()) for one in printed), line
            shown += 1
assert shown == 38, shown
for row in re.findall(r"^\| (\d) GPUs, (\S+) \| (\S+) \| (\S+), (\S+)% \|", page, re.M):
    words = f"--model cluster.json --per-host 8 -s XL -x p2p --scaling strong -n {row[0]} -p {row[1]} --sweeps-per-pass 4 --compute-time 0.452".split()
    printed = subprocess.run([sys.argv[1], *words], check=True, capture_output=True, text=True).stdout
    seconds = float(re.search(r"^  XL +\d +\S+ +(\S+)", printed, re.M)[1])
    assert abs(seconds / float(row[3]) - 1) < 0.01 and abs(float(row[3]) / float(row[2]) - 1 - float(row[4].replace("−", "-")) / 100) < 0.001, row
    shown += 1
assert shown == 42, shown
END
}

# products_made: of one product of two ranks that was, a study on one to four ranks and later ones on eight, whose times are made up: 1 us a
# launch, 10 ps a multiply-add, 20 us a step, 5 GB/s, and 1% of noise. truth.json has them without.
products_made() {
  on 2 "$top_builddir/gemm-gpu" --distributed -b cpu -k simd -x staged -s 64 -t 0.05 --json product.json >/dev/null
  mkdir study later
  "$PYTHON" - "$measured/paths.json" <<'END'
import copy, json, random, sys
noise, truth = random.Random(7), {}
with open("product.json") as file:
    one = json.load(file)
with open(sys.argv[1]) as file:
    paths = json.load(file)
for pair in paths["pairs"]:
    pair["fit"] = {**(pair["fit"] or {"residual": 0}), "latency_seconds": 2.2e-5, "bytes_per_second": 4.6e9}
with open("paths.json", "w") as file:
    json.dump(paths, file)
def make(folder, size, p, q, weak):
    m, n, k = (size[0] * p, size[1] * q, size[2]) if weak else size
    width = min(k, 256)  # gemm-gpu's own on a CPU
    panels, rows, columns = k // width, -(-m // p), -(-n // q)
    multiply = p * q * 1e-6 + 1e-11 * rows * columns * width
    travel = (max(p, q) - 1) * 20e-6 + 4 * width * ((q - 1) * -(-rows // q) + (p - 1) * -(-columns // p)) / 5e9
    steps = max(p, q) - 1
    wait = max((travel * s / steps - min(1, s / p) * min(1, s / q) * multiply for s in range(1, steps + 1)), default=0)
    name = f"{'weak' if weak else 'strong'}-{'x'.join(map(str, size))}-{p}x{q}"
    truth[name] = panels * multiply + (panels - 1) * max(0, travel - multiply) + max(0, wait)
    d = copy.deepcopy(one)
    seconds = truth[name] * (1 + noise.gauss(0, 0.01))
    d["config"].update(m=m, n=n, k=k, lda=k, ldb=n, ldc=n)
    d["config"]["distributed"] = {"procs": [p, q], "weak": weak, "panel": width, "panels": panels, "transport": "staged" if p * q > 1 else None}
    d["ranks"] = [{**one["ranks"][0], "rank": rank} for rank in range(p * q)]
    d["paths"] = one["paths"] if p * q > 1 else []
    d["result"].update(seconds=seconds, launches=3, samples=[x * seconds for x in (1.5, 1.51, 1.52)])  # rank 0's take half as long
    with open(f"{folder}/{name}.json", "w") as file:
        json.dump(d, file)
for size in (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (1500, 1000, 2048), (2048, 2048, 2048):
    for p, q in (1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (4, 1):
        make("study", size, p, q, False)
        if p * q > 1:
            make("study", size, p, q, True)
    for p, q in (2, 4), (8, 1):
        make("later", size, p, q, False)
        make("later", size, p, q, True)
make("later", (1536, 1536, 1536), 2, 2, False)
with open("truth.json", "w") as file:
    json.dump(truth, file)
END
}

@test "a study of products predicts more ranks and other sizes, and is of gemm-gpu alone" {
  products_made
  run --separate-stderr "$predict" --study study --comm paths.json -s 512,1536 -n 1,4,8 --against later --json p.json
  expect_status 0
  for word in '55 products of kernel simd' 'multiply-adds per rank' 'seconds per product = interior + exchange that does not overlap' 'us per product (90% interval)' ' 2x2 ' 'a product still gets shorter up to the most ranks tried'; do
    [[ $output == *"$word"* ]] || { echo "no $word in: $output"; return 1; }
  done
  follows_schema p.json
  "$PYTHON" - <<'END'
import json
d, truth = json.load(open("p.json")), json.load(open("truth.json"))
assert (d["config"]["program"], d["model"]["program"], d["model"]["product"]) == ("gemm-gpu", "gemm-gpu", {"type": "f32", "panel": 0, "on_cpu": True}), d["model"]
assert abs(d["model"]["terms"][1]["value"] / 1e-11 - 1) < 0.02, d["model"]["terms"]
assert {v["kind"] for v in d["validation"]["pairs"]} == {"cut", "ranks", "size"}
pairs = d["against"]["pairs"]
assert len(pairs) == 21 and sum(q["inside"] for q in pairs) >= 18, pairs
for q in pairs:
    size = q["size"] if "x" in q["size"] else "x".join([q["size"]] * 3)
    assert abs(q["predicted"] / truth[f"{q['scaling']}-{size}-{'x'.join(map(str, q['procs']))}"] - 1) < 0.08, q
assert len(d["predictions"]) == 12
for q in d["predictions"]:
    assert q["low"] < q["seconds"] < q["high"] < (1.5 if q["ranks"] < 8 else 2) * q["low"], q
    assert abs(q["gflops"] * q["seconds"] * 1e9 / (2 * q["m"] * q["n"] * q["k"]) - 1) < 1e-9, q
    times = q["procs"] if q["scaling"] == "weak" else (1, 1)
    assert (q["m"], q["n"], q["k"]) == (int(q["size"]) * times[0], int(q["size"]) * times[1], int(q["size"])), q
END
  run --separate-stderr "$predict" --model p.json -s 128,4096 -n 1
  [[ $output == *": fewer multiply-adds per rank than any run"*": more multiply-adds per rank than any run"* ]]
  [[ $output != *" points"* ]]
  "$predict" --study study --comm paths.json -s 512 -n 8 -p 2x4 --json q.json >/dev/null
  run "$predict" --check q.json --against later
  expect_status 0
  [[ $output == *"2 of 2 predicted, median error "[0-7]"."* ]]
  "$predict" --model p.json -s 512,1536 -n 1,4,8 --json again.json >/dev/null
  [ "$("$PYTHON" -c 'import json; a, b = (json.load(open(f))["predictions"] for f in ("p.json", "again.json")); print(len(a), all(abs(x["high"] / y["high"] - 1) < 1e-6 for x, y in zip(a, b)))')" = "12 True" ]
  says 2 '--procs 2x2x2: gemm-gpu cuts 2 dimensions' --model p.json -n 8 -p 2x2x2
  says 2 '--size L: must be N or MxNxK' --model p.json -s L
  says 2 '--sweeps-per-pass 2: gemm-gpu makes no sweeps' --model p.json --sweeps-per-pass 2
  says 2 '--procs 2x4: himeno-gpu cuts 3 dimensions' --model "$top_srcdir/tests/golden/model.json" -n 8 -p 2x4
  says 2 '--size 512: must be ' --model "$top_srcdir/tests/golden/model.json" -s 512
  says 2 "--against .*: runs of himeno-gpu, but the model is one of gemm-gpu" --model p.json --against "$measured/study"
  [ "$HAVE_SIMGRID" = 0 ] || { run "$top_builddir/himeno-sim" --model p.json -s S -n 2; expect_status 2; [[ $output == *"a model of gemm-gpu"* ]]; }
  sed 's/"program": "gemm-gpu"/"program": "mem-gpu"/' p.json >other.json
  says 2 'program is none that is known' --model other.json
  sed 's/"type": "f32"/"type": "f31"/' p.json >other.json
  says 2 'product.type is none that is known' --model other.json
}

@test "products without --distributed or of another type are left out; runs of two programs are no study" {
  products_made
  "$top_builddir/gemm-gpu" -b cpu -k simd -s 64 -t 0.02 --json study/own.json >/dev/null
  sed 's/"type": "f32"/"type": "bf16"/' study/strong-512x512x512-2x2.json >study/half.json
  run "$predict" --study study --comm paths.json -s 512 -n 4 --json p.json
  expect_status 0
  [[ $output == *"    study/half.json: kernel simd, backend cpu, type bf16, "* ]]
  [[ $(json p.json '[l["why"] for l in d["config"]["left_out"] if l["as"] == "no run"]') == *"without --distributed"* ]]
  cp "$measured/study/S-1.json" study/sweep.json
  says 2 'a study is of one program' --study study --comm paths.json
  rm study/sweep.json
  sed -i 's/"panel": [0-9]*/"panel": 0/' study/half.json
  says 2 'study/half.json: not as its schema says' --study study --comm paths.json
}

# says CODE PATTERN ARGUMENT...: one line that matches.
says() {
  local code=$1 pattern=$2
  shift 2
  run --separate-stderr "$predict" "$@"
  expect_status "$code"
  said "$pattern" .
}

@test "a model is read strictly: what is missing, of another schema or absurd is named" {
  local change pattern
  while IFS='|' read -r change pattern; do
    "$PYTHON" - "$top_srcdir/tests/golden/model.json" "$change" >changed.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
m = d["model"]
exec(sys.argv[2])
json.dump(d, sys.stdout)
PY
    says 2 "changed.json: not a model of himeno-predict: $pattern" --model changed.json -s L -n 2
    [ "$HAVE_SIMGRID" = 0 ] || { run "$top_builddir/himeno-sim" --model changed.json -s S -n 2; expect_status 2; }
  done <<'END'
d["schema"] = "himeno-predict/9"|its schema is himeno-predict/9
del d["schema"]|it names no schema
d["model"] = []|it has no model
del m["terms"]|terms\[0\]\.name is missing
del m["terms"][3]|terms\[3\]\.name is another; it must be "idle"
m["terms"].append(m["terms"][0])|terms are more
del m["terms"][1]["value"]|terms\[1\] \(point\)\.value is missing
m["terms"][1]["value"] = -1e300|terms\[1\] \(point\)\.value is -1e\+300: must be 0 to 3600
m["terms"][1]["value"] = 1e300|terms\[1\] \(point\)\.value is 1e\+300
m["terms"][11]["value"] = -1|terms\[11\] \(staged latency_factor\)\.value is -1
m["terms"][0]["value"] = "1"|terms\[0\] \(pass\)\.value is no number
m["terms"][0]["seen"] = 1|terms\[0\] \(pass\)\.seen is neither true nor false
m["paths"][0]["same_host"]["latency_seconds"] = -5|paths\[0\]\.same_host\.latency_seconds is -5
m["paths"][0]["other_host"]["bytes_per_second"] = 0|paths\[0\]\.other_host\.bytes_per_second is 0
m["paths"][0]["same_host"] = m["paths"][0]["other_host"] = None|paths\[0\] has neither path
m["paths"].append(m["paths"][0])|paths\[1\]\.transport stands there twice
m["paths"][0]["transport"] = 5|paths\[0\]\.transport is no name
del m["paths"]|paths is missing
m["T"] = 0|T is 0
m["T"] = 1.5|T is 1\.5: must be whole numbers from 1 to 1024
m["tile_points"] = 0.5|tile_points is 0\.5: must be whole numbers from 0 to 1e\+18
m["tile_points"] = 1e-320|tile_points is 9\.99989e-321: must be whole numbers from 0 to 1e\+18
m["ranks_most"] = 2.5|ranks_most is 2\.5: must be whole numbers from 1
m["overlap"] = "yes"|overlap is neither
m["ranks_most"] = -3|ranks_most is -3
m["points"] = [10, 5]|points\[1\] is 5: must be 10
m["spread"] = -1|spread is -1
m["replicates"] = [[1]]; m["freedom"] = 5|replicates\[0\]\[1\] is missing
m["replicates"] = [[1]]; del m["freedom"]|freedom is missing
m["replicates"] = "24"|replicates is no list
m["sizes"] = "L"|sizes is no list
m["paths"][0]["staging"] = "by pigeons"|paths\[0\]\.staging is none that is known
m["slabs_hidden"] = 1|slabs_hidden is neither
del m["slabs_hidden"]|slabs_hidden is missing
del m["program"]|program is none that is known
m["covered"] = [{"of": "all", "runs": 5, "inside": 6}]|covered\[0\]\.inside is 6: must be whole numbers from 0 to 5
m["covered"] = [{"runs": 5, "inside": 5}]|covered\[0\]\.of is no text
END
}

@test "a model whose terms contradict each other predicts nothing, and says so" {
  "$PYTHON" - "$top_srcdir/tests/golden/model.json" >changed.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
for term, value in zip(d["model"]["terms"], (0, 0, 1)):
    term["value"] = value
d["model"]["cache_points"] = 1e9
json.dump(d, sys.stdout)
PY
  says 3 'nothing can be predicted: the model has .* s for it: its terms contradict each other' --model changed.json -s L -n 1
  [ "$HAVE_SIMGRID" = 0 ] || { run "$top_builddir/himeno-sim" --model changed.json -s L -n 2 && [[ $status != 0 && $output == *"its terms contradict each other"* ]]; }
}

@test "too little is refused, and says what to measure" {
  needs_results
  mkdir few && cp "$measured"/study/*-2.json few
  run "$predict" --study few --comm "$measured/paths.json"
  expect_status 3
  [[ $output == *"measure himeno-gpu on one rank"* ]]
  run from_study -n 4 -p 1x2x2
  expect_status 3
  [[ $output == *"divides the grid along j"* ]]
  rm few/*
  recorded hosts-x8-2026-11/runs.jsonl 'strong-S-[12]-*' 'strong-64x32x64-[12]-*' few/ # without either size, or two ranks, nothing can be fitted
  run "$predict" --study few --comm "$top_srcdir/doc/results/hosts-x8-2026-11/paths.json" --per-host 1 -n 2
  expect_status 0
  [[ $output == *"    0 of 16 predicted" && $output != *"0 of 0"* && $output != *"median error"* ]]
}

@test "bad input is one line with the right code" {
  touch empty.json
  echo '{"schema": "himeno-gpu/1", "result": {"verdict": "pass"}}' >lacking.json
  says 2 'the measured runs are missing: give --study FOLDER and --comm FILE'
  says 2 'the paths between devices are missing: give --comm FILE, which .*comm-gpu --json FILE.* writes' --study x
  says 2 '--model and --study exclude each other' --model x --study y
  says 2 '--check and --json exclude each other' --check x --against y --json z
  says 2 '--check needs the runs: --against' --check x
  says 2 '--within needs runs' --model x --within 5
  says 2 '--ranks 0: must be' --model x -n 0
  says 2 '--size XXL: must be' --model x -s S,XXL
  says 3 'none: No such file' --study none --comm none
  says 3 'empty.json: not a JSON document' --study empty.json --comm none
  says 2 'lacking.json: not as its schema says' --study lacking.json --comm none
  says 2 'study/S-1.json: not a document of comm-gpu' --study "$measured/study" --comm "$measured/study/S-1.json"
  says 2 'lacking.json: not a model of himeno-predict: its schema is himeno-gpu/1' --model lacking.json
  sed 's/"latency_seconds": [^,]*/"latency_seconds": -5/' "$measured/paths.json" >late.json
  says 2 'late.json: not as its schema says: staged takes -5 s and' --study "$measured/study" --comm late.json
  local change
  for change in 'del pair["fit"]["latency_seconds"]' 'pair["fit"]["bytes_per_second"] = "1"' 'pair["fit"]["bytes_per_second"] = -1' 'del pair["fit"]' 'del pair["peer"]' 'd["ranks"] = []' 'd["pairs"] = [7]'; do
    "$PYTHON" -c "import json,sys; d=json.load(open(sys.argv[1])); pair=d['pairs'][-1]; $change; json.dump(d, sys.stdout)" "$measured/paths.json" >torn.json
    says 2 'torn.json: not as its schema says: pairs\[[0-9]+\] tells no way, host or fit' --study "$measured/study" --comm torn.json
  done
  "$PYTHON" -c 'print("[" * 100000)' >deep.json
  says 3 'deep.json: not a JSON document' --study "$measured/study" --comm deep.json
  says 2 'lacking.json: has no predictions' --check lacking.json --against "$measured/study"
  says 3 'no run of that kernel' --study "$measured/study" --comm "$measured/paths.json" -k magic
  says 3 'no/such.json' --study "$measured/study" --comm "$measured/paths.json" --json no/such.json
}
