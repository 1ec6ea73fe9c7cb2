# SPDX-License-Identifier: MIT
# Rung 6: two hardware threads per QPU, as the article suggests: while one waits for its tile of C the other computes. Each
# has half the registers, so tiles are 16 × 32 and the loop has 35 instructions for 32 products. Accumulators do not survive
# a thread switch, so a thread reads the values that it needs after a switch from its own uniform stream.
#
# A blocked thread would block its sibling, so there is no mutex and no barrier: C is read by TMU and stored through a row
# of the VPM that only this thread uses, and each program interrupts the host when it ends.
#
# A record's words: A's row stride · address of A · address of B · B's row stride · q · address of the next word · alpha ·
# beta · address of C · DMA store set-up and VPM write set-up of the thread's row · address of the next record, plus 1 after
# the last. C is stored as 32 contiguous columns of 16 elements.
.include "sgemm.qinc"

.set REST_OF_RECORD, 2

# Computes a column of C, whose sums are in register s.
.macro finish_column, s
  mov t0s, r2
  fmul s, s, r1
  nop; ldtmu0
  mov -, vw_wait; fmul r0, r4, r5
  mov vw_setup, r3
  fadd vpm, s, r0
  mov vw_addr, r2
  ldi r0, 64
  add r2, r2, r0
  mov s, 0
.endm

  mov r0, unif
  ldi vw_setup, 0xc0000000
  .rep i, 16
    mov ra0 + i, 0; mov rb0 + i, 0
  .endr
:tile
  mov unif_addr, r0
  mov r2, 1
  mov r3, 0
  mul24 r1, elem_num, unif
  add r1, r1, unif
  take_lane ROW_OF_B
  mov.ifz r3, unif
  take_lane COUNT
  mov.ifz r3, -1
  take_lane REST_OF_RECORD
  mov unif_addr, r2
  mov t0s, r1
  add r1, r1, 4
  nop; ldtmu0
  add.setf r2, r2, r3; mov t0s, r1
  add r1, r1, 4; fmul r0, r4, unif
  column_pair 0, r4
::loop
  .rep i, 14
    column_pair i + 1, r4
  .endr
  fadd ra15, ra15, r0; fmul r0, r4, unif
  fadd rb15, rb15, r0; mov unif_addr, r2; ldtmu0
  add.setf r2, r2, r3; mov t0s, r1
  brr.allnz -, r:loop
  add r1, r1, 4; fmul r0, r4, unif
  column_pair 0, r4
::loop_end
  mov r1, r4; ldtmu0
  .rep i, 14
    column_pair i + 1, r1
  .endr
  fadd ra15, ra15, r0; fmul r0, r1, unif
  fadd rb15, rb15, r0
  mov unif_addr, r2 << REST_OF_RECORD
  thrsw
  nop
  nop
  mov r1, unif
  mov r5rep, unif
  shl r0, elem_num, 2
  add r2, r0, unif
  mov vw_setup, unif
  mov r3, unif
  .rep c, 16
    finish_column ra0 + c
    finish_column rb0 + c
  .endr
  mov -, vw_wait
  mov r0, unif
  and.setf -, r0, 1
  brr.allz -, r:tile
  nop
  nop
  nop
  mov irq, 1
  thrend
  nop
  nop
