// SPDX-License-Identifier: MIT
// The host side of the temporal kernels: distribution of a box over the chip, tensor maps for TMA,
// and the launch.
#include "gpu/cuda/cuda_tensor_map.h"
#include "himeno/kernels/cuda/temporal_march.cuh"

// Minimum planes of a box for which blocks wait for each other; in shorter ones they stay close.
#define KEEP_STEP_PLANES 160
// Number of steps of a unit beyond its planes: for the halos in i, and until its ring is filled.
#define UNIT_RAMP(T) (2 * (T))
// Limits for dividing a tile along i: maximum number of pieces, and minimum planes per piece.
#define PIECES       16
#define PIECE_PLANES 8

cudaError_t cuda_temporal_open(struct cuda_temporal_chip *chip)
{
  struct cuda_temporal_chip c = {};
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&c.processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = cudaMalloc(&c.progress, 2 * CUDA_TEMPORAL_WAVES * sizeof(int));
  if (error == cudaSuccess) *chip = c;
  return error;
}

void cuda_temporal_close(struct cuda_temporal_chip *chip)
{
  cudaFree(chip->progress);
  *chip = {};
}

// Encodes the TMA map of boxes of width×rows floats in arrays with floats_a_point floats per point.
static bool map_encode(cuda_tensor_map_encode encode, const cuda_temporal_job &job, const float *array,
                       int64_t floats_a_point, int width, int rows, CUtensorMap *map)
{
  // rows of interleaved arrays include their padding, which may contain a point at their end
  const int64_t row = floats_a_point > 1 ? floats_a_point * job.pass.pitch : job.extent[2];
  const cuuint64_t extent[3] = {(cuuint64_t)row, (cuuint64_t)job.extent[1], (cuuint64_t)job.extent[0]};
  const cuuint64_t bytes = (cuuint64_t)floats_a_point * sizeof(float),
                   stride[2] = {(cuuint64_t)job.pass.pitch * bytes, (cuuint64_t)job.pass.plane * bytes};
  const cuuint32_t box[3] = {(cuuint32_t)width, (cuuint32_t)rows, 1}, step[3] = {1, 1, 1};
  return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)array, extent, stride, box, step,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <class S> static cudaError_t maps_encode(const temporal_args &args, temporal_maps *maps)
{
  const cuda_temporal_job &job = args.job;
  const int rows = args.out_j + 2 * S::halo, pair_rows = rows - 2 * S::rim;
  cuda_tensor_map_encode encode;
  cudaError_t error = cuda_tensor_map_find(&encode);
  if (error != cudaSuccess) return error;
  bool done = map_encode(encode, job, job.pass.p, 1, S::p_width, rows + 2, &maps->p);
  for (int g = 0; g < CUDA_PACKS && done; g++)
    done = map_encode(encode, job, job.pass.pack[g], 4, 4 * S::out_k, pair_rows, &maps->body[g]) &&
           map_encode(encode, job, job.pass.pack[g], 4, 4 * S::pair_halo, pair_rows, &maps->edge[g]) &&
           (!S::RIM || map_encode(encode, job, job.pass.pack[g], 4, 4 * S::W, 1, &maps->rim_row[g]));
  return done ? cudaSuccess : cudaErrorInvalidValue;
}

static int temporal_divide_up(int n, int by)
{
  return (n + by - 1) / by;
}

// Keeps a plan if it is the cheapest so far; its cost is the number of steps until the last unit is
// done. `first` is the number of planes in the first piece of each remaining tile, `chunk` that in
// the other pieces.
static void plan_try(temporal_args *args, int *best, int waves, int rest, int planes, int first, int chunk,
                     int ramp)
{
  const int chip = args->processors, pieces = 1 + temporal_divide_up(planes - first, chunk);
  int cost = waves * (planes + ramp);
  if (first == chunk) {
    cost += temporal_divide_up(rest * pieces, chip) * (chunk + ramp);
  } else { // the other pieces fill the multiprocessors without a first piece
    const int rounds = temporal_divide_up(rest * (pieces - 1), chip - rest);
    cost += first + ramp > rounds * (chunk + ramp) ? first + ramp : rounds * (chunk + ramp);
  }
  if (cost >= *best) return;
  *best = cost;
  args->whole = waves * chip;
  args->rest = rest ? rest : 1;
  args->first = first;
  args->chunk = chunk;
  args->units = waves * chip + rest * pieces;
  args->in_step = first == chunk ? args->units : waves * chip + rest;
}

// Plans full waves of whole tiles. The tiles of the last one or two waves are divided along i, into
// equal pieces or a long one and short ones, so that these waves fill the chip as well.
static void share_plan(temporal_args *args, int tiles, int planes, int ramp)
{
  const int chip = args->processors;
  int best = INT32_MAX;
  for (int waves = tiles / chip; waves >= 0 && waves >= tiles / chip - 1; waves--)
    for (int pieces = 1; pieces <= PIECES && (pieces == 1 || pieces * PIECE_PLANES <= planes); pieces++) {
      const int rest = tiles - waves * chip, chunk = temporal_divide_up(planes, pieces);
      plan_try(args, &best, waves, rest, planes, chunk, chunk, ramp);
      if (rest == 0 || rest >= chip) continue;
      const int rounds = temporal_divide_up(rest * pieces, chip - rest),
                shorter = (planes + ramp - rounds * ramp) / (rounds + pieces);
      if (shorter >= PIECE_PLANES)
        plan_try(args, &best, waves, rest, planes, planes - pieces * shorter, shorter, ramp);
    }
}

template <class S> static void args_plan(const cuda_temporal_chip *chip, temporal_args *args)
{
  cuda_pass &pass = args->job.pass;
  int planes = pass.hi[0] - pass.lo[0], height = pass.hi[1] - pass.lo[1],
      rows = temporal_divide_up(height, S::out_j);
  args->out_j = temporal_divide_up(height, rows);
  pass.first_k = pass.lo[2] / 32 * 32;
  args->processors = chip->processors;
  args->progress = S::BULK && planes >= KEEP_STEP_PLANES ? chip->progress : nullptr;
  args->columns = temporal_divide_up(pass.hi[2] - pass.first_k, S::out_k);
  share_plan(args, rows * args->columns, planes, UNIT_RAMP(S::T));
}

template <class S>
static cudaError_t temporal_launch(const struct cuda_temporal_chip *chip, const struct cuda_temporal_job *job,
                                   cudaStream_t stream, bool overlaps)
{
  cudaLaunchAttribute overlap = {};
  cudaLaunchConfig_t config = {};
  temporal_args args = {};
  temporal_maps maps = {};
  cudaError_t error = cudaSuccess;
  args.job = *job;
  args_plan<S>(chip, &args);
  if (S::BULK) error = maps_encode<S>(args, &maps);
  if (error == cudaSuccess && args.progress)
    error = cudaMemsetAsync(args.progress, 0, CUDA_TEMPORAL_WAVES * sizeof(int), stream);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(temporal_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 S::shared_bytes);
  if (error != cudaSuccess) return error;
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  config = {dim3(args.units), dim3(S::threads), S::shared_bytes, stream, &overlap, 1};
  config.numAttrs = overlaps && !args.progress; // no overlap after the memset of `progress`
  return cudaLaunchKernelEx(&config, temporal_kernel<S>, args, maps);
}

template <class S> constexpr cuda_temporal form()
{
  return {S::T,
          {S::out_j, S::out_k},
          S::BULK ? 9 : 0,
          S::threads,
          S::shared_bytes,
          (const void *)temporal_kernel<S>,
          temporal_launch<S>};
}

extern const struct cuda_temporal cuda_temporal_2[CUDA_TEMPORAL_FORMS] = {
    form<temporal_shape<2, 64, 12, true>>(), form<temporal_shape<2, 64, 10, false>>()};
extern const struct cuda_temporal cuda_temporal_3[CUDA_TEMPORAL_FORMS] = {
    form<temporal_shape<3, 32, 17, true>>(), form<temporal_shape<3, 32, 12, false>>()};
extern const struct cuda_temporal cuda_temporal_4[CUDA_TEMPORAL_FORMS] = {
    form<temporal_shape<4, 32, 17, true>>(), form<temporal_shape<4, 32, 8, false>>()};
