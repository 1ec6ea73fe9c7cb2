# SPDX-License-Identifier: MIT
# Rung 3: multiplication and addition in one instruction, and the branch's delay slots filled. 72 instructions, 64
# of which compute: 88.9%. Layout and words: sgemm.qinc.
.include "sgemm.qinc"
  begin
  mov r5rep, r2 << COUNT
::loop
  mov t0s, r1
  mov unif_addr, r2
  add r1, r1, 4
  add r2, r2, r3
  nop; ldtmu0
  fmul r0, r4, unif
  .rep i, 30
    column_pair i, r4
  .endr
  fadd ra30, ra30, r0; fmul r0, r4, unif
  sub.setf r5rep, r5, 1
  brr.allnz -, r:loop
  fadd rb30, rb30, r0; fmul r0, r4, unif
  fadd ra31, ra31, r0; fmul r0, r4, unif
  fadd rb31, rb31, r0
::loop_end
  fetch_first_block
  finish_tile
  next_tile_or_end
