# SPDX-License-Identifier: MIT
# Follows doc/how-to/extending.md literally in a copy of the tree. The edits come from the page, and each must find its place. The
# built copy must list, run and verify what was added. If the added code is changed to compute something else, the run must fail.
load ../helper

setup_file() {
  command -v automake >/dev/null || return 0
  export tree=$BATS_FILE_TMPDIR/tree
  mkdir "$tree"
  # Copy everything except build folders.
  for entry in "$top_srcdir"/*; do
    [ -e "$entry/config.status" ] || [ -e "$entry/build/config.status" ] || cp -R "$entry" "$tree"
  done
  chmod -R u+w "$tree"
  rm -f "$tree"/config.status "$tree"/config.h
  find "$tree" -name '*.[ao]' -delete
}

setup() { [ -n "${tree-}" ] || skip "automake writes the copy's Makefile"; }

fail() {
  echo "$1"
  return 1
}

# extend SECTION MOST: makes the edits of a section of the page, which may change at most MOST existing files.
extend() {
  run "$PYTHON" "$top_srcdir/tests/cli/guide.py" "$top_srcdir/doc/how-to/extending.md" "$tree" "$1"
  expect_status 0
  [ "${#lines[@]}" -le "$2" ] || fail "$1: ${#lines[@]} files"
}

@test "a backend touches at most 12 files" { extend "A backend" 12; }
@test "a transport touches at most 4 files" { extend "A transport" 4; }
@test "a CUDA kernel touches at most 3 files" { extend "A Himeno kernel" 3; }
@test "a GEMM kernel touches at most 3 files" { extend "A GEMM kernel" 3; }
@test "a memory kernel touches one file" { extend "A memory kernel" 1; }

@test "a field of a document touches one line" {
  cp "$tree/himeno/report/json.c" "$tree/json.c"
  extend "A field of a document" 1
  [ "$(diff "$tree/json.c" "$tree/himeno/report/json.c" | grep -c '^[<>]')" = 1 ]
}

@test "the copy is built" {
  cd "$tree"
  automake
  mkdir build
  cd build
  ../configure --without-cuda --without-opencl CFLAGS=-O0 >configure.log
  make -s -j"$(nproc)" himeno-gpu gemm-gpu mem-gpu
}

himeno_mine() { run on 2 ./himeno-gpu -b mine -x mine -s XS -n 4 --data dense --json result.json; }
gemm_mine() { run ./gemm-gpu -b cpu -k mine -s 64 -t 0.1 --json gemm.json; }
mem_mine() { run ./mem-gpu -b cpu --copies --streams 1 --sizes 64K -t 0.05 --json mem.json; }

@test "backend, transport and field: the result is correct, and the document has the field of its schema" {
  cd "$tree/build"
  himeno_mine
  expect_status 0
  run "$PYTHON" -c 'import json, sys
document = json.load(open("result.json"))
print(document["config"]["backend"], document["config"]["transport"], document["paths"][0]["used"],
      document["result"]["verdict"], document["result"]["verified"], document["config"]["mine"])'
  [ "$output" = "mine mine mine pass reference 120" ] || fail "$output"
  ../scripts/schemas .
  run diff "$top_srcdir/doc/result.schema.json" ../doc/result.schema.json
  [ "$(grep '^[<>]' <<<"$output" | grep -v '"backend": {"enum"')" = '>     "mine": {"type": "integer", "description": "What it is.", "minimum": 0},' ] || fail "$output"
  top_srcdir=$tree follows result result.json
  run ./himeno-gpu --list -b mine # the list has a backend for tests only if it is named
  [[ "$output" == *"mine: host memory"* ]]
  [[ "$output" == *$'\n'"  mine       "* ]]
}

@test "the GEMM kernel is listed, and is a rung that is verified" {
  cd "$tree/build"
  run ./gemm-gpu --list -b cpu
  [[ "$output" == *"kernel     mine "* ]]
  gemm_mine
  expect_status 0
  run ./gemm-gpu -b cpu --ladder -s 64 -t 0.1 --json ladder.json
  expect_status 0
  run "$PYTHON" -c 'import json
print(*((rung["kernel"], rung["verdict"], rung["check"]["how"]) for rung in json.load(open("ladder.json"))["sizes"][0]["rungs"] if rung["rung"] == 4))'
  [ "$output" = "('mine', 'pass', 'full')" ] || fail "$output"
}

@test "the memory kernel is one of the shapes that are checked" {
  cd "$tree/build"
  mem_mine
  expect_status 0
}

@test "what was added is used: made wrong, each fails the run" {
  cd "$tree"
  sed -i 's/x->recv\[x->step % 2\], 0)/x->recv[0], 0)/' comm/transports/mine.c
  sed -i 's/sum += /sum -= /' gemm/kernels/cpu/mine.c
  sed -i 's/to\[i\] = from\[i\];$/to[i] = from[i] + 1;/' tools/memory/cpu/ops.c
  cd build
  make -s -j"$(nproc)" himeno-gpu gemm-gpu mem-gpu
  himeno_mine
  expect_status 4
  gemm_mine
  expect_status 4
  mem_mine
  expect_status 4
  [[ "$output" == *"tuned copy of 64.0 KiB"* ]]
}

# On a GPU, --ladder must verify the kernel. Elsewhere there must be code for it, and its name in the table of kernels.
@test "the CUDA kernel compiles, and on a GPU is a rung that is verified" {
  command -v nvcc >/dev/null || skip "nvcc was not found"
  mkdir "$tree/build-cuda"
  cd "$tree/build-cuda"
  if nvidia-smi -L 2>/dev/null | grep -q GPU; then
    ../configure --with-cuda-arch=native --without-opencl >configure.log
    make -s -j"$(nproc)" himeno-gpu
    run ./himeno-gpu -b cuda --list
    [[ "$output" == *"kernel     mine "* ]]
    run ./himeno-gpu -b cuda --ladder -s XS -t 1 --json ladder.json
    expect_status 0
    run "$PYTHON" -c 'import json
print(*((rung["verdict"], rung["verified"]) for rung in json.load(open("ladder.json"))["rungs"] if rung["kernel"] == "mine"))'
    [ "$output" = "('pass', 'known')" ] || fail "$output"
    return
  fi
  ../configure --with-cuda-arch=90 --without-opencl CFLAGS=-O0 NVCCFLAGS="-O1 -Xcicc -O1 -Xptxas -O1" >configure.log
  make -s himeno/kernels/cuda/mine.o himeno/kernels/cuda/cuda_sweep_set.o
  nm himeno/kernels/cuda/mine.o | grep -q ' [DR] cuda_variant_mine$'
  nm himeno/kernels/cuda/cuda_sweep_set.o | grep -q ' U cuda_variant_mine$'
}
