# SPDX-License-Identifier: MIT
# One Himeno sweep. A pass is a column of 16 points along k, marched over i: of each new plane of p the nine vectors
# around the column (j-1 … j+1, k-1 … k+1) are looked up once and serve three steps, as i+1, as i and as i-1. The loop
# holds three steps, so that planes change roles and not registers. Twelve coefficient vectors a step come through
# both TMUs, at most four look-ups waiting in each. Results go by a row of the VPM and DMA. Every operation is rounded
# by itself, toward zero, in the order of the C code.
#
# Vectors start at k = 1, 17, 33, …: the last may have lanes beyond the interior. They repeat the last point, so that
# no look-up leaves the arrays, and are neither stored nor counted.
#
# Uniforms: a0 a1 a2 b0 b1 b2 c0 c1 c2 wrk1 a3 bnd (addresses) · p plus a plane · new p · bytes from plane to plane ·
# bytes from row to row · omega · interior planes · VPM write set-up of this program's row · number of passes; for
# each pass: last lane in use · offset of its first point · DMA store set-up; then: DMA store set-up and address for
# the 16 sums of squares · number of this program · number of programs less one.

# Coefficients' addresses: rb0 … rb11.
.set A0, 0
.set A1, 1
.set A2, 2
.set B0, 3
.set B1, 4
.set B2, 5
.set C0, 6
.set C1, 7
.set C2, 8
.set WRK1, 9
.set A3, 10
.set BND, 11

# The nine vectors of plane set s (0 to 2). Those at j+1 and j-1 are in different files, to be subtracted at once.
.set up_km(s) ra0 + 3 * s
.set up(s) ra1 + 3 * s
.set up_kp(s) ra2 + 3 * s
.set mid_kp(s) ra9 + s
.set mid(s) ra12 + s
.set down_km(s) rb12 + 3 * s
.set down(s) rb13 + 3 * s
.set down_kp(s) rb14 + 3 * s
.set mid_km(s) rb21 + s

.const p_next_plane, rb24
.const row_bytes, rb25
.const omega, rb26
.const vpm_row, rb27
.const gosa_pass, rb28
.const lane_weight, rb29
.const p_new, rb30
.const plane_bytes, rb31
.const offset, ra27
.const planes_left, ra28
.const planes, ra29
.const passes_left, ra30
.const gosa, ra31

# Nine look-ups of the plane after `offset`, kept in set s.
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
  mov -, vw_wait; fmul r1, r0, r0
  fmul r1, r1, lane_weight
  mov vw_setup, vpm_row
  fadd gosa_pass, gosa_pass, r1
  fmul r1, r0, omega
  sub.setf planes_left, planes_left, 1
  fadd vpm, mid(c), r1
  brr.allz -, r:pass_done
  add vw_addr, offset, p_new
  add offset, offset, plane_bytes
  nop
.endm

  .rep i, 12
    mov rb0 + i, unif
  .endr
  mov p_next_plane, unif
  mov p_new, unif
  mov plane_bytes, unif
  mov row_bytes, unif
  mov omega, unif
  mov planes, unif
  mov vpm_row, unif
  mov passes_left, unif
  mov gosa, 0
  ldi vw_setup, 0xc0000000
:pass
  mov r1, unif
  min r0, elem_num, r1
  shl r0, r0, 2
  add r0, r0, unif
  sub r0, r0, plane_bytes
  sub.setf -, r1, elem_num
  sub offset, r0, plane_bytes; mov gosa_pass, 0
  mov lane_weight, 0
  mov.ifnn lane_weight, 1.0
  mov -, vw_wait
  mov vw_setup, unif
  mov planes_left, planes
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
  mov r0, passes_left
  sub.setf passes_left, r0, 1
  brr.allnz -, r:pass
  fadd gosa, gosa, gosa_pass
  nop
  nop
  mov -, vw_wait
  mov vw_setup, vpm_row
  mov vpm, gosa
  mov vw_setup, unif
  mov vw_addr, unif
  mov -, vw_wait
  mov.setf -, unif
  brr.allnz -, r:other
  mov r0, unif
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
