// SPDX-License-Identifier: MIT
// ITEM_M × ITEM_N elements per work-item: each element read is multiplied ITEM_M or ITEM_N times.
// Neighbouring work-items have neighbouring columns, so that reads of a row of B are contiguous.
#define ITEMS_N (GROUP_N / ITEM_N)

__kernel void gemm(GEMM_ARGS)
{
  const int i0 = get_global_id(1) * ITEM_M, j0 = get_group_id(0) * GROUP_N + get_local_id(0);
  float sums[ITEM_M][ITEM_N] = {{0}};
  // Beyond the edge, read the last row or column again; sums from these reads are not stored.
  long row[ITEM_M], column[ITEM_N];
  for (int r = 0; r < ITEM_M; r++) row[r] = (long)min(i0 + r, m - 1) * lda;
  for (int q = 0; q < ITEM_N; q++) column[q] = min(j0 + q * ITEMS_N, n - 1);
  for (int l = 0; l < k; l++) {
    float fa[ITEM_M], fb[ITEM_N];
    for (int r = 0; r < ITEM_M; r++) fa[r] = a[row[r] + l];
    for (int q = 0; q < ITEM_N; q++) fb[q] = b[(long)l * ldb + column[q]];
#pragma unroll
    for (int r = 0; r < ITEM_M; r++)
#pragma unroll
      for (int q = 0; q < ITEM_N; q++) sums[r][q] = MULTIPLY_ADD(fa[r], fb[q], sums[r][q]);
  }
  for (int r = 0; r < ITEM_M; r++)
    for (int q = 0; q < ITEM_N; q++)
      if (i0 + r < m && j0 + q * ITEMS_N < n)
        result_store(c + (long)(i0 + r) * ldc + j0 + q * ITEMS_N, sums[r][q], alpha, beta);
}
