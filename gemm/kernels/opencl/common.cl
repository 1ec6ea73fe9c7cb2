// SPDX-License-Identifier: MIT
// Common to all kernels: their arguments, and the function that stores a sum in C.

// fma rounds once; mad may be faster if the device has no fused multiply-add at full rate.
#ifdef FP_FAST_FMAF
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) mad(a, b, c)
#endif

// Arrays passed to a function stay in registers only if the function is inlined.
#define INLINE static inline __attribute__((always_inline))

#define GEMM_ARGS                                                                                            \
  const int m, const int n, const int k, const int lda, const int ldb, const int ldc, const float alpha,     \
      const float beta, __global const float *restrict a, __global const float *restrict b,                  \
      __global float *restrict c

// Stores an element of C. If beta is 0, C is not read, because it may contain NaN.
INLINE void result_store(__global float *out, float sum, float alpha, float beta)
{
  float value = alpha * sum;
  if (beta != 0) value = MULTIPLY_ADD(beta, *out, value);
  *out = value;
}

// Like result_store, for four columns that begin at a multiple of 16 bytes.
INLINE void results_store(__global float *out, float4 sums, float alpha, float beta)
{
  __global float4 *four = (__global float4 *)out;
  float4 values = alpha * sums;
  if (beta != 0) values = MULTIPLY_ADD((float4)(beta), *four, values);
  *four = values;
}
