# SPDX-License-Identifier: MIT
# Fourth rung: the loop is turned by four instructions, so that its branch stands where the uniform stream has to rest
# after its address changes. 67 instructions, 64 of which compute: 95.5%. What the turn leaves over is the tail after
# the loop, and the first block of C arrives meanwhile. Layout and words: sgemm.qinc.
#
# No look-up is requested in a delay slot, although no rule forbids it: the article reports that it fails on the part.
.include "sgemm.qinc"
  begin
  mov unif_addr, r2
  mov t0s, r1
  add r1, r1, 4
  nop; ldtmu0
  add.setf r2, r2, r3; mov t0s, r1
  add r1, r1, 4; fmul r0, r4, unif
  column_pair 0, r4
::loop
  .rep i, 30
    column_pair i + 1, r4
  .endr
  fadd ra31, ra31, r0; fmul r0, r4, unif
  fadd rb31, rb31, r0; mov unif_addr, r2; ldtmu0
  add.setf r2, r2, r3; mov t0s, r1
  brr.allnz -, r:loop
  add r1, r1, 4; fmul r0, r4, unif
  column_pair 0, r4
::loop_end
  mov r1, r4; ldtmu0
  fetch_first_block
  .rep i, 30
    column_pair i + 1, r1
  .endr
  fadd ra31, ra31, r0; fmul r0, r1, unif
  fadd rb31, rb31, r0
  finish_tile
  next_tile_or_end
