// SPDX-License-Identifier: MIT
// The 2008 baseline: a group loads a tile of 16 × 16 points in k and j and 8 in i, with its halo,
// into local memory before it computes the first point; 256 work-items, 8 points each.
#define TILE_I 8
#define ROW    (GROUP_K + 2)
#define PLANE  (ROW * (GROUP_J + 2))

__kernel __attribute__((reqd_work_group_size(GROUP_K, GROUP_J, 1))) void sweep(SWEEP_ARGS)
{
  __local sum_t scratch[GROUP];
  __local float tile[PLANE * (TILE_I + 2)];
  const int tk = get_local_id(0), tj = get_local_id(1);
  const int k0 = box.s7 + get_group_id(0) * GROUP_K, j0 = box.s1 + get_group_id(1) * GROUP_J;
  const int i0 = box.s0 + get_group_id(2) * TILE_I;
  const int k = k0 + tk, j = j0 + tj, end = min(i0 + TILE_I, box.s3);
  sum_t gosa = SUM_ZERO;

  // Points beyond the neighbours of the box are not needed and may be outside of the array: read
  // the last layer instead.
  for (int n = tj * GROUP_K + tk; n < PLANE * (TILE_I + 2); n += GROUP) {
    long li = min(i0 - 1 + n / PLANE, box.s3), lj = min(j0 - 1 + n % PLANE / ROW, box.s4);
    tile[n] = p[li * stride.x + lj * stride.y + clamp(k0 - 1 + n % ROW, box.s2 - 1, box.s5)];
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  if (k >= box.s2 && k < box.s5 && j < box.s4)
    for (int i = i0; i < end; i++) {
      const long x = i * stride.x + j * stride.y + k;
      __local const float *centre = tile + (i - i0 + 1) * PLANE + (tj + 1) * ROW + tk + 1;
#define C(array)      array[x]
#define P(di, dj, dk) centre[(di)*PLANE + (dj)*ROW + (dk)]
      float ss = RESIDUAL(C, P);
      float correction = OMEGA * ss;
      out[x] = centre[0] + correction;
      gosa = sum_add(gosa, sum_square(ss));
    }
  group_sum(gosa, scratch, GROUP, sums, slot);
}
