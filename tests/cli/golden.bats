# SPDX-License-Identifier: MIT
# Documented commands keep working. tests/golden/commands lists them, and the fixed parts of their
# output.
load ../helper

golden() { "$PYTHON" "${folder:-$top_srcdir/tests/golden}/golden.py" "$1" "${2:-$top_srcdir}" "$top_builddir" "${work:-$BATS_TEST_TMPDIR/work}"; }

export PYTHONDONTWRITEBYTECODE=1

@test "every command line of README, doc, recipes and examples is in tests/golden/commands, and its options exist" { golden whole; }

@test "documented command lines have the recorded exit code, lines and keys" {
  [ -n "$MPIRUN" ] || skip "no MPI launcher was found"
  work=$BATS_FILE_TMPDIR golden run
}

@test "schemas have each field of the documents that those lines wrote, and no other" {
  work=$BATS_FILE_TMPDIR
  [ -e "$work/run.json" ] || skip "the lines were not run"
  golden fields
  # Two planted errors: a key that is missing in a schema, and a property that is never written.
  mkdir -p "$BATS_TEST_TMPDIR/lies/doc"
  cp "$top_srcdir"/doc/*.schema.json "$BATS_TEST_TMPDIR/lies/doc"
  sed -i '/"ceiling_share": .*Of the whole run/d; s/^ *"kernel_choice": {/"planted": {"type": "integer"}, &/' "$BATS_TEST_TMPDIR/lies/doc/result.schema.json"
  run golden fields "$BATS_TEST_TMPDIR/lies"
  expect_status 1
  [ "$output" = 'himeno-gpu/2.result.ceiling_share is written and stands in no schema
himeno-gpu/2.config.planted stands in a schema and is written by no document' ]
}

@test "changed commands, options, exit codes, lines and keys are found" {
  folder=$BATS_TEST_TMPDIR/golden
  cp -r "$top_srcdir/tests/golden" "$folder"
  # Document a new command, and one with an unknown option.
  mkdir -p "$BATS_TEST_TMPDIR/tree/doc"
  cp "$top_srcdir"/*.md "$BATS_TEST_TMPDIR/tree"
  cp "$top_srcdir"/doc/*.json "$BATS_TEST_TMPDIR/tree/doc"
  ln -s "$top_srcdir/scripts" "$BATS_TEST_TMPDIR/tree/scripts"
  printf '\n    mpirun -np 9 build/himeno-gpu -s M    # new\n    build/gemm-gpu --gone\n' >>"$BATS_TEST_TMPDIR/tree/README.md"
  run golden whole "$BATS_TEST_TMPDIR/tree"
  expect_status 1
  [[ $output == *"README.md: mpirun -np 9 build/himeno-gpu -s M"*"is not in tests/golden/commands"*"gemm-gpu has no option --gone"* ]]
  # Expect four wrong things: an exit code, a line that is not printed, the type of a key, and a key that is not written.
  sed -i 's/"gbps": {"type": \["number"/"gbps": {"type": ["string"/; s/"required": \["seconds", "gflops"/&, "planted"/' \
    "$BATS_TEST_TMPDIR/tree/doc/result.schema.json"
  ln -s "$top_srcdir/tests" "$BATS_TEST_TMPDIR/tree/tests"
  printf '%s\n' 'here: one' '  run build/himeno-gpu -b cpu -s XS -n 3 --json r.json' '  says ^never' '  exit 4' '  writes r.json result' >"$folder/commands"
  run golden run "$BATS_TEST_TMPDIR/tree"
  expect_status 1
  [[ $output == *"exit code 0, not 4"*"no line like '^never'"* ]]
  has_jsonschema
  [[ $output == *"r.json: result.gbps: "*" is not of type 'string', 'null'"* && $output == *"r.json: result: 'planted' is a required property"* ]]
}
