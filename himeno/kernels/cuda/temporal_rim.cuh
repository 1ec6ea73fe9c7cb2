// SPDX-License-Identifier: MIT
// Single points of level 1, computed from shared memory alone, and the warps that compute the rim.
#ifndef HIMENO_KERNELS_CUDA_TEMPORAL_RIM_CUH
#define HIMENO_KERNELS_CUDA_TEMPORAL_RIM_CUH

#include "himeno/kernels/cuda/temporal_load.cuh"

static __device__ __forceinline__ float bracket(float plus, float minus, float less, float more)
{
  return (rounded(plus) - minus - less + more).value;
}

static __device__ __forceinline__ float residual(const float4 (&c)[CUDA_PACKS], const stencil &p, float cross)
{
  const float4 &a = c[0], &b = c[1], &d = c[2];
  rounded s = rounded(a.x) * p.u;
  s = s + rounded(a.y) * p.n;
  s = s + rounded(a.z) * p.e;
  s = s + rounded(b.x) * bracket(p.un, p.us, p.dn, p.ds);
  s = s + rounded(b.y) * cross;
  s = s + rounded(b.z) * bracket(p.ue, p.de, p.uw, p.dw);
  s = s + rounded(d.x) * p.d;
  s = s + rounded(d.y) * p.s;
  s = s + rounded(d.z) * p.w;
  s = s + b.w;
  return ((s * a.w - p.here) * d.w).value;
}

// Returns level 1 of a point of plane first + step. `p` is its offset in a plane of level 0, `pack`
// the stride between its interleaved coefficient arrays.
template <class S>
static __device__ __forceinline__ float level_1_value(const temporal_tile<S> &tile, int step, int p,
                                                      const float *coefficients, int pack, bool claimed)
{
  const cuda_temporal_job &job = tile.args.job;
  const int q = tile.first + step;
  float4 c[CUDA_PACKS];
#pragma unroll
  for (int g = 0; g < CUDA_PACKS; g++) c[g] = *(const float4 *)(coefficients + g * pack);
  const stencil at = stencil_at(tile.p(step - 2) + p, tile.p(step - 1) + p, tile.p(step) + p, S::p_width);
  const float ss = residual(c, at, bracket(at.ne, at.se, at.nw, at.sw));
  const bool live = q >= job.interior_lo[0] && q < job.interior_hi[0] && claimed;
  const rounded updated = rounded(at.here) + rounded(HIMENO_OMEGA) * ss;
  return live ? updated.value : at.here;
}

#if __CUDA_ARCH__ >= 900

// A lane's points of the rim. Only level 1 needs them, so no values are kept for the next plane.
template <class S> struct temporal_rim {
  static constexpr int rounds = (S::rim_points + S::rim_lanes - 1) / S::rim_lanes;
  const temporal_tile<S> &tile;
  int p[rounds], // p: offset in a plane of level 0, -1 for none
      coefficients[rounds], to[rounds];
  bool claimed[rounds];

  __device__ temporal_rim(const temporal_tile<S> &t) : tile(t)
  {
#pragma unroll
    for (int n = 0; n < rounds; n++) place(n, threadIdx.x - S::workers - 32 + n * S::rim_lanes);
  }

  // Finds point number `point` of the rim: first the points of the first row, then those of the
  // last row, then the outer columns of the rows between, alternating.
  __device__ void place(int n, int point)
  {
    constexpr int width = S::out_k + 2 * S::halo, ends = 2 * width;
    const cuda_temporal_job &job = tile.args.job;
    const int last = tile.rows() - 1;
    const bool side = point >= ends;
    const int row = side ? 1 + (point - ends) / 2 : point / width * last,
              x = side ? point % 2 * (width - 1) : point % width, j = tile.j + row, k = tile.k - S::halo + x;
    const int column = k - tile.k + S::halo_k, first = tile.k - S::halo_k,
              packed = CUDA_PACK_PLACE(j, k) - first; // columns from the first one loaded
    p[n] = point < S::rim_points && (!side || row < last)
               ? (row + 1) * S::p_width + S::p_lead - S::halo_k + column
               : -1;
    if (!side)
      coefficients[n] = point / width * S::rim_row_floats + 4 * packed;
    else
      coefficients[n] =
          2 * S::rim_row_floats + 8 * (row - 1) + 4 * packed + (x ? S::rim_side_floats - 4 * (S::W - 2) : 0);
    to[n] = column % 2 * S::level_plane + row * S::level_width + column / 2;
    claimed[n] = j >= job.interior_lo[1] && j < job.interior_hi[1] && k >= job.interior_lo[2] &&
                 k < job.interior_hi[2];
  }

  // Loads level 0 and the rim's coefficients, two steps ahead, when their slot becomes free. Each
  // warp loads one array of coefficients.
  template <bool FIRST> __device__ void feed(const temporal_maps &maps, int stage) const
  {
    const int g = (threadIdx.x - S::workers) / 32 - 1, j = tile.j + S::rim, before = 4 * (tile.k - S::halo_k),
              behind = 4 * (tile.k + S::out_k + S::pair_halo), plane = tile.first + stage;
    float *rows = tile.rim(stage) + g * S::rim_pack_floats, *sides = rows + 2 * S::rim_row_floats;
    uint64_t *arrived = tile.near + (stage & 1);
    if (stage < tile.steps() && elected()) {
      barrier_expect(arrived, tile.rim_bytes() + (g ? 0 : (FIRST ? 3 : 1) * tile.p_bytes()));
      box_load(rows, maps.rim_row[g], before, tile.j, plane, arrived);
      box_load(rows + S::rim_row_floats, maps.rim_row[g], before, tile.j + tile.rows() - 1, plane, arrived);
      box_load(sides, maps.edge[g], before, j, plane, arrived);
      box_load(sides + S::rim_side_floats, maps.edge[g], behind, j, plane, arrived);
      if (FIRST && g == 0) first_p_load(tile, maps, arrived);
      if (!FIRST && g == 0) stage_p_load(tile, maps, stage, arrived);
    }
    __syncwarp();
  }

  __device__ void run(const temporal_maps &maps) const
  {
    int meeting = 0;
    feed<true>(maps, 0);
    feed<false>(maps, 1);
    for (int step = 0; step < tile.steps(); step++) {
      barrier_wait(tile.near + (step & 1), step >> 1 & 1);
#pragma unroll
      for (int n = 0; n < rounds; n++)
        if (p[n] >= 0)
          tile.level(1, step)[to[n]] = level_1_value(tile, step, p[n], tile.rim(step) + coefficients[n],
                                                     S::rim_pack_floats, claimed[n]);
      for (int t = 2; t <= S::T; t++) { // the workers' barriers
        barrier_arrive(tile.met);
        barrier_wait(tile.met, meeting);
        meeting ^= 1;
        if (t == 2) feed<false>(maps, step + 2);
      }
    }
  }
};

#endif
#endif
