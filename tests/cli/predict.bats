# SPDX-License-Identifier: MIT
# himeno-predict: predictions from runs, refusals, and errors about bad input.
load predict

setup_file() { study_measured; }

@test "a real study becomes predictions with interval, limit, ends and validation" {
  from_study -n 1,2,4 --per-memory 3 -p auto --json p.json >/dev/null
  follows_schema p.json
  [ "$(json p.json 'd["config"]["runs"], sorted(x["as"] for x in d["config"]["left_out"]), d["config"]["kernel"], sorted({v["kind"] for v in d["validation"]["pairs"]}),
    all(q["low"] < q["seconds"] < q["high"] for q in d["predictions"] if "seconds" in q)')" = "12 ['kind', 'no run'] stream ['cut', 'ranks', 'size'] True" ]
}

@test "the path of a transport is the median fit of the pairs that used it, all at once if they were also measured so" {
  "$PYTHON" - "$measured/paths.json" >paths.json <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
one = next(pair for pair in d["pairs"] if pair["direction"] == "both")
def pair(n, **what):
    return {**one, "company": "all", "fit": {"latency_seconds": n / 2**20, "bytes_per_second": n * 2**30, "residual": n / 2**10}, **what}
d["ranks"] = [{**d["ranks"][0], "rank": rank, "host": f"host{rank // 2}"} for rank in range(4)]
d["pairs"] = [pair(4), pair(6), pair(9), pair(20, peer=2, company="alone"), pair(40, peer=2, company="alone")]
d["pairs"] += [pair(50, way="p2p"), pair(60, used="p2p"), pair(70, direction="one"), pair(80, company="alone"), {**pair(90), "fit": None}]
json.dump(d, sys.stdout)
END
  "$predict" --study "$measured/study" --comm paths.json -s S -n 1 --json p.json >/dev/null
  [ "$(json p.json '[[[round(unit * value) for unit, value in zip((2**20, 2**-30, 2**10), p[where].values())] for where in ("same_host", "other_host")]
    for p in d["model"]["paths"]]')" = "[[[6, 6, 6], [30, 30, 30]]]" ]
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

@test "a model that was written predicts the same without its study, with the same intervals, as its stored predictions do" {
  from_study -s S -n 2 --json p.json >told
  "$predict" --model p.json -s S -n 2 --json q.json >again
  "$predict" --check p.json --against "$measured/study" >checked
  [[ $(<checked) == *$'\n\n  predicted  p.json\n'*"    1 of 1 predicted, median error "* ]]
  "$PYTHON" - <<'PY'
import json, re
pairs = [p for p in json.load(open("p.json"))["validation"]["pairs"] if p["inside"] is not None]
groups = {"all": pairs, "1 host": pairs, "one rank": [p for p in pairs if p["ranks"] == 1], "staged": [p for p in pairs if p["ranks"] > 1]}
groups |= {kind: [p for p in pairs if p["kind"] == kind] for kind in ("ranks", "size", "cut")}
wanted = sorted(f"{of} {sum(p['inside'] for p in some)} of {len(some)}" for of, some in groups.items() if some)
for name in "told", "again", "checked":
    line = re.search(r"intervals  (\d+ of \d+) predictions of left-out runs lie inside their 90% interval\n +left out by (.*);\n +of all (.*)", open(name).read())
    assert sorted(["all " + line[1], *line[2].replace("division", "cut").split(", "), *line[3].split(", ")]) == wanted, (name, line[0], wanted)
a, b = ([(q["seconds"], q["low"], q["high"]) for q in json.load(open(path))["predictions"]] for path in ("p.json", "q.json"))
assert len(a) == len(b) == 2
assert all(abs(x - y) <= 1e-6 * y for one, other in zip(a, b) for x, y in zip(one, other)), (a, b)
PY
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
  for which in '{"name": "run"}' '{"document": {}}'; do
    { head -n 1 runs.jsonl; echo "$which"; } >bare.jsonl
    refuses bare.jsonl 2 'has no document with a name'
  done
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
  [[ $output =~ .*", worst "([0-9.]+%) && $output == *"an error of ${BASH_REMATCH[1]} is more than the 0.01% that --within allows"* ]]
}

@test "the report of 2009: 25.4 GFLOPS on its cluster, and 170 to 178 with GPUs in it" {
  report() { "$predict" --model "$top_srcdir/doc/report-2009.json" -s L -n 1,4 -p 4x1x1 --scaling strong "$@" --json r.json >/dev/null; }
  report
  [ "$(json r.json '[round(q["gflops"], 1) for q in d["predictions"]], round(1e3 * d["predictions"][1]["seconds"], 3)')" = "[6.6, 25.4] 44.0" ] # 6.5, 25.5
  report --compute-time 0.1 --exchange-time 2
  [ "$(json r.json 'round(d["predictions"][1]["gflops"])')" = 178 ]
  report --compute-time 0.1 --exchange-time 2.3
  [ "$(json r.json 'round(d["predictions"][1]["gflops"]), d["predictions"][1]["limit"], d["predictions"][1]["low"]')" = "170 interior None" ]
  follows_schema r.json
}

# A simulation of these ranks, message by message, had times within 2% of these.
@test "512 ranks on 64 hosts: times by staged, and by p2p, whose pairs between hosts are staged" {
  # Within a host, p2p has 307 GB/s and 3 us. Halos between hosts are staged.
  "$PYTHON" - "$top_srcdir/tests/golden/model.json" >mixed.json <<'PY'
import copy, json, sys
d = json.load(open(sys.argv[1]))
m = d["model"]
p2p = copy.deepcopy(m["paths"][0])
p2p.update(transport="p2p", other_host=None, same_host={"latency_seconds": 3e-6, "bytes_per_second": 3.07e11, "residual": 0})
m["paths"].append(p2p)
m["terms"] += [dict(t, name=t["name"].replace("staged", "p2p")) for t in m["terms"] if t["name"].startswith("staged")]
json.dump(d, sys.stdout)
PY
  "$predict" --model mixed.json -s L,XL -n 512 --scaling strong --json far.json >/dev/null
  [ "$(json far.json '[round(1e6 * q["seconds"], 2) for q in d["predictions"]]')" = "[48.42, 62.51, 47.42, 61.51]" ]
}

@test "paths and runs staged differently are not one study, nor are they compared with one model" {
  "$PYTHON" - "$measured" <<'END'
import json, os, sys
os.mkdir("old")
for name in ("XS-1", "XS-2", "S-1", "S-2", "S-3"):
    with open(f"{sys.argv[1]}/study/{name}.json") as file, open(f"old/{name}.json", "w") as old:
        d = json.load(file)
        for path in d["paths"]:
            del path["handover"], path["handover_why"]
        json.dump(d, old)
END
  run "$predict" --study old --comm "$measured/paths.json" -s XS -n 4
  expect_status 3
  [[ $output == *"old/"*" has halos staged by MPI alone, as before shared memory, but comm-gpu's document is of halos staged through shared memory"* ]]
  from_study -s XS -n 2 --json sealed.json --against old >against
  grep -q "    old/S-2.json: staged by MPI alone" against
  mkdir fell # a pair of ranks on one host used MPI instead of shared memory
  sed 's/"handover": *"shared memory"/"handover": "MPI"/g' "$measured/study/S-2.json" >fell/S-2.json
  from_study -s XS -n 2 --json fallen.json --against fell >against
  grep -q "    fell/S-2.json: staged by MPI alone" against
  run "$predict" --check sealed.json --against old
  [[ $output == *"    old/S-2.json: staged by MPI alone"* || $output == *"none of the "*" runs was predicted"* ]]
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
    expect_error 2 "changed.json: not a model of himeno-predict: $pattern" --model changed.json -s L -n 2
  done <<'END'
d["schema"] = "himeno-predict/9"|its schema is himeno-predict/9
del d["schema"]|it names no schema
d["model"] = []|it has no model
del m["terms"]|terms\[0\]\.name is missing
del m["terms"][3]|terms\[3\]\.name is another; it must be "idle"
m["terms"].append(m["terms"][0])|terms are more
del m["terms"][1]["value"]|terms\[1\] \(point\)\.value is missing
m["terms"][1]["value"] = -1e300|terms\[1\] \(point\)\.value is -1e\+300: must be 0 to 3600
m["terms"][1]["value"] = 1e300|terms\[1\] \(point\)\.value is 1e\+300: must be 0 to 3600
m["terms"][11]["value"] = -1|terms\[11\] \(staged latency_factor\)\.value is -1: must be 0 to 10000
m["terms"][0]["value"] = "1"|terms\[0\] \(pass\)\.value is no number
m["terms"][0]["seen"] = 1|terms\[0\] \(pass\)\.seen is neither true nor false
m["paths"][0]["same_host"]["latency_seconds"] = -5|paths\[0\]\.same_host\.latency_seconds is -5: must be 0 to 3600
m["paths"][0]["other_host"]["bytes_per_second"] = 0|paths\[0\]\.other_host\.bytes_per_second is 0: must be 1 to 1e\+18
m["paths"][0]["same_host"] = m["paths"][0]["other_host"] = None|paths\[0\] has neither path
m["paths"].append(m["paths"][0])|paths\[1\]\.transport occurs twice
m["paths"][0]["transport"] = 5|paths\[0\]\.transport is no name
del m["paths"]|paths is missing
m["T"] = 1025|T is 1025: must be whole numbers from 1 to 1024
m["T"] = 1.5|T is 1\.5: must be whole numbers from 1 to 1024
m["tile_points"] = 0.5|tile_points is 0\.5: must be whole numbers from 0 to 1e\+18
m["tile_points"] = 1e-320|tile_points is 9\.99989e-321: must be whole numbers from 0 to 1e\+18
m["ranks_most"] = 2.5|ranks_most is 2\.5: must be whole numbers from 1 to 1e\+09
m["overlap"] = "yes"|overlap is neither
m["ranks_most"] = -3|ranks_most is -3: must be whole numbers from 1 to
m["cache_points"] = -1|cache_points is -1: must be 0 to 1e\+18
m["device_spread"] = 11|device_spread is 11: must be 0 to 10$
m.update(device_spread=0, memory_share=-1)|memory_share is -1: must be 0 to 10000
m.update(device_spread=0, memory_share=0, sharers_most=-1)|sharers_most is -1: must be whole numbers from 0 to 1e\+09
m.update(device_spread=0, memory_share=0, sharers_most=0, memories=-1)|memories is -1: must be whole numbers from 0 to 1e\+09
m.update(multiprocessors=1, tile=[0, -1])|tile is -1: must be whole numbers from 0 to 1e\+09
m.update(multiprocessors=0, tile=[1, 1])|multiprocessors is 0: must be whole numbers from 1 to 1e\+09
m.update(multiprocessors=0, tile=[0, 1], hidden_share=-1)|hidden_share is -1: must be 0 to 10000
m["runs"] = -1|runs is -1: must be whole numbers from 0 to 1e\+09
m["hosts_most"] = 0|hosts_most is 0: must be whole numbers from 1 to 1e\+09
m["per_host"] = -1|per_host is -1: must be whole numbers from 0 to 1e\+09
m["points"][0] = 0|points\[0\] is 0: must be 1 to 1e\+18
m["bytes_most"] = -1|bytes_most is -1: must be 0 to 1e\+18
m["paths"][0]["same_host"]["residual"] = -1|paths\[0\]\.same_host\.residual is -1: must be 0 to 1e\+09
m["held_out"] = {"predicted": 1, "median_error": -1}|held_out\.median_error is -1: must be 0 to 10000
m["points"] = [10, 5]|points\[1\] is 5: must be 10 to 1e\+18
m["spread"] = -1|spread is -1: must be 0 to 10
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

@test "a model whose terms contradict each other predicts nothing and reports why" {
  "$PYTHON" - "$top_srcdir/tests/golden/model.json" >changed.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
for term, value in zip(d["model"]["terms"], (0, 0, 1)):
    term["value"] = value
d["model"]["cache_points"] = 1e9
json.dump(d, sys.stdout)
PY
  expect_error 3 'nothing can be predicted: the model has .* s for it: its terms contradict each other' --model changed.json -s L -n 1
}

@test "a study with too few runs is refused with what to measure" {
  needs_results
  mkdir few && cp "$measured"/study/*-2.json few
  run "$predict" --study few --comm "$measured/paths.json"
  expect_status 3
  [[ $output == *"no run on one rank: run mpirun -np 1 himeno-gpu --json FILE"* ]]
  run from_study -n 4 --per-memory 2 -p 1x2x2
  expect_status 3
  [[ $output == *"divides the grid along j: run mpirun -np 2 himeno-gpu -p 1x2x1 -x staged --json FILE"* ]]
  rm few/*
  recorded hosts-x8-2026-11/runs.jsonl 'strong-S-[12]-*' 'strong-64x32x64-[12]-*' few/ # without these sizes, or without two ranks, no fit is possible
  run "$predict" --study few --comm "$top_srcdir/doc/results/hosts-x8-2026-11/paths.json" --per-host 1 -n 2
  expect_status 0
  [[ $output == *"    0 of 16 predicted" && $output != *"0 of 0"* && $output != *"median error"* ]]
}

@test "bad input is one line with the right code" {
  touch empty.json
  echo '{"schema": "himeno-gpu/1", "result": {"verdict": "pass"}}' >lacking.json
  expect_error 2 'the measured runs are missing: give --study FOLDER and --comm FILE'
  expect_error 2 'the paths between devices are missing: give --comm FILE, which .*comm-gpu --json FILE.* writes' --study x
  expect_error 2 '--model and --study exclude each other' --model x --study y
  expect_error 2 '--check and --json exclude each other' --check x --against y --json z
  expect_error 2 '--check needs the runs: --against' --check x
  expect_error 2 '--within needs runs' --model x --within 5
  expect_error 2 '--ranks 0,2: must be up to 32 whole numbers from 1 to 65536, separated by commas' --model x -n 0,2
  expect_error 2 '--size XXL: must be' --model x -s S,XXL
  expect_error 3 'none: No such file' --study none --comm none
  expect_error 3 'empty.json: not a JSON document' --study empty.json --comm none
  expect_error 2 'lacking.json: not as its schema says' --study lacking.json --comm none
  expect_error 2 'study/S-1.json: not a document of comm-gpu' --study "$measured/study" --comm "$measured/study/S-1.json"
  expect_error 2 'lacking.json: not a model of himeno-predict: its schema is himeno-gpu/1' --model lacking.json
  local change
  for change in '"latency_seconds": -5' '"latency_seconds": 3601' '"bytes_per_second": 1e19'; do
    sed "s/${change%% *} [^,]*/$change/" "$measured/paths.json" >late.json
    expect_error 2 'late.json: not as its schema says: staged takes .* s and carries .* bytes a second' --study "$measured/study" --comm late.json
  done
  for change in 'del pair["fit"]["latency_seconds"]' 'pair["fit"]["bytes_per_second"] = "1"' 'pair["fit"]["bytes_per_second"] = -1' 'del pair["fit"]' 'del pair["peer"]' 'd["ranks"] = []' 'd["pairs"] = [7]'; do
    "$PYTHON" -c "import json,sys; d=json.load(open(sys.argv[1])); pair=d['pairs'][-1]; $change; json.dump(d, sys.stdout)" "$measured/paths.json" >torn.json
    expect_error 2 'torn.json: not as its schema says: pairs\[[0-9]+\] lacks its transport, host or fit' --study "$measured/study" --comm torn.json
  done
  "$PYTHON" -c 'print("[" * 100000)' >deep.json
  expect_error 3 'deep.json: not a JSON document' --study "$measured/study" --comm deep.json
  expect_error 2 'lacking.json: has no predictions' --check lacking.json --against "$measured/study"
  expect_error 3 'no run of that kernel and number of ranks: run mpirun -np N himeno-gpu -k KERNEL --json FILE' --study "$measured/study" --comm "$measured/paths.json" -k magic
  expect_error 3 'no/such.json' --study "$measured/study" --comm "$measured/paths.json" --json no/such.json
}

@test "a poor model is reported first, with the causes that its runs show, and is exit 5, also when read again" {
  mkdir noisy
  "$PYTHON" - "$measured/study" <<'END'
import json, sys
for number, size in enumerate(("XS", "S")):
    for ranks in 1, 2:
        with open(f"{sys.argv[1]}/{size}-{ranks}.json") as file:
            d = json.load(file)
        first = d["result"]["samples"]
        for name, factor in ("a", 1), ("b", 1.5):  # and each second one four times as long
            d["result"]["samples"] = [factor * (4 if (number + ranks) % 2 else 1) * one for one in first]
            with open(f"noisy/{size}-{ranks}-{name}.json", "w") as file:
                json.dump(d, file)
END
  run --separate-stderr "$predict" --study noisy --comm "$measured/paths.json" -n 1,2 --include outliers --json p.json
  expect_status 5
  [[ $output == "himeno-predict "*$'\n\n  POOR       do not rely on these predictions: exit status 5\n'* ]]
  [[ $output == *"  cause      noise: repeats of a run differ by 50% (median)"$'\n'"  cause      too few sizes: 2; measure at least 3"* ]]
  one_error 'the predictions are poor: runs left out of the fit are off by more than 20% in the median, or fewer than 80%' himeno-predict
  [ "$(json p.json 'd["poor"], d["model"]["held_out"]["poor"], d["model"]["held_out"]["median_error_max"], d["model"]["held_out"]["inside_min"]')" = "True True 0.2 0.8" ]
  follows_schema p.json
  run "$predict" --model p.json -s S -n 2
  expect_status 5
  [[ $output == *"  POOR "*"  cause      noise: repeats of a run differ by 50%"* ]]
  run "$predict" --check p.json --against noisy # only compares, without predictions
  expect_status 0
  [[ $output == *"  POOR "* ]]
  rm noisy/*-b.json # without a second run, the fit's own error is printed
  run --separate-stderr "$predict" --study noisy --comm "$measured/paths.json" -n 1,2 --include outliers --json p.json
  expect_status 5
  [[ $output == *"  POOR "*$'\n  cause      none of 8 left-out runs could be predicted; the fit is off by '* ]]
  one_error 'or none could be predicted and the fit is off as far' himeno-predict
  [ "$(json p.json 'd["poor"], d["validation"]["predicted"], d["model"]["spread"] > 0.2')" = "True 0 True" ]
  run "$predict" --model p.json -s S -n 2
  expect_status 5
  [[ $output == *"  POOR "* ]]
  from_study -s S -n 2 --json good.json >good
  [ "$(json good.json 'd["poor"], d["model"]["held_out"]["poor"]')" = "False False" ] && run ! grep -q POOR good
}

@test "at points that were measured their median comes first, with the model next to it" {
  from_study -s S,24x24x48 -n 1,2 --json p.json >/dev/null
  "$PYTHON" - "$measured/study" <<'END'
import json, statistics, sys
def median(ranks):
    with open(f"{sys.argv[1]}/S-{ranks}.json") as file:
        d = json.load(file)
    return statistics.median(d["result"]["samples"]) / d["config"]["block"]
points = [p for p in json.load(open("p.json"))["predictions"] if p["scaling"] == "strong"]
of = {(p["size"], p["ranks"]): p for p in points}
assert [("measured" in p) for p in points] == [p["size"] == "S" for p in points]
one, two = median(1), median(2)
m = of["S", 2]["measured"]
assert abs(m["seconds"] / two - 1) < 1e-9 and m["runs"] == 1 and abs(m["efficiency"] / (one / two / 2) - 1) < 1e-9, m
assert of["S", 2]["seconds"] != m["seconds"]
END
  from_study -s S -n 2 --compute-time 2 --json imagined.json >/dev/null
  [ "$(json imagined.json 'any("measured" in p for p in d["predictions"])')" = False ] # never run
}

@test "ranks on one memory: as many as the runs had, or the command that measures more" {
  from_study -s S -n 2,4,6 --scaling strong --json p.json >text
  grep -q '^  S  *4  not predicted: 4 ranks share a memory, but at most 3 did in the runs$' text
  grep -qx '      run mpirun -np 4 himeno-gpu --json FILE, or give the ranks of each memory by --per-memory' text
  from_study -s S -n 6 --per-memory 3 --scaling strong --json q.json >/dev/null
  [ "$(json q.json '"seconds" in d["predictions"][0], d["model"]["sharers_most"], d["model"]["memories"], d["model"]["memory_share"] > 0')" = "True 3 1 True" ]
  "$predict" --model q.json -s S -n 6 --per-memory 3 --scaling strong --json again.json >/dev/null
  "$PYTHON" -c 'import json
a, b = (json.load(open(f))["predictions"][0] for f in ("q.json", "again.json"))
assert all(abs(a[k] / b[k] - 1) < 1e-6 for k in ("seconds", "low", "high"))'
  # On one shared device, three ranks compute one after the other: three times as long.
  device() { "$predict" --model device.json -s L -n 3 -p 3x1x1 --scaling strong "$@" --json d.json >/dev/null && json d.json 'd["predictions"][0]["terms"]["interior"]'; }
  "$PYTHON" -c 'import json, sys; d = json.load(open(sys.argv[1])); d["model"].update(device_spread=0, memory_share=0, sharers_most=3, memories=0)
json.dump(d, open("device.json", "w"))' "$top_srcdir/tests/golden/model.json"
  "$predict" --model device.json -s L -n 3 | grep -qx '    each of 3 ranks on one memory takes 3.00 times as long per point'
  "$PYTHON" -c 'import sys; a, b = map(float, sys.argv[1:]); assert 2.7 < b / a <= 3, (a, b)' "$(device --per-memory 1)" "$(device)"
}

@test "the slowest of N devices enters time and efficiency, as a simulation of sweeps has it" {
  from_study -s S -n 2 --json model.json >/dev/null
  many() { "$predict" --model model.json -s L --scaling weak --per-memory 3 --per-host 8192 "$@"; }
  many -n 512,4096 --device-spread 0.8 --json late.json >text
  many -n 512 --json alike.json >/dev/null
  "$PYTHON" - "$("$PYTHON" "$top_srcdir/tests/cli/slowest.py" 8 8 8 0.008)" <<'END'
import json, math, sys
mean, _, _, drawn = map(float, sys.argv[1].split())
late, most = json.load(open("late.json"))["predictions"]
alike = json.load(open("alike.json"))["predictions"][0]
# The simulation agrees. If each sweep drew a new speed, the lateness would be less, and below sqrt(2 ln 27) deviations for any N.
assert abs(late["lateness"] / mean - 1) < 0.03, (late["lateness"], mean)
assert drawn < late["lateness"] and drawn < 0.008 * math.sqrt(2 * math.log(27)), drawn
assert round(most["lateness"], 4) == 0.0289, most["lateness"]
assert alike["lateness"] == 0 and alike["efficiency"] == alike["ideal_efficiency"] == late["ideal_efficiency"]
terms = late["terms"]
assert abs(terms["interior"] / alike["terms"]["interior"] / (1 + late["lateness"]) - 1) < 1e-9
assert abs(late["efficiency"] * late["seconds"] / (late["ideal_efficiency"] * alike["seconds"]) - 1) < 1e-9
assert late["efficiency"] < late["ideal_efficiency"]
END
  grep -A 1 '^  Weak scaling of L by staged: at 4096 ranks ' text | grep -Eq '^    .*% efficiency \(.*% if the slowest device were as the others\);$'
}
