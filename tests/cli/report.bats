# SPDX-License-Identifier: MIT
# scripts/report writes a study's report into one file, which a browser shows; scripts/plot scaling.
# tests/scripts/test_charts.py and test_pages.py compare charts and pages with the documents.
load ../helper
bats_require_minimum_version 1.5.0

export OMP_NUM_THREADS=1

setup_file() {
  [ -n "$MPIRUN" ] && [ "${SANITIZERS:-no}" = no ] || return 0
  export study=$BATS_FILE_TMPDIR/study
  UCX_TLS=tcp "$top_srcdir/scripts/scaling" run "$study" --program "$top_builddir/himeno-gpu" --launcher "$MPIRUN -np {ranks}" \
    --options "-b cpu --block 5" --sizes 16x16x32,24x24x48 --ranks 1,2 --repeat 1 --seconds 0.01 --no-paths >/dev/null
  cd "$BATS_FILE_TMPDIR"
  # Makes a prediction document without himeno-predict, which may not be built.
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
    'exposed time' 'efficiency, %' 'My study'; do
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
  # Click on the heading of the table's third sortable column, and store the page after that.
  sed 's#</body>#<script>document.querySelectorAll("table.sorts th button")[2].click()</script></body>#' report.html >clicked.html
  export HOME=$PWD
  timeout $((50 * SLOWNESS)) $browser --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --dump-dom "file://$PWD/clicked.html" >dom.html 2>browser.log ||
    { cat browser.log; return 1; }
  grep -q 'data-charts="8"' dom.html
  grep -q 'aria-sort="ascending"><button>ranks</button>' dom.html
  grep -q '>+2.0%</td>' dom.html
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
  run "$top_srcdir/scripts/report" "$top_srcdir/doc/results/h200-x2-2026-11" -o alone.html # documents without a study, one of which has a planted flip
  with_plots
  grep -q '<b>correct: no' alone.html
  grep -q '<b>Correctness</b><strong>1 of ' alone.html
  grep -q '>flip<' alone.html
}

@test "a folder that is no study, or a document that belongs to none, is refused in one line" {
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
