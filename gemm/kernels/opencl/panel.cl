// SPDX-License-Identifier: MIT
// For CPUs, where one work-item should do the work of a whole thread, and local memory is the
// cache. One work-item per group packs GROUP_K steps of its part of A and B, and multiplies them
// tile by tile, with ITEM_M rows of vectors in registers. VECTOR is a vector of LANES floats;
// ITEM_N is two vectors.
#define CONCAT_(x, y) x##y
#define CONCAT(x, y)  CONCAT_(x, y)
#define VECTOR        CONCAT(float, LANES)
#define LOAD          CONCAT(vload, LANES)
#define STORE         CONCAT(vstore, LANES)

// Packs panels of `width` lines (rows of A or columns of B): the elements of all lines at step l,
// then those at step l + 1. Lines beyond the last are zero, and their products are not stored.
INLINE void panels_pack(__global const float *from, long across, long along, int lines, int depth, int width,
                        __local float *to)
{
  for (int w = 0; w < lines; w += width, to += width * depth)
    for (int l = 0; l < depth; l++)
      for (int v = 0; v < width; v++)
        to[l * width + v] = w + v < lines ? from[(w + v) * across + l * along] : 0;
}

// Packs panels from rows whose elements are contiguous.
INLINE void rows_pack(__global const float *from, long along, int lines, int depth, __local float *to)
{
  for (int w = 0; w < lines; w += ITEM_N)
    for (int l = 0; l < depth; l++) {
      __global const float *row = from + l * along + w;
      __local float *line = to + w * depth + l * ITEM_N;
      if (w + ITEM_N <= lines) {
        STORE(LOAD(0, row), 0, line);
        STORE(LOAD(0, row + LANES), 0, line + LANES);
      } else {
        for (int v = 0; v < ITEM_N; v++) line[v] = w + v < lines ? row[v] : 0;
      }
    }
}

INLINE void vector_store(__global float *out, VECTOR sum, int columns, int first, float alpha, float beta)
{
  VECTOR value = alpha * sum;
  if (columns >= LANES) {
    if (!first)
      value += LOAD(0, out);
    else if (beta != 0)
      value += beta * LOAD(0, out);
    STORE(value, 0, out);
    return;
  }
  float values[LANES];
  STORE(value, 0, values);
  for (int j = 0; j < columns; j++) {
    if (!first)
      values[j] += out[j];
    else if (beta != 0)
      values[j] += beta * out[j];
    out[j] = values[j];
  }
}

INLINE void tile_multiply(const __local float *pa, const __local float *pb, int depth, int rows, int columns,
                          int ldc, int first, float alpha, float beta, __global float *c)
{
  VECTOR sums[ITEM_M][2];
#pragma unroll
  for (int r = 0; r < ITEM_M; r++) sums[r][0] = sums[r][1] = (VECTOR)(0);
  for (int l = 0; l < depth; l++) {
    const VECTOR left = LOAD(0, pb + l * ITEM_N), right = LOAD(0, pb + l * ITEM_N + LANES);
#pragma unroll
    for (int r = 0; r < ITEM_M; r++) {
      const VECTOR factor = (VECTOR)(pa[l * ITEM_M + r]);
      sums[r][0] = MULTIPLY_ADD(factor, left, sums[r][0]);
      sums[r][1] = MULTIPLY_ADD(factor, right, sums[r][1]);
    }
  }
#pragma unroll
  for (int r = 0; r < ITEM_M; r++)
    if (r < rows) {
      vector_store(c + (long)r * ldc, sums[r][0], columns, first, alpha, beta);
      if (columns > LANES)
        vector_store(c + (long)r * ldc + LANES, sums[r][1], columns - LANES, first, alpha, beta);
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void gemm(GEMM_ARGS)
{
  __local float pa[GROUP_M * GROUP_K] __attribute__((aligned(64))),
      pb[GROUP_N * GROUP_K] __attribute__((aligned(64)));
  const int i0 = get_group_id(1) * GROUP_M, j0 = get_group_id(0) * GROUP_N;
  const int rows = min(GROUP_M, m - i0), columns = min(GROUP_N, n - j0);
  const long a_line = TRANS_A ? 1 : lda, a_step = TRANS_A ? lda : 1;
  for (int l = 0; l < k; l += GROUP_K) {
    const int depth = min(GROUP_K, k - l);
    panels_pack(a + i0 * a_line + l * a_step, a_line, a_step, rows, depth, ITEM_M, pa);
    if (TRANS_B)
      panels_pack(b + (long)j0 * ldb + l, ldb, 1, columns, depth, ITEM_N, pb);
    else
      rows_pack(b + (long)l * ldb + j0, ldb, columns, depth, pb);
    for (int x = 0; x < columns; x += ITEM_N)
      for (int y = 0; y < rows; y += ITEM_M)
        tile_multiply(pa + y * depth, pb + x * depth, depth, min(ITEM_M, rows - y), min(ITEM_N, columns - x),
                      ldc, l == 0, alpha, beta, c + (long)(i0 + y) * ldc + j0 + x);
  }
}
