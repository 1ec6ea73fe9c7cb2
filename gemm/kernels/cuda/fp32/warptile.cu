// SPDX-License-Identifier: MIT
// Nested tiles: per block, per warp and per thread. Bulk copies are used where possible. A
// performance model chooses the tile and the number of parts of k.
#include "gemm/kernels/cuda/fp32/warptile.h"

#include <float.h>

#include "gemm/kernels/cuda/fp32/fp32.cuh"

#define SPLITS_MAX 1024

static const warptile_loader &loader_of(const cuda_job *job, const cuda_chip *chip)
{
  return warptile_bulk_loader.able(job, chip) ? warptile_bulk_loader : warptile_copy_loader;
}

static int tiles_of_k(const cuda_job *job, const warptile_tile &tile)
{
  return (job->k - 1) / tile.k + 1;
}

// Returns the share of the peak that a multiprocessor reaches with this many resident threads.
static double hidden(int threads)
{
  return threads <= 128 ? 0.8 : threads <= 256 ? 0.95 : 1;
}

double warptile_rounds(const cuda_job *job, const cuda_chip *chip, const warptile_tile &tile, int splits,
                       double part_seconds)
{
  const double tiles = (double)tiles_of(job, tile.m, tile.n), deep = tiles_of_k(job, tile);
  const int64_t most = (int64_t)ceil(tiles * splits / chip->processors), full = most / tile.blocks;
  const int rest = (int)(most % tile.blocks);
  const double flop = 2.0 * tile.m * tile.n * tile.k * ceil(deep / splits);
  const double one = flop / (tile.rate * WARPTILE_FLOPS);
  const double round = WARPTILE_ROUND_SECONDS + splits * part_seconds;
  double seconds = full * (tile.blocks * one + round);
  if (rest > 0)
    seconds += rest * one * hidden(tile.blocks * tile.threads) / hidden(rest * tile.threads) + round;
  return seconds;
}

static int tile_find(const warptile_loader &loader, const gemm_blocks *blocks)
{
  for (int tile = 0; tile < loader.n_tiles; tile++) {
    const warptile_tile &t = loader.tiles[tile];
    if (t.m == blocks->group_m && t.n == blocks->group_n && (blocks->stays ? t.stays : t.whole)) return tile;
  }
  return -1;
}

// Reduces the number of parts of k to that of the tiles of k.
static warptile_cut cut_of(const cuda_job *job, const warptile_loader &loader, const gemm_blocks *blocks)
{
  const int tile = tile_find(loader, blocks), most = tile < 0 ? 1 : tiles_of_k(job, loader.tiles[tile]);
  return {tile, max(1, min(blocks->splits, most)), blocks->stays != 0, blocks->stages};
}

static bool cut_able(const cuda_job *job, const warptile_loader &loader, const warptile_cut &cut)
{
  if (cut.tile < 0 || cut.splits > SPLITS_MAX || cut.splits > tiles_of_k(job, loader.tiles[cut.tile]))
    return false;
  return cut.stays ? loader.tiles[cut.tile].stays && cut.splits == 1 : loader.tiles[cut.tile].whole;
}

// If the loader supports this cut of the job, writes the cut to \a blocks and returns true.
static bool cut_take(const cuda_job *job, const cuda_chip *chip, const warptile_loader &loader,
                     warptile_cut cut, gemm_blocks *blocks)
{
  if (!cut_able(job, loader, cut) || (cut.stages = loader.stages(job, chip, cut)) == 0) return false;
  const warptile_tile &tile = loader.tiles[cut.tile];
  *blocks = gemm_blocks();
  blocks->group_m = tile.m;
  blocks->group_n = tile.n;
  blocks->group_k = tile.k;
  blocks->item_m = tile.item_m;
  blocks->item_n = tile.item_n;
  blocks->stages = cut.stages;
  blocks->ahead = 1;
  blocks->splits = cut.splits;
  blocks->stays = cut.stays;
  return true;
}

// Chooses the tile, the number of parts of k, and whether blocks are persistent, by the least
// predicted time. If the caller has chosen a tile, keeps the caller's choice.
static cudaError_t choose(const cuda_job *job, gemm_type, const cuda_chip *chip, gemm_blocks *blocks)
{
  const warptile_loader &loader = loader_of(job, chip);
  double least = DBL_MAX;
  if (blocks->group_m > 0)
    return cut_take(job, chip, loader, cut_of(job, loader, blocks), blocks) ? cudaSuccess
                                                                            : cudaErrorInvalidConfiguration;
  for (int tile = 0; tile < loader.n_tiles; tile++)
    for (int splits = 0; splits <= SPLITS_MAX; splits++) {
      const warptile_cut cut = {tile, splits ? splits : 1, splits == 0, 0};
      const double seconds = loader.predict(job, chip, cut);
      if (seconds < least && cut_take(job, chip, loader, cut, blocks)) least = seconds;
    }
  return least < DBL_MAX ? cudaSuccess : cudaErrorInvalidConfiguration;
}

static size_t warptile_work(const cuda_job *job, gemm_type, const cuda_chip *chip, const gemm_blocks *blocks)
{
  const warptile_loader &loader = loader_of(job, chip);
  return loader.work(job, chip, cut_of(job, loader, blocks));
}

static cuda_launch warptile_describe(const cuda_job *job, const cuda_chip *chip, const gemm_blocks *blocks)
{
  const warptile_loader &loader = loader_of(job, chip);
  return loader.describe(job, cut_of(job, loader, blocks));
}

static cudaError_t warptile_launch(const cuda_job *job, gemm_type, const cuda_chip *chip,
                                   const gemm_blocks *blocks, cudaStream_t stream)
{
  const warptile_loader &loader = loader_of(job, chip);
  const int64_t tiles = tiles_of(job, blocks->group_m, blocks->group_n) * blocks->splits;
  if (tiles > INT32_MAX) return cudaErrorInvalidConfiguration;
  return loader.launch(job, chip, cut_of(job, loader, blocks), stream);
}

extern "C" const cuda_operation fp32_warptile = {warptile_launch, warptile_work, choose, warptile_describe};
