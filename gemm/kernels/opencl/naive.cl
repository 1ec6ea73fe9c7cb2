// SPDX-License-Identifier: MIT
// One work-item per element of C: two floats read per multiplication, 0.25 flop per byte.
__kernel void gemm(GEMM_ARGS)
{
  const int i = get_global_id(1), j = get_global_id(0);
  float sum = 0;
  if (i >= m || j >= n) return;
  for (int l = 0; l < k; l++) sum = MULTIPLY_ADD(a[(long)i * lda + l], b[(long)l * ldb + j], sum);
  result_store(c + (long)i * ldc + j, sum, alpha, beta);
}
