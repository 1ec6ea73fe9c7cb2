# SPDX-License-Identifier: MIT
# Documents of earlier versions stay readable: an example per version in tests/golden/documents, and the documents of doc/results.
load ../helper
bats_require_minimum_version 1.5.0

setup() {
  cd "$BATS_TEST_TMPDIR"
  old=$top_srcdir/tests/golden/documents
}

export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

@test "every version that a schema of doc/ describes has an example, and examples follow the schema of their version" {
  "$PYTHON" - "$top_srcdir" <<'PY'
import json, pathlib, sys
source = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(source / "tests/golden"))
import fields
found = {path.stem: json.loads(path.read_text()) for path in (source / "tests/golden/documents").glob("*.json")}
assert all(document["schema"].replace("/", "-") == name for name, document in found.items())
roots = {name: root for name, root in fields.roots_of(source).items() if name != fields.LINE_OF_A_LOG}
assert not [name for name in roots if name.replace("/", "-") not in found]
try:
    import jsonschema
except ImportError:
    sys.exit()
for name, (_, whole) in roots.items():
    assert "$id" not in whole  # Debian 12's jsonschema looks for it on the net
    jsonschema.Draft202012Validator.check_schema(whole)
    jsonschema.Draft202012Validator(whole).validate(found[name.replace("/", "-")])
PY
}

@test "what is plotted can read every example, and every document of doc/results" {
  needs_results
  "$PYTHON" - "$top_srcdir" <<'PY'
import json, pathlib, sys
source = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(source / "scripts" / folder) for folder in ("plotting", "studying", "shared")]
import documents, memory, paths, products, scaling
def sections(document):
    return [getattr(memory, kind)(document) for kind in ("copies", "latency", "roofline") if document[kind]]
runs = [documents.run_point, scaling.measured]
readers = {"himeno-gpu/1": runs, "himeno-gpu/2": runs, "himeno-ladder/1": [documents.ladder, documents.ladder_points],
           "himeno-predict/1": [scaling.predicted], "gemm-ladder/1": [products.panel],
           "gemm-ladder/2": [products.panel],
           "comm-gpu/1": [paths.one], "mem-gpu/1": [sections]}
read = dict.fromkeys(readers, 0)
whole = [(path, documents.read(path)[1]) for path in [*source.glob("tests/golden/documents/*.json"), *source.glob("doc/results/**/*.json")]]
lines = [json.loads(line) for path in source.glob("doc/results/**/*.jsonl") for line in path.read_text().splitlines()]
for path, document in whole + [(line["name"], line["document"]) for line in lines]:
    for reader in readers.get(document.get("schema"), []): # extracts of documents have none
        if documents.emulated(document):  # it has no speed to draw
            continue
        read[document["schema"]] += bool(documents.described(path, document, reader))
assert all(read.values()), read
PY
}

@test "mem-gpu places the kernels of every example on its roofline" {
  "$top_builddir/mem-gpu" -b cpu -t 0.01 --roofline --sizes 64K --json roof.json \
    --kernels "$old/himeno-gpu-1.json,$old/himeno-gpu-2.json,$old/himeno-ladder-1.json,$old/himeno-traffic-1.json,$old/gemm-gpu-1.json,$old/gemm-ladder-1.json,$old/gemm-ladder-2.json" >/dev/null
  "$PYTHON" -c 'import json
names = [kernel["name"] for kernel in json.load(open("roof.json"))["roofline"]["kernels"]]
assert {"stream L", "stream S", "temporal4 S", "warptile f32 1024", "regblock f32 4096", "simd f32 256"} <= set(names), names'
}

@test "himeno-gpu reads each example as --reference, up to the grid, which differs" {
  for of in 1:256 2:64; do
    example=$old/himeno-gpu-${of%:*}.json
    expect 2 --separate-stderr on 1 "$himeno" -b null -s XS -n 1 --reference "$example"
    [[ $stderr == *"reference $example: its imax is ${of#*:}, this run's is 32"* ]]
  done
}

@test "himeno-predict reads the examples of runs, paths, models and predictions" {
  needs_results
  [ "$HAVE_CMINPACK" = 1 ] || skip "himeno-predict was not built"
  predict=$top_builddir/himeno-predict
  expect 0 "$predict" --check "$old/himeno-predict-1.json" --against "$old/himeno-gpu-1.json"
  [[ $output == *'L      strong       4    2x2x1  staged         200.40       294.07   +46.7%  outside its interval'* ]]
  run "$predict" --model "$old/himeno-predict-1.json" -s L -n 4 -p 2x2x1 -x staged
  expect_status 5 # 10 of 13 runs that were left out lie inside their interval
  [[ $output == *294.07* ]]
  mkdir runs
  recorded h200-x4-2026-11/runs.jsonl 'strong-[SL]-*' runs/
  cp "$old/himeno-gpu-2.json" runs
  expect 0 "$predict" --study runs --comm "$old/comm-gpu-1.json" -s L -n 4 -p 2x2x1
  [[ $output == *'L      strong'*2x2x1* ]]
}

@test "every line of a soak's log has the fields that doc/soak.schema.json has" {
  "$PYTHON" - "$top_srcdir" <<'PY'
import json, pathlib, sys
source = pathlib.Path(sys.argv[1])
schema = json.loads((source / "doc/soak.schema.json").read_text())
lines = [json.loads(line) for line in (source / "tests/golden/documents/soak-log.jsonl").read_text().splitlines()]
assert [line["verdict"] for line in lines] == ["wrong", "pass", "pass"] and lines[0]["corruptions"][0]["array"] == "c1"
assert all(set(schema["required"]) <= set(line) <= set(schema["properties"]) for line in lines)
try:
    import jsonschema
except ImportError:
    sys.exit()
for line in lines:
    jsonschema.Draft202012Validator(schema).validate(line)
PY
}

@test "scripts/scaling continues a stored study, and compares it" {
  cp -r "$old/study" study && chmod -R u+w study
  expect 0 "$top_srcdir/scripts/scaling" status study
  [[ $output == *'2 of 2'* ]]
  expect 0 "$top_srcdir/scripts/scaling" compare study "$old/study"
  [[ $output == *'0 slower, 0 faster, 0 the same within noise, 2 not judged'* ]]
  cp study/study.csv before.csv
  expect 0 "$top_srcdir/scripts/scaling" run study
  diff before.csv study/study.csv
}

@test "scripts/report shows a stored study" {
  cp -r "$old/study" study && chmod -R u+w study
  run "$top_srcdir/scripts/report" study -o report.html
  [ "$status" -ne 3 ] || skip "$output"
  expect_status 0
  for word in 'complete: yes' 'correct: yes' 'Null device 1' 'himeno-gpu -s 18x18x34 -k reference' '22.45'; do
    grep -qF -- "$word" report.html || { echo "no $word"; return 1; }
  done
}

@test "scripts/accept continues a stored acceptance, and judges it as before" {
  cp -r "$old/accept" accept && chmod -R u+w accept
  "$PYTHON" -c 'import json; print(json.load(open("accept/plan.json"))["limits of the policy"], end="")' >site.json
  sed -i "s|\"program\": .*|\"program\": \"$himeno\",|" accept/plan.json
  printf '#!/bin/sh\nexit 9\n' >launch # no step may be run again
  chmod +x launch
  PATH=$PWD:$PATH run "$top_srcdir/scripts/accept" accept --per-host 1 --hosts n1,n2 --policy site.json --stages alone --size 18x18x34 --seconds 0.01 \
    --program "$himeno" --options "-b null --block 5" --launcher "launch {list} {per_host}"
  expect_status 4
  [[ $output == *'n2    wrong: himeno-gpu: first block: array a2 has changed on this rank'*'drain: n2'* ]]
  "$PYTHON" - "$old/accept/accept.json" accept/accept.json <<'PY'
import json, sys
before, now = (json.load(open(path)) for path in sys.argv[1:])
for old, new in [(before, now), *zip(before.pop("findings"), now["findings"])]:
    assert {key: new[key] for key in old if key not in ("time", "seconds")} == {key: old[key] for key in old if key not in ("time", "seconds")}
PY
}

@test "figures of pages agree with figures.csv, and those with the documents" {
  needs_results
  expect 0 "$PYTHON" "$top_srcdir/tests/cli/figures.py" "$top_srcdir"
  [[ $output =~ ^[1-9][0-9]+' figures of '[1-9] ]]
}

@test "figures of a page that are wrong, missing or not cited are named" {
  mkdir -p tree/doc/results/one
  printf '%s\n' '<!-- all figures: results/*/figures.csv -->' '| a | 12.3 |' '| b | 41% | 7 |' >tree/doc/page.md
  echo '{"name": "r", "command": "prog", "document": {"x": {"y": 12.34}, "list": [{"k": "m", "v": 0.412}]}}' >tree/doc/results/one/runs.jsonl
  row() { echo "page.md,$1,$2,u,r,$3,${4-prog}" >>tree/doc/results/one/figures.csv; }
  rows() { echo page,line,value,unit,document,where,command >tree/doc/results/one/figures.csv; row '| a |' 12.3 "$1"; }
  figures() { run "$PYTHON" "$top_srcdir/tests/cli/figures.py" tree; }
  rows x.y
  row '| b |' 41% 'list[k=m].v'
  row '| b |' 7 7
  figures
  expect_status 0
  rows 'x.y / 2'
  figures
  [ "$status" -eq 1 ]
  [[ $output == *'12.3: the document has 6.17'* && $output == *'page.md:3: a figure that no figures.csv has'* ]]
  rows x.y
  row '| b |' 41% 'list[k=m].v' other
  row '| c |' 1 1
  figures
  [[ $output == *'was made by: prog'* && $output == *'0 lines have "| c |"'* && $output == *'1 times 7 in a line, 0 in figures.csv'* ]]
  # A mark in a row means that some of its figures have no document.
  sed -i 's/| 7 |/| 7 † |/' tree/doc/page.md
  rows x.y
  row '| b |' 41% 'list[k=m].v'
  figures
  expect_status 0
  row '| b |' 7 7
  figures
  [[ $status == 1 && $output == *'page.md: marked, but figures.csv has all of it: | b | 41%'* ]]
}
