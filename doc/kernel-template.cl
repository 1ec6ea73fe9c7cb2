// SPDX-License-Identifier: MIT
// A kernel of your own. Copy this file, change it, and see its place on the ladder:
//
// himeno-gpu -b opencl --ladder --kernel-file my.cl -s L
//
// Every sweep of it is verified: an incorrect result is reported, and the program ends with code 4.
// As it is, the kernel is the ladder's first rung: one work-item per point.
// doc/how-to/kernel-file.md has the rules.
//
// What you get, in `pass`:
//   p, out         the field before the sweep, and where the new values go
//   coefficient    twelve arrays, by the names HIMENO_A0 … HIMENO_WRK1
//   plane, pitch   distances in memory from i to i + 1, from j to j + 1: point (i, j, k) is at
//                  i * plane + j * pitch + k, and pitch is a multiple of 4
//   lo, hi         the box of points to compute, in the order i, j, k; hi is outside. Write no
//                  others.
//   first_k        a multiple of 32 at or below lo[2]: from there on, loads are aligned
//   backward       1 in every other sweep, which may run through the box from its end
//
// What helps (himeno/kernels/opencl/user.cl):
//   in_box            whether a point is to be computed
//   stencil_at        gathers the nineteen neighbours, from global or local memory
//   coefficients_at   the twelve coefficients of a point
//   relax             the new value, with the roundings that the checksum expects
//   sum_square        the square of a point's residual
//   sum_add           the sum of two
//   gosa_add          adds them up; all work-items of the group must call it

// Work-items of a group along x, y, z, and how many points along i, j, k a group computes. There
// are as many groups as cover the box: get_group_id(0) counts them along k, (1) along j, (2) along
// i.
__constant int threads[3] = {64, 4, 1};
__constant int tile[3] = {1, 4, 64};

__kernel void sweep(SWEEP_ARGUMENTS)
{
  const struct pass pass = SWEEP_PASS;
  int i = pass.lo[0] + get_group_id(2);
  int j = pass.lo[1] + get_group_id(1) * 4 + get_local_id(1);
  int k = pass.first_k + get_group_id(0) * 64 + get_local_id(0);
  sum_t gosa = SUM_ZERO;
  if (in_box(pass, i, j, k)) {
    long at = i * pass.plane + j * pass.pitch + k;
    __global const float *here = pass.p + at;
    float ss;
    struct stencil neighbours = stencil_at(here - pass.plane, here, here + pass.plane, pass.pitch);
    pass.out[at] = relax(neighbours, coefficients_at(pass, at), &ss);
    gosa = sum_square(ss);
  }
  gosa_add(gosa, pass);
}
