// SPDX-License-Identifier: MIT
// Reads and writes in given proportions, the bandwidth of the levels, and multiply-adds, as in
// cuda/mix.cu and flops.cu. The host defines SUM_GROUP, a power of two: work-items per group of
// kernels that sum.

uint sum_of(uint4 v)
{
  return v.x + v.y + v.z + v.w;
}

void sum_add(__global uint *sum, uint mine, __local uint *scratch)
{
  uint lane = get_local_id(0);
  scratch[lane] = mine;
  for (uint span = SUM_GROUP / 2; span > 0; span /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < span) scratch[lane] += scratch[lane + span];
  }
  if (lane == 0) atomic_add(sum, scratch[0]);
}

__kernel void read_words(__global const uint4 *restrict from, ulong n, __global uint *sum)
{
  __local uint scratch[SUM_GROUP];
  ulong step = get_global_size(0), i = get_global_id(0);
  uint mine = 0;
  for (; i + 3 * step < n; i += 4 * step) {
    uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
    mine += sum_of(a) + sum_of(b) + sum_of(c) + sum_of(d);
  }
  for (; i < n; i += step) mine += sum_of(from[i]);
  sum_add(sum, mine, scratch);
}

__kernel void write_words(__global uint4 *to, ulong n)
{
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
    to[i] = (uint4)(word_written(4 * i), word_written(4 * i + 1), word_written(4 * i + 2),
                    word_written(4 * i + 3));
}

__kernel void combine_1(__global const uint4 *restrict a, __global uint4 *restrict to, ulong n)
{
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) to[i] = a[i];
}

__kernel void combine_3(__global const uint4 *restrict a, __global const uint4 *restrict b,
                        __global const uint4 *restrict c, __global uint4 *restrict to, ulong n)
{
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) to[i] = a[i] ^ b[i] ^ c[i];
}

#define IN(x) __global const uint4 *restrict x
__kernel void combine_13(IN(a), IN(b), IN(c), IN(d), IN(e), IN(f), IN(g), IN(h), IN(k), IN(l), IN(m), IN(o),
                         IN(p), __global uint4 *restrict to, ulong n)
{
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
    to[i] = a[i] ^ b[i] ^ c[i] ^ d[i] ^ e[i] ^ f[i] ^ g[i] ^ h[i] ^ k[i] ^ l[i] ^ m[i] ^ o[i] ^ p[i];
}

// If own is 1, each group reads the whole window, otherwise a different part of it in each pass.
__kernel void window_read(__global const uint4 *from, ulong n, int passes, int own, __global uint *sum)
{
  __local uint scratch[SUM_GROUP];
  ulong step = own ? get_local_size(0) : get_global_size(0);
  uint mine = 0;
  for (int pass = 0; pass < passes; pass++) {
    ulong share = own ? 0 : (get_group_id(0) + pass * 61u) % get_num_groups(0);
    ulong i = share * get_local_size(0) + get_local_id(0);
    for (; i + 3 * step < n; i += 4 * step) {
      uint4 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
      mine += sum_of(a) + sum_of(b) + sum_of(c) + sum_of(d);
    }
    for (; i < n; i += step) mine += sum_of(from[i]);
  }
  sum_add(sum, mine, scratch);
}

#define A (-0.99f)
#define B 1.5f

// The work that flops.h defines, on one vector of four.
float4 work(float4 x, int flop16)
{
  if (flop16 == 1) x.x = x.x + B;
  if (flop16 == 2 || flop16 == 4) x.x = fma(x.x, A, B);
  if (flop16 == 4) x.y = fma(x.y, A, B);
  int rounds = flop16 / 8;
  for (; rounds >= 16; rounds -= 16) {
#pragma unroll
    for (int r = 0; r < 16; r++) x = fma(x, (float4)A, (float4)B);
  }
  for (; rounds > 0; rounds--) x = fma(x, (float4)A, (float4)B);
  return x;
}

__kernel void flops(__global const uint4 *restrict from, ulong n, int flop16, __global uint *sum)
{
  __local uint scratch[SUM_GROUP];
  uint mine = 0;
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
    float4 x = as_float4((from[i] & 0x007fffffu) | 0x3f800000u);
    mine += sum_of(as_uint4(work(x, flop16)));
  }
  sum_add(sum, mine, scratch);
}
