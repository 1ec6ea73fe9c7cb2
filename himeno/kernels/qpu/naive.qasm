# SPDX-License-Identifier: MIT
# One Himeno sweep. Each neighbour and coefficient is read where the expression needs it, and the program waits for it.
# Passes and uniforms: see column.qinc.

.include "column.qinc"

.set centre, ra0

# r4 = p at (i+di, j+dj, k+dk)
.macro look, di, dj, dk
  add r2, offset, p_next_plane
  .rep n, 1 - di
    sub r2, r2, plane_bytes
  .endr
  .if dj > 0
    add r2, r2, row_bytes
  .elseif dj < 0
    sub r2, r2, row_bytes
  .endif
  add t0s, r2, 4 * dk
  nop; ldtmu0
.endm

# r4 = a coefficient
.macro coefficient, number
  add t1s, offset, rb0 + number
  nop; ldtmu1
.endm

# r1 = coefficient · p
.macro product, number, di, dj, dk
  look di, dj, dk
  mov r3, r4
  coefficient number
  fmul r1, r3, r4
.endm

.macro term, number, di, dj, dk
  product number, di, dj, dk
  fadd r0, r0, r1
.endm

# r0 += coefficient · (p(++) − p(+−) − p(−+) + p(−−)), with the signs of the directions (a, b, c) and (x, y, z)
.macro cross, number, a, b, c, x, y, z
  look a + x, b + y, c + z
  mov r3, r4
  look a - x, b - y, c - z
  fsub r3, r3, r4
  look x - a, y - b, z - c
  fsub r3, r3, r4
  look -a - x, -b - y, -c - z
  fadd r3, r3, r4
  coefficient number
  fmul r1, r3, r4
  fadd r0, r0, r1
.endm

  program_begin
:pass
  pass_begin
  .rep n, 2
    add offset, offset, plane_bytes
    nop
  .endr
::loop
  product A0, 1, 0, 0
  mov r0, r1
  term A1, 0, 1, 0
  term A2, 0, 0, 1
  cross B0, 1, 0, 0, 0, 1, 0
  cross B1, 0, 0, 1, 0, 1, 0
  cross B2, 0, 0, 1, 1, 0, 0
  term C0, -1, 0, 0
  term C1, 0, -1, 0
  term C2, 0, 0, -1
  coefficient WRK1
  fadd r0, r0, r4
  coefficient A3
  fmul r0, r0, r4
  look 0, 0, 0
  mov centre, r4
  coefficient BND
  fsub r0, r0, centre
  fmul r0, r0, r4
  point_end centre
  brr -, r:loop
  nop
  nop
  nop
::loop_end
:pass_done
  pass_end
