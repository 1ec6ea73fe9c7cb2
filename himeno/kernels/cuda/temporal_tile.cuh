// SPDX-License-Identifier: MIT
// The geometry of a temporal kernel: the points of a block, their location in shared memory, and
// the block's part of the box.
#ifndef HIMENO_KERNELS_CUDA_TEMPORAL_TILE_CUH
#define HIMENO_KERNELS_CUDA_TEMPORAL_TILE_CUH

#include <cuda.h>

#include "himeno/kernels/cuda/point.cuh"
extern "C" {
#include "himeno/kernels/cuda/temporal.h"
}

constexpr int round_up(int n, int to)
{
  return (n + to - 1) / to * to;
}

// A block computes level 1 on W×H points of a plane and writes level T on OUT_K×OUT_J of them.
// Threads own pairs along k: those of the tile's own columns, which it writes, and one on each side
// of every row. If the halo has more than two columns, it has one more pair there: only its inner
// point is needed, at level 1. With TMA, warps of the feeding group compute the rim: those points
// and the first and last row of level 1. Otherwise the thread of the adjacent pair computes them.
template <int T_, int OUT_K, int OUT_J, bool BULK_> struct temporal_shape {
  static constexpr int T = T_, out_k = OUT_K, out_j = OUT_J;
  static constexpr bool BULK = BULK_;
  static constexpr int halo = T - 1, halo_k = round_up(T - 1, 2);
  static constexpr int W = out_k + 2 * halo_k, H = out_j + 2 * halo;
  // pairs per row: body of the own columns, edge on each side
  static constexpr int body = out_k / 2, edge = halo_k / 2;
  static constexpr bool RIM = BULK && edge > 1, FOLDS = !BULK && edge > 1;
  // rim: rows of level 1 at each end without pairs; pair_rows: rows with pairs; pair_halo: columns
  // of pairs on each side of the tile's own columns
  static constexpr int rim = RIM ? 1 : 0, pair_rows = H - 2 * rim, pair_halo = halo_k - 2 * rim;
  static constexpr int pairs = (body + 2) * pair_rows;
  // With TMA one more warp feeds the ring. Three and four levels need more registers than 16 warps
  // have: there a group of four warps feeds, and gives most of its registers to the working groups.
  // Three of its warps compute the rim, one per interleaved array.
  static constexpr bool SHIFTS = T > 2 && BULK;
  static constexpr int workers = round_up(pairs, SHIFTS ? 128 : 32), feeders = BULK ? (SHIFTS ? 128 : 32) : 0;
  static constexpr int threads = workers + feeders;
  static constexpr int rim_lanes = RIM ? feeders - 32 : 0, rim_points = 2 * (out_k + 2 * halo + pair_rows);
  static constexpr int worker_registers = RIM ? 152 : 160, feeder_registers = RIM ? 56 : 32;

  // The ring of coefficient planes. Edges and own columns are loaded separately. The edges of a row
  // are in other cache lines than the own columns; as the arrays are interleaved, an edge is 32
  // bytes of three arrays, and not 8 of twelve. TMA makes one request to L2 per line of 128 bytes
  // that a row of a box touches, in memory or in shared memory; own columns are whole lines,
  // aligned in both.
  static constexpr int slots = T + 1;
  static constexpr int body_floats = 4 * out_k * pair_rows,
                       edge_floats = round_up(4 * pair_halo * pair_rows, 32);
  // floats per array and slot: own columns, edge before them, edge after them
  static constexpr int pack_floats = body_floats + 2 * edge_floats;
  static constexpr int slot_floats = CUDA_PACKS * pack_floats;
  // The rim's coefficients, for one step: first row, last row, columns before, columns after.
  static constexpr int rim_slots = 2, rim_row_floats = 4 * W, rim_side_floats = round_up(8 * pair_rows, 32);
  static constexpr int rim_pack_floats = 2 * (rim_row_floats + rim_side_floats),
                       rim_slot_floats = RIM ? CUDA_PACKS * rim_pack_floats : 0;

  // Stages between two counts of a block's progress. The more a pass reads from memory, the more
  // time it loses if blocks drift apart.
  static constexpr int tick = T == 2 ? 1 : 2;

  // Level 0 extends one point beyond level 1. A step reads three planes of it while one or two
  // others are loaded. The row length puts the ends of eight rows into different banks.
  static constexpr int p_lead = 4, p_width = round_up(p_lead + out_k + T, 8) + 4, p_rows = H + 2;
  static constexpr int p_floats = round_up(p_width * p_rows, 32);
  static constexpr int p_slots = BULK ? 4 : 5;

  // Levels 1 to T - 1: the first points of all pairs, then the second points. Each level has one
  // plane. Only if level 1 is also level T - 1 it has two, because level T reads it in the next
  // step. Rows are as long as those of level 0, so that a pair has the same offset in both. If a
  // warp has two rows of own columns, eight apart, they are in different banks, and so are the ends
  // of sixteen rows.
  static constexpr int level_width = p_width / 2, level_plane = level_width * H;
  static constexpr int level_floats = 2 * level_plane, copies = T == 2 ? 2 : 1;

  static constexpr int rim_offset = slots * slot_floats, p_offset = rim_offset + rim_slots * rim_slot_floats;
  static constexpr int level_offset = p_offset + p_slots * p_floats;
  static constexpr int barrier_offset = round_up(level_offset + (copies + T - 2) * level_floats, 4);
  static constexpr int shared_bytes = barrier_offset * 4 + 64;
  static constexpr unsigned p_row_bytes = p_width * 4; // bytes of level 0 per row of a stage
  static_assert(T >= 2 && T <= 4 && out_k % 32 == 0 && 4 * out_k <= 256 && shared_bytes <= 227 * 1024, "");
  static_assert(!RIM || rim_lanes == 32 * CUDA_PACKS, "");

  // Returns the row of own columns of the n-th group of `body` threads. If a warp has two rows,
  // they are eight rows apart, so that there are no bank conflicts.
  static constexpr __device__ int row_of(int n)
  {
    return body == 16 && n < pair_rows / 16 * 16 ? n / 16 * 16 + n % 2 * 8 + n % 16 / 2 : n;
  }
};

// A unit is the work of a block: a tile over all planes, or over a chunk of them.
struct temporal_args {
  struct cuda_temporal_job job;
  int processors;
  int columns; // number of tiles along k: tile = row · columns + column
  int out_j;   // rows that a block writes, at most the shape's; the same for all rows of tiles
  int units;
  int whole; // units that march through all planes of their tile
  // rest: number of other tiles; first: planes in the first unit of each; chunk: in its further
  // units
  int rest, first, chunk;
  int in_step;   // number of units that wait for the others of their wave
  int *progress; // NULL if blocks need not keep step
};

struct temporal_maps { // boxes of a plane, for TMA
  CUtensorMap body[CUDA_PACKS], edge[CUDA_PACKS], rim_row[CUDA_PACKS];
  CUtensorMap p;
};

// A block's part of the work, and its shared memory.
template <class S> struct temporal_tile {
  const temporal_args &args;
  float *shared;
  uint64_t *full, // two barriers, by parity of the stage: the stage has arrived
      *spent,     // two barriers: the oldest stage is no longer needed
      *near,      // two barriers, if the rim has warps: its coefficients and level 0 have arrived
      *met;       // one barrier: the workers have computed a level
  int i_lo, i_hi; // [i_lo, i_hi): planes that this block writes
  int first;      // plane of level 1 in step 0
  int j, k;       // j: first row, halo included; k: first column that this block writes

  __device__ temporal_tile(const temporal_args &a, float *memory) : args(a), shared(memory)
  {
    full = (uint64_t *)(shared + S::barrier_offset);
    spent = full + 2;
    near = full + 4;
    met = full + 6;
    place();
  }

  __device__ void place()
  {
    const cuda_pass &pass = args.job.pass;
    int unit = blockIdx.x, tile = unit;
    i_lo = pass.lo[0], i_hi = pass.hi[0];
    if (unit >= args.whole) {
      tile = args.whole + (unit - args.whole) % args.rest;
      const int piece = (unit - args.whole) / args.rest;
      i_lo += piece ? args.first + (piece - 1) * args.chunk : 0;
      i_hi = min(i_lo + (piece ? args.chunk : args.first), i_hi);
    }
    first = i_lo - S::halo;
    j = pass.lo[1] + tile / args.columns * args.out_j - S::halo;
    k = pass.first_k + tile % args.columns * S::out_k;
  }

  // Number of rows including halos.
  __device__ int rows() const
  {
    return args.out_j + 2 * S::halo;
  }

  __device__ unsigned p_bytes() const
  {
    return S::p_row_bytes * (rows() + 2);
  }

  // full_bytes: bytes of a stage that the feeding warp loads. rim_bytes: bytes of the rim's
  // coefficients per warp.
  __device__ unsigned full_bytes() const
  {
    const int pairs = (S::out_k + 2 * S::pair_halo) * (rows() - 2 * S::rim);
    return CUDA_PACKS * 16 * pairs + (S::RIM ? 0 : p_bytes());
  }
  __device__ unsigned rim_bytes() const
  {
    return 16 * (2 * S::W + 4 * (rows() - 2));
  }

  __device__ int steps() const
  {
    return i_hi - i_lo + 2 * S::halo;
  }

  __device__ float *coefficients(int stage) const
  {
    return shared + stage % S::slots * S::slot_floats;
  }

  __device__ float *rim(int stage) const
  {
    return shared + S::rim_offset + stage % S::rim_slots * S::rim_slot_floats;
  }

  // Returns level 0 of the plane after that of the stage's coefficients; stages start at -2.
  __device__ float *p(int stage) const
  {
    return shared + S::p_offset + (unsigned)(stage + S::p_slots) % S::p_slots * S::p_floats;
  }

  __device__ float *level(int t, int step) const
  {
    return shared + S::level_offset +
           (t == 1 ? (unsigned)step % S::copies : S::copies + t - 2) * S::level_floats;
  }
};

#endif
