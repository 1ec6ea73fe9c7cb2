# SPDX-License-Identifier: MIT
# Not a rung: sgemm_67 reading C by TMU instead of DMA, an open question of the article. C's columns are looked up one
# by one, three in flight while a fourth is computed; the first look-ups run during the end of the loop. C is stored as
# in sgemm_67, so the mutex is held only from the first write to the VPM on. The stride of C in the record has 24 bits,
# because mul24 uses it.
.include "sgemm.qinc"

.set AHEAD, 3
.set most(n) n + AHEAD - (n + AHEAD > 64) * (n + AHEAD - 64)

# Looks up the next column of C. r3 has the column's addresses.
.macro request
  mov t0s, r3
  add r3, r3, 4
.endm

# Computes column c of C, whose sums are in register s.
.macro finish_column, c, s
  fmul s, s, r1; ldtmu0
  .if c < 64 - AHEAD
    request
  .endif
  fmul r0, r4, r5
  fadd vpm, s, r0
  mov s, 0
.endm

  begin_tile
  take_lane STRIDE_OF_C
  mov vw_setup, unif
  loop_67
  mov r5rep, r2 << STRIDE_OF_C
  mul24 r3, elem_num, r5
  mov r5rep, r2 << ADDRESS_OF_C
  add r3, r3, r5
  .rep i, AHEAD
    request
  .endr
  tail_67
  mov unif_addr, r2 << COEFFICIENTS
  mov -, mutex
  nop
  mov r1, unif
  mov r5rep, unif
  .rep block, 4
    ldi vw_setup, columns_of(16 * block)
    .rep i, 8
      finish_column 16 * block + 2 * i, ra0 + 8 * block + i
      finish_column 16 * block + 2 * i + 1, rb0 + 8 * block + i
    .endr
    ldi r0, 64 * block - 4 * most(16 * block + 16)
    ldi vw_setup, vdw_block(16 * block)
    add vw_addr, r3, r0
  .endr
  mov r5rep, r2 << NEXT_RECORD
  mov -, vw_wait
  mov mutex, 0
  next_tile_or_end
