// SPDX-License-Identifier: MIT
// For each step of k, a group stores its part of a column of A and of a row of B in local memory,
// and computes GROUP_M × GROUP_N elements of C from them. But half of the work-items load nothing,
// the column of A is strided, and each step needs two barriers.
#define ITEMS_M (GROUP_M / ITEM_M)
#define ITEMS_N (GROUP_N / ITEM_N)
#define ITEMS   (ITEMS_M * ITEMS_N)

__kernel __attribute__((reqd_work_group_size(ITEMS_N, ITEMS_M, 1))) void gemm(GEMM_ARGS)
{
  __local float column[GROUP_M], row[GROUP_N];
  const int x = get_local_id(0), y = get_local_id(1), t = y * ITEMS_N + x;
  const int i0 = get_group_id(1) * GROUP_M, j0 = get_group_id(0) * GROUP_N;
  float sums[ITEM_M][ITEM_N] = {{0}};
  for (int l = 0; l < k; l++) {
    for (int r = t; r < GROUP_M; r += ITEMS) column[r] = a[(long)min(i0 + r, m - 1) * lda + l];
    for (int q = t; q < GROUP_N; q += ITEMS) row[q] = b[(long)l * ldb + min(j0 + q, n - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int r = 0; r < ITEM_M; r++)
#pragma unroll
      for (int q = 0; q < ITEM_N; q++)
        sums[r][q] = MULTIPLY_ADD(column[y + r * ITEMS_M], row[x + q * ITEMS_N], sums[r][q]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < ITEM_M; r++)
    for (int q = 0; q < ITEM_N; q++) {
      const int i = i0 + y + r * ITEMS_M, j = j0 + x + q * ITEMS_N;
      if (i < m && j < n) result_store(c + (long)i * ldc + j, sums[r][q], alpha, beta);
    }
}
