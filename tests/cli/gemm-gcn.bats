# SPDX-License-Identifier: MIT
# The machine code that the compiler makes of gemm-gpu's OpenCL ladder for AMD's GCN (Fury X: fiji, Radeon VII: gfx906), without
# such a device.
load ../helper

opencl=$top_srcdir/gemm/kernels/opencl

setup() { CLANG=$(command -v clang-14 || command -v clang) || skip "there is no clang"; }

# compile CHIP RUNG OPTION...: writes the rung's assembly to RUNG.s. The macros are those of gemm/kernels/opencl/exec.c.
compile() {
  local chip=$1 rung=$2 library=/usr/lib/clc/$1-amdgcn-mesa-mesa3d.bc source=$BATS_TEST_TMPDIR/$2.cl
  shift 2
  [ -r "$library" ] || skip "there is no libclc for $chip"
  cat "$opencl/common.cl" >"$source"
  case $rung in unroll | pipeline | lds_pipeline) cat "$opencl/tile.cl" >>"$source" ;; esac
  cat "$opencl/$rung.cl" >>"$source"
  "$CLANG" -target amdgcn-mesa-mesa3d -mcpu="$chip" -nogpulib -x cl -cl-std=CL1.2 -O3 -Wno-pass-failed \
    -Xclang -finclude-default-header -Xclang -mlink-bitcode-file -Xclang "$library" -D GROUP_M=128 -D GROUP_N=128 \
    -D ITEM_M=8 -D ITEM_N=8 -D LANES=1 -D OFFSET=uint "$@" -S -o "$BATS_TEST_TMPDIR/$rung.s" "$source"
}

# figures RUNG: sets registers and scratch of the kernel, and instructions, products and spills of its hot loop.
figures() {
  read -r registers scratch instructions products spills < <("$PYTHON" "$top_srcdir/tests/gcn_loop.py" "$BATS_TEST_TMPDIR/$1.s")
  echo "$1: $registers registers, $scratch bytes of scratch, $products of $instructions instructions multiply and add"
}

# rung CHIP NAME LEAST OPTION...: the hot loop must not spill; at least LEAST per cent of it must multiply and add.
rung() {
  local chip=$1 name=$2 least=$3
  shift 3
  compile "$chip" "$name" "$@"
  figures "$name"
  [ "$spills" = 0 ]
  [ $((100 * products)) -ge $((least * instructions)) ]
}

NN="-D TRANS_A=0 -D TRANS_B=0"

@test "each step of the ladder raises the share of multiply-adds in its hot loop" {
  for chip in fiji gfx906; do
    rung $chip naive 8
    rung $chip regblock 40
    rung $chip local 60
    rung $chip unroll 85 $NN -D GROUP_K=8 -D ALIGNED
    [ "$scratch" = 0 ]
    rung $chip pipeline 85 $NN -D GROUP_K=8 -D ALIGNED
    [ "$scratch" = 0 ]
  done
}

@test "lds-pipeline: at least 85% of the hot loop multiply and add, no scratch, at most 128 registers" {
  for chip in fiji gfx906; do
    rung $chip lds_pipeline 85 $NN -D GROUP_K=8 -D ALIGNED
    [ "$registers" -le 128 ]
    [ "$scratch" = 0 ]
  done
}

@test "lds-pipeline transposed, and with tiles that reach over the edge: the hot loop spills nothing" {
  for a in 0 1; do
    for b in 0 1; do
      rung gfx906 lds_pipeline 85 -D TRANS_A=$a -D TRANS_B=$b -D GROUP_K=8 -D ALIGNED
      [ "$registers" -le 128 ]
      rung gfx906 lds_pipeline 75 -D TRANS_A=$a -D TRANS_B=$b -D GROUP_K=8 -D EDGES
    done
  done
}
