# SPDX-License-Identifier: MIT
# The memory ceiling: reads 13 arrays and writes their sum, one vector of 16 per step, with four requests pending in each
# TMU. No sweep can be faster on this chip.
#
# Uniforms: addresses of the 13 arrays and of the result · bytes from one step to the next · number of steps · VPM write
# set-up and DMA store set-up of this program's row; then those of meet.qinc. A program without steps is not started.

.include "meet.qinc"

.set step, rb13
.set vpm_row, rb14
.set result, rb15
.set offset, ra0
.set steps_left, ra1

  .rep i, 13
    mov rb0 + i, unif
  .endr
  mov result, unif
  mov step, unif
  mov steps_left, unif
  mov vpm_row, unif
  ldi vw_setup, 0xc0000000
  shl offset, elem_num, 2
  mov vw_setup, unif
:loop
  .rep i, 4
    add t0s, offset, rb0 + 2 * i
    add t1s, offset, rb1 + 2 * i
  .endr
  nop; ldtmu0
  mov r0, r4; ldtmu1
  add t0s, offset, rb8
  fadd r0, r0, r4; ldtmu0
  add t1s, offset, rb9
  fadd r0, r0, r4; ldtmu1
  add t0s, offset, rb10
  fadd r0, r0, r4; ldtmu0
  add t1s, offset, rb11
  fadd r0, r0, r4; ldtmu1
  add t0s, offset, rb12
  fadd r0, r0, r4; ldtmu0
  .rep i, 3
    fadd r0, r0, r4; ldtmu1
    fadd r0, r0, r4; ldtmu0
  .endr
  mov -, vw_wait
  mov vw_setup, vpm_row
  fadd vpm, r0, r4
  sub.setf steps_left, steps_left, 1
  brr.allnz -, r:loop
  add vw_addr, offset, result
  add offset, offset, step
  nop
  mov -, vw_wait
  meet
