// SPDX-License-Identifier: MIT
// The geometry of a temporal kernel: what a block owns, where it lies in shared memory, and which part of the
// box it does.
#ifndef HIMENO_CUDA_TEMPORAL_TILE_CUH
#define HIMENO_CUDA_TEMPORAL_TILE_CUH

#include <cuda.h>

#include "himeno/cuda/point.cuh"
extern "C" {
#include "himeno/cuda/temporal.h"
}

constexpr int round_up(int n, int to)
{
  return (n + to - 1) / to * to;
}

// A block computes level 1 on W×H points of a plane and writes level T on OUT_K×OUT_J of them. Threads own
// pairs along k.
template <int T_, int OUT_K, int OUT_J, bool BULK_> struct temporal_shape {
  static constexpr int T = T_, out_k = OUT_K, out_j = OUT_J;
  static constexpr bool BULK = BULK_;
  static constexpr int halo = T - 1, halo_k = round_up(T - 1, 2);
  static constexpr int W = out_k + 2 * halo_k, H = out_j + 2 * halo;
  static constexpr int lanes = W / 2, pairs = lanes * H;
  static constexpr int body = out_k / 2, edge = halo_k / 2; // pairs of a row: its own, and those to each side
  static constexpr int workers = round_up(pairs, 32);
  static constexpr int threads = workers + (BULK ? 32 : 0); // one more warp feeds the ring

  // The ring of coefficient planes. L2 serves the copy engine a request for each line of 128 bytes that a row
  // of a box touches in memory or in shared memory. So the tile's own columns travel apart from its edges:
  // whole lines, aligned alike on both sides. A row must begin on 16 bytes, or the engine stops with an
  // illegal instruction.
  static constexpr int slots = T + 1;
  static constexpr int edge_width = 4, edge_floats = round_up(edge_width * H, 32);
  static constexpr int plane_floats = out_k * H + 2 * edge_floats; // own columns, edge before, edge behind
  static constexpr int slot_floats = HIMENO_COEFFICIENTS * plane_floats;

  // Level 0 reaches one point further than level 1.
  static constexpr int p_lead = 4, p_width = round_up(p_lead + out_k + T, 4), p_rows = H + 2;
  static constexpr int p_floats = round_up(p_width * p_rows, 32);
  static constexpr int p_slots = BULK ? 2 : 3;

  // Levels 1 to T - 1, one plane each: the first points of all pairs, then the second points.
  static constexpr int level_floats = 2 * pairs, level_copies = T == 2 ? 2 : 1;

  static constexpr int p_offset = slots * slot_floats;
  static constexpr int level_offset = p_offset + p_slots * p_floats;
  static constexpr int barrier_offset = round_up(level_offset + (T - 1) * level_copies * level_floats, 4);
  static constexpr int shared_bytes = barrier_offset * 4 + 64;
  static constexpr unsigned p_bytes = p_width * p_rows * 4;
  static constexpr unsigned stage_bytes = HIMENO_COEFFICIENTS * (out_k + 2 * edge_width) * H * 4 + p_bytes;
  static_assert(T >= 2 && out_k % 32 == 0 && halo_k <= edge_width && shared_bytes <= 227 * 1024, "");
};

// The work of one half of a box's tiles. A unit is what a block does: a tile over all planes, or over a chunk
// of them.
struct temporal_share {
  int first_row; // of tiles along j
  int units;
  int whole;       // units that march over all planes of their tile
  int rest, chunk; // tiles beyond those, and the planes that one of their units marches over
  int processors;  // that work on this half
};

// Counters in a chip's scratch: units taken of each share, and the progress of each share's waves.
enum { TEMPORAL_WAVES = 512, TEMPORAL_SCRATCH = 2 + 2 * TEMPORAL_WAVES };

struct temporal_args {
  struct cuda_temporal_job job;
  const unsigned char *near; // NULL: all work is in share[0], a unit a block
  int *taken, *progress;     // progress is NULL where blocks need not keep step
  struct temporal_share share[2];
  int tiles_k; // tile = row of tiles · tiles_k + tile along k
};

struct temporal_maps { // boxes of a plane, for the copy engine
  CUtensorMap body[HIMENO_COEFFICIENTS], edge[HIMENO_COEFFICIENTS];
  CUtensorMap p;
};

static __device__ __forceinline__ int processor_number()
{
  int n;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(n));
  return n;
}

// A block's part of the work, and its shared memory.
template <class S> struct temporal_tile {
  const temporal_args &args;
  float *shared;
  uint64_t *full, *spent; // barriers, two each: stages by parity have arrived, are no longer needed
  int side, unit;
  int i_lo, i_hi; // planes that this block writes
  int first;      // plane of level 1 in step 0
  int j, k;       // first row, halo included; first column that this block writes

  __device__ temporal_tile(const temporal_args &a, float *memory) : args(a), shared(memory)
  {
    full = (uint64_t *)(shared + S::barrier_offset);
    spent = full + 2;
    side = 0, unit = blockIdx.x;
    if (args.near) take_unit();
    place();
  }

  // The next unit of the half that lies in the near part of the L2 cache, or of the other once that is done:
  // halos that two blocks read then seldom cross from one part of the cache to the other.
  __device__ void take_unit()
  {
    int *choice = (int *)(spent + 2);
    if (threadIdx.x == 0) {
      int s = args.near[processor_number()], n = atomicAdd(args.taken + s, 1);
      if (n >= args.share[s].units) {
        s = 1 - s;
        n = atomicAdd(args.taken + s, 1);
      }
      choice[0] = s, choice[1] = n;
    }
    __syncthreads();
    side = choice[0], unit = choice[1];
  }

  __device__ void place()
  {
    const temporal_share &share = args.share[side];
    const cuda_pass &pass = args.job.pass;
    int tile = unit;
    i_lo = pass.lo[0], i_hi = pass.hi[0];
    if (unit >= share.whole) {
      tile = share.whole + (unit - share.whole) % share.rest;
      i_lo += (unit - share.whole) / share.rest * share.chunk;
      i_hi = min(i_lo + share.chunk, i_hi);
    }
    first = i_lo - S::halo;
    j = pass.lo[1] + (share.first_row + tile / args.tiles_k) * S::out_j - S::halo;
    k = pass.first_k + tile % args.tiles_k * S::out_k;
  }

  __device__ int steps() const
  {
    return i_hi - i_lo + 2 * S::halo;
  }

  __device__ float *coefficients(int stage) const
  {
    return shared + stage % S::slots * S::slot_floats;
  }

  // Level 0 of the plane after that of the stage's coefficients.
  __device__ float *p(int stage) const
  {
    return shared + S::p_offset + stage % S::p_slots * S::p_floats;
  }

  // The two planes of level 0 before stage 0's: in the slot that is filled last.
  __device__ float *early_p(int n) const
  {
    return shared + 2 * S::slot_floats + n * S::p_floats;
  }

  __device__ float *level(int t, int step) const
  {
    int copy = step & (S::level_copies - 1);
    return shared + S::level_offset + ((t - 1) * S::level_copies + copy) * S::level_floats;
  }
};

#endif
