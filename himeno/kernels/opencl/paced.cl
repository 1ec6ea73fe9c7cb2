// SPDX-License-Identifier: MIT
// The kernel of 2009: 256 work-items march through the planes of 64 × 4 columns together. Local
// memory holds three planes, and barriers keep the group in step, so that memory is read plane by
// plane. A work-item loads from the same two offsets of every plane, so it computes them once; the
// next plane is loaded while this one is computed.
#define TILE_I 16
#define ROW    (GROUP_K + 2)
#define PLANE  (ROW * (GROUP_J + 2))

// Each work-item loads at most two points of a plane: the columns and the ring of neighbours around
// them are more points than work-items.
struct places {
  long at[2];    // offsets in a plane of p
  int inside[2]; // whether there is a point to load
};

__kernel __attribute__((reqd_work_group_size(GROUP_K, GROUP_J, 1))) void sweep(SWEEP_ARGS)
{
  __local sum_t scratch[GROUP];
  __local float planes[3][PLANE];
  __local float *before = planes[0], *here = planes[1], *behind = planes[2];
  const int tk = get_local_id(0), tj = get_local_id(1), number = tj * GROUP_K + tk;
  const int k0 = box.s7 + get_group_id(0) * GROUP_K, j0 = box.s1 + get_group_id(1) * GROUP_J;
  const int i0 = box.s0 + get_group_id(2) * TILE_I, end = min(i0 + TILE_I, box.s3);
  const int k = k0 + tk, j = j0 + tj, mine = (tj + 1) * ROW + tk + 1;
  const int inside = k >= box.s2 && k < box.s5 && j < box.s4;
  struct places load;
  struct coefficients now, next;
  sum_t gosa = SUM_ZERO;

  for (int l = 0; l < 2; l++) {
    const int n = number + l * GROUP, lj = j0 - 1 + n / ROW, lk = k0 - 1 + n % ROW;
    load.at[l] = lj * stride.y + lk;
    load.inside[l] = n < PLANE && lj <= box.s4 && lk >= box.s2 - 1 && lk <= box.s5;
  }
  __global const float *from = p + (i0 - 1) * stride.x;
  float ahead[2] = {0, 0};
  long x = i0 * stride.x + j * stride.y + k;
  for (int l = 0; l < 2; l++)
    if (load.inside[l]) {
      before[number + l * GROUP] = from[load.at[l]];
      here[number + l * GROUP] = from[load.at[l] + stride.x];
      ahead[l] = from[load.at[l] + 2 * stride.x];
    }
  from += 2 * stride.x;
  if (inside) next = COEFFICIENTS(x);

  for (int i = i0; i < end; i++, x += stride.x) {
    for (int l = 0; l < 2; l++)
      if (load.inside[l]) behind[number + l * GROUP] = ahead[l];
    now = next;
    if (i + 1 < end) {
      from += stride.x;
      for (int l = 0; l < 2; l++)
        if (load.inside[l]) ahead[l] = from[load.at[l]];
      if (inside) next = COEFFICIENTS(x + stride.x);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside) {
#define C(array)      now.array
#define P(di, dj, dk) ((di) > 0 ? behind : (di) < 0 ? before : here)[mine + (dj)*ROW + (dk)]
      float ss = RESIDUAL(C, P);
      float correction = OMEGA * ss;
      out[x] = here[mine] + correction;
      gosa = sum_add(gosa, sum_square(ss));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __local float *free = before;
    before = here, here = behind, behind = free;
  }
  group_sum(gosa, scratch, GROUP, sums, slot);
}
