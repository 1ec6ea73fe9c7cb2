# SPDX-License-Identifier: MIT
# scripts/scaling runs every point once, whatever happens; Slurm; comparison of studies.
load ../helper
bats_require_minimum_version 1.5.0

scaling=$top_srcdir/scripts/scaling
export OMP_NUM_THREADS=1

setup() {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  without_sanitizers "scripts are the same without sanitizers"
  cd "$BATS_TEST_TMPDIR"
  # A launcher that records what it launched. If another test of this file has made the same run, it copies that document.
  cat >launch <<SH
#!/bin/bash
[ \$# -gt 3 ] || exit 0
for last; do :; done
basename "\$last" >>$PWD/launched
words="\${*:1:\$#-1}"
made=$BATS_FILE_TMPDIR/\$(tr -c 'a-zA-Z0-9' _ <<<"\$words")
if [ -e "\$made" ]; then sleep 0.1; cp "\$made" "\$last"; exit; fi
$MPIRUN -np "\$@" && cp "\$last" "\$made.new" && mv "\$made.new" "\$made"
SH
  chmod +x launch
  plan=(--program "$himeno" --launcher "$PWD/launch {ranks}" --options "-b cpu --block 5" --sizes 8x8x16,12x12x16 --ranks 1,2
        --repeat 1 --seconds 0.01 --no-paths)
}

points() { ls "$1"/runs/*.json | wc -l; }
launched() { grep -c "$1" launched || true; }

@test "a study runs each point once and has a row for each; it records settings, and no other variables" {
  UCX_TLS=tcp NCCL_DEBUG=WARN SECRET_TOKEN=hush expect 0 "$scaling" run study "${plan[@]}" --repeat 2
  [[ $output == *"about 36 s expected"*"[12/12]"* && $output == *left* ]]
  [ "$(points study)" -eq 12 ]
  [ "$(wc -l <launched)" -eq 12 ]
  [ "$(wc -l <study/study.csv)" -eq 13 ]
  head -n 1 study/study.csv | grep -q '^name,size,scaling,ranks,.*seconds_a_sweep,gflops,'
  head -n 1 study/log.jsonl | grep -q '"UCX_TLS": "tcp"'
  head -n 1 study/log.jsonl | grep -q '"NCCL_DEBUG": "WARN"'
  run ! grep -rq hush study
  expect 0 "$scaling" status study
  [[ $output == "12 of 12 points are finished"* ]]
}

@test "a study for predictions has what they need, with the reasons" {
  run "$scaling" run study "${plan[@]}" --sizes M --ranks 2 --predict 16 --per-host 4 --transports p2p --launcher "false {ranks}"
  [[ $output == *"6 more runs: transport staged: 16 ranks are on several hosts of 4"* ]]
  run "$scaling" run plain "${plan[@]}" --launcher "false {ranks}"
  [[ $output != *" more runs: "* ]]
}

@test "a transport without overlap is a configuration of its own" {
  "$scaling" run study "${plan[@]}" --sizes 8x8x16 --ranks 2 --scaling strong --transports staged,staged-no-overlap >/dev/null
  for name in staged:True staged-no-overlap:False; do
    [ "$(json "study/runs/strong-8x8x16-2-stream-${name%:*}-auto-r1.json" 'd["config"]["transport"], d["config"]["overlap"]')" = "staged ${name#*:}" ]
  done
  "$PYTHON" - study/study.csv <<'PY'
import csv, sys
found = {(row["transport"], row["overlap"]) for row in csv.DictReader(open(sys.argv[1]))}
assert found == {("staged", "True"), ("staged-no-overlap", "False")}, found
PY
  expect 2 "$scaling" run other "${plan[@]}" --transports staged-late
  [[ $output == *"--transports staged-late: 'staged-late' is not allowed"* ]]
}

@test "points run in a random order that the seed repeats" {
  order() { json "$1/study.json" '[p["name"] for p in d["points"]]'; }
  begin() { "$scaling" run "$1" "${plan[@]}" --launcher "true {ranks}" --seed "$2" >/dev/null 2>&1 || true; }
  begin s1 1
  begin s2 2
  begin again 1
  [ "$(order s1)" = "$(order again)" ]
  [ "$(order s1)" != "$(order s2)" ]
}

@test "a study killed at any time goes on, and runs no finished point twice" {
  "$scaling" run study "${plan[@]}" --repeat 2 >/dev/null 2>&1 3>&- &
  pid=$!
  for _ in $(seq $((600 * SLOWNESS))); do
    [ "$(ls study/runs/*.json 2>/dev/null | wc -l)" -ge 3 ] && break
    sleep 0.1
  done
  kill -9 $pid
  wait $pid || true
  finished=$(cd study/runs && ls ./*.json | sed 's/^..//; s/\.json$//')
  [ "$(wc -l <<<"$finished")" -lt 12 ]
  expect 0 "$scaling" run study
  [[ $output == *"points are finished already"* ]]
  [ "$(points study)" -eq 12 ]
  for name in $finished; do [ "$(launched "^\.$name\.draft")" -eq 1 ]; done
  expect 0 "$scaling" run study
  [ "$(sort launched | uniq -c | awk '$1 > 2' | wc -l)" -eq 0 ]
}

@test "a study that a signal ends is incomplete, exit 8; a point that one ended is run again" {
  "$scaling" run study "${plan[@]}" >/dev/null 2>said 3>&- &
  pid=$!
  for _ in $(seq $((600 * SLOWNESS))); do [ -e study/runs ] && [ -n "$(ls study/runs/*.json 2>/dev/null)" ] && break; sleep 0.1; done
  kill -TERM $pid
  code=0
  wait $pid || code=$?
  [ "$code" -eq 8 ]
  printf '#!/bin/sh\nexit 8\n' >ended
  chmod +x ended
  expect 8 "$scaling" run other "${plan[@]}" --launcher "$PWD/ended {ranks}"
  : >calls
  printf '#!/bin/sh\necho >>%s/calls\nexit 8\n' "$PWD" >ended
  expect 8 "$scaling" run other
  [ -s calls ]
}

@test "only torn documents and those of another point are run again" {
  "$scaling" run study "${plan[@]}" >/dev/null
  : >launched
  cd study/runs
  truncate -s 700 strong-8x8x16-2-stream-staged-auto-r1.json
  cp strong-8x8x16-1-stream-none-1x1x1-r1.json strong-12x12x16-1-stream-none-1x1x1-r1.json
  cd ../..
  printf '{"point": "weak-8x' >>study/log.jsonl
  expect 0 "$scaling" run study
  [ "$(wc -l <launched)" -eq 2 ]
  [ "$(json study/runs/strong-8x8x16-2-stream-staged-auto-r1.json 'd["result"]["verdict"]')" = pass ]
  [ "$(json study/runs/strong-12x12x16-1-stream-none-1x1x1-r1.json 'd["config"]["size"]')" = 12x12x16 ]
}

@test "a second program in the same folder is refused while the first runs" {
  printf '#!/bin/sh\ntouch begun\nwhile [ -e begun ]; do sleep 0.1; done\n' >slow
  chmod +x slow
  "$scaling" run study "${plan[@]}" --launcher "$PWD/slow {ranks}" >/dev/null 2>&1 3>&- &
  pid=$!
  for _ in $(seq $((600 * SLOWNESS))); do [ -e begun ] && break; sleep 0.1; done
  run "$scaling" run study
  kill $pid
  wait $pid || true
  rm begun
  expect_status 3
  [[ $output == *"running already, in process $pid"* ]]
}

@test "a point that fails is reported with its reason, and run again only on request" {
  expect 2 "$scaling" run study "${plan[@]}" --sizes 8x8x16 --procs 1x2x1 --scaling strong --transports staged,pigeon
  [[ $output == *"FAILED: himeno-gpu: "*pigeon* ]]
  [ "$(points study)" -eq 2 ]
  : >launched
  expect 2 "$scaling" run study
  [ ! -s launched ]
  expect 2 "$scaling" run study --retry
  [ "$(cat launched)" = .strong-8x8x16-2-stream-pigeon-1x2x1-r1.draft ]
}

@test "a run that takes too long is stopped" {
  printf '#!/bin/sh\nsleep 60\n' >slow
  chmod +x slow
  expect 7 "$scaling" run study "${plan[@]}" --sizes 8x8x16 --ranks 1 --launcher "$PWD/slow {ranks}" --limit 1
  [[ $output == *"stopped after 1 s"* ]]
}

@test "compare finds what got slower beyond the noise, and what did not" {
  "$scaling" run a "${plan[@]}" --sizes 12x12x16 --repeat 2 >/dev/null
  cp -r a b
  "$PYTHON" - <<'PY'
import glob, json
def scale(path, factor):
    d = json.load(open(path))
    d["result"]["samples"] = [factor * 1e-3] * 4
    json.dump(d, open(path, "w"))
for folder in "ab":
    for path in glob.glob(folder + "/runs/*.json"):
        off = 1 + 0.004 * (-1 if "-r1" in path else 1)
        scale(path, off * (1.1 if folder == "b" and "/weak-" in path else 0.9 if folder == "b" and "-1x1x1" in path else 1))
PY
  expect 0 "$scaling" compare a a
  [[ $output == *"0 slower, 0 faster, 3 the same within noise"* ]]
  expect 5 "$scaling" compare a b
  [[ $output == *"1 slower, 1 faster, 1 the same within noise"* ]]
  grep -Eq '^weak 12x12x16, 2 ranks.*\+10\.00%.*slower$' <<<"$output"
  grep -Eq '^strong 12x12x16, 1 rank,.*-10\.00%.*faster$' <<<"$output"
}

@test "a malformed study, run or log is reported in a line or two, without a traceback" {
  local verb
  "$scaling" run study "${plan[@]}" --sizes 8x8x16 --ranks 1 >/dev/null
  # damaged FILE CODE PATTERN: puts standard input in the place of a study's file
  damaged() {
    cp -r study broken
    cat >"broken/$1"
    for verb in status csv "compare study" "run"; do
      run --separate-stderr "$scaling" ${verb% *} $([ "$verb" = "compare study" ] && echo study) broken
      [[ $stderr != *Traceback* && $(wc -l <<<"$stderr") -le 2 ]] || { echo "$verb: $stderr"; return 1; }
    done
    run --separate-stderr "$scaling" compare study broken
    expect_status "$2"
    grep -Eq -- "$3" <<<"$stderr" || { printf '%s\ndoes not match %s\n' "$stderr" "$3"; return 1; }
    run --separate-stderr "$top_srcdir/scripts/report" broken -o report.html
    [[ $stderr != *Traceback* ]] || { echo "report: $stderr"; return 1; }
    rm -r broken
  }
  "$PYTHON" -c 'print("[" * 100000)' | damaged study.json 2 'study.json: brackets within brackets'
  printf '{"schema": "\xff"}' | damaged study.json 2 'study.json: byte 13 is not UTF-8'
  echo '{"schema": "himeno-study/1"}' | damaged study.json 2 'options or points are missing'
  sed 's/"ranks": 1,/"ranks": "one",/' study/study.json | damaged study.json 2 'points\[0\]\.ranks is .one., not as'
  sed 's/"name": "/"name": "..\//' study/study.json | damaged study.json 2 'no name of a file'
  printf '\xff\xfe\n[[[[\n{"session": 1}\n' | damaged log.jsonl 0 'log.jsonl: 3 of 3 lines are torn'
  { cat study/log.jsonl; "$PYTHON" -c 'print("[" * 100000)'; } | damaged log.jsonl 0 'log.jsonl: 1 of [0-9]+ lines are torn'
  local one=runs/strong-8x8x16-1-stream-none-1x1x1-r1.json
  for change in 'd["result"]["samples"] = ["a"]' 'd["result"]["samples"] = [0, 0, 0]' 'del d["version"]' 'd["ranks"][0] = {}' 'd["result"]["gflops"] = -1' 'd["system"] = 3'; do
    "$PYTHON" -c "import json,sys; d=json.load(open(sys.argv[1])); $change; json.dump(d, sys.stdout)" study/$one | damaged $one 2 'r1.json: does not conform to its schema'
  done
}

# Replaces Slurm: sbatch runs the job in the background, and squeue lists it until it ends.
fake_slurm() {
  mkdir bin queue
  cat >bin/sbatch <<'SH'
#!/bin/bash
echo "$*" >>"$FAKE/submitted"
[ -e "$FAKE/closed" ] && { echo "sbatch: error: partition is down" >&2; exit 1; }
for word; do case $word in --wrap=*) wrapped=${word#--wrap=} ;; --output=*) log=${word#--output=} ;; esac; done
number=$(($(ls "$FAKE/queue" | wc -l) + 1))
touch "$FAKE/queue/$number"
(bash -c "$wrapped" >"$log" 2>&1; [ -e "$FAKE/stays" ] || echo done >"$FAKE/queue/$number") >/dev/null 2>&1 3>&- &
echo "$number"
SH
  cat >bin/squeue <<'SH'
#!/bin/bash
for number in "$FAKE"/queue/*; do [ -s "$number" ] || basename "$number"; done
touch "$FAKE/asked"
SH
  cat >bin/srun <<'SH'
#!/bin/bash
exec "$FAKE/launch" "${1#--ntasks=}" "${@:4}"
SH
  chmod +x bin/*
  export FAKE=$PWD PATH=$PWD/bin:$PATH
  in_slurm=(--program "$himeno" --options "-b cpu --block 5" --sizes 8x8x16 --ranks 1,2 --repeat 1 --seconds 0.01 --no-paths
            --per-host 1 --sbatch "-p gpu" --poll 0.1)
}

@test "in one allocation of Slurm all points run, and a second call submits nothing" {
  fake_slurm
  touch stays # in the queue: each point is shown when it ends, not when the job does
  expect 0 timeout $((60 * SLOWNESS)) "$scaling" run study "${in_slurm[@]}" --slurm allocation
  [[ $output == *"[1/3]"*"[2/3]"*"[3/3]"* ]]
  [ "$(points study)" -eq 3 ]
  [ "$(wc -l <submitted)" -eq 1 ]
  grep -q -- '--nodes=2 --ntasks=2 --ntasks-per-node=1 .*-p gpu' submitted
  expect 0 "$scaling" run study
  [ "$(wc -l <submitted)" -eq 1 ]
}

@test "with a job per point each job asks for its own nodes, and jobs in the queue are not submitted again" {
  fake_slurm
  echo 9 >queue/1
  "$scaling" run study "${in_slurm[@]}" --slurm jobs >/dev/null
  [ "$(points study)" -eq 3 ]
  [ "$(wc -l <submitted)" -eq 3 ]
  grep -q -- "--nodes=1 --ntasks=1 " submitted
  rm study/runs/strong-*-2-*.json
  touch queue/77
  "$PYTHON" -c 'import json; json.dump({"strong-8x8x16-2-stream-staged-auto-r1": "77"}, open("study/jobs.json", "w"))'
  rm asked
  (until [ -e asked ]; do sleep 0.1; done; echo done >queue/77) 3>&- &
  expect 7 "$scaling" run study --poll 0.1
  [ "$(wc -l <submitted)" -eq 3 ]
  [[ $output == *"its job ended without a result"* ]]
  touch closed
  expect 3 "$scaling" run study --poll 0.1
  [[ $output == *"partition is down"* ]]
}

@test "a real Slurm runs both kinds of study" {
  mkdir slurm
  cat >script <<SH
for how in allocation jobs; do
  "$scaling" run \$how --program "$himeno" --options "-b cpu --block 5" --sizes 16x16x32 --ranks 1,2 --scaling strong --repeat 1 \\
    --seconds 0.01 --no-paths --per-host 2 --poll 0.5 --slurm \$how || exit
  [ "\$(ls \$how/runs/*.json | wc -l)" -eq 2 ] || exit 9
done
grep -q 'SLURM_JOB_ID' jobs/log.jsonl
SH
  run --separate-stderr "$top_srcdir/tests/sites/slurm-here" slurm 2 bash script
  [ "$status" -ne 77 ] || skip "${stderr##*slurm-here: }"
  [ "$status" -eq 0 ] || { echo "$output"; echo "$stderr"; tail -n 3 */job-*.log; return 1; }
}

@test "wrong options are one line and exit 2, a missing program exit 3" {
  for option in --sizes --ranks --kernels --transports --procs --launcher; do
    expect 2 "$scaling" run empty --program "$himeno" $option ''
    [ ! -e empty ]
  done
  expect_error() {
    local code=$1 pattern=$2
    shift 2
    run "$scaling" "$@"
    expect_status "$code"
    grep -Eq -- "$pattern" <<<"$output" || { printf '%s\ndoes not match %s\n' "$output" "$pattern"; return 1; }
  }
  expect_error 2 'sizes Q: must be XS' run new --sizes Q --program "$himeno"
  expect_error 2 "ranks 0: '0' is not allowed" run new --ranks 0 --program "$himeno"
  expect_error 2 'none of the cuts fits' run new --ranks 3 --procs 2x2x1 --program "$himeno"
  expect_error 2 'procs 2x2: PxQ is gemm-gpu.s; himeno-gpu takes PxQxR' run new --ranks 4 --procs 2x2 --program "$himeno"
  expect_error 2 'slurm needs --per-host' run new --slurm jobs --program "$himeno"
  expect_error 2 'options -k: --kernels gives that' run new --program "$himeno" --options "-b cpu -k stream"
  expect_error 2 'options --time=3: --seconds gives that' run new --program "$himeno" --options "-b cpu --time=3"
  expect_error 2 'options --json: the study gives that' run new --program "$himeno" --options "-b cpu --json a.json"
  expect_error 2 '\{where\}' run new --launcher 'go {where}' --program "$himeno"
  expect_error 3 'none/himeno-gpu was not found' run new --program none/himeno-gpu
  expect_error 2 'no study in it' status new
  expect_error 2 'no study in it' compare new newer
  "$scaling" run study "${plan[@]}" --sizes 8x8x16 --ranks 1 >/dev/null
  expect_error 2 'has a study already, with other sizes' run study "${plan[@]}"
}

@test "a study of gemm-gpu: grids, strong and weak, rows, a report" {
  run "$scaling" run products --program "$top_builddir/gemm-gpu" --launcher "$PWD/launch {ranks}" --options "-b cpu --panel 32" --sizes 64,48x32x16 --ranks 1,2 \
    --procs auto,j --transports staged --repeat 1 --seconds 0.02 --no-paths
  expect_status 0
  [[ $output == *"[10/10]"* ]]
  "$PYTHON" - <<'PY'
import csv, json, math
rows = {row["name"]: row for row in csv.DictReader(open("products/study.csv"))}
one, weak = rows["strong-64-1-auto-none-1x1-r1"], rows["weak-48x32x16-2-auto-staged-1x2-r1"]
assert [one[name] for name in ("imax", "jmax", "kmax", "procs", "class", "verified", "gbps")] == ["64", "64", "64", "1x1", "product", "full", ""], one
assert [weak[name] for name in ("imax", "jmax", "kmax", "procs", "transport", "scaling")] == ["48", "64", "16", "1x2", "staged", "weak"], weak
for name, row in rows.items():
    document = json.load(open(f"products/runs/{name}.json"))
    seconds, flop = float(row["seconds_a_sweep"]), 2 * int(row["imax"]) * int(row["jmax"]) * int(row["kmax"])
    assert math.isclose(seconds, document["result"]["seconds"]) and math.isclose(flop / seconds, 1e9 * float(row["gflops"])), row
    assert row["boundary_median"] == row["reduce_max"] == "", row  # not measured is not 0
    assert float(row["interior_max"]) == document["phases"]["compute"]["max"] > 0 and float(row["gflops"]) == document["result"]["gflops"], row
PY
  rm products/runs/*weak-64-2*1x2*.json
  expect 0 "$scaling" run products
  [ "$(points products)" -eq 10 ]
  expect 0 "$top_srcdir/scripts/report" products -o products.html
  grep -q 'Scaling of gemm-gpu' products.html
  grep -q '2·m·n·k' products.html
  grep -q 'µs per product' products.html
  refute grep -qE 'sweep|interior|boundary' products.html
  grep -q '</i>multiplying</li>' products.html
  grep -q '</i>exposed time</li>' products.html
  grep -q 'measured: multiplying ' products.html
  expect 0 "$top_srcdir/scripts/plot" scaling products -o picture
  refute grep -qE 'interior|boundary' picture.svg
  grep -q 'µs per product' picture.svg && grep -q '>multiplying<' picture.svg && grep -q 'strong scaling, staged' picture.svg
}

@test "what is no study of gemm-gpu is one line" {
  local words
  for words in "--sizes L:--sizes L: must be N or MxNxK for gemm-gpu" "--procs k:--procs k: must be auto, i, j, all or PxQ for gemm-gpu" "--procs 2x1x1 --ranks 2:--procs 2x1x1" \
    "--transports staged-no-overlap:--transports staged-no-overlap: gemm-gpu has no -no-overlap"; do
    expect 2 --separate-stderr "$scaling" run bad --program "$top_builddir/gemm-gpu" ${words%%:*}
    [[ $stderr == "scaling: ${words#*:}"* && $stderr != *$'\n'* ]] || { echo "$stderr"; false; }
  done
}

@test "the chapter of 2009: predicted by the report's rule from the documents, then measured, and continued without a new run" {
  chapter() { run "$scaling" chapter-2009 chapter --program "$himeno" --launcher "$MPIRUN -np {ranks}" --size 34x24x64 --ranks 1,2,3 --backend null --kernel reference --seconds 0.02; }
  export HIMENO_NULL_DEVICES=2
  chapter
  expect_status 0
  [[ $output == *"3 ranks: left out, because there are 2 devices for them"* ]]
  [[ $output != *"on 3 GPUs"* ]]
  "$PYTHON" - chapter <<'PY'
import csv, glob, json, os, statistics, sys
def read(path): return json.load(open(os.path.join(sys.argv[1], path)))
def sweep(d): return statistics.median(d["result"]["samples"]) / d["config"]["block"]
cpu = {name: read(f"cpu/runs/strong-34x24x64-{name}-r1.json") for name in ("1-reference-none-1x1x1", "2-reference-mpi-no-overlap-2x1x1")}
one, two = sweep(cpu["1-reference-none-1x1x1"]), cpu["2-reference-mpi-no-overlap-2x1x1"]
compute = min(sweep(two), two["phases"]["interior"]["max"] + two["phases"]["boundary"]["max"])
factor = one / sweep(read("one/runs/strong-34x24x64-1-reference-none-1x1x1-r1.json"))
halos = {backend: {h["way"]: h["seconds"] for h in read(f"halos-{backend}-2.json")["halo"]} for backend in ("cpu", "null")}
rows = list(csv.DictReader(open("chapter/predicted.csv")))[2:]
assert [r["size"] for r in rows] == ["34x24x64 on 2 CPU ranks"] + 6 * ["34x24x64 on 2 GPUs"], rows
assert [r["transport"] for r in rows] == ["2 CPU ranks, MPI"] + [f"{m}{o}, predicted" for m in ("pageable", "pinned + MPI", "pinned, shared") for o in ("", ", overlapped")], rows
for row, way in zip(rows[1:], ("pageable", "pageable", "staged-mpi", "staged-mpi", "staged", "staged")):
    wanted = compute / factor, (sweep(two) - compute) * halos["null"][way] / halos["cpu"]["mpi"]
    if "overlapped" in row["transport"]:
        wanted = wanted[0], max(0, wanted[1] - wanted[0])
    found = [float(row[name]) * 1e-6 for name in ("computing us", "communication us")]
    assert all(abs(f - w) <= 2e-3 * w for f, w in zip(found, wanted)), (row, wanted)
    gflops = 34 * 32 * 22 * 62 / sum(wanted) / 1e9
    assert abs(float(row["GFLOPS"]) - gflops) <= 2e-3 * gflops, (row, gflops)
both = list(csv.DictReader(open("chapter/chapter-2009.csv")))[2:]
assert len(both) == 14 and sum(r["transport"].endswith("measured") for r in both) == 7, both
assert {path.split("/")[-1].split("-2x1x1")[0] for path in glob.glob("chapter/gpu/runs/*.json")} == \
    {f"strong-34x24x64-2-reference-{way}{late}" for way in ("pageable", "staged-mpi", "staged") for late in ("", "-no-overlap")}
PY
  [[ $output == *"on 2 GPUs, pinned, shared, overlapped, predicted"*" times one"* ]]
  local before
  before=$(cat chapter/predicted.csv; wc -l <chapter/gpu/log.jsonl)
  chapter
  expect_status 0
  [ "$before" = "$(cat chapter/predicted.csv; wc -l <chapter/gpu/log.jsonl)" ]
}
