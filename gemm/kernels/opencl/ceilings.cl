// SPDX-License-Identifier: MIT
// The device's ceilings: multiply-adds in registers, reads of its memory, reads of local memory.
// Results are stored only if they have an impossible value, so that no work is optimized away.
#define CHAINS 8

__kernel void spin(const int rounds, const float factor, __global float *out)
{
  float4 sums[CHAINS];
  for (int q = 0; q < CHAINS; q++) sums[q] = (float4)(get_local_id(0) + q);
  for (int t = 0; t < rounds; t++) {
#pragma unroll
    for (int u = 0; u < 8; u++)
#pragma unroll
      for (int q = 0; q < CHAINS; q++) sums[q] = MULTIPLY_ADD(sums[q], (float4)(factor), (float4)(1));
  }
  float4 sum = 0;
  for (int q = 0; q < CHAINS; q++) sum += sums[q];
  if (all(isnan(sum))) out[get_global_id(0)] = 1;
}

__kernel void read_device(const int chunks, __global const float4 *in, __global float *out)
{
  float4 sum = 0;
  for (int q = get_global_id(0); q < chunks; q += get_global_size(0)) sum += in[q];
  if (all(isnan(sum))) out[get_global_id(0)] = 1;
}

// Four neighbours read the same chunk, as in the products' kernels.
__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void read_local(const int rounds,
                                                                          __global float *out)
{
  __local float4 chunks[1024];
  float4 sums[4] = {0, 0, 0, 0};
  for (int q = get_local_id(0); q < 1024; q += 256) chunks[q] = (float4)(q);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int t = 0; t < rounds; t++)
#pragma unroll
    for (int q = 0; q < 4; q++) sums[q] += chunks[(get_local_id(0) / 4 + t * 64 + q * 256) % 1024];
  if (all(isnan(sums[0] + sums[1] + sums[2] + sums[3]))) out[get_global_id(0)] = 1;
}
