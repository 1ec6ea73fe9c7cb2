# SPDX-License-Identifier: MIT
# One Himeno sweep. For each new plane of p, the nine vectors around the column (j-1 … j+1, k-1 … k+1) are read once and
# used in three steps, as i+1, as i and as i-1. The loop contains three steps, so that planes change roles and not
# registers. Twelve coefficient vectors per step are read through both TMUs, at most four pending in each. Passes
# and uniforms: see column.qinc.

.include "column.qinc"

# The nine vectors of plane set s (0 to 2). Those at j+1 and j-1 are in different register files, for subtraction in one
# instruction.
.set up_km(s) ra0 + 3 * s
.set up(s) ra1 + 3 * s
.set up_kp(s) ra2 + 3 * s
.set mid_kp(s) ra9 + s
.set mid(s) ra12 + s
.set down_km(s) rb12 + 3 * s
.set down(s) rb13 + 3 * s
.set down_kp(s) rb14 + 3 * s
.set mid_km(s) rb21 + s

# Reads the nine vectors of the plane after `offset` into set s.
.macro load_plane, s
  add r2, offset, p_next_plane
  mov t0s, r2
  add t1s, r2, 4
  add t0s, r2, -4
  add r3, r2, row_bytes
  mov t1s, r3
  add t0s, r3, 4
  add t1s, r3, -4
  sub r3, r2, row_bytes
  mov t0s, r3
  add t1s, r3, 4
  nop; ldtmu0
  add t0s, r3, -4
  mov mid(s), r4; ldtmu1
  mov mid_kp(s), r4; ldtmu0
  mov mid_km(s), r4; ldtmu1
  mov up(s), r4; ldtmu0
  mov up_kp(s), r4; ldtmu1
  mov up_km(s), r4; ldtmu0
  mov down(s), r4; ldtmu1
  mov down_kp(s), r4; ldtmu0
  mov down_km(s), r4
.endm

# The points of one plane; m, c and n are the sets of i-1, i and i+1. Coefficients alternate between the TMUs.
.macro step, m, c, n
  load_plane n
  add t0s, offset, rb0 + A0
  add t1s, offset, rb0 + A1
  add t0s, offset, rb0 + A2
  add t1s, offset, rb0 + B0
  add t0s, offset, rb0 + B1
  add t1s, offset, rb0 + B2
  add t0s, offset, rb0 + C0
  add t1s, offset, rb0 + C1
  nop; ldtmu0
  fmul r0, r4, mid(n); ldtmu1
  add t0s, offset, rb0 + C2
  fmul r1, r4, up(c); ldtmu0
  add t1s, offset, rb0 + WRK1
  fadd r0, r0, r1; fmul r1, r4, mid_kp(c); ldtmu1
  add t0s, offset, rb0 + A3
  fadd r0, r0, r1
  fsub r3, up(n), down(n)
  fsub r3, r3, up(m)
  fadd r3, r3, down(m)
  fmul r1, r3, r4; ldtmu0
  add t1s, offset, rb0 + BND
  fadd r0, r0, r1
  fsub r3, up_kp(c), down_kp(c)
  fsub r3, r3, up_km(c)
  fadd r3, r3, down_km(c)
  fmul r1, r3, r4; ldtmu1
  fadd r0, r0, r1; mov r3, mid_kp(n)
  fsub r3, r3, mid_kp(m)
  fsub r3, r3, mid_km(n)
  fadd r3, r3, mid_km(m)
  fmul r1, r3, r4; ldtmu0
  fadd r0, r0, r1; fmul r1, r4, mid(m); ldtmu1
  fadd r0, r0, r1; fmul r1, r4, down(c); ldtmu0
  fadd r0, r0, r1; fmul r1, r4, mid_km(c); ldtmu1
  fadd r0, r0, r1
  fadd r0, r0, r4; ldtmu0
  fmul r0, r0, r4; ldtmu1
  fsub r0, r0, mid(c)
  fmul r0, r0, r4
  point_end mid(c)
.endm

  program_begin
:pass
  pass_begin
  load_plane 0
  add offset, offset, plane_bytes
  nop
  load_plane 1
  add offset, offset, plane_bytes
  nop
::loop
  step 0, 1, 2
  step 1, 2, 0
  step 2, 0, 1
  brr -, r:loop
  nop
  nop
  nop
::loop_end
:pass_done
  pass_end
