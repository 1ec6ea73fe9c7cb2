# SPDX-License-Identifier: MIT
# doc/*.schema.json are what the programs print. The code that writes a document declares its fields.
load ../helper

@test "the schemas of doc/ are what the programs print" {
  run "$top_srcdir/scripts/schemas" "$top_builddir" --check
  expect_status 0
}

@test "a schema that differs is shown" {
  cp -r "$top_srcdir/scripts" "$BATS_TEST_TMPDIR"
  mkdir "$BATS_TEST_TMPDIR/doc"
  cp "$top_srcdir"/doc/*.schema.json "$BATS_TEST_TMPDIR/doc"
  chmod -R u+w "$BATS_TEST_TMPDIR"
  sed -i 's/"ceiling_share": {"type": \["number", "null"\]/"ceiling_share": {"type": "number"/' "$BATS_TEST_TMPDIR/doc/result.schema.json"
  run "$BATS_TEST_TMPDIR/scripts/schemas" "$top_builddir" --check
  expect_status 1
  [[ $output == *'-    "ceiling_share": {"type": "number"'*'+    "ceiling_share": {"type": ["number", "null"]'* ]]
  run "$BATS_TEST_TMPDIR/scripts/schemas" "$top_builddir"
  expect_status 0
  cmp "$BATS_TEST_TMPDIR/doc/result.schema.json" "$top_srcdir/doc/result.schema.json"
}

@test "every schema is printed by a program, except those of scripts and of earlier versions" {
  for file in "$top_srcdir"/doc/*.schema.json; do
    name=$(basename "$file" .schema.json)
    [[ $name =~ ^(accept|inventory)$ || $name =~ -[0-9]+$ ]] || grep -q "^schema $name " "$top_srcdir/scripts/schemas" || { echo "$name"; return 1; }
  done
}
