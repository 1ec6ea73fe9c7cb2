# SPDX-License-Identifier: MIT
# CONTRIBUTING's lists of what a new backend, transport and field of a document touch: by exactly these edits a copy of the tree gets them.
load ../helper

parts=$top_srcdir/tests/extend

setup_file() {
  command -v automake > /dev/null || skip "automake writes the copy's Makefile"
  export tree=$BATS_FILE_TMPDIR/tree
  mkdir "$tree"
  # Build folders stay behind.
  for entry in "$top_srcdir"/*; do
    [ -e "$entry/config.status" ] || cp -R "$entry" "$tree"
  done
  chmod -R u+w "$tree"
  rm -f "$tree"/config.status "$tree"/config.h
  find "$tree" -name '*.[ao]' -delete
}

fail() {
  echo "$1"
  return 1
}

# edit KIND MOST: makes the edits of a kind, and counts the files.
edit() {
  local file expression
  while read -r file expression; do
    [ "${file#\#}" = "$file" ] || continue
    cp "$tree/$file" "$tree/before"
    sed -i "$expression" "$tree/$file"
    ! cmp -s "$tree/$file" "$tree/before" || fail "$1: nothing in $file to edit"
    grep -q "^\*.*\`$file\`" "$top_srcdir/CONTRIBUTING.md" || fail "$1: CONTRIBUTING.md does not list $file"
    echo "$file" >> "$tree/$1.files"
  done < "$parts/$1.edits"
  [ "$(sort -u "$tree/$1.files" | wc -l)" -le "$2" ]
}

@test "a backend touches at most 12 files" {
  edit backend 12
  # It is the null backend by another name, which forwards to the CPU's, and whose halos are the CPU's.
  mkdir "$tree"/gpu/dummy "$tree"/himeno/kernels/dummy "$tree"/gemm/kernels/dummy "$tree"/comm/halo/dummy
  for file in gpu/null/null_device.c gpu/null/null_device.h himeno/kernels/null/null_sweep_set.c gemm/kernels/null/null_product_set.c; do
    sed 's/null/dummy/g; s/NULL_DEVICE_H/DUMMY_DEVICE_H/' "$tree/$file" > "$tree/${file//null/dummy}"
  done
  cp "$parts/pack.c" "$tree/comm/halo/dummy/pack.c"
}

@test "a transport touches at most 4 files" {
  edit transport 4
  cp "$parts/transport.c" "$tree/comm/transports/dummy.c"
}

@test "a field of a document touches one line" {
  [ "$(grep -vc '^#' "$parts/field.edits")" = 1 ]
  cp "$tree/himeno/report/json.c" "$tree/json.c"
  edit field 1
  [ "$(diff "$tree/json.c" "$tree/himeno/report/json.c" | grep -c '^[<>]')" = 1 ]
}

@test "both run, the result is correct, and the document has the field, as its schema says" {
  cd "$tree"
  automake
  mkdir build
  cd build
  ../configure --without-cuda --without-opencl CFLAGS=-O0 > configure.log
  make -s -j"$(nproc)" himeno-gpu
  run on 2 ./himeno-gpu -b dummy -x dummy -s XS -n 4 --data dense --json result.json
  expect_status 0
  run "$PYTHON" -c 'import json, sys
document = json.load(open("result.json"))
print(document["config"]["backend"], document["config"]["transport"], document["paths"][0]["used"],
      document["result"]["verdict"], document["result"]["verified"], document["config"]["dummy"])'
  [ "$output" = "dummy dummy dummy pass reference 120" ] || fail "$output"
  ../scripts/schemas .
  run diff "$top_srcdir/doc/result.schema.json" ../doc/result.schema.json
  [ "$(grep '^[<>]' <<<"$output" | grep -v '"backend": {"enum"')" = '>     "dummy": {"type": "integer", "description": "Planted.", "minimum": 0},' ] || fail "$output"
  top_srcdir=$tree follows result result.json
  run ./himeno-gpu --list -b dummy # a backend for tests is listed when it is named
  [[ "$output" == *"dummy: host memory"* ]]
  [[ "$output" == *"dummy      staged, between fields in memory of its own"* ]]
}
