// SPDX-License-Identifier: MIT
// The host side of copies by threads.
#include "gemm/cuda/warptile_copy.cuh"

#include "gemm/cuda/warptile.h"

typedef warptile_shape<128, 128, 8, 32, 64, 8, 8, 2> shape_128x128;
typedef warptile_shape<64, 128, 8, 32, 64, 8, 8, 3> shape_64x128;
typedef warptile_shape<64, 64, 8, 32, 32, 8, 4, 4> shape_64x64;

template <class S> static constexpr warptile_tile tile_of(double rate)
{
  return {S::m, S::n, S::k, S::item_m, S::item_n, S::threads, S::blocks, rate};
}

static constexpr warptile_tile tiles[] = {tile_of<shape_128x128>(0.73), tile_of<shape_64x128>(0.7),
                                          tile_of<shape_64x64>(0.6)};
static void (*const kernels[])(fp32_job) = {warptile_copy<shape_128x128>, warptile_copy<shape_64x128>,
                                            warptile_copy<shape_64x64>};

#define COMBINE_BLOCKS 2048

static bool able(const fp32_job *, const fp32_chip *)
{
  return true;
}

static int stages(const fp32_job *, const fp32_chip *, int, int)
{
  return COPY_STAGES;
}

static size_t work(const fp32_job *job, int splits)
{
  return splits > 1 ? (size_t)splits * (size_t)job->m * (size_t)job->n * sizeof(float) : 0;
}

static fp32_launch describe(const fp32_job *, int tile, int)
{
  return {(const void *)kernels[tile], tiles[tile].threads, 0};
}

static cudaError_t launch(const fp32_job *job, int tile, int, int splits, cudaStream_t stream)
{
  const warptile_tile &t = tiles[tile];
  const dim3 grid((unsigned)tiles_of(job, t.m, t.n), (unsigned)splits);
  kernels[tile]<<<grid, t.threads, 0, stream>>>(*job);
  const cudaError_t error = cudaGetLastError();
  if (splits == 1 || error != cudaSuccess) return error;
  warptile_combine<<<COMBINE_BLOCKS, 256, 0, stream>>>(*job, splits);
  return cudaGetLastError();
}

extern const warptile_path warptile_copy_path = {
    tiles, sizeof tiles / sizeof tiles[0], 4e-6, 0, able, stages, work, describe, launch};
