// SPDX-License-Identifier: MIT
// While a step is multiplied, the elements of the next step are loaded from local memory to
// registers. This overlap continues across the boundary between two tiles. Offsets are computed
// once; the loop advances two scalars. A second pass of the same code multiplies the last tile. It
// also reloads that tile needlessly, which costs less than a second copy of the loop.
TILE_KERNEL
{
  __local float tiles[2][TILE] __attribute__((aligned(16)));
  TILE_BEGIN
  float fa[2][ITEM_M], fb[2][ITEM_N];
  tile_fetch(a, b, m_left, n_left, k - p.l0, at_a, at_b, next_a, next_b);
  tile_store(tiles[0], next_a, next_b);
  barrier(CLK_LOCAL_MEM_FENCE);
  STEP_LOAD(tiles[0], 0, fa[0], fb[0]);
  long move_a = A_NEXT, move_b = B_NEXT;
  int now = 0, l = p.l0, ahead = GROUP_K;
#pragma unroll 1
  for (int pass = 0; pass < 2; pass++) {
    for (; l + ahead < p.end; l += GROUP_K, now ^= 1) {
      a += move_a;
      b += move_b;
      tile_fetch(a, b, m_left, n_left, k - l - ahead, at_a, at_b, next_a, next_b);
#pragma unroll
      for (int step = 0; step < GROUP_K - 1; step++) {
        STEP_LOAD(tiles[now], step + 1, fa[(step + 1) % 2], fb[(step + 1) % 2]);
        step_multiply_turning(fa[step % 2], fb[step % 2], sums);
        STEP_END();
      }
      tile_store(tiles[now ^ 1], next_a, next_b);
      barrier(CLK_LOCAL_MEM_FENCE);
      STEP_LOAD(tiles[now ^ 1], 0, fa[0], fb[0]);
      step_multiply_turning(fa[1], fb[1], sums);
    }
    move_a = move_b = ahead = 0;
  }
  sums_store(&p, sums, m, n, ldc, alpha, beta, c);
}
