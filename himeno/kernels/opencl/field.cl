// SPDX-License-Identifier: MIT
// Kernels used with all sweeps: initial data, the ceiling, the checksum, and the reduction of
// partial sums. Groups have FIELD_GROUP work-items in one dimension, those of reductions
// REDUCE_GROUP. The size is stated because compilers otherwise assume smaller groups.

ulong mix(ulong z)
{
  z += 0x9e3779b97f4a7c15UL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
  return z ^ (z >> 31);
}

// Fills an array, padding included, with one group per row: extent.s0 × extent.s1 rows of extent.s2
// floats in `stride.y`. `table` has one value per plane; if it is NULL, the value is the same
// everywhere.
__kernel void fill_standard(__global float *out, __global const float *table, const float value,
                            const long2 stride, const int4 extent)
{
  int i = get_group_id(0) / extent.s1, j = get_group_id(0) % extent.s1;
  float v = table ? table[i] : value;
  for (int k = get_local_id(0); k < stride.y; k += FIELD_GROUP)
    out[i * stride.x + j * stride.y + k] = k < extent.s2 ? v : 0.0f;
}

// rule: lo, w, and the limit of the random number u below which the value is 0. origin: global
// index of the array's first element. global_extent: jmax, kmax.
__kernel void fill_dense(__global float *out, const float4 rule, const ulong array, const long2 stride,
                         const int4 extent, const long4 origin, const long2 global_extent)
{
  int i = get_group_id(0) / extent.s1, j = get_group_id(0) % extent.s1;
  ulong row = ((origin.s0 + i) * global_extent.s0 + origin.s1 + j) * global_extent.s1 + origin.s2;
  for (int k = get_local_id(0); k < stride.y; k += FIELD_GROUP) {
    float u = (float)(uint)(mix(mix(row + k) + array) >> 40) * 0x1p-24f;
    float scaled = rule.s1 * u;
    float v = u < rule.s2 ? 0.0f : rule.s0 + scaled;
    out[i * stride.x + j * stride.y + k] = k < extent.s2 ? v : 0.0f;
  }
}

__kernel void ceiling13(__global const float4 *restrict a0, __global const float4 *restrict a1,
                        __global const float4 *restrict a2, __global const float4 *restrict a3,
                        __global const float4 *restrict b0, __global const float4 *restrict b1,
                        __global const float4 *restrict b2, __global const float4 *restrict c0,
                        __global const float4 *restrict c1, __global const float4 *restrict c2,
                        __global const float4 *restrict bnd, __global const float4 *restrict wrk1,
                        __global const float4 *restrict p, __global float4 *restrict out, const ulong vectors)
{
  size_t x = get_global_id(0);
  if (x < vectors)
    out[x] = a0[x] + a1[x] + a2[x] + a3[x] + b0[x] + b1[x] + b2[x] + c0[x] + c1[x] + c2[x] + bnd[x] +
             wrk1[x] + p[x];
}

// Sums mix(mix(g) + bits) of the first n arrays over the box; groups take rows round-robin.
#define ADD(m, array)                                                                                        \
  if (n > m) sum += mix(mixed + as_uint(array[at + k]))
__kernel void checksum(__global const float *m0, __global const float *m1, __global const float *m2,
                       __global const float *m3, __global const float *m4, __global const float *m5,
                       __global const float *m6, __global const float *m7, __global const float *m8,
                       __global const float *m9, __global const float *m10, __global const float *m11,
                       const int n, __global ulong *partial, const long2 stride, const int8 box,
                       const long4 origin, const long2 global_extent)
{
  __local ulong scratch[FIELD_GROUP];
  const int me = get_local_id(0), rows = box.s4 - box.s1;
  const long all = (long)(box.s3 - box.s0) * rows;
  ulong sum = 0;

  for (long row = get_group_id(0); row < all; row += get_num_groups(0)) {
    const long i = box.s0 + row / rows, j = box.s1 + row % rows, at = i * stride.x + j * stride.y;
    const ulong g = ((origin.s0 + i) * global_extent.s0 + origin.s1 + j) * global_extent.s1 + origin.s2;
    for (int k = box.s2 + me; k < box.s5; k += FIELD_GROUP) {
      const ulong mixed = mix(g + k);
      ADD(0, m0);
      ADD(1, m1);
      ADD(2, m2);
      ADD(3, m3);
      ADD(4, m4);
      ADD(5, m5);
      ADD(6, m6);
      ADD(7, m7);
      ADD(8, m8);
      ADD(9, m9);
      ADD(10, m10);
      ADD(11, m11);
    }
  }
  scratch[me] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int span = FIELD_GROUP / 2; span > 0; span /= 2) {
    if (me < span) scratch[me] += scratch[me + span];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (me == 0) partial[get_group_id(0)] = scratch[0];
}

sum_t chunk_sum(__global const sum_t *in, ulong first, ulong last, __local sum_t *scratch)
{
  const int me = get_local_id(0);
  sum_t sum = SUM_ZERO;
  for (ulong n = first + me; n < last; n += REDUCE_GROUP) sum = sum_add(sum, in[n]);
  scratch[me] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int span = REDUCE_GROUP / 2; span > 0; span /= 2) {
    if (me < span) scratch[me] = sum_add(scratch[me], scratch[me + span]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return scratch[0];
}

// Each group adds up `chunk` of n partial sums, starting at `from`, into one.
__kernel __attribute__((reqd_work_group_size(REDUCE_GROUP, 1, 1))) void
reduce(__global const sum_t *in, const ulong from, const ulong n, const ulong chunk, __global sum_t *out)
{
  __local sum_t scratch[REDUCE_GROUP];
  ulong first = get_group_id(0) * chunk;
  sum_t sum = chunk_sum(in + from, first, min(first + chunk, n), scratch);
  if (get_local_id(0) == 0) out[get_group_id(0)] = sum;
}

// One group adds n partial sums, starting at `from`, to gosa[slot], a double.
__kernel __attribute__((reqd_work_group_size(REDUCE_GROUP, 1, 1))) void
reduce_add(__global const sum_t *in, const ulong from, const ulong n, __global ulong *gosa, const int slot)
{
  __local sum_t scratch[REDUCE_GROUP];
  sum_t sum = chunk_sum(in + from, 0, n, scratch);
  if (get_local_id(0) == 0) gosa[slot] = sum_to_bits(sum_add(sum_from_bits(gosa[slot]), sum));
}
