// SPDX-License-Identifier: MIT
// T sweeps in one pass over memory. A block marches along i: in step m it computes level 1 of plane
// q = first + m, level 2 of plane q - 1, … level T of plane q - T + 1. A coefficient plane is
// fetched once and stays in a ring of T + 1 slots for the T steps that use it, while one slot
// fills. A thread keeps in registers the three planes of each level that its pair needs: only the
// newest passes through shared memory, to the neighbours in j and k. Halos are computed by both
// neighbours, so that blocks are independent.
#ifndef HIMENO_KERNELS_CUDA_TEMPORAL_MARCH_CUH
#define HIMENO_KERNELS_CUDA_TEMPORAL_MARCH_CUH

#include "himeno/kernels/cuda/temporal_rim.cuh"

// Values of one plane that a pair needs: its row from k - 1 to k + 2, and its neighbours in j.
struct temporal_rows {
  float here[4], north[2], south[2];
};

// Returns the stencil of a point from its three planes, without the sum that b1 multiplies.
static __device__ __forceinline__ stencil stencil_of(const temporal_rows &below, const temporal_rows &mid,
                                                     const temporal_rows &above, int v)
{
  stencil p;
  p.here = mid.here[v + 1], p.u = above.here[v + 1], p.d = below.here[v + 1];
  p.n = mid.north[v], p.s = mid.south[v], p.e = mid.here[v + 2], p.w = mid.here[v];
  p.un = above.north[v], p.us = above.south[v], p.dn = below.north[v], p.ds = below.south[v];
  p.ue = above.here[v + 2], p.de = below.here[v + 2], p.uw = above.here[v], p.dw = below.here[v];
  return p;
}

// A thread's pair of points on its march through the box.
template <class S> struct temporal_pair {
  static constexpr int T = S::T;
  const temporal_tile<S> &tile;
  int row, x; // position in the tile; x counts pairs, not points
  // -1 or 1 if the pair is before or after the tile's own columns, otherwise 0
  int outward;
  // the pair takes part in levels 1 to depth + 1; rows near the tile's edge have fewer levels
  int depth;
  int ring_offset; // offset of the pair in a plane of the ring
  int last_offset; // ring_offset for level T
  int cell;        // offset of the pair in a plane of a level
  // bits 0, 1: the point is updated; 2, 3: this block writes it; 4: the outer point is updated
  unsigned claims;
  int out;                  // offset of the pair in a plane of the field
  int step, slot;           // number of the step, and the ring's slot with its coefficients
  float cross[T][2];        // the sum that b1 multiplies, of level t's middle plane
  temporal_rows rows[T][3]; // three planes of level t, whose roles rotate with the step
  double gosa[T];
  float4 c[2][CUDA_PACKS]; // coefficients of the next level
  float newest[2];         // the pair's values of the last computed level
  int meeting;             // parity of the workers' next barrier

  __device__ temporal_pair(const temporal_tile<S> &t) : tile(t)
  {
    find_place();
    find_claims();
    step = slot = meeting = 0;
    newest[0] = newest[1] = 0.0f;
    for (int v = 0; v < 2; v++)
      for (int g = 0; g < CUDA_PACKS; g++) c[v][g] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int l = 0; l < T; l++) {
      gosa[l] = 0.0;
      for (int v = 0; v < 2; v++) cross[l][v] = 0.0f;
      for (int n = 0; n < 3; n++) rows[l][n] = temporal_rows{};
    }
  }

  // Finds the pair of a thread. The edges' pairs come after those of the tile's own columns, so
  // that warps read whole rows without bank conflicts.
  __device__ void find_place()
  {
    const int beyond = (int)threadIdx.x - S::pair_rows * S::body;
    if (beyond < 0) {
      const int n = threadIdx.x % S::body;
      row = S::row_of(threadIdx.x / S::body);
      x = S::edge + n;
      outward = 0;
      ring_offset = 4 * (row * S::out_k + 2 * n);
    } else {
      row = min(beyond / 2, S::pair_rows - 1);
      outward = beyond % 2 ? 1 : -1;
      x = outward < 0 ? S::edge - 1 : S::edge + S::body;
      ring_offset = S::body_floats + 4 * row * S::pair_halo;
      ring_offset += outward < 0 ? 4 * (S::pair_halo - 2) : S::edge_floats;
    }
    row += S::rim;
    if (CUDA_PACK_PLACE(j(), k()) != k()) ring_offset += 4;
    cell = row * S::level_width + x;
    depth = min(row, tile.rows() - 1 - row);
    if (outward) depth = min(depth, T - 2);
    if (threadIdx.x >= S::pairs || depth < S::rim) depth = -1; // without a pair
    find_last();
  }

  // Lanes that do not compute level T read the address of a lane that does, so that their reads
  // cost no further access to shared memory.
  __device__ void find_last()
  {
    const unsigned active = __ballot_sync(~0u, depth >= T - 1);
    const int lane = depth >= T - 1 ? threadIdx.x % 32 : active ? __ffs(active) - 1 : 0;
    last_offset = __shfl_sync(~0u, ring_offset, lane);
  }

  __device__ int j() const
  {
    return tile.j + row;
  }
  __device__ int k() const
  {
    return tile.k - S::halo_k + x * 2;
  }

  __device__ void find_claims()
  {
    const cuda_temporal_job &job = tile.args.job;
    int j = this->j(), k = this->k();
    bool j_owned = depth >= S::halo && j < job.pass.hi[1];
    bool j_interior = j >= job.interior_lo[1] && j < job.interior_hi[1];
    int k_lo = max(tile.k, job.pass.lo[2]), k_hi = min(tile.k + S::out_k, job.pass.hi[2]);
    claims = 0;
#pragma unroll
    for (int v = 0; v < 2; v++) {
      if (j_interior && k + v >= job.interior_lo[2] && k + v < job.interior_hi[2]) claims |= 1 << v;
      if (j_owned && k + v >= k_lo && k + v < k_hi) claims |= 4 << v;
    }
    const int beside = outward < 0 ? k - 1 : k + 2;
    if (j_interior && beside >= job.interior_lo[2] && beside < job.interior_hi[2]) claims |= 16;
    out = j * job.pass.pitch + k;
  }

  static __device__ void row_read(float (&r)[4], const float *at)
  {
    float2 pair = *(const float2 *)at;
    r[0] = at[-1], r[1] = pair.x, r[2] = pair.y, r[3] = at[2];
  }

  // Declares the old values unused to the compiler, so that it keeps no registers for them.
  static __device__ void rows_forget(temporal_rows &r)
  {
#pragma unroll
    for (int n = 0; n < 4; n++) asm volatile("" : "=f"(r.here[n]));
#pragma unroll
    for (int v = 0; v < 2; v++) asm volatile("" : "=f"(r.north[v]), "=f"(r.south[v]));
  }

  static __device__ void rows_split(temporal_rows &r, float (&next_cross)[2], const float (&north)[4],
                                    const float (&south)[4])
  {
#pragma unroll
    for (int v = 0; v < 2; v++) {
      r.north[v] = north[v + 1], r.south[v] = south[v + 1];
      next_cross[v] = bracket(north[v + 2], south[v + 2], north[v], south[v]);
    }
  }

  __device__ int p_place() const
  {
    return 2 * cell + S::p_width + S::p_lead - S::halo_k;
  }

  __device__ void p_read(temporal_rows &r, float (&next_cross)[2], int stage) const
  {
    const float *at = tile.p(stage) + p_place();
    float north[4], south[4];
    row_read(r.here, at);
    row_read(north, at + S::p_width);
    row_read(south, at - S::p_width);
    rows_split(r, next_cross, north, south);
  }

  // First and second points of pairs are stored separately, to avoid bank conflicts.
  __device__ void level_read(temporal_rows &r, float (&next_cross)[2], const float *plane) const
  {
    const float *even = plane + cell, *odd = even + S::level_plane;
    constexpr int row = S::level_width;
    float north[4] = {odd[row - 1], even[row], odd[row], even[row + 1]};
    float south[4] = {odd[-row - 1], even[-row], odd[-row], even[-row + 1]};
    r.here[0] = odd[-1], r.here[1] = newest[0], r.here[2] = newest[1], r.here[3] = even[1];
    rows_split(r, next_cross, north, south);
  }

  // Reads point v's coefficients for level t from plane n of the ring. With TMA, threads read them
  // even for levels that they do not compute, so that the old values of `c` need not be kept.
  template <int t> __device__ void coefficients_read(int n, int v)
  {
    if (!S::BULK && depth < t - 1) return;
    const uint32_t own = shared_address(ring(n) + (S::BULK && t == T ? last_offset : ring_offset)),
                   at = v ? own ^ 16 : own;
#pragma unroll
    for (int g = 0; g < CUDA_PACKS; g++)
      c[v][g] = *(const float4 *)__cvta_shared_to_generic(at + 4 * g * S::pack_floats);
  }

  // Computes level t of plane q from level t - 1. ROLE selects which of the three sets of rows is
  // the oldest plane. `made` is the step in which the newest was computed, `plane` the ring's plane
  // with the coefficients.
  template <int t, int ROLE> __device__ void level(int q, int plane, int made)
  {
    if (depth < t - 1) {
      rows_forget(rows[t - 1][(ROLE + 2) % 3]);
      return;
    }
    temporal_rows &below = rows[t - 1][ROLE], &mid = rows[t - 1][(ROLE + 1) % 3],
                  &above = rows[t - 1][(ROLE + 2) % 3];
    float next_cross[2], value[2];
    if constexpr (t == 1)
      p_read(above, next_cross, made);
    else
      level_read(above, next_cross, tile.level(t - 1, made));
    if constexpr (t == 1 || (t < T && !S::BULK)) coefficients_read<t>(plane, 0);
    if constexpr (t < T) coefficients_read<t>(plane, 1);
    bool live = q >= tile.args.job.interior_lo[0] && q < tile.args.job.interior_hi[0];
    bool mine = q >= tile.i_lo && q < tile.i_hi;
#pragma unroll
    for (int v = 0; v < 2; v++) {
      float ss = residual(c[v], stencil_of(below, mid, above, v), cross[t - 1][v]);
      double counted = mine && claims & 4 << v ? ss : 0.0f;
      gosa[t - 1] = fma(counted, counted, gosa[t - 1]);
      rounded updated = rounded(mid.here[v + 1]) + rounded(HIMENO_OMEGA) * ss;
      value[v] = live && claims & 1 << v ? updated.value : mid.here[v + 1];
    }
#pragma unroll
    for (int v = 0; v < 2; v++) cross[t - 1][v] = next_cross[v];
    if constexpr (t < T)
      keep<t>(value, made);
    else if (mine)
      store(q, value);
  }

  // Computes level 1 of the outer point, which no thread owns: the point next to an edge's pair, on
  // the side away from the tile's own columns. Called while `c` is unused.
  __device__ void outer_level(const float *ring)
  {
    if (!outward || depth < 0) return;
    const int beside = outward < 0 ? -1 : 2; // offset from the pair's first point
    const float *coefficients = ring + (outward < 0 ? (ring_offset ^ 4) - 8 : ring_offset + 8);
    const float value =
        level_1_value(tile, step, p_place() + beside, coefficients, S::pack_floats, claims & 16);
    float *at = tile.level(1, step) + cell;
    if (outward < 0)
      at[S::level_plane - 1] = value;
    else
      at[1] = value;
  }

  template <int t> __device__ void keep(const float (&value)[2], int step)
  {
    float *plane = tile.level(t, step);
#pragma unroll
    for (int v = 0; v < 2; v++) plane[v * S::level_plane + cell] = newest[v] = value[v];
  }

  __device__ void store(int q, const float (&value)[2]) const
  {
    float *to = tile.args.job.pass.out + q * tile.args.job.pass.plane + out;
    if ((claims & 12) == 12)
      *(float2 *)to = make_float2(value[0], value[1]);
    else if (claims & 4)
      to[0] = value[0];
    else if (claims & 8)
      to[1] = value[1];
  }

  static __device__ void meet() // a barrier of the workers only
  {
    asm volatile("bar.sync 1, %0;" ::"n"(S::workers) : "memory");
  }

  // Requests the thread's coefficients of a stage, and level 0 of the next stage.
  __device__ void fetch(int stage) const
  {
    if (stage < tile.steps() && depth >= 0) {
      float *to = tile.coefficients(stage) + (ring_offset & ~4);
      pair_coefficients_load(tile, to, tile.first + stage, j(), k());
      if (S::FOLDS && outward)
        pair_coefficients_load(tile, to + 8 * outward, tile.first + stage, j(), k() + 2 * outward);
    }
    if (stage + 1 < tile.steps()) p_load(tile, stage + 1);
    pairs_commit();
  }

  // Signals that the thread has read level T's coefficients, so that their slot may be filled for
  // the next stage. In step 0 there is no such slot yet.
  __device__ void release() const
  {
    if constexpr (S::BULK) {
#if __CUDA_ARCH__ >= 900
      __syncwarp();
      if (threadIdx.x % 32 == 0 && step > 0) barrier_arrive(tile.spent + ((step - 1) & 1));
#endif
    } else {
      fetch(step + 1);
    }
  }

  __device__ void await_stage() const
  {
    if constexpr (S::BULK) {
#if __CUDA_ARCH__ >= 900
      if (S::RIM) barrier_wait(tile.near + (step & 1), step >> 1 & 1);
      barrier_wait(tile.full + (step & 1), step >> 1 & 1);
#endif
    } else {
      pairs_wait();
    }
  }

  __device__ void start()
  {
    if constexpr (S::BULK) {
      await_stage();
    } else {
      for (int stage = -2; stage <= 0; stage++) p_load(tile, stage);
      pairs_commit();
      fetch(0);
      pairs_wait();
      meet();
    }
    if (depth < 0) return;
    for (int n = 0; n < 2; n++) p_read(rows[0][n], cross[0], n - 2);
  }

  __device__ const float *ring(int n) const
  {
    return tile.shared + n * S::slot_floats;
  }

  // Returns the ring's slot that level t reads in this step; for level T, in the next step.
  template <int t> __device__ int slot_of() const
  {
    int back = slot - (t < T ? t - 1 : T - 1);
    return back < 0 ? back + S::slots : back;
  }

  // The barrier of the workers between levels. With TMA a thread arrives, reads the next level's
  // coefficients as far as it can, and only then waits for the others.
  template <int t> __device__ void meet_before()
  {
#if __CUDA_ARCH__ >= 900
    if constexpr (S::BULK) barrier_arrive(tile.met);
#endif
    if constexpr (t == T || S::BULK) coefficients_read<t>(slot_of<t>(), 0);
    if constexpr (t == T) coefficients_read<t>(slot_of<t>(), 1);
#if __CUDA_ARCH__ >= 900
    if constexpr (S::BULK) {
      barrier_wait(tile.met, meeting);
      meeting ^= 1;
    }
#endif
    if constexpr (!S::BULK) meet();
  }

  template <int t, int ROLE> __device__ void later_levels()
  {
    meet_before<t>();
    if constexpr (t < T) {
      level<t, ROLE>(tile.first + step - (t - 1), slot_of<t>(), step);
      later_levels<t + 1, ROLE>();
    }
  }

  // Does one step; returns false after the last. Level T is one step late, so that no barrier is
  // needed between it and level 1.
  template <int ROLE> __device__ bool advance()
  {
    level<T, ROLE>(tile.first + step - T, slot, step - 1);
    if (step == tile.steps()) return false;
    release();
    await_stage();
    if constexpr (S::FOLDS) outer_level(ring(slot));
    level<1, ROLE>(tile.first + step, slot, step);
    later_levels<2, ROLE>();
    step++;
    slot = slot + 1 == S::slots ? 0 : slot + 1;
    return true;
  }

  __device__ void gosa_add() const
  {
    constexpr int warps = S::workers / 32;
    double *sums = (double *)tile.shared;
    meet();
#pragma unroll
    for (int t = 0; t < T; t++) {
      double sum = gosa[t];
      for (int n = 16; n; n /= 2) sum += __shfl_xor_sync(0xffffffff, sum, n);
      if (threadIdx.x % 32 == 0) sums[t * warps + threadIdx.x / 32] = sum;
    }
    meet();
    if (threadIdx.x >= T) return;
    double sum = 0.0;
    for (int n = 0; n < warps; n++) sum += sums[threadIdx.x * warps + n];
    atomicAdd(tile.args.job.pass.gosa + threadIdx.x, sum);
  }
};

// Moves registers from the feeding group of warps to the working groups. Each has a branch of its
// own, otherwise the compiler ignores the new limits.
template <class S> static __device__ __forceinline__ void registers_give()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (S::SHIFTS) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(S::feeder_registers));
#endif
}
template <class S> static __device__ __forceinline__ void registers_take()
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (S::SHIFTS) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(S::worker_registers));
#endif
}

template <class S>
static __global__ void __launch_bounds__(S::threads, 1)
    temporal_kernel(const CUDA_GRID_CONSTANT temporal_args args, const CUDA_GRID_CONSTANT temporal_maps maps)
{
  extern __shared__ __align__(1024) float shared_memory[];
  next_may_start();
  if constexpr (!S::BULK) wait_for_previous();
  temporal_tile<S> tile(args, shared_memory);
#if __CUDA_ARCH__ >= 900
  if constexpr (S::BULK) {
    barriers_init(tile);
    if (threadIdx.x >= S::workers) {
      registers_give<S>();
      if (threadIdx.x / 32 == S::workers / 32) feed(tile, maps);
      if constexpr (S::RIM)
        if (threadIdx.x >= S::workers + 32) temporal_rim<S>(tile).run(maps);
      return;
    }
    registers_take<S>();
  }
#else
  if constexpr (S::BULK) return; // never launched
#endif
  temporal_pair<S> pair(tile);
  pair.start();
  while (pair.template advance<0>() && pair.template advance<1>() && pair.template advance<2>()) {
  }
  pair.gosa_add();
}

#endif
