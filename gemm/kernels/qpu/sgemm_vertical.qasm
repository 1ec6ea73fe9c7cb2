# SPDX-License-Identifier: MIT
# Not a rung: sgemm_67 with vertical transfers of C between memory and the VPM, an open question of the article. A row of C
# is then a column of the VPM. A load transfers one row of C, because the rows of a load advance along Y in both directions;
# a store transfers 16 rows.
.include "sgemm.qinc"

.set vdr_row(y, x) 0x80000000 | 1 << 16 | 1 << 11 | y << 4 | x
.set vdw_rows(y) 0x80000000 | 16 << 23 | 16 << 16 | y << 7
.set rows_of(y) 1 << 12 | 1 << 11 | 2 << 8 | y

  begin_tile
  take_lane STRIDE_OF_C
  mov vw_setup, unif
  loop_67
  mov -, mutex
  mov r5rep, r2 << ADDRESS_OF_C
  mov r3, r5
  tail_67
  .rep block, 4
    mov r5rep, r2 << STRIDE_OF_C
    ldi r0, 64 * block
    add r1, r3, r0
    shl r0, r5, 8
    shr r0, r0, 8
    .rep row, 16
      ldi vr_setup, vdr_row(16 * block, row)
      mov vr_addr, r1
      add r1, r1, r0
      mov -, vr_wait
    .endr
    mov unif_addr, r2 << COEFFICIENTS
    ldi vr_setup, rows_of(16 * block)
    ldi vw_setup, rows_of(16 * block)
    mov r1, unif
    mov r5rep, unif
    finish_columns 8 * block
    ldi r0, 64 * block
    ldi vw_setup, vdw_rows(16 * block)
    add vw_addr, r3, r0
  .endr
  mov r5rep, r2 << NEXT_RECORD
  mov -, vw_wait
  mov mutex, 0
  next_tile_or_end
