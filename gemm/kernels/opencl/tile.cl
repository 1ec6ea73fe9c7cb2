// SPDX-License-Identifier: MIT
// Common to the kernels with deep tiles. A group loads GROUP_K steps of its part of A and B in
// chunks of four and stores both in local memory with k outermost. Each work-item computes ITEM_M ×
// ITEM_N elements of C. The host also defines TRANS_A and TRANS_B (0 or 1), EDGES if a size is no
// multiple of its tile, ALIGNED if every row of A and B starts at a multiple of 16 bytes, ALIGNED_C
// if parts of C have such rows, ON_CPU, and OFFSET, a type for offsets within a tile.
#define ITEMS_M (GROUP_M / ITEM_M)
#define ITEMS_N (GROUP_N / ITEM_N)
#define ITEMS   (ITEMS_M * ITEMS_N)
// Rows in local memory are padded by a chunk, which avoids bank conflicts of transposed stores.
#define STRIDE_A (GROUP_M + 4)
#define STRIDE_B (GROUP_N + 4)
#define CHUNKS_A (GROUP_M * GROUP_K / 4 / ITEMS)
#define CHUNKS_B (GROUP_N * GROUP_K / 4 / ITEMS)
#define TILE     (GROUP_K * (STRIDE_A + STRIDE_B))
// Rows of tiles per band. Groups that run together share a band, and so the data in caches.
#define BAND 8

// Hints for GCN's compiler. Two groups per compute unit hide each other's latency, so kernels may
// use 128 registers, except those that handle edges. STEP_END is no instruction, but keeps the
// compiler from moving all reads to the start. UNIFORM marks values that are equal in a group.
#ifdef __AMDGCN__
#ifdef EDGES
#define RESIDENT __attribute__((amdgpu_waves_per_eu(1, 2)))
#else
#define RESIDENT __attribute__((amdgpu_waves_per_eu(2, 2)))
#endif
#define STEP_END() __builtin_amdgcn_wave_barrier()
#define UNIFORM(x) __builtin_amdgcn_readfirstlane(x)
#else
#define RESIDENT
#define STEP_END()
#define UNIFORM(x) (x)
#endif

// volatile: without it, if four sums are stored at once, a CPU's compiler uses vectors of four for
// all products instead of vectors of sixteen.
#ifdef ON_CPU
#define KEPT volatile float
#else
#define KEPT const float
#endif

typedef __global const float *restrict source_t;
typedef __local float *restrict tile_t;

struct place {
  int i0, j0;  // first row and column of the group
  int x, y;    // the work-item's column and row in the group
  int l0, end; // range of steps of k
};

INLINE struct place place_make(int m, int n, int k, int steps)
{
  struct place p;
  const int t = get_local_id(0), g = get_group_id(0);
  const int tiles_m = (m + GROUP_M - 1) / GROUP_M, tiles_n = (n + GROUP_N - 1) / GROUP_N;
  const int band = g / (BAND * tiles_n), rows = min(BAND, tiles_m - band * BAND),
            in_band = g - band * BAND * tiles_n;
  p.i0 = UNIFORM((band * BAND + in_band % rows) * GROUP_M);
  p.j0 = UNIFORM(in_band / rows * GROUP_N);
  // 32 neighbouring work-items form a patch of 8 × 4, which reads the fewest chunks.
  p.x = t % 8 + 8 * (t / 32 % (ITEMS_N / 8));
  p.y = t / 8 % 4 + 4 * (t / 32 / (ITEMS_N / 8));
  p.l0 = get_group_id(2) * steps;
  p.end = min(k, p.l0 + steps);
  return p;
}

// Reads four consecutive elements.
INLINE float4 chunk_read(source_t from, OFFSET offset)
{
#ifdef ALIGNED
  return *(__global const float4 *)(from + offset);
#else
  return vload4(0, from + offset);
#endif
}

// Reads a chunk along k: elements beyond the end are zero, in A and in B.
INLINE float4 chunk_along_k(source_t from, OFFSET offset, int left)
{
#ifdef EDGES
  if (left < 4)
    return (float4)(left > 0 ? from[offset] : 0, left > 1 ? from[offset + 1] : 0,
                    left > 2 ? from[offset + 2] : 0, 0);
#endif
  return chunk_read(from, offset);
}

// Reads a chunk across k: beyond the edge it repeats the last line, whose sums are not stored.
INLINE float4 chunk_across_k(source_t from, OFFSET offset, int left, int left_k)
{
#ifdef EDGES
  if (left_k <= 0) return (float4)(0);
  if (left < 4) {
    const int last = max(left - 1, 0);
    return (float4)(from[offset], from[offset + min(1, last)], from[offset + min(2, last)],
                    from[offset + min(3, last)]);
  }
#endif
  return chunk_read(from, offset);
}

// A work-item's share of a tile of A or B on its way to local memory. `lines` is the number of rows
// of op(A) or columns of op(B) in the tile. The macros return the line and the step of k of chunk
// t.
#define ALONG_LINE(t)         ((t) / (GROUP_K / 4))
#define ALONG_STEP(t)         ((t) % (GROUP_K / 4) * 4)
#define ACROSS_LINE(t, lines) ((t) % ((lines) / 4) * 4)
#define ACROSS_STEP(t, lines) ((t) / ((lines) / 4))

#if TRANS_A
#define A_LINE(t) ACROSS_LINE(t, GROUP_M)
#define A_STEP(t) ACROSS_STEP(t, GROUP_M)
#define A_NEXT    ((long)GROUP_K * lda)
#else
#define A_LINE(t) ALONG_LINE(t)
#define A_STEP(t) ALONG_STEP(t)
#define A_NEXT    GROUP_K
#endif
#if TRANS_B
#define B_LINE(t) ALONG_LINE(t)
#define B_STEP(t) ALONG_STEP(t)
#define B_NEXT    GROUP_K
#else
#define B_LINE(t) ACROSS_LINE(t, GROUP_N)
#define B_STEP(t) ACROSS_STEP(t, GROUP_N)
#define B_NEXT    ((long)GROUP_K * ldb)
#endif

// Returns a chunk's offset from its tile's first element. The last line replaces lines beyond it.
INLINE OFFSET offset_of(int line, int step, int across, int ld, int lines_left)
{
#ifdef EDGES
  line = min(line, lines_left - 1);
#endif
  return across ? (OFFSET)step * ld + line : (OFFSET)line * ld + step;
}

INLINE void tile_fetch(source_t a, source_t b, int m_left, int n_left, int k_left,
                       const OFFSET at_a[CHUNKS_A], const OFFSET at_b[CHUNKS_B], float4 next_a[CHUNKS_A],
                       float4 next_b[CHUNKS_B])
{
  const int t = get_local_id(0);
#pragma unroll
  for (int q = 0; q < CHUNKS_A; q++) {
    const int u = t + q * ITEMS;
    next_a[q] = TRANS_A ? chunk_across_k(a, at_a[q], m_left - A_LINE(u), k_left - A_STEP(u))
                        : chunk_along_k(a, at_a[q], k_left - A_STEP(u));
  }
#pragma unroll
  for (int q = 0; q < CHUNKS_B; q++) {
    const int u = t + q * ITEMS;
    next_b[q] = TRANS_B ? chunk_along_k(b, at_b[q], k_left - B_STEP(u))
                        : chunk_across_k(b, at_b[q], n_left - B_LINE(u), k_left - B_STEP(u));
  }
}

// Stores a chunk with k outermost: unchanged or transposed.
INLINE void chunk_store(tile_t tile, float4 chunk, int line, int step, int stride, int across)
{
  if (across) {
    *(__local float4 *)(tile + step * stride + line) = chunk;
  } else {
    tile[step * stride + line] = chunk.x;
    tile[(step + 1) * stride + line] = chunk.y;
    tile[(step + 2) * stride + line] = chunk.z;
    tile[(step + 3) * stride + line] = chunk.w;
  }
}

INLINE void tile_store(tile_t tile, const float4 next_a[CHUNKS_A], const float4 next_b[CHUNKS_B])
{
  const int t = get_local_id(0);
#pragma unroll
  for (int q = 0; q < CHUNKS_A; q++)
    chunk_store(tile, next_a[q], A_LINE(t + q * ITEMS), A_STEP(t + q * ITEMS), STRIDE_A, TRANS_A);
#pragma unroll
  for (int q = 0; q < CHUNKS_B; q++)
    chunk_store(tile + GROUP_K * STRIDE_A, next_b[q], B_LINE(t + q * ITEMS), B_STEP(t + q * ITEMS), STRIDE_B,
                !TRANS_B);
}

INLINE void terms_take(float *terms, float4 four)
{
  terms[0] = four.x;
  terms[1] = four.y;
  terms[2] = four.z;
  terms[3] = four.w;
}

// Loads a work-item's elements of one step: groups of four, 4·ITEMS_M or 4·ITEMS_N elements apart,
// so that neighbours read neighbouring groups. `row` and `column` are the addresses of the first
// groups from A and from B.
INLINE void step_load(tile_t row, tile_t column, float fa[ITEM_M], float fb[ITEM_N])
{
#pragma unroll
  for (int q = 0; q < ITEM_M / 4; q++)
    terms_take(fa + 4 * q, *(const __local float4 *)(row + q * 4 * ITEMS_M));
#pragma unroll
  for (int q = 0; q < ITEM_N / 4; q++)
    terms_take(fb + 4 * q, *(const __local float4 *)(column + q * 4 * ITEMS_N));
}
#define STEP_LOAD(tile, step, fa, fb)                                                                        \
  step_load((tile) + row + (step)*STRIDE_A, (tile) + column + (step)*STRIDE_B, fa, fb)

INLINE void step_multiply(const float fa[ITEM_M], const float fb[ITEM_N], float sums[ITEM_M][ITEM_N])
{
#pragma unroll
  for (int r = 0; r < ITEM_M; r++)
#pragma unroll
    for (int q = 0; q < ITEM_N; q++) sums[r][q] = MULTIPLY_ADD(fa[r], fb[q], sums[r][q]);
}

// Multiplies successive rows in alternating directions, so that consecutive multiply-adds share an
// operand. A register file that reads two operands per cycle need not read the shared one again.
INLINE void step_multiply_turning(const float fa[ITEM_M], const float fb[ITEM_N], float sums[ITEM_M][ITEM_N])
{
#pragma unroll
  for (int r = 0; r < ITEM_M; r++)
#pragma unroll
    for (int step = 0; step < ITEM_N; step++) {
      const int q = r % 2 ? ITEM_N - 1 - step : step;
      sums[r][q] = MULTIPLY_ADD(fa[r], fb[q], sums[r][q]);
    }
}

// Stores four columns of a row of C, of which only the first `left` exist.
INLINE void columns_store(__global float *out, const float sums[4], int left, float alpha, float beta)
{
#ifdef ALIGNED_C
  if (left >= 4) {
    KEPT four[4] = {sums[0], sums[1], sums[2], sums[3]};
    // parts are written without reading C
    results_store(out, (float4)(four[0], four[1], four[2], four[3]), alpha, 0);
    return;
  }
#endif
#pragma unroll
  for (int q = 0; q < 4; q++)
    if (q < left) result_store(out + q, sums[q], alpha, beta);
}

INLINE void sums_store(const struct place *p, float sums[ITEM_M][ITEM_N], int m, int n, int ldc, float alpha,
                       float beta, __global float *c)
{
#pragma unroll
  for (int r = 0; r < ITEM_M; r++)
#pragma unroll
    for (int q = 0; q < ITEM_N; q += 4) {
      const int i = p->i0 + r / 4 * 4 * ITEMS_M + 4 * p->y + r % 4;
      const int j = p->j0 + q * ITEMS_N + 4 * p->x;
      int left = 4;
#ifdef EDGES
      if (i >= m) continue;
      left = n - j;
#endif
      columns_store(c + (long)i * ldc + j, sums[r] + q, left, alpha, beta);
    }
}

// The beginning of each kernel: positions, and the addresses of this work-item's chunks. Partial
// sums of C for consecutive parts of k follow each other.
#define TILE_BEGIN                                                                                           \
  const struct place p = place_make(m, n, k, steps);                                                         \
  float sums[ITEM_M][ITEM_N] = {{0}};                                                                        \
  float4 next_a[CHUNKS_A], next_b[CHUNKS_B];                                                                 \
  OFFSET at_a[CHUNKS_A], at_b[CHUNKS_B];                                                                     \
  const int m_left = m - p.i0, n_left = n - p.j0, t = get_local_id(0);                                       \
  int row = 4 * p.y, column = GROUP_K * STRIDE_A + 4 * p.x;                                                  \
  a += TRANS_A ? (long)p.l0 * lda + p.i0 : (long)p.i0 * lda + p.l0;                                          \
  b += TRANS_B ? (long)p.j0 * ldb + p.l0 : (long)p.l0 * ldb + p.j0;                                          \
  c += (long)get_group_id(2) * m * ldc;                                                                      \
  for (int q = 0; q < CHUNKS_A; q++)                                                                         \
    at_a[q] = offset_of(A_LINE(t + q * ITEMS), A_STEP(t + q * ITEMS), TRANS_A, lda, m_left);                 \
  for (int q = 0; q < CHUNKS_B; q++)                                                                         \
    at_b[q] = offset_of(B_LINE(t + q * ITEMS), B_STEP(t + q * ITEMS), !TRANS_B, ldb, n_left);

#define TILE_KERNEL                                                                                          \
  __kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) RESIDENT void gemm(GEMM_ARGS, const int steps)
