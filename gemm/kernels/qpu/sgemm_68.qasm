# SPDX-License-Identifier: MIT
# Rung 4: counter and address in one vector, the next column of A requested an iteration ahead. 68 instructions, 64
# of which compute: 94.1%. Layout and words: sgemm.qinc.
.include "sgemm.qinc"
  begin
  mov unif_addr, r2
  mov t0s, r1
  add r1, r1, 4
  nop; ldtmu0
::loop
  mov t0s, r1
  add.setf r2, r2, r3
  add r1, r1, 4; fmul r0, r4, unif
  .rep i, 30
    column_pair i, r4
  .endr
  fadd ra30, ra30, r0; fmul r0, r4, unif
  brr.allnz -, r:loop
  fadd rb30, rb30, r0; fmul r0, r4, unif
  fadd ra31, ra31, r0; fmul r0, r4, unif
  fadd rb31, rb31, r0; mov unif_addr, r2; ldtmu0
::loop_end
  fetch_first_block
  finish_tile
  next_tile_or_end
