// SPDX-License-Identifier: MIT
// Four points in k per work-item: coefficients are read as whole aligned vectors, p through the
// caches as vectors and the two adjacent floats. If the box cuts a vector, lanes are stored one by
// one. Every other sweep runs backward in i and j (box.s6), because the cache still holds the data
// that the previous sweep used last.

// A coefficient is used once per sweep, so it should not evict p from L1. OpenCL C has no
// streaming load, but NVIDIA's PTX has one. For grids so small that the next sweep finds some
// coefficients in L2 (KEEP), an ordinary load is faster.
#ifdef KEEP
#define LOAD_ONCE "ld.global.nc.v4.f32"
#else
#define LOAD_ONCE "ld.global.cs.v4.f32"
#endif
float4 load_once(__global const float *restrict from)
{
#ifdef __NV_CL_C_VERSION
  float4 v;
  asm(LOAD_ONCE " {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from));
  return v;
#else
  return *(__global const float4 *)from;
#endif
}

// Returns four values of a row, shifted by dk = −1, 0, 1 points.
float4 row_at(__global const float *restrict row, int dk)
{
  float4 v = *(__global const float4 *)row;
  return dk == 0 ? v : dk > 0 ? (float4)(v.yzw, row[4]) : (float4)(row[-1], v.xyz);
}

sum_t sum_lanes(float4 ss)
{
  return sum_add(sum_add(sum_square(ss.x), sum_square(ss.y)), sum_add(sum_square(ss.z), sum_square(ss.w)));
}

// Writes the points of the quad at k that are in the box, from p and the residual. Returns the sum
// of their ss².
sum_t quad_store(__global float *out, float4 p, float4 ss, int k, int8 box)
{
  const int4 lane = k + (int4)(0, 1, 2, 3);
  const int4 inside = lane >= box.s2 && lane < box.s5;
  const float4 correction = OMEGA * ss;
  const float4 result = p + correction;
  if (all(inside)) {
    *(__global float4 *)out = result;
  } else {
    if (inside.x) out[0] = result.x;
    if (inside.y) out[1] = result.y;
    if (inside.z) out[2] = result.z;
    if (inside.w) out[3] = result.w;
  }
  return sum_lanes(select((float4)(0.0f), ss, inside));
}

__kernel __attribute__((reqd_work_group_size(GROUP_K, GROUP_J, 1))) void sweep(SWEEP_ARGS)
{
  __local sum_t scratch[GROUP];
  const int k = box.s7 + 4 * (int)get_global_id(0);
  const int group_j = box.s6 ? get_num_groups(1) - 1 - get_group_id(1) : get_group_id(1);
  const int group_i = box.s6 ? get_num_groups(2) - 1 - get_group_id(2) : get_group_id(2);
  const long j = box.s1 + group_j * GROUP_J + (int)get_local_id(1), i = box.s0 + group_i;
  const long x = i * stride.x + j * stride.y + k;
  sum_t gosa = SUM_ZERO;

  if (k < box.s5 && j < box.s4) {
#define C(array)      load_once(array + x)
#define P(di, dj, dk) row_at(p + x + (di)*stride.x + (dj)*stride.y, dk)
    gosa = quad_store(out + x, P(0, 0, 0), RESIDUAL(C, P), k, box);
#undef C
#undef P
  }
  group_sum(gosa, scratch, GROUP, sums, slot);
}
