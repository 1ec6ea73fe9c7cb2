// SPDX-License-Identifier: MIT
// The host side of bulk copies: one block or cluster per tile, or persistent blocks that share all
// tiles.
#include "gemm/kernels/cuda/fp32/warptile.h"
#include "gemm/kernels/cuda/fp32/warptile_bulk.cuh"
#include "gemm/kernels/cuda/fp32/warptile_stream.cuh"
#include "gpu/cuda/cuda_tensor_map.h"

typedef void (*bulk_kernel)(bulk_args);

struct bulk_variant {
  bulk_kernel bulk[2][2], stream[2][2]; // [kernel transposes A][kernel transposes B]
  int stage, a, b;                      // bytes
};

enum { WHOLE = 1, STAYS = 2, ROWS = 4 };

// Compiles only the kernels that the tile is used with: `uses` has the bits WHOLE, STAYS and ROWS.
template <class S, int uses> struct bulk_row {
  static constexpr warptile_tile tile(double rate)
  {
    constexpr bool whole = uses & (WHOLE | ROWS), stays = uses & STAYS;
    return {S::m, S::n, S::k, S::item_m, S::item_n, S::threads, S::blocks, rate, whole, stays};
  }

  static bulk_variant variant()
  {
    bulk_variant v = {{}, {}, bulk_layout<S>::stage, bulk_layout<S>::a, bulk_layout<S>::b};
    if constexpr (uses & WHOLE) {
      v.bulk[0][0] = warptile_bulk<S, false, false>, v.bulk[0][1] = warptile_bulk<S, false, true>;
      v.bulk[1][0] = warptile_bulk<S, true, false>, v.bulk[1][1] = warptile_bulk<S, true, true>;
    }
    if constexpr (uses & STAYS) {
      v.stream[0][0] = warptile_stream<S, false, false>, v.stream[0][1] = warptile_stream<S, false, true>;
      v.stream[1][0] = warptile_stream<S, true, false>, v.stream[1][1] = warptile_stream<S, true, true>;
    }
    if constexpr (uses & ROWS)
      v.bulk[0][0] = warptile_rows<S, false, false>, v.bulk[1][0] = warptile_rows<S, true, false>;
    return v;
  }
};

typedef bulk_row<warptile_shape<128, 256, 16, 64, 64, 8, 16, 1>, WHOLE | STAYS> row_128x256;
typedef bulk_row<warptile_shape<128, 128, 16, 32, 64, 8, 8, 2>, WHOLE> row_128x128;
typedef bulk_row<warptile_shape<128, 128, 16, 64, 64, 8, 16, 2>, STAYS> row_128x128_stays;
typedef bulk_row<warptile_shape<64, 128, 16, 32, 64, 8, 8, 3>, WHOLE | STAYS> row_64x128;
typedef bulk_row<warptile_shape<64, 64, 16, 32, 32, 8, 4, 4>, WHOLE | STAYS> row_64x64;
typedef bulk_row<warptile_shape<16, 512, 16, 16, 128, 16, 4, 4>, ROWS> row_16x512;
static constexpr warptile_tile tiles[] = {row_128x256::tile(0.80),       row_128x128::tile(0.78),
                                          row_128x128_stays::tile(0.79), row_64x128::tile(0.75),
                                          row_64x64::tile(0.65),         row_16x512::tile(0.5)};
static const bulk_variant variants[] = {row_128x256::variant(),       row_128x128::variant(),
                                        row_128x128_stays::variant(), row_64x128::variant(),
                                        row_64x64::variant(),         row_16x512::variant()};

// Bytes of shared memory that a block needs in addition to its stages: 1 KiB that CUDA reserves per
// block, and 1 KiB for barriers and alignment.
#define RESERVED 2048
// Minimum number of steps (tiles of k) per persistent block.
#define STEPS_LEAST 4
// Seconds to add up a tile in a cluster, per element and part.
#define CLUSTER_ELEMENT_SECONDS 1.6e-10
// Share of the speed of whole tiles that the loop of persistent blocks reaches.
#define STREAM_SHARE 0.96

static bool turns_a(const cuda_job *job)
{
  return !job->trans_a;
}

static bool turns_b(const cuda_job *job)
{
  return job->trans_b;
}

static bool is_rows(const bulk_variant &v)
{
  return !v.bulk[1][1] && !v.stream[1][1];
}

// Returns whether a further kernel adds up the parts of k.
static bool combines(const warptile_cut &cut)
{
  return cut.splits > (is_rows(variants[cut.tile]) ? 1 : BULK_CLUSTER_MAX);
}

static int cluster_of(const warptile_cut &cut)
{
  return combines(cut) ? 1 : cut.splits;
}

static int buffer_bytes(const cuda_job *job, const bulk_variant &v)
{
  return 2 * ((turns_a(job) ? v.a : 0) + (turns_b(job) ? v.b : 0));
}

static bool bulk_able(const cuda_job *job, const cuda_chip *chip)
{
  return chip->number >= 90 && job->lda % 4 == 0 && job->ldb % 4 == 0;
}

// Returns the number of stages that fit, or 0 if the kernel cannot run. A cluster adds up its parts
// of k in the memory of the stages.
static int bulk_stages(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut)
{
  const warptile_tile &t = tiles[cut.tile];
  const bulk_variant &v = variants[cut.tile];
  if (is_rows(v)) return !turns_b(job) && job->n % 4 == 0 && (uintptr_t)job->b % 16 == 0;
  const int all = chip->shared_bytes + 1024, buffers = buffer_bytes(job, v);
  int count = (all / t.blocks - RESERVED - buffers) / v.stage;
  if (count < 2) count = (all - RESERVED - buffers) / v.stage;
  if (count > BULK_STAGES_MAX) count = BULK_STAGES_MAX;
  const int room = count * v.stage + buffers, sums = t.m * t.n * (int)sizeof(float);
  return count < 2 || (cluster_of(cut) > 1 && room < sums) ? 0 : count;
}

// Returns the number of persistent blocks: as many as are resident at one time, or fewer, so that
// each has at least STEPS_LEAST steps.
static int stream_blocks(const cuda_job *job, const cuda_chip *chip, const warptile_tile &t)
{
  const int64_t steps = tiles_of(job, t.m, t.n) * ((job->k - 1) / t.k + 1);
  const int64_t least = steps / STEPS_LEAST, most = (int64_t)chip->processors * t.blocks;
  return (int)(least < 1 ? 1 : least < most ? least : most);
}

// Returns whether any tile is shared by two or more blocks.
static bool stream_shares(const cuda_job *job, const cuda_chip *chip, const warptile_tile &t)
{
  return tiles_of(job, t.m, t.n) % stream_blocks(job, chip, t) != 0;
}

// Returns the bytes of work space: for the parts that a further kernel adds up, or for the sums and
// the flag that each persistent block passes on.
static size_t bulk_work(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut)
{
  const warptile_tile &t = tiles[cut.tile];
  if (combines(cut)) return warptile_parts_bytes(job, cut.splits);
  if (!cut.stays || !stream_shares(job, chip, t)) return 0;
  return (size_t)stream_blocks(job, chip, t) * ((size_t)t.m * (size_t)t.n + 1) * sizeof(float);
}

static double bulk_predict(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut)
{
  const warptile_tile &t = tiles[cut.tile];
  if (!cut.stays) {
    const double tiles = (double)tiles_of(job, t.m, t.n);
    double seconds = warptile_rounds(job, chip, t, cut.splits,
                                     cluster_of(cut) > 1 ? CLUSTER_ELEMENT_SECONDS * t.m * t.n : 0);
    // warptile_rows is limited by reading B from device memory, which reaches full bandwidth only
    // if blocks fill the device.
    if (is_rows(variants[cut.tile]))
      seconds = fmax(seconds, tiles * t.n * job->k * sizeof(float) / WARPTILE_BYTES_PER_SECOND *
                                  fmax(1, chip->processors * t.blocks / (tiles * cut.splits)));
    return seconds + (combines(cut) ? WARPTILE_COMBINE_SECONDS : 0) +
           2 * bulk_work(job, chip, cut) / WARPTILE_BYTES_PER_SECOND;
  }
  const double steps = (double)tiles_of(job, t.m, t.n) * ((job->k - 1) / t.k + 1);
  const double flop = 2.0 * t.m * t.n * t.k * steps, share = (double)stream_blocks(job, chip, t) / t.blocks;
  return flop / (STREAM_SHARE * t.rate * WARPTILE_FLOPS * share) + 2 * WARPTILE_ROUND_SECONDS +
         2 * bulk_work(job, chip, cut) / WARPTILE_BYTES_PER_SECOND;
}

static bulk_kernel bulk_kernel_of(const cuda_job *job, const warptile_cut &cut)
{
  const bulk_variant &v = variants[cut.tile];
  return (cut.stays ? v.stream : v.bulk)[turns_a(job)][turns_b(job)];
}

static cuda_launch bulk_describe(const cuda_job *job, const warptile_cut &cut)
{
  const bulk_variant &v = variants[cut.tile];
  return {(const void *)bulk_kernel_of(job, cut), tiles[cut.tile].threads,
          is_rows(v) ? 0 : cut.stages * v.stage + buffer_bytes(job, v)};
}

// A matrix stored as rows×columns, and the box of one copy. `turns`: the kernel transposes the box
// later, so the box is stored swizzled.
struct map_shape {
  const float *data;
  int rows, columns;
  int64_t ld;
  int box_rows, box_columns;
  bool turns;
};

static cudaError_t map_make(cuda_tensor_map_encode encode, const map_shape &s, CUtensorMap *map)
{
  const cuuint64_t extent[] = {(cuuint64_t)s.columns, (cuuint64_t)s.rows};
  const cuuint64_t stride[] = {(cuuint64_t)s.ld * sizeof(float)};
  const cuuint32_t box[] = {(cuuint32_t)s.box_columns, (cuuint32_t)s.box_rows}, step[] = {1, 1};
  const CUresult result =
      encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)s.data, extent, stride, box, step,
             CU_TENSOR_MAP_INTERLEAVE_NONE, s.turns ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

// \a extent and \a box are along m or n. If the matrix is stored along k, its rows and columns
// swap.
static map_shape shape_of(const float *data, int64_t ld, bool turns, int extent, int box, int k, int box_k)
{
  return turns ? map_shape{data, extent, k, ld, box, box_k, true}
               : map_shape{data, k, extent, ld, box_k, box, false};
}

static cudaError_t maps_make(const cuda_job *job, const warptile_tile &t, bulk_args *args)
{
  cuda_tensor_map_encode encode;
  cudaError_t error = cuda_tensor_map_find(&encode);
  if (error == cudaSuccess)
    error = map_make(encode, shape_of(job->a, job->lda, turns_a(job), job->m, t.m, job->k, t.k), &args->a);
  if (error == cudaSuccess)
    error = map_make(encode, shape_of(job->b, job->ldb, turns_b(job), job->n, t.n, job->k, t.k), &args->b);
  return error;
}

static cudaError_t bulk_launch(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut,
                               cudaStream_t stream)
{
  const warptile_tile &t = tiles[cut.tile];
  bulk_args args;
  cudaError_t error = is_rows(variants[cut.tile]) ? cudaSuccess : maps_make(job, t, &args);
  if (error != cudaSuccess) return error;
  args.job = *job;
  args.rows = (job->m - 1) / t.m + 1;
  args.columns = (job->n - 1) / t.n + 1;
  args.stages = cut.stages;
  args.splits = cut.splits;
  cudaLaunchAttribute cluster = {};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {(unsigned)cluster_of(cut), 1, 1};
  const int blocks = cut.stays ? stream_blocks(job, chip, t) : args.rows * args.columns * cut.splits;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)blocks);
  config.blockDim = dim3((unsigned)t.threads);
  config.dynamicSmemBytes = (size_t)bulk_describe(job, cut).shared_bytes;
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = cluster_of(cut) > 1;
  error = cudaLaunchKernelEx(&config, bulk_kernel_of(job, cut), args);
  if (!combines(cut) || error != cudaSuccess) return error;
  return cuda_parts_add(job, job->work, cut.splits, job->m * parts_ld(job->n), parts_ld(job->n), 0, stream);
}

extern const warptile_loader warptile_bulk_loader = {tiles,         sizeof tiles / sizeof tiles[0],
                                                     bulk_able,     bulk_stages,
                                                     bulk_predict,  bulk_work,
                                                     bulk_describe, bulk_launch};
