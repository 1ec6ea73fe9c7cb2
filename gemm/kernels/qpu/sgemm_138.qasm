# SPDX-License-Identifier: MIT
# Rung 2: the outer product in its simplest form, one operation per instruction. 138 instructions for 64
# columns: at most 46% of them compute. Layout and words: sgemm.qinc.
.include "sgemm.qinc"
  begin
  mov r5rep, r2 << COUNT
::loop
  mov t0s, r1
  mov unif_addr, r2
  add r1, r1, 4
  add r2, r2, r3
  nop; ldtmu0
  .rep i, 32
    fmul r0, r4, unif
    fadd ra0 + i, ra0 + i, r0
    fmul r0, r4, unif
    fadd rb0 + i, rb0 + i, r0
  .endr
  sub.setf r5rep, r5, 1
  brr.allnz -, r:loop
  nop
  nop
  nop
::loop_end
  fetch_first_block
  finish_tile
  next_tile_or_end
