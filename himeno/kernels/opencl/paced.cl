// SPDX-License-Identifier: MIT
// The tile of 2009: 64 points in k, 4 in j, 64 in i. 256 work-items march along i together: each
// plane is loaded just before its use into one of three in local memory, and a barrier a plane
// keeps the group in step, so that memory is walked plane by plane. One barrier is enough: the
// plane behind (i−1) is in registers by then, so nobody reads the one that the next load
// overwrites.
#define TILE_I 64
#define ROW    (GROUP_K + 2)
#define PLANE  (ROW * (GROUP_J + 2))

// What a work-item keeps of a plane: its point and the four beside it.
struct cross {
  float centre, j_up, j_down, k_up, k_down;
};

void load_plane(__local float *to, __global const float *restrict p, int k0, int j0, const long2 stride,
                const int8 box)
{
  for (int n = get_local_id(1) * GROUP_K + get_local_id(0); n < PLANE; n += GROUP)
    to[n] = p[min(j0 - 1 + n / ROW, box.s4) * stride.y + clamp(k0 - 1 + n % ROW, box.s2 - 1, box.s5)];
}

// Neighbour (di, dj, dk) of the point; its corners in the middle plane are the only ones not held
// in registers.
float neighbour(struct cross behind, struct cross middle, struct cross ahead, __local const float *centre,
                int di, int dj, int dk)
{
  struct cross c = di > 0 ? ahead : di < 0 ? behind : middle;
  if (dj && dk) return centre[dj * ROW + dk];
  return dj > 0 ? c.j_up : dj < 0 ? c.j_down : dk > 0 ? c.k_up : dk < 0 ? c.k_down : c.centre;
}

struct cross read_cross(__local const float *centre)
{
  struct cross c = {centre[0], centre[ROW], centre[-ROW], centre[1], centre[-1]};
  return c;
}

__kernel __attribute__((reqd_work_group_size(GROUP_K, GROUP_J, 1))) void sweep(SWEEP_ARGS)
{
  __local sum_t scratch[GROUP];
  __local float planes[3][PLANE];
  const int tk = get_local_id(0), tj = get_local_id(1), mine = (tj + 1) * ROW + tk + 1;
  const int k0 = box.s7 + get_group_id(0) * GROUP_K, j0 = box.s1 + get_group_id(1) * GROUP_J;
  const int i0 = box.s0 + get_group_id(2) * TILE_I, end = min(i0 + TILE_I, box.s3);
  const int inside = k0 + tk >= box.s2 && k0 + tk < box.s5 && j0 + tj < box.s4;
  int here = 0, next = 1;
  struct cross behind, middle, ahead;
  sum_t gosa = SUM_ZERO;

  load_plane(planes[2], p + (i0 - 1) * stride.x, k0, j0, stride, box);
  load_plane(planes[here], p + i0 * stride.x, k0, j0, stride, box);
  barrier(CLK_LOCAL_MEM_FENCE);
  behind = read_cross(planes[2] + mine);
  middle = read_cross(planes[here] + mine);
  for (int i = i0; i < end; i++) {
    load_plane(planes[next], p + (i + 1) * stride.x, k0, j0, stride, box);
    barrier(CLK_LOCAL_MEM_FENCE);
    ahead = read_cross(planes[next] + mine);
    if (inside) {
      const long x = i * stride.x + (j0 + tj) * stride.y + k0 + tk;
#define C(array)      array[x]
#define P(di, dj, dk) neighbour(behind, middle, ahead, planes[here] + mine, di, dj, dk)
      float ss = RESIDUAL(C, P);
      float correction = OMEGA * ss;
      out[x] = middle.centre + correction;
      gosa = sum_add(gosa, sum_square(ss));
    }
    behind = middle;
    middle = ahead;
    here = next;
    next = next == 2 ? 0 : next + 1;
  }
  group_sum(gosa, scratch, GROUP, sums, slot);
}
