# SPDX-License-Identifier: MIT
# Rung 1: dot products of 16 elements per iteration, as in pi-gemm of 2014. One of the loop's 14 instructions multiplies and
# one adds; the others compute addresses, request look-ups and count.
#
# Uniforms: address of A's row · stride between this program's rows of A, in bytes · address of B's columns (stored as rows)
# · stride between columns of B · address of C's row · stride between this program's rows of C · rows · columns · vectors of
# 16 in a row of A · alpha · beta · number of this program · number of programs minus one. Rows of A and columns of B are
# padded with zeros to whole vectors, and one more vector must exist, because it is looked up too.
  mov ra0, unif             # A's row
  mov rb1, unif
  mov ra2, unif             # B
  mov rb3, unif
  mov ra4, unif             # C's row
  mov rb5, unif
  mov ra6, unif             # rows left
  mov ra7, unif             # columns
  mov ra8, unif             # vectors
  mov rb9, unif             # alpha
  mov rb10, unif            # beta
  mov r0, unif              # number of this program, which is its row of the VPM
  mov ra11, r0; mov rb11, unif
  ldi r1, 1 << 12 | 1 << 11 | 2 << 8
  add rb12, r0, r1          # VPM write set-up
  shl r0, r0, 7
  ldi r1, 0x80000000 | 1 << 23 | 1 << 16 | 1 << 14
  add rb13, r0, r1          # DMA store set-up
  ldi vw_setup, 0xc0000000
  shl r0, elem_num, 2
  nop
  add ra0, ra0, r0
  add ra2, ra2, r0
  ldi r2, 64
:row
  mov ra16, ra2             # column of B
  mov ra17, ra4             # C
  mov ra18, ra7             # columns left
:column
  mov t0s, ra0
  mov t1s, ra16
  mov ra20, ra0
  mov rb21, ra16
  mov ra22, ra8
  mov r3, 0
::loop
  nop; ldtmu0
  add ra20, ra20, r2
  mov ra23, r4
  mov t0s, ra20
  nop; ldtmu1
  add rb21, rb21, r2; fmul r0, ra23, r4
  fadd r3, r3, r0
  sub ra22, ra22, 1
  mov t1s, rb21
  mov.setf -, ra22
  brr.allnz -, r:loop
  nop
  nop
  nop
::loop_end
  nop; ldtmu0               # the extra vectors, not used
  nop; ldtmu1
  mov t0s, ra17             # looks up the old value of C
  .rep i, 4
    mov r1, r3 >> 8 / (1 << i)
    fadd r3, r3, r1
    nop
  .endr
  fmul r0, r3, rb9; ldtmu0
  fmul r1, r4, rb10
  mov vw_setup, rb12
  fadd vpm, r0, r1
  mov vw_setup, rb13
  mov vw_addr, ra17
  mov -, vw_wait
  mov r0, ra18
  sub.setf ra18, r0, 1
  brr.allnz -, r:column
  add ra16, ra16, rb3
  add ra17, ra17, 4
  nop
  mov r0, ra6
  sub.setf ra6, r0, 1
  brr.allnz -, r:row
  add ra0, ra0, rb1
  add ra4, ra4, rb5
  nop
  mov.setf -, ra11
  brr.allnz -, r:other
  mov r0, rb11
  nop
  nop
:collect
  mov.setf -, r0
  brr.allz -, r:all_done
  sub r0, r0, 1
  nop
  nop
  brr -, r:collect
  sacq -, 0
  nop
  nop
:other
  srel -, 0
  thrend
  nop
  nop
:all_done
  mov irq, 1
  thrend
  nop
  nop
