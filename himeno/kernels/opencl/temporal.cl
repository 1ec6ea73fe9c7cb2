// SPDX-License-Identifier: MIT
// SWEEPS sweeps in one pass over memory. A group marches along i: in step m it computes level 1 of
// plane q, from p in memory, level 2 of plane q − 1, … level SWEEPS of plane q − SWEEPS + 1, which
// it writes. A work-item has one point of the tile. Coefficients of a plane are read from memory
// once, one step ahead, and wait in registers for the later levels, because they do not fit into
// local memory. Local memory holds the last three planes of each level and one that is being
// written. A work-item reads all its neighbours from there and keeps no p, so that registers are
// left for more work-items, and the halo is a smaller share of the points. A group computes HALO
// extra points on each side, so that groups are independent.
#define HALO  (SWEEPS - 1)
#define SLOTS 4

// A point, its neighbours in its plane (north is j + 1, east k + 1), and the sum that b1
// multiplies.
struct point {
  float here, north, south, east, west, cross;
};

float residual(const struct coefficients c, const struct point below, const struct point middle,
               const struct point above)
{
  float s = c.a0 * above.here + c.a1 * middle.north + c.a2 * middle.east +
            c.b0 * (above.north - above.south - below.north + below.south) + c.b1 * middle.cross +
            c.b2 * (above.east - below.east - above.west + below.west) + c.c0 * below.here +
            c.c1 * middle.south + c.c2 * middle.west + c.wrk1;
  return (s * c.a3 - middle.here) * c.bnd;
}

// A plane of a level, with a ring of points around the tile.
#define ROW   (GROUP_K + 2)
#define PLANE (ROW * (GROUP_J + 2))
#define RING  (2 * ROW + 2 * GROUP_J)

struct point point_read(__local const float *at)
{
  return (struct point){at[0], at[ROW], at[-ROW],
                        at[1], at[-1],  at[ROW + 1] - at[1 - ROW] - at[ROW - 1] + at[-1 - ROW]};
}

// Returns the index of the n-th point of the ring in a plane.
int ring_place(int n)
{
  const int side = n - 2 * ROW;
  return n < ROW ? n : n < 2 * ROW ? n + GROUP_J * ROW : (1 + side / 2) * ROW + side % 2 * (GROUP_K + 1);
}

// interior: lo in i, j, k, then hi, of the points that sweeps update. extent: of the array, then
// the number of planes that a group writes.
__kernel __attribute__((reqd_work_group_size(GROUP_K, GROUP_J, 1))) void
sweep(SWEEP_ARGS, const int8 interior, const int4 extent)
{
  __local sum_t scratch[GROUP];
  __local float planes[SLOTS][SWEEPS][PLANE]; // four slots, so that one barrier per level is enough
#define LEVEL(m, t) (planes[(m) & (SLOTS - 1)][t] + me)
  const int tk = get_local_id(0), tj = get_local_id(1), me = (tj + 1) * ROW + tk + 1;
  const int k0 = box.s7 + (int)get_group_id(0) * (GROUP_K - 2 * HALO) - HALO, k = k0 + tk;
  const int j0 = box.s1 + (int)get_group_id(1) * (GROUP_J - 2 * HALO) - HALO, j = j0 + tj;
  const int i0 = box.s0 + (int)get_group_id(2) * extent.s3, end = min(i0 + extent.s3, box.s3),
            first = i0 - HALO;
  const int depth = min(min(tk, GROUP_K - 1 - tk), min(tj, GROUP_J - 1 - tj));
  const int changes = j >= interior.s1 && j < interior.s4 && k >= interior.s2 && k < interior.s5;
  const int mine = depth >= HALO && j < box.s4 && k >= box.s2 && k < box.s5;
  const int number = tj * GROUP_K + tk, on_ring = number < RING, rim = on_ring ? ring_place(number) : 0;
#define COLUMN(j, k) (clamp(j, 0, extent.s1 - 1) * stride.y + clamp(k, 0, extent.s2 - 1))
#define AT(q)        (clamp(q, 0, extent.s0 - 1) * stride.x)
  const long column = COLUMN(j, k), rim_column = COLUMN(j0 - 1 + rim / ROW, k0 - 1 + rim % ROW);
  struct coefficients waiting[SWEEPS], next = COEFFICIENTS(AT(first - 2) + column);
  float p_next = p[AT(first - 1) + column], rim_next = p[AT(first - 1) + rim_column];
  sum_t gosa[SWEEPS];

  // All loops over levels are unrolled, because only then are arrays kept in registers.
#pragma unroll
  for (int t = 0; t < SWEEPS; t++) {
    gosa[t] = SUM_ZERO;
    waiting[t] = next;
  }
  // The first two steps only load planes of p; the levels computed in them are not used.
  for (int m = -2; m < end - first + HALO; m++) {
    *LEVEL(m, 0) = p_next;
    if (on_ring) planes[m & (SLOTS - 1)][0][rim] = rim_next;
    waiting[0] = next;
    next = COEFFICIENTS(AT(first + m + 1) + column);
    p_next = p[AT(first + m + 2) + column];
    if (on_ring) rim_next = p[AT(first + m + 2) + rim_column];
#pragma unroll
    for (int t = 0; t < SWEEPS; t++) {
      const int q = first + m - t;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (depth >= t) {
        const struct point middle = point_read(LEVEL(m - 1, t));
        const float ss = residual(waiting[t], point_read(LEVEL(m - 2, t)), middle, point_read(LEVEL(m, t)));
        const float correction = OMEGA * ss;
        const float value =
            changes && q >= interior.s0 && q < interior.s3 ? middle.here + correction : middle.here;
        const int counts = mine && q >= i0 && q < end;
        if (counts) gosa[t] = sum_add(gosa[t], sum_square(ss));
        if (t < HALO)
          *LEVEL(m, t + 1) = value;
        else if (counts)
          out[q * stride.x + column] = value;
      }
    }
#pragma unroll
    for (int t = HALO; t > 0; t--) waiting[t] = waiting[t - 1];
  }
#pragma unroll
  for (int t = 0; t < SWEEPS; t++) {
    barrier(CLK_LOCAL_MEM_FENCE); // wait until the previous sum has been read
#if defined(GOSA_ADD) || defined(GOSA_EXCHANGE)
    group_sum(gosa[t], scratch, GROUP, sums, slot + t);
#else
    group_sum(gosa[t], scratch, GROUP, sums + t * get_num_groups(0) * get_num_groups(1) * get_num_groups(2),
              slot);
#endif
  }
}
