# SPDX-License-Identifier: MIT
# scripts/report: one file with all of a study in it, opened in a browser; and scripts/plot scaling.
load ../helper
bats_require_minimum_version 1.5.0

export OMP_NUM_THREADS=1

setup_file() {
  [ -n "$MPIRUN" ] && [ "${SANITIZERS:-no}" = no ] || return 0
  export study=$BATS_FILE_TMPDIR/study
  UCX_TLS=tcp "$top_srcdir/scripts/scaling" run "$study" --program "$top_builddir/himeno-gpu" --launcher "$MPIRUN -np {ranks}" \
    --options "-b cpu --block 5" --sizes 16x16x32,24x24x48 --ranks 1,2 --repeat 1 --seconds 0.01 --no-paths >/dev/null
  cd "$BATS_FILE_TMPDIR"
  # Stands for himeno-predict, so that this test does not need it.
  "$PYTHON" - <<'PY'
import json
def point(scaling, ranks, seconds):
    return {"size": "24x24x48", "scaling": scaling, "ranks": ranks, "transport": "staged", "procs": [ranks, 1, 1], "seconds": seconds,
            "low": 0.8 * seconds, "high": 1.25 * seconds, "efficiency": 0.9,
            "terms": {"interior": 0.7 * seconds, "boundary": 0.1 * seconds, "exposed_exchange": 0.1 * seconds,
                      "synchronisation": 0.06 * seconds, "reduction": 0.04 * seconds}}
pair = {"left_out": "2 ranks", "kind": "ranks", "size": "24x24x48", "scaling": "strong", "ranks": 2, "procs": [2, 1, 1], "transport": "staged",
        "measured": 1e-4, "predicted": 1.02e-4, "low": 9e-5, "high": 1.2e-4, "error": 0.02, "inside": True}
json.dump({"schema": "himeno-predict/1", "predictions": [point(mode, ranks, 1e-4 / (ranks if mode == "strong" else 1))
           for mode in ("strong", "weak") for ranks in (1, 2, 4)],
           "model": {"covered": [{"of": "all", "inside": 6, "runs": 8}, {"of": "size", "inside": 2, "runs": 3}],
                     "held_out": {"median_error_max": 0.2, "inside_min": 0.8, "causes": ["noise: repeats of a run differ by 45% (median)"]}},
           "validation": {"predicted": 1, "median_error": 0.02, "worst_error": 0.02, "pairs": [pair]}}, open("predicted.json", "w"))
PY
}

setup() {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  without_sanitizers "scripts are the same without sanitizers"
  cd "$BATS_TEST_TMPDIR"
}

with_plots() {
  [ "$status" -ne 3 ] || skip "$output"
  expect_status 0
}

@test "a study is drawn, with predictions, as PNG, SVG and PDF" {
  run "$top_srcdir/scripts/plot" scaling "$study" "$BATS_FILE_TMPDIR/predicted.json" -o picture --title "My study"
  with_plots
  [[ "$(head -c 4 picture.png | tail -c 3)" = PNG && "$(head -c 4 picture.pdf)" = %PDF ]]
  for word in 'strong scaling' 'weak scaling' '24x24x48, strong, staged' 'measured: median' ideal 'predicted; band: 90% of runs' \
    'exposed exchange' 'efficiency, %' 'My study'; do
    grep -qF -- "$word" picture.svg || { echo "no $word"; return 1; }
  done
}

@test "a report has machine, method, tables, plots, verdicts and commands, and needs no other file" {
  run "$top_srcdir/scripts/report" "$study" "$BATS_FILE_TMPDIR/predicted.json" -o report.html
  with_plots
  for word in '<h2>Machine' '<h2>Method' '<h2>Scaling' '<h2>Prediction and measurement' '<h2>Settings of MPI' '<h2>Commands' \
    'complete: yes' 'correct: yes' 'predictable: yes' 'UCX_TLS' 'himeno-gpu -s 24x24x48 -k stream' '<b>Speed</b>' '<b>Efficiency</b>' '<b>Correctness</b>' \
    '>+2.0%</td>' 'intervals hold: no' '6 of 8 left-out runs lie inside their 90% interval; by group: size 2 of 3' '<title>Scaling of himeno-gpu on up to 2 ranks, ' '/study/runs/strong-'; do
    grep -qF -- "$word" report.html || { echo "no $word"; return 1; }
  done
  run ! grep -q '\.draft' report.html
  run ! grep -Eq '(src|href)="?(http|//|file)|@import|url\([^#]' report.html
}

@test "accept.html and the metrics agree with the document, on hosts of any name" {
  run "$PYTHON" -B "$top_srcdir/tests/cli/pages.py" Acceptance
  expect_status 0
}

@test "the report agrees with the documents, of devices and folders of any name" {
  run "$top_srcdir/scripts/report" "$study" -o report.html
  with_plots
  run "$PYTHON" -B "$top_srcdir/tests/cli/pages.py" Report
  expect_status 0
}

@test "poor predictions lead the report with their causes, and are not drawn; limits are the document's" {
  local poor=$BATS_TEST_TMPDIR/poor.json
  "$PYTHON" -c 'import json, sys; d = json.load(open(sys.argv[1])); d["poor"] = True; d["model"]["held_out"].update(median_error_max=0.01, inside_min=0.75)
json.dump(d, open(sys.argv[2], "w"))' "$BATS_FILE_TMPDIR/predicted.json" "$poor"
  run "$top_srcdir/scripts/report" "$study" "$poor" -o report.html
  with_plots
  grep -A1 '<ul class=headline>' report.html >headline
  grep -qF '<b>Predictions</b><strong>poor</strong><span>do not rely on them; curves are not drawn. noise: repeats of a run differ by 45% (median)<' headline
  grep -qF 'predictable: no' report.html
  grep -qF 'the limit of the median is 1%' report.html
  grep -qF 'intervals hold: yes' report.html
  run ! grep -qF 'hatched: predicted' report.html
  run --separate-stderr "$top_srcdir/scripts/plot" scaling "$poor" -o picture
  expect_status 2
  [[ $stderr == *"poor predictions are not drawn" ]]
  run "$top_srcdir/scripts/plot" scaling "$study" "$poor" -o picture
  with_plots
  run ! grep -qF 'predicted; band' picture.svg
}

@test "a browser shows the report: its chart is drawn, its tables can be sorted" {
  for browser in chromium chromium-browser google-chrome; do $browser --version >/dev/null 2>&1 && break; done
  $browser --version >/dev/null 2>&1 || skip "no Chromium that runs was found"
  run "$top_srcdir/scripts/report" "$study" "$BATS_FILE_TMPDIR/predicted.json" -o report.html
  with_plots
  # A click on the table's fourth column, then what the page is.
  sed 's#</body>#<script>document.querySelectorAll("table.sorts th button")[2].click()</script></body>#' report.html >clicked.html
  export HOME=$PWD
  timeout $((50 * SLOWNESS)) $browser --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --dump-dom "file://$PWD/clicked.html" >dom.html 2>browser.log ||
    { cat browser.log; return 1; }
  grep -q 'data-charts="8"' dom.html
  grep -q 'aria-sort="ascending"><button>ranks</button>' dom.html
  grep -q '>+2.0%</td>' dom.html
}

# made: runs of five sizes and two transports whose times are known, as documents alone.
made() {
  "$PYTHON" - "$top_srcdir/tests/golden/documents/himeno-gpu-2.json" <<'PY'
import copy, json, os, sys
golden = json.load(open(sys.argv[1]))
os.mkdir("runs")
times = {}
for index, (size, alone) in enumerate({"8x8x8": 1e-5, "XS": 3e-5, "S": 1e-4, "M": 1e-3, "L": 1e-2}.items()):
    for mode, transport, ranks in [("strong", "p2p", 1)] + [(mode, way, ranks) for mode in ("strong", "weak") for way in ("p2p", "staged") for ranks in (2, 4)]:
        slow = 1 if ranks == 1 else (1.1 + 0.05 * index) * (1 if transport == "p2p" else 2) * (1 if mode == "strong" else 1.2)
        seconds = alone * slow / (ranks if mode == "strong" else 1)
        times[f"{mode} {transport} {size} {ranks}"] = seconds
        one = copy.deepcopy(golden)
        one["ranks"] = [copy.deepcopy(golden["ranks"][0]) for _ in range(ranks)]
        one["config"] |= {"size": size, "weak": mode == "weak", "transport": transport, "procs": [ranks, 1, 1], "block": 10, "imax": 8 << index}
        one["result"] |= {"samples": [10 * seconds], "gflops": 1 / seconds, "verified": "known", "verdict": "pass"}
        one["phases"]["interior"]["median"], one["phases"]["boundary"]["median"] = 0.5 * seconds, 0.2 * seconds
        json.dump(one, open(f"runs/{mode}-{size}-{ranks}-{transport}.json", "w"))
json.dump(times, open("times.json", "w"))
PY
}

@test "points, joins, ideal lines, titles and bars are at their times, in the colour of their size" {
  made
  run "$top_srcdir/scripts/report" . -o report.html --picture alone.svg
  with_plots
  PYTHONPATH=$top_srcdir/tests/cli "$PYTHON" -B - <<'PY'
import json, re, svg, xml.etree.ElementTree as tree
times, page = json.load(open("times.json")), open("report.html").read()
near = lambda found, wanted: abs(found / wanted - 1) < 0.01
groups = re.findall(r'<div class=group>\s*<h3>(.*?)</h3>(.*?)</div>\s*</div>', page, re.S)
assert len(groups) == 8, [name for name, _ in groups]  # two modes, two transports, five sizes of which four stand in a panel
seen = set()
for name, block in groups:
    mode, transport = re.fullmatch(r"(strong|weak) scaling, (\w+)", name).groups()
    colours = {size: colour for colour, size in re.findall(r'style="fill: (var\(--line\d\))">[^<]*</text></svg>([^<]+)</li>', block)}
    assert 1 <= len(colours) <= 4 and len(set(colours.values())) == len(colours), colours
    time, efficiency = (tree.fromstring(one) for one in re.findall(r"<svg [^>]*role=.*?</svg>", block, re.S)[:2])
    for root, log in ((time, "xy"), (efficiency, "x")):
        panel, = svg.panels(root, log)
        lines = [(svg.style_of(one, "stroke"), svg.style_of(one, "stroke-dasharray") is not None, svg.line_of(one)) for one in panel.lines if svg.line_of(one)]
        for size, colour in colours.items():
            wanted = {ranks: times[f"{mode} {transport} {size} {ranks}" if ranks > 1 else f"strong p2p {size} 1"] for ranks in (1, 2, 4)}
            alone = wanted[1]
            value = {ranks: 1e6 * seconds if root is time else 100 * alone / seconds / (ranks if mode == "strong" else 1) for ranks, seconds in wanted.items()}
            joined, = [line for stroke, dashed, line in lines if stroke == colour and not dashed and len(line) == 3]
            assert all(near(panel.x.value(x), ranks) and near(panel.y.value(y), value[ranks]) for (x, y), ranks in zip(joined, value)), (name, size)
            ideal = [line for stroke, dashed, line in lines if stroke == colour and dashed]
            if root is time:
                (line,) = ideal
                assert all(near(panel.y.value(y), 1e6 * alone / (ranks if mode == "strong" else 1)) for (_, y), ranks in zip(line, (1, 2, 4))), (name, size)
            said = [(one.find(svg.SVG + "title").text, svg.markers_of(one)) for one in panel.lines if one.find(svg.SVG + "title") is not None]
            mine = [(text, places) for text, places in said if text.startswith(f"{size}, {mode}, {transport}")]
            assert len(mine) == 3
            for text, ((x, y),) in mine:
                ranks = int(re.search(r"(\d) rank", text)[1])
                assert near(panel.x.value(x), ranks) and near(panel.y.value(y), value[ranks]), text
                assert near(float(re.search(r"([\d.e+]+) µs per sweep", text)[1]), 1e6 * wanted[ranks]) and text.endswith("; 1 run"), text
            seen.add((mode, transport, size))
    assert any(stroke == "var(--ink)" and dashed and all(near(panel.y.value(y), 100) for _, y in line) for stroke, dashed, line in lines), name
assert len(seen) == 20
phases = [tree.fromstring(one) for one in re.findall(r'<svg [^>]*aria-label="phases.*?</svg>', page, re.S)]
assert len(phases) == 20
for root in phases:
    panel, = svg.panels(root)
    size, mode, transport = re.match(r"phases of a sweep over ranks: (\w+), (\w+) scaling, (\w+)", root.get("aria-label")).groups()
    tops = {}
    for one in svg.groups(panel.element, "title"):
        text, corners = one.find(svg.SVG + "title").text, svg.places(one.find(svg.SVG + "path"))
        assert text.startswith(f"{size}, {mode}, {transport}, "), text
        ranks, part, value = re.search(r"(\d) ranks?, measured: (.*) ([\d.e+]+) µs", text).groups()
        high = panel.y.value(min(y for _, y in corners)) - panel.y.value(max(y for _, y in corners))
        assert near(high, float(value)), text
        assert svg.style_of(one, "fill") == {"interior": "var(--part0)", "boundary": "var(--part1)"}.get(part, "var(--part2)"), text
        tops[ranks] = tops.get(ranks, 0) + high
    for ranks, top in tops.items():
        assert near(top, 1e6 * times[f"{mode} {transport} {size} {ranks}" if ranks != "1" else f"strong p2p {size} 1"]), (size, ranks)
best = max(1 / seconds for seconds in times.values())
assert f"<b>Speed</b><strong>{best:,.0f} GFLOPS".replace(",", " ") in page
least, strong, weak = (100 * value for value in (1 / 1.3 / 2 / 1.2, 1 / 1.3, 1 / 1.3 / 1.2))  # of L: its two modes by p2p, and of all the least
assert f"<b>Efficiency</b><strong>{strong:.1f}% strong · {weak:.1f}% weak" in page and f"Lowest of all: {least:.1f}% (L" in page
assert "<b>Correctness</b><strong>0 of 45 runs wrong" in page
picture = tree.parse("alone.svg").getroot()
assert len(svg.panels(picture)) == 2 and "prefers-color-scheme: dark" in open("alone.svg").read()
PY
}

@test "the README's chart is of the stored documents" {
  PYTHONPATH=$top_srcdir/tests/cli "$PYTHON" -B - "$top_srcdir/doc" <<'PY'
import json, re, statistics, svg, sys
time, efficiency = svg.panels(f"{sys.argv[1]}/sample-report.svg", "xy")
said = [(one.find(svg.SVG + "title").text, *svg.markers_of(one)) for one in time.lines if one.find(svg.SVG + "title") is not None]
assert len(said) >= 12
recorded = {one["name"]: one["document"] for one in map(json.loads, open(f"{sys.argv[1]}/results/h200-x8-2026-11/runs.jsonl"))}
for text, (x, y) in said:
    size, mode, way, ranks, _, cut, seconds = re.match(r"(\w+), (\w+), (\w+), (\d) rank(s \(([\dx]+)\))?: ([\d.e+]+) µs per sweep", text).groups()
    name = f"{mode}-{size}-{ranks}-stream-{way}-{cut}" if ranks != "1" else f"strong-{size}-1-stream-none-1x1x1"
    found = [recorded[f"{name}-r{repeat}"] for repeat in (1, 2) if f"{name}-r{repeat}" in recorded]
    runs = [1e6 * statistics.median(document["result"]["samples"]) / document["config"]["block"] for document in found]
    assert all(abs(seen / statistics.median(runs) - 1) < 0.01 for seen in (float(seconds), time.y.value(y))) and round(time.x.value(x)) == int(ranks), text
PY
}

@test "text contrasts with its background, in light and dark" {
  PYTHONPATH=$top_srcdir/scripts/reporting "$PYTHON" -B - <<'PY'
import page, re
def light(colour):
    parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    return sum(weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4) for weight, part in zip((0.2126, 0.7152, 0.0722), parts))
def contrast(one, other):
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)
assert round(contrast("#000000", "#ffffff")) == 21
texts = set(re.findall(r"(?<![-\w])(?:color|fill): var\(--(\w+)\)", page.STYLE))
grounds = set(re.findall(r"background: var\(--(\w+)\)", page.STYLE))
assert texts == {"ink", "dim"} and grounds == {"page", "band", "flag"}, (texts, grounds)
assert list(page.LIGHT) == list(page.DARK) and page.scheme(page.DARK) in page.STYLE.partition("@media screen and (prefers-color-scheme: dark)")[2]
for colours in (page.LIGHT, page.DARK):
    for text in texts:
        for ground in grounds - ({"flag"} if text == "dim" else set()):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for line in (name for name in colours if name.startswith("line") and name != "line"):
        assert contrast(colours[line], colours["page"]) >= 2.3, line
PY
}

@test "a study whose paths are missing is not finished, and a wrong result comes first" {
  needs_results
  cp -r "$study" broken
  "$PYTHON" - <<'PY'
import json, os
study = json.load(open("broken/study.json"))
study["points"].append({"name": "paths", "kind": "paths", "repeat": 1, "ranks": 2})
json.dump(study, open("broken/study.json", "w"))
PY
  run "$top_srcdir/scripts/report" broken -o paths.html
  with_plots
  grep -q 'complete: no</b>[0-9]* of [0-9]* ' paths.html
  grep -q '<td class="text long"[^>]*>paths</td>' paths.html
  grep -q '<b>correct: yes' paths.html
  "$PYTHON" - <<'PY'
import json, os
study = json.load(open("broken/study.json"))
gone = next(point["name"] for point in study["points"] if point["kind"] == "run" and point["ranks"] == 2)
os.remove(f"broken/runs/{gone}.json")
with open("broken/log.jsonl", "a") as file:
    file.write(json.dumps({"point": gone, "exit": 4, "finished": False, "took": 1.0, "why": "the checksum is another"}) + "\n{torn")
PY
  run "$top_srcdir/scripts/report" broken -o wrong.html
  with_plots
  [ "$(grep -c 'lines are torn' <<<"$output")" -eq 1 ]
  grep -q '<b>correct: no' wrong.html
  grep -q '<b>Correctness</b><strong>1 of ' wrong.html
  grep -q 'the checksum is another' wrong.html
  run "$top_srcdir/scripts/report" "$top_srcdir/doc/results/h200-x2-2026-11" -o alone.html # documents alone, of which one is of a planted flip
  with_plots
  grep -q '<b>correct: no' alone.html
  grep -q '<b>Correctness</b><strong>1 of ' alone.html
  grep -q '>flip<' alone.html
}

@test "what is no study, or belongs to none, is one line" {
  expect_error() {
    local code=$1 pattern=$2
    shift 2
    run "$top_srcdir/scripts/report" "$@"
    expect_status "$code"
    [[ $output == *"$pattern"* ]] || { printf '%s\ndoes not have %s\n' "$output" "$pattern"; return 1; }
  }
  expect_error 2 'no JSON document in it' "$PWD"
  expect_error 2 'none: no study' none
  echo '{"schema": "himeno-gpu/1"}' >run.json
  expect_error 2 'run.json: does not conform to its schema' "$PWD"
  expect_error 2 'run.json: schema himeno-gpu/1' "$study" run.json
  expect_error 2 'none.json: No such file' "$study" none.json
}
