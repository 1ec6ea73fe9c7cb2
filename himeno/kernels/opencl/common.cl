// SPDX-License-Identifier: MIT
// Common to all kernels: exact arithmetic, the arguments of a sweep, and sums in double or, on
// devices without doubles, in two floats. The host defines GROUP_K × GROUP_J, the work-items per
// group; HIMENO_FP64 if the device has doubles; GOSA_ADD or GOSA_EXCHANGE if groups can add to a
// double.
#pragma OPENCL FP_CONTRACT OFF

#define GROUP (GROUP_K * GROUP_J)
#define OMEGA 0.8f

// stride: floats from plane to plane and from row to row. box: lo in i, j, k; hi in i, j, k; 1 in
// every other sweep, otherwise 0; start of the first group in k, which is at or before lo and
// aligned for the variant. sums: gosa, if groups add to gosa[slot]; otherwise one partial sum per
// group.
#define COEFFICIENT_ARGS                                                                                     \
  __global const float *restrict a0, __global const float *restrict a1, __global const float *restrict a2,   \
      __global const float *restrict a3, __global const float *restrict b0,                                  \
      __global const float *restrict b1, __global const float *restrict b2,                                  \
      __global const float *restrict c0, __global const float *restrict c1,                                  \
      __global const float *restrict c2, __global const float *restrict bnd,                                 \
      __global const float *restrict wrk1
#define SWEEP_ARGS                                                                                           \
  COEFFICIENT_ARGS, __global const float *restrict p, __global float *restrict out,                          \
      __global sum_t *restrict sums, const long2 stride, const int8 box, const int slot

// The coefficients of the point at index x.
struct coefficients {
  float a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1;
};

#define COEFFICIENTS(x)                                                                                      \
  (struct coefficients)                                                                                      \
  {                                                                                                          \
    a0[x], a1[x], a2[x], a3[x], b0[x], b1[x], b2[x], c0[x], c1[x], c2[x], bnd[x], wrk1[x]                    \
  }

// The residual, left to right: C(array) is a coefficient of the point, P(di, dj, dk) a neighbour.
#define RESIDUAL(C, P)                                                                                       \
  (((C(a0) * P(1, 0, 0) + C(a1) * P(0, 1, 0) + C(a2) * P(0, 0, 1) +                                          \
     C(b0) * (P(1, 1, 0) - P(1, -1, 0) - P(-1, 1, 0) + P(-1, -1, 0)) +                                       \
     C(b1) * (P(0, 1, 1) - P(0, -1, 1) - P(0, 1, -1) + P(0, -1, -1)) +                                       \
     C(b2) * (P(1, 0, 1) - P(-1, 0, 1) - P(1, 0, -1) + P(-1, 0, -1)) + C(c0) * P(-1, 0, 0) +                 \
     C(c1) * P(0, -1, 0) + C(c2) * P(0, 0, -1) + C(wrk1)) *                                                  \
        C(a3) -                                                                                              \
    P(0, 0, 0)) *                                                                                            \
   C(bnd))

#ifdef HIMENO_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double sum_t;
#define SUM_ZERO 0.0

sum_t sum_add(sum_t a, sum_t b)
{
  return a + b;
}

sum_t sum_square(float x)
{
  return (double)x * x;
}

ulong sum_to_bits(sum_t s)
{
  return as_ulong(s);
}

sum_t sum_from_bits(ulong bits)
{
  return as_double(bits);
}
#else
// A sum and its rounding error. Source: Dekker, "A floating-point technique for extending the
// available precision", Numerische Mathematik 18, 1971; the two-sum is Knuth's.
typedef float2 sum_t;
#define SUM_ZERO ((float2)(0.0f, 0.0f))

sum_t sum_add(sum_t a, sum_t b)
{
  float s = a.x + b.x, t = s - a.x;
  float e = (a.x - (s - t)) + (b.x - t) + (a.y + b.y);
  float high = s + e;
  return (float2)(high, e - (high - s));
}

sum_t sum_square(float x)
{
  float square = x * x;
  return (float2)(square, fma(x, x, -square));
}

// Returns the bits of a double with the value of a normal positive float.
ulong widen(float x)
{
  uint bits = as_uint(x);
  return ((ulong)(bits >> 23) + 896) << 52 | (ulong)(bits & 0x7fffff) << 29;
}

// Returns the bits of the double nearest to the sum, which is never negative. The low part of the
// sum, in units of the last bit of the double, is added to the bits as an integer, which also
// carries into the exponent.
ulong sum_to_bits(sum_t s)
{
  if (as_uint(s.x) < 0x800000) return 0;
  if (!isfinite(s.x)) return (ulong)0x7ff8 << 48;
  int exponent = (int)(as_uint(s.x) >> 23) - 127;
  return widen(s.x) + (ulong)convert_long_rte(ldexp(s.y, 52 - exponent));
}

sum_t sum_from_bits(ulong bits)
{
  if (bits < (ulong)897 << 52) return SUM_ZERO;
  if (bits >= (ulong)0x7ff << 52) return (float2)(NAN, 0.0f);
  uint high = ((uint)(bits >> 52) - 896) << 23 | (uint)(bits >> 29 & 0x7fffff);
  int exponent = (int)(bits >> 52) - 1023;
  return (float2)(as_float(high), ldexp((float)(bits & 0x1fffffff), exponent - 52));
}
#endif

#if defined(GOSA_ADD)
// OpenCL C 1.2 cannot add doubles atomically; PTX can since sm_60, relaxed and device-wide.
void deliver(sum_t sum, __global sum_t *gosa, int slot)
{
  asm volatile("red.global.add.f64 [%0], %1;" ::"l"(gosa + slot), "d"(sum) : "memory");
}
#elif defined(GOSA_EXCHANGE)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
// The sum is accessed only by compare and exchange, which is atomic over all groups. The first
// attempt assumes that gosa is 0.
void deliver(sum_t sum, __global sum_t *gosa, int slot)
{
  volatile __global ulong *cell = (volatile __global ulong *)(gosa + slot);
  ulong guess = 0, seen;
  while ((seen = atom_cmpxchg(cell, guess, sum_to_bits(sum_from_bits(guess) + sum))) != guess) guess = seen;
}
#else
// Stores a partial sum for the launch that adds them up.
void deliver(sum_t sum, __global sum_t *partial, int slot)
{
  size_t i = get_group_id(2), j = get_group_id(1), k = get_group_id(0);
  partial[k + get_num_groups(0) * (j + get_num_groups(1) * i)] = sum;
}
#endif

// Adds up the values of all n work-items of a group, in a fixed order.
sum_t group_tree(sum_t mine, __local sum_t *scratch, int me, int n)
{
  scratch[me] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int kept; n > 1; n = kept) {
    kept = (n + 1) / 2;
    if (me + kept < n) scratch[me] = sum_add(scratch[me], scratch[me + kept]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return scratch[0];
}

#ifdef GOSA_ADD
// Returns a warp's sum in its first lane. OpenCL C 1.2 cannot exchange registers between lanes.
double warp_sum(double mine)
{
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    uint2 bits = as_uint2(mine);
    asm volatile("shfl.sync.down.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(bits.x) : "r"(lanes));
    asm volatile("shfl.sync.down.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(bits.y) : "r"(lanes));
    mine += as_double(bits);
  }
  return mine;
}

// Like group_tree, with one barrier; n must be a multiple of 32 up to 1024.
sum_t group_warps(sum_t mine, __local sum_t *scratch, int me, int n)
{
  mine = warp_sum(mine);
  if (me % 32 == 0) scratch[me / 32] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  return me < 32 ? warp_sum(me < n / 32 ? scratch[me] : 0.0) : 0.0;
}
#else
#define group_warps group_tree
#endif

// Adds the group's sum to the existing sum. All n work-items of the group must call it.
void group_sum(sum_t mine, __local sum_t *scratch, int n, __global sum_t *sums, int slot)
{
  int me = get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2));
  sum_t all = n % 32 ? group_tree(mine, scratch, me, n) : group_warps(mine, scratch, me, n);
  if (me == 0) deliver(all, sums, slot);
}
