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
  # What himeno-predict and himeno-sim would say of it, so that this needs neither.
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
           "validation": {"predicted": 1, "median_error": 0.02, "worst_error": 0.02, "pairs": [pair]}}, open("predicted.json", "w"))
json.dump({"schema": "himeno-sim/1", "runs": [{"config": {"size": "24x24x48", "transport": "staged", "weak": False, "ranks": 4, "procs": [4, 1, 1]},
           "phases": {"sweep": {"max": 3e-5}}}]}, open("sim.json", "w"))
PY
}

setup() {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  [ "${SANITIZERS:-no}" = no ] || skip "scripts are the same without sanitizers"
  cd "$BATS_TEST_TMPDIR"
}

with_plots() {
  [ "$status" -ne 3 ] || skip "$output"
  expect_status 0
}

@test "a study is drawn, with predictions and simulated points, as PNG, SVG and PDF" {
  run "$top_srcdir/scripts/plot" scaling "$study" "$BATS_FILE_TMPDIR"/{predicted,sim}.json -o picture --title "My study"
  with_plots
  [ "$(head -c 4 picture.png | tail -c 3)" = PNG ]
  [ "$(head -c 4 picture.pdf)" = %PDF ]
  for word in 'strong scaling' 'weak scaling' '24x24x48, staged' 'measured, each run' 'predicted; band: 90% of runs' simulated \
    'exchange that was not hidden' 'efficiency against one rank, %' 'My study'; do
    grep -qF -- "$word" picture.svg || { echo "no $word"; return 1; }
  done
}

@test "what cannot be drawn is one line" {
  mkdir none
  echo '{"schema": "other/1"}' >other.json
  run "$top_srcdir/scripts/plot" scaling none
  expect_status 2
  [[ $output == *"none: holds no JSON document"* ]]
  run "$top_srcdir/scripts/plot" scaling other.json
  expect_status 2
  [[ $output == *"other.json: of schema other/1"* ]]
}

@test "a report has machine, method, tables, plots, verdicts and commands, and needs no other file" {
  run "$top_srcdir/scripts/report" "$study" "$BATS_FILE_TMPDIR"/{predicted,sim}.json -o report.html
  with_plots
  for word in '<h2>Machine' '<h2>Method' '<h2>Scaling' '<h2>Prediction and measurement' '<h2>Settings of MPI' '<h2>Commands' \
    'finished: yes' 'right bits: yes' 'predictable: yes' 'UCX_TLS' 'himeno-gpu -s 24x24x48 -k stream' 'data:image/svg+xml;base64,' \
    '<td>+2.0%</td>'; do
    grep -qF -- "$word" report.html || { echo "no $word"; return 1; }
  done
  run ! grep -Eq '(src|href)="?(http|//|file)|@import|url\(' report.html
}

@test "a browser shows the report: its picture is drawn, its tables can be sorted" {
  for browser in chromium chromium-browser google-chrome; do $browser --version >/dev/null 2>&1 && break; done
  $browser --version >/dev/null 2>&1 || skip "no Chromium that runs was found"
  run "$top_srcdir/scripts/report" "$study" "$BATS_FILE_TMPDIR/predicted.json" -o report.html
  with_plots
  # A click on the table's fourth column, then what the page is.
  sed 's#</body>#<script>document.querySelectorAll("table.sorts th button")[2].click()</script></body>#' report.html >clicked.html
  export HOME=$PWD
  timeout 50 $browser --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --dump-dom "file://$PWD/clicked.html" >dom.html 2>browser.log ||
    { cat browser.log; return 1; }
  grep -q 'data-pictures="1"' dom.html
  grep -q 'aria-sort="ascending"><button>ranks</button>' dom.html
  grep -q '<td>+2.0%</td>' dom.html
  timeout 50 $browser --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size=1300,2000 --screenshot="$PWD/page.png" \
    "file://$PWD/report.html" 2>browser.log || { cat browser.log; return 1; }
  [ "$(wc -c <page.png)" -gt 60000 ]
}

@test "what is no study, or belongs to none, is one line" {
  says() {
    local code=$1 pattern=$2
    shift 2
    run "$top_srcdir/scripts/report" "$@"
    expect_status "$code"
    [[ $output == *"$pattern"* ]] || { printf '%s\ndoes not have %s\n' "$output" "$pattern"; return 1; }
  }
  echo '{"schema": "himeno-gpu/1"}' >run.json
  says 2 'holds no study' "$PWD"
  says 2 'run.json: of schema himeno-gpu/1' "$study" run.json
  says 2 'none.json: No such file' "$study" none.json
}
