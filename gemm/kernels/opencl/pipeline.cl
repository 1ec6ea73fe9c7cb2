// SPDX-License-Identifier: MIT
// Two tiles in local memory: while one is multiplied, the next is loaded from device memory into
// registers, and stored over the other after the products. One barrier per tile. The data stored
// after the last tile are not read.
TILE_KERNEL
{
  __local float tiles[2][TILE] __attribute__((aligned(16)));
  TILE_BEGIN
  tile_fetch(a, b, m_left, n_left, k - p.l0, at_a, at_b, next_a, next_b);
  tile_store(tiles[0], next_a, next_b);
  barrier(CLK_LOCAL_MEM_FENCE);
  int now = 0;
  for (int l = p.l0; l < p.end; l += GROUP_K, now ^= 1) {
    const int more = l + GROUP_K < p.end;
    a += A_NEXT;
    b += B_NEXT;
    if (more) tile_fetch(a, b, m_left, n_left, k - l - GROUP_K, at_a, at_b, next_a, next_b);
#pragma unroll
    for (int step = 0; step < GROUP_K; step++) {
      float fa[ITEM_M], fb[ITEM_N];
      STEP_LOAD(tiles[now], step, fa, fb);
      step_multiply(fa, fb, sums);
      STEP_END();
    }
    tile_store(tiles[now ^ 1], next_a, next_b);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  sums_store(&p, sums, m, n, ldc, alpha, beta, c);
}
