// SPDX-License-Identifier: MIT
// One point per work-item; p is read through the caches.

__kernel __attribute__((reqd_work_group_size(GROUP_K, GROUP_J, 1))) void sweep(SWEEP_ARGS)
{
  __local sum_t scratch[GROUP];
  const long k = box.s7 + get_global_id(0), j = box.s1 + get_global_id(1), i = box.s0 + get_global_id(2);
  const long x = i * stride.x + j * stride.y + k;
  sum_t gosa = SUM_ZERO;

  if (k >= box.s2 && k < box.s5 && j < box.s4) {
#define C(array)      array[x]
#define P(di, dj, dk) p[x + (di)*stride.x + (dj)*stride.y + (dk)]
    float ss = RESIDUAL(C, P);
    float correction = OMEGA * ss;
    out[x] = p[x] + correction;
    gosa = sum_square(ss);
  }
  group_sum(gosa, scratch, GROUP, sums, slot);
}
