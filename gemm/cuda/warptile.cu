// SPDX-License-Identifier: MIT
// Tiles in tiles: a block's of warps', a warp's of threads'. What path, which tile and how many parts of k: by a model of
// how full the device gets.
#include "gemm/cuda/warptile.h"

#include <float.h>

#include "gemm/cuda/fp32.cuh"

// Of a round of blocks: the first tile's way from device memory, and storing C.
#define ROUND_SECONDS 2e-6
// Of an H100's multiprocessor, to weigh arithmetic against the rest.
#define PROCESSOR_FLOPS  5.07e11
#define BYTES_PER_SECOND 2.5e12
#define SPLITS_MAX       4

static const warptile_path &path_of(const fp32_job *job, const fp32_chip *chip)
{
  return warptile_bulk_path.able(job, chip) ? warptile_bulk_path : warptile_copy_path;
}

static int tiles_of_k(const fp32_job *job, const warptile_tile &tile)
{
  return (job->k - 1) / tile.k + 1;
}

// One, two, or three and more warps a scheduler hide each other's waits more or less.
static double hidden(int threads)
{
  return threads <= 128 ? 0.8 : threads <= 256 ? 0.95 : 1;
}

// Seconds of the multiprocessor with most blocks.
static double predict(const fp32_job *job, const fp32_chip *chip, const warptile_path &path,
                      const warptile_tile &tile, int splits)
{
  const double tiles = (double)tiles_of(job, tile.m, tile.n), deep = tiles_of_k(job, tile);
  const int64_t most = (int64_t)ceil(tiles * splits / chip->processors), full = most / tile.blocks;
  const int rest = (int)(most % tile.blocks);
  const double flop = 2.0 * tile.m * tile.n * tile.k * ceil(deep / splits);
  const double one = flop / (tile.rate * PROCESSOR_FLOPS);
  const double parts = splits > 1 ? splits : 0;
  const double round = ROUND_SECONDS + parts * path.split_element_seconds * tile.m * tile.n;
  double seconds = parts * path.split_seconds + full * (tile.blocks * one + round);
  seconds += 2 * (double)path.work(job, splits) / BYTES_PER_SECOND; // written and read again
  if (rest > 0)
    seconds += rest * one * hidden(tile.blocks * tile.threads) / hidden(rest * tile.threads) + round;
  return seconds;
}

static int tile_find(const warptile_path &path, const gemm_blocks *blocks)
{
  for (int tile = 0; tile < path.n_tiles; tile++)
    if (path.tiles[tile].m == blocks->group_m && path.tiles[tile].n == blocks->group_n) return tile;
  return -1;
}

static void blocks_fill(const warptile_tile &tile, int stages, int splits, gemm_blocks *blocks)
{
  *blocks = gemm_blocks();
  blocks->group_m = tile.m;
  blocks->group_n = tile.n;
  blocks->group_k = tile.k;
  blocks->item_m = tile.item_m;
  blocks->item_n = tile.item_n;
  blocks->stages = stages;
  blocks->ahead = 1;
  blocks->splits = splits;
}

static bool tile_take(const fp32_job *job, const fp32_chip *chip, const warptile_path &path, int tile,
                      int splits, gemm_blocks *blocks)
{
  const int stages = splits > tiles_of_k(job, path.tiles[tile]) ? 0 : path.stages(job, chip, tile, splits);
  if (stages > 0) blocks_fill(path.tiles[tile], stages, splits, blocks);
  return stages > 0;
}

static cudaError_t choose(const fp32_job *job, const fp32_chip *chip, gemm_blocks *blocks)
{
  const warptile_path &path = path_of(job, chip);
  const int splits = blocks->splits > 1 ? blocks->splits : 1;
  double least = DBL_MAX;
  if (blocks->group_m > 0) {
    const int tile = tile_find(path, blocks);
    const bool power = (splits & (splits - 1)) == 0 && splits <= SPLITS_MAX;
    return power && tile >= 0 && tile_take(job, chip, path, tile, splits, blocks)
               ? cudaSuccess
               : cudaErrorInvalidConfiguration;
  }
  for (int tile = 0; tile < path.n_tiles; tile++)
    for (int parts = 1; parts <= SPLITS_MAX; parts *= 2) {
      const double seconds = predict(job, chip, path, path.tiles[tile], parts);
      if (seconds < least && tile_take(job, chip, path, tile, parts, blocks)) least = seconds;
    }
  return least < DBL_MAX ? cudaSuccess : cudaErrorInvalidConfiguration;
}

static size_t work(const fp32_job *job, const fp32_chip *chip, const gemm_blocks *blocks)
{
  return path_of(job, chip).work(job, blocks->splits);
}

static fp32_launch describe(const fp32_job *job, const fp32_chip *chip, const gemm_blocks *blocks)
{
  const warptile_path &path = path_of(job, chip);
  return path.describe(job, tile_find(path, blocks), blocks->stages);
}

static cudaError_t launch(const fp32_job *job, const fp32_chip *chip, const gemm_blocks *blocks,
                          cudaStream_t stream)
{
  const warptile_path &path = path_of(job, chip);
  const int64_t tiles = tiles_of(job, blocks->group_m, blocks->group_n) * blocks->splits;
  if (tiles > INT32_MAX) return cudaErrorInvalidConfiguration;
  return path.launch(job, tile_find(path, blocks), blocks->stages, blocks->splits, stream);
}

extern "C" const fp32_step fp32_warptile = {choose, work, describe, launch};
