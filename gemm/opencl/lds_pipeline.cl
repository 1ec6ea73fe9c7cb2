// SPDX-License-Identifier: MIT
// The way from local memory to registers is overlapped too: while a step is multiplied, the next one's numbers arrive,
// across the seam of two tiles as well. Offsets are reckoned once; in the loop only two scalars move on.
TILE_KERNEL
{
  __local float tiles[2][TILE] __attribute__((aligned(16)));
  TILE_BEGIN
  float fa[2][ITEM_M], fb[2][ITEM_N];
  tile_fetch(a, b, m_left, n_left, k - p.l0, at_a, at_b, next_a, next_b);
  tile_store(tiles[0], next_a, next_b);
  barrier(CLK_LOCAL_MEM_FENCE);
  step_load(tiles[0], &p, 0, fa[0], fb[0]);
  int now = 0, l = p.l0;
  for (; l + GROUP_K < p.end; l += GROUP_K, now ^= 1) {
    a += A_NEXT;
    b += B_NEXT;
    tile_fetch(a, b, m_left, n_left, k - l - GROUP_K, at_a, at_b, next_a, next_b);
#pragma unroll
    for (int step = 0; step < GROUP_K - 1; step++) {
      step_load(tiles[now], &p, step + 1, fa[(step + 1) % 2], fb[(step + 1) % 2]);
      step_multiply(fa[step % 2], fb[step % 2], sums);
    }
    tile_store(tiles[now ^ 1], next_a, next_b);
    barrier(CLK_LOCAL_MEM_FENCE);
    step_load(tiles[now ^ 1], &p, 0, fa[0], fb[0]);
    step_multiply(fa[1], fb[1], sums);
  }
#pragma unroll
  for (int step = 0; step < GROUP_K; step++) {
    if (step + 1 < GROUP_K) step_load(tiles[now], &p, step + 1, fa[(step + 1) % 2], fb[(step + 1) % 2]);
    step_multiply(fa[step % 2], fb[step % 2], sums);
  }
  sums_store(&p, sums, m, n, ldc, alpha, beta, c);
}
