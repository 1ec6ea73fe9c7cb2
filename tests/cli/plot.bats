# SPDX-License-Identifier: MIT
# scripts/plot draws figures of documents, and prints one line if something cannot be drawn.
# tests/scripts/test_figures.py tests what the figures show.
load ../helper
bats_require_minimum_version 1.5.0

plot=$top_srcdir/scripts/plot

setup_file() {
  export documents=$BATS_FILE_TMPDIR
  on 1 "$himeno" -b cpu -s XS --ladder -t 0.01 --block 10 --json "$documents/ladder.json" >/dev/null
  on 1 "$himeno" -b cpu -s XS -k stream -n 3 --json "$documents/XS.json" >/dev/null
  OMP_NUM_THREADS=1 on 3 "$top_builddir/comm-gpu" -b null --samples 1 --step 16 --max 32K -s XS --json "$documents/paths.json" >/dev/null
  "$top_builddir/mem-gpu" -b cpu -t 0.01 --copies --latency --roofline --sizes 1M --footprint 256K --json "$documents/mem.json" \
    --kernels "$documents/ladder.json" >/dev/null
  "$PYTHON" - "$documents" <<'PY'
import json, sys
folder = sys.argv[1]
result = json.load(open(f"{folder}/XS.json"))
result["result"]["verdict"] = "wrong"
json.dump(result, open(f"{folder}/wrong.json", "w"))
del result["config"]["size"]
result["result"]["verdict"] = "pass"
json.dump(result, open(f"{folder}/lacking.json", "w"))
PY
}

setup() { cd "$BATS_TEST_TMPDIR"; }

# draws KIND FILE...: plot must write a PNG and an SVG that are not empty.
draws() {
  run --separate-stderr "$plot" "$@" -o picture
  [ "$status" -ne 3 ] || skip "$stderr"
  expect_status 0
  [ "$(head -c 4 picture.png | tail -c 3)" = PNG ]
  [ "$(wc -c <picture.png)" -gt 10000 ]
  grep -q '<svg' picture.svg
}

# refuses PATTERN ARGUMENT...: plot must end with 2, a line that matches PATTERN, and no figure.
refuses() {
  local pattern=$1
  shift
  run --separate-stderr "$plot" "$@" -o picture
  expect_status 2
  [ "$(wc -l <<<"$stderr")" -eq 1 ] || { printf 'not one line:\n%s\n' "$stderr"; return 1; }
  grep -Eq -- "$pattern" <<<"$stderr" || { printf '%s\ndoes not match %s\n' "$stderr" "$pattern"; return 1; }
  [ ! -e picture.png ]
}

@test "a prediction of one number of ranks is drawn" {
  refuses 'gemm-gpu-1.json: run without --distributed' scaling "$top_srcdir/tests/golden/documents/gemm-gpu-1.json"
  draws scaling "$top_srcdir"/tests/golden/documents/himeno-{gpu,predict}-1.json
}

@test "a ladder is drawn, with kernels, axis, device and date" {
  draws ladder "$documents/ladder.json" --title "My ladder"
  for word in reference 'My ladder' "$(date -u +%Y-)"; do grep -qF -- "$word" picture.svg; done
}

@test "copies between host and device are drawn: the slowest rank, one and all at once" {
  refuses 'XS.json: schema himeno-gpu/2: host needs comm-gpu/1' host "$documents/XS.json"
  refuses 'host: give exactly one document' host "$documents/paths.json" "$documents/paths.json"
  "$PYTHON" - "$documents/paths.json" <<'PY'
import json, sys
document = json.load(open(sys.argv[1]))
document["host"] = []
json.dump(document, open("none.json", "w"))
PY
  refuses 'none.json: no host copies in it: run comm-gpu --parts host' host none.json
  draws host "$documents/paths.json"
}

@test "transports are drawn: a bar or the reason why there is none, a table, and the report of 2009 on request" {
  "$top_srcdir/scripts/scaling" run study --program "$himeno" --launcher "$MPIRUN -np {ranks}" --options "-b cpu --block 5" --sizes 8x8x16 \
    --ranks 2 --scaling strong --transports staged-no-overlap,ipc,pigeon --repeat 1 --seconds 0.01 --no-paths >/dev/null 2>&1 || true
  refuses 'study/runs: no study of scripts/scaling in it' transports study/runs
  refuses 'transports: give exactly one folder' transports study study
  draws transports study
  run ! grep -q 'four PCs' picture.svg picture.csv
  draws transports --with-report study
  for word in 'four PCs by MPI' '43.0 + 1.00' 'no overlap' ipc 'not run' 'himeno-gpu: ' 'computing' '8x8x16, stream (classic)'; do
    grep -qF -- "$word" picture.svg
  done
  [ "$(wc -l <picture.csv)" -eq 6 ]
  grep -q '^| 8x8x16 | stream | classic | staged-no-overlap | staged, shared memory | 1 | [0-9]' picture.md
  grep -q '^| 8x8x16 | stream | – | pigeon |.*| himeno-gpu: .*pigeon' picture.md
}

@test "products are drawn: share of peak, measured and predicted" {
  needs_results
  refuses 'XS.json: schema himeno-gpu/2: products needs gemm-ladder/2 or gemm-ladder/1' products "$documents/XS.json"
  "$top_builddir/gemm-gpu" -b cpu --ladder --sizes 32,64,96x32x64 -t 0.01 --no-reference --json products.json >/dev/null
  draws products products.json
}

@test "lines of a *.jsonl are documents; a torn one, and one without a name, are refused with their number" {
  needs_results
  grep '"gemm-ladder-' "$top_srcdir/doc/results/h100-2026-11/runs.jsonl" >some.jsonl
  draws products some.jsonl
  for word in 'cuda, f32 NN' 'opencl, f32 NN'; do grep -qF -- "$word" picture.svg; done
  rm picture.*
  head -n 1 some.jsonl >torn.jsonl
  echo '{"name": "torn", "docu' >>torn.jsonl
  refuses 'torn.jsonl: line 2 is not a JSON document: ' products torn.jsonl
  echo '{"schema": "gemm-ladder/1"}' >bare.jsonl
  refuses 'bare.jsonl: line 1 has no document with a name' products bare.jsonl
}

@test "what mem-gpu measured is drawn, and nothing else" {
  for kind in copies latency roofline; do draws $kind "$documents/mem.json"; rm picture.*; done
  "$top_builddir/mem-gpu" -b cpu -t 0.01 --mixes --sizes 64K --json mixes.json >/dev/null
  refuses 'mixes.json: no roofline in it: run mem-gpu --roofline' roofline mixes.json
  refuses 'XS.json: schema himeno-gpu/2: copies needs mem-gpu/1' copies "$documents/XS.json"
  refuses 'latency: give exactly one document' latency "$documents/mem.json" "$documents/mem.json"
}

@test "a document with a field of another kind is drawn or refused in one line" {
  cat >odd.py <<'PY'
import copy, json, os, pathlib, runpy, sys
here = pathlib.Path(sys.argv[1]).resolve()
script = runpy.run_path(str(here / "scripts/plot"))
golden, odd = here / "tests/golden/documents", (None, "x\ny", [], {}, -1, True, 10**400)
kinds = {"ladder": "himeno-ladder-1", "sizes": "himeno-gpu-2", "paths": "comm-gpu-1", "host": "comm-gpu-1", "products": "gemm-ladder-2", "scaling": "himeno-predict-1",
         "copies": "mem-gpu-1", "latency": "mem-gpu-1", "roofline": "mem-gpu-1"}

def fields(found, depth=0):
    """Yield each container and key that can be replaced; of a list, only the first."""
    for key in list(found) if isinstance(found, dict) else range(min(1, len(found))):
        yield found, key
        if isinstance(found[key], (dict, list)) and depth < 4:
            yield from fields(found[key], depth + 1)

import style
style.save = lambda *given, **named: None  # writing takes longest
refused = tried = 0
for kind, name in kinds.items():
    whole = json.load(open(golden / f"{name}.json"))
    count = len(list(fields(whole)))
    for place in range(0, count, max(1, count // int(sys.argv[2]))):
        document = copy.deepcopy(whole)
        found, key = list(fields(document))[place]
        found[key] = odd[place % len(odd)]
        json.dump(document, open("odd.json", "w"))
        tried += 1
        try:
            script["draw"](script["argparse"].Namespace(kind=kind, files=["odd.json"], output="picture", title=None))
        except script["documents"].BadInput:
            refused += 1
        except BaseException:
            print(kind, place, key, str(odd[place % len(odd)])[:9])
            raise
        style.pyplot.close("all")
print(tried, refused)
assert refused > tried / 5
PY
  for python in "$PYTHON" python3 /usr/bin/python3; do "$python" -c 'import matplotlib' 2>/dev/null && break; done
  "$python" -c 'import matplotlib' 2>/dev/null || skip "no Python with matplotlib"
  "$python" -B odd.py "$top_srcdir" 3
}

@test "what is no document is refused in one line" {
  : >empty.json
  echo '{"schema": ' >cut.json
  echo '{"schema": "himeno-gpu/1", "x": NaN}' >nan.json
  echo '[1]' >list.json
  echo '{"schema": "other/1"}' >other.json
  printf '\377\376' >binary.json
  refuses 'empty.json: not a JSON document' sizes empty.json
  refuses 'cut.json: not a JSON document' ladder cut.json
  refuses 'nan.json: not a JSON document: NaN' sizes nan.json
  refuses 'list.json: not a document of this suite' ladder list.json
  refuses 'other.json: schema other/1: sizes needs ' sizes other.json
  refuses 'other.json: schema other/1: scaling needs ' scaling other.json
  mkdir none
  refuses 'none: no JSON document in it' scaling none
  refuses 'binary.json: not a JSON document' sizes binary.json
  refuses 'none.json: No such file' sizes none.json
  refuses 'XS.json: schema himeno-gpu/2: ladder needs himeno-ladder/1' ladder "$documents/XS.json"
  refuses 'lacking.json: does not conform to its schema: KeyError .size' sizes "$documents/lacking.json"
  refuses 'XS.json: schema himeno-gpu/2: paths needs comm-gpu/1' paths "$documents/XS.json"
  "$PYTHON" -c 'import sys; print("{\"schema\": \"himeno-gpu/1\", \"x\": " + "[" * 100000)' >deep.json
  refuses 'deep.json: not a JSON document' sizes deep.json
  sed 's/"gflops": [0-9.e+-]*/"gflops": null/g' "$documents/ladder.json" >emulated.json
  refuses 'emulated.json: an emulator has no speed' ladder emulated.json
  refuses 'emulated.json: an emulator has no speed' sizes emulated.json
  sed 's/"gbps": [0-9.e+-]*/"gbps": null/g' "$documents/paths.json" >emulated.json
  refuses 'emulated.json: an emulator has no speed' paths emulated.json
  sed 's/"result": {/"result": {"counts": {},/' "$documents/XS.json" >emulated.json
  refuses 'emulated.json: an emulator has no speed' scaling emulated.json
  refuses 'paths: give exactly one document' paths "$documents/paths.json" "$documents/paths.json"
  refuses 'wrong.json: no run passed' sizes "$documents/XS.json" "$documents/wrong.json"
}

@test "wrong options are refused, and --help helps" {
  for words in "" "pie x.json" ladder; do
    run "$plot" $words
    expect_status 2
  done
  run "$plot" --help
  expect_status 0
  [[ $output == *"scripts/plot sizes"*"Exit status"* ]]
}

@test "a chart that cannot be written is exit 3" {
  run --separate-stderr "$plot" ladder "$documents/ladder.json" -o none/such
  expect_status 3
}
