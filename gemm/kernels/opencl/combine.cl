// SPDX-License-Identifier: MIT
// Adds up the parts of a product that was split along k, always in the same order. The number of
// parts is a constant, so that the compiler issues all reads at once.
#ifdef ALIGNED_C
#define COLUMNS       4
#define COLUMNS_STORE results_store
typedef float4 columns_t;
#else
#define COLUMNS       1
#define COLUMNS_STORE result_store
typedef float columns_t;
#endif

__kernel __attribute__((reqd_work_group_size(32, 4, 1))) void combine(const int m, const int n, const int ldc,
                                                                      const float alpha, const float beta,
                                                                      __global const float *restrict parts,
                                                                      __global float *restrict c)
{
  const int i = get_global_id(1), j = COLUMNS * get_global_id(0);
  if (i >= m || j >= n) return;
  __global const columns_t *part = (__global const columns_t *)(parts + (long)i * n + j);
  const long next = (long)m * n / COLUMNS;
  columns_t sum = 0;
#pragma unroll
  for (int s = 0; s < SPLITS; s++) sum += part[s * next];
  COLUMNS_STORE(c + (long)i * ldc + j, sum, alpha, beta);
}
