// SPDX-License-Identifier: MIT
// SWEEPS sweeps in one pass over memory. A group marches along i: in step m it computes level 1 of plane q, from p in
// memory, level 2 of plane q − 1, … level SWEEPS of plane q − SWEEPS + 1, which it writes. A work-item has one point of
// the tile and keeps what it needs of each level's last two planes; the newest plane of a level passes through local
// memory. Coefficients of a plane are read once from memory, one step ahead, and by the later levels from the first
// cache: they are far more than OpenCL's local memory. Around what a group writes it computes HALO points more on each
// side, so that groups need nothing of each other.
#define HALO (SWEEPS - 1)

// A point and those beside it in its plane; north is j + 1, east k + 1.
struct point {
  float here, north, south, east, west;
};

// What a work-item keeps of a level: two planes, and b1's bracket in the later one.
struct level {
  struct point below, middle;
  float cross;
  sum_t gosa;
};

struct coefficients {
  float a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1;
};

#define COEFFICIENTS(x)                                                                                      \
  (struct coefficients)                                                                                      \
  {                                                                                                          \
    a0[x], a1[x], a2[x], a3[x], b0[x], b1[x], b2[x], c0[x], c1[x], c2[x], bnd[x], wrk1[x]                    \
  }

float residual(const struct coefficients c, const struct level *l, const struct point above)
{
  const struct point *below = &l->below, *middle = &l->middle;
  float s = c.a0 * above.here + c.a1 * middle->north + c.a2 * middle->east +
            c.b0 * (above.north - above.south - below->north + below->south) + c.b1 * l->cross +
            c.b2 * (above.east - below->east - above.west + below->west) + c.c0 * below->here +
            c.c1 * middle->south + c.c2 * middle->west + c.wrk1;
  return (s * c.a3 - middle->here) * c.bnd;
}

// A plane of a level, with a ring of points around the tile.
#define ROW   (GROUP_K + 2)
#define PLANE (ROW * (GROUP_J + 2))
#define RING  (2 * ROW + 2 * GROUP_J)

struct point point_read(__local const float *at, float *cross)
{
  struct point p = {at[0], at[ROW], at[-ROW], at[1], at[-1]};
  *cross = at[ROW + 1] - at[1 - ROW] - at[ROW - 1] + at[-1 - ROW];
  return p;
}

// Where the n-th point of the ring stands in a plane.
int ring_place(int n)
{
  const int side = n - 2 * ROW;
  return n < ROW ? n : n < 2 * ROW ? n + GROUP_J * ROW : (1 + side / 2) * ROW + side % 2 * (GROUP_K + 1);
}

// interior: lo in i, j, k, then hi, of the points that sweeps update at all. extent: of the array.
__kernel __attribute__((reqd_work_group_size(GROUP_K, GROUP_J, 1))) void
sweep(SWEEP_ARGS, const int8 interior, const int4 extent)
{
  __local sum_t scratch[GROUP];
  __local float planes[2][SWEEPS][PLANE]; // in turns, so that one barrier a level is enough
  const int tk = get_local_id(0), tj = get_local_id(1), me = (tj + 1) * ROW + tk + 1;
  const int k0 = box.s7 + (int)get_group_id(0) * (GROUP_K - 2 * HALO) - HALO, k = k0 + tk;
  const int j0 = box.s1 + (int)get_group_id(1) * (GROUP_J - 2 * HALO) - HALO, j = j0 + tj;
  const int i0 = box.s0 + (int)get_group_id(2) * PLANES, end = min(i0 + PLANES, box.s3), first = i0 - HALO;
  const int depth = min(min(tk, GROUP_K - 1 - tk), min(tj, GROUP_J - 1 - tj));
  const int changes = j >= interior.s1 && j < interior.s4 && k >= interior.s2 && k < interior.s5;
  const int mine = depth >= HALO && j < box.s4 && k >= box.s2 && k < box.s5;
  const int number = tj * GROUP_K + tk, rim = number < RING ? ring_place(number) : me;
#define COLUMN(j, k) (clamp(j, 0, extent.s1 - 1) * stride.y + clamp(k, 0, extent.s2 - 1))
#define AT(q)        (clamp(q, 0, extent.s0 - 1) * stride.x)
  const long column = COLUMN(j, k), rim_column = COLUMN(j0 - 1 + rim / ROW, k0 - 1 + rim % ROW);
  struct level levels[SWEEPS];
  struct coefficients waiting[SWEEPS], next = COEFFICIENTS(AT(first - 2) + column);
  float p_next = p[AT(first - 1) + column], rim_next = p[AT(first - 1) + rim_column];

  for (int t = 0; t < SWEEPS; t++) {
    levels[t].gosa = SUM_ZERO;
    levels[t].below = levels[t].middle = (struct point){0, 0, 0, 0, 0};
    levels[t].cross = 0;
    waiting[t] = next;
  }
  // The first two steps only bring planes of p in; what levels make of them is never used.
  for (int m = -2; m < end - first + HALO; m++) {
    planes[m & 1][0][me] = p_next;
    planes[m & 1][0][rim] = rim_next;
    waiting[0] = next;
    next = COEFFICIENTS(AT(first + m + 1) + column);
    p_next = p[AT(first + m + 2) + column];
    rim_next = p[AT(first + m + 2) + rim_column];
#pragma unroll
    for (int t = 0; t < SWEEPS; t++) {
      const int q = first + m - t;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (depth >= t) {
        struct level *l = &levels[t];
        float cross;
        const struct point above = point_read(planes[m & 1][t] + me, &cross);
        const float ss = residual(waiting[t], l, above), correction = OMEGA * ss;
        const float value =
            changes && q >= interior.s0 && q < interior.s3 ? l->middle.here + correction : l->middle.here;
        const int counts = mine && q >= i0 && q < end;
        if (counts) l->gosa = sum_add(l->gosa, sum_square(ss));
        if (t < HALO)
          planes[m & 1][t + 1][me] = value;
        else if (counts)
          out[q * stride.x + column] = value;
        l->below = l->middle;
        l->middle = above;
        l->cross = cross;
      }
    }
#pragma unroll
    for (int t = HALO; t > 0; t--) waiting[t] = waiting[t - 1];
  }
  for (int t = 0; t < SWEEPS; t++) {
    barrier(CLK_LOCAL_MEM_FENCE); // the sum before is read
#if defined(GOSA_ADD) || defined(GOSA_EXCHANGE)
    group_sum(levels[t].gosa, scratch, GROUP, sums, slot + t);
#else
    group_sum(levels[t].gosa, scratch, GROUP,
              sums + t * get_num_groups(0) * get_num_groups(1) * get_num_groups(2), slot);
#endif
  }
}
