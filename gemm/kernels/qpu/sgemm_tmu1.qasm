# SPDX-License-Identifier: MIT
# Rung 5: B by the second TMU instead of the uniform stream, whose cache limits the other outer products on the chip. Tiles are
# 48 × 16: three vectors of A and one of B per iteration. An element of B is moved to lane 0 by rotation and broadcast
# by r5, which costs the mul ALU one instruction per three products: 78 instructions for 48 products.
#
# A record's words: A's row stride in bytes · A's address · stride between vectors of A · B's address · B's row
# stride · q · C's address · alpha · beta · address of the next record, plus 1 if that is the end record. C is stored as
# 48 contiguous rows of 16 elements. A has one column and B one row more than is used, because they are looked up too.
.include "sgemm.qinc"

.set a_third, rb16
.set a_at, rb18           # and rb19, rb20: addresses of the three vectors of A
.set b_at, rb21
.set b_stride, rb22
.set count, rb23
.set c_at, rb24
.set alpha, rb25
.set beta, rb26
.set next_record, rb27

.set vdr_rows(y) 0x80000000 | 3 << 24 | 1 << 12 | y << 4

# Registers of the sums in column c, one per vector of A. No instruction of the loop may read two registers of one file.
.set sum0(c) rb0 + c
.set sum1(c) ra0 + c
.set sum2(c) ra16 + c

# Scales the sums of vector i, which begin at register s, adds beta·C, stores them and clears them.
.macro finish_rows, i, s
  mov -, vr_wait
  .if i < 2
    ldi r0, 1024 * (i + 1)
    ldi vr_setup, vdr_rows(16 * (i + 1))
    add vr_addr, r3, r0
  .endif
  ldi vr_setup, columns_of(16 * i)
  ldi vw_setup, columns_of(16 * i)
  .rep c, 16
    fmul s + c, s + c, r1
    fmul r0, vpm, r5
    fadd vpm, s + c, r0
    mov s + c, 0
  .endr
  ldi r0, 1024 * i
  ldi vw_setup, vdw_block(16 * i)
  add vw_addr, r3, r0
.endm

  mov r0, unif
  ldi vw_setup, 0xc0000000
  .rep i, 16
    mov ra0 + i, 0; mov rb0 + i, 0
    mov ra16 + i, 0
  .endr
:tile
  mov unif_addr, r0
  nop
  nop
  mul24 r1, elem_num, unif
  add r1, r1, unif
  mov r2, unif
  add r3, r1, r2; mov a_at, r1
  add a_at + 2, r3, r2; mov r1, r3
  shl r0, elem_num, 2; mov a_at + 1, r1
  add b_at, r0, unif
  mov b_stride, unif
  mov count, unif
  mov c_at, unif
  mov alpha, unif
  mov beta, unif
  mov next_record, unif
  mov t0s, a_at
  mov t0s, a_at + 1
  mov t0s, a_at + 2
  mov t1s, b_at
::loop
  nop; ldtmu0
  mov r1, r4; ldtmu0
  mov r2, r4; ldtmu0
  mov a_third, r4; ldtmu1
  mov r0, 4; mov r3, r4
  add a_at, a_at, r0
  add a_at + 1, a_at + 1, r0
  add a_at + 2, a_at + 2, r0
  mov r0, b_stride
  add b_at, b_at, r0
  mov r0, count
  sub.setf count, r0, 1
  .rep c, 16
    .if c == 0
      mov r5rep, r3
    .else
      fadd sum2(c - 1), sum2(c - 1), r0; mov r5rep, r3 << c
    .endif
    .if c < 3
      mov t0s, a_at + c; fmul r0, r1, r5
    .elseif c == 3
      mov t1s, b_at; fmul r0, r1, r5
    .else
      fmul r0, r1, r5
    .endif
    .if c == 15
      brr.allnz -, r:loop
    .endif
    fadd sum0(c), sum0(c), r0; fmul r0, r2, r5
    fadd sum1(c), sum1(c), r0; fmul r0, a_third, r5
  .endr
  fadd sum2(15), sum2(15), r0
::loop_end
  .rep i, 3
    nop; ldtmu0
  .endr
  nop; ldtmu1
  mov -, mutex
  mov r3, c_at
  mov r1, alpha
  mov r5rep, beta
  ldi vr_setup, vdr_rows(0)
  mov vr_addr, r3
  finish_rows 0, rb0
  finish_rows 1, ra0
  finish_rows 2, ra16
  mov r5rep, next_record
  mov -, vw_wait
  mov mutex, 0
  next_tile_or_end
