// SPDX-License-Identifier: MIT
// Adds up the parts of a product that was split along k, always in the same order.
__kernel void combine(const int m, const int n, const int ldc, const float alpha, const float beta,
                      const int splits, __global const float *restrict parts, __global float *restrict c)
{
  const int i = get_global_id(1), j = get_global_id(0);
  float sum = 0;
  if (i >= m || j >= n) return;
  for (int s = 0; s < splits; s++) sum += parts[((long)s * m + i) * n + j];
  result_store(c + (long)i * ldc + j, sum, alpha, beta);
}
