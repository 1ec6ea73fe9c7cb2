// SPDX-License-Identifier: MIT
// GROUP_K steps at a time: every work-item loads whole chunks, neighbours read consecutive chunks,
// and two barriers suffice for GROUP_K steps.
TILE_KERNEL
{
  __local float tile[TILE] __attribute__((aligned(16)));
  TILE_BEGIN
  for (int l = p.l0; l < p.end; l += GROUP_K, a += A_NEXT, b += B_NEXT) {
    tile_fetch(a, b, m_left, n_left, k - l, at_a, at_b, next_a, next_b);
    tile_store(tile, next_a, next_b);
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int step = 0; step < GROUP_K; step++) {
      float fa[ITEM_M], fb[ITEM_N];
      STEP_LOAD(tile, step, fa, fb);
      step_multiply(fa, fb, sums);
      STEP_END();
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  sums_store(&p, sums, m, n, ldc, alpha, beta, c);
}
