// SPDX-License-Identifier: MIT
// The host side of copies by threads.
#include "gemm/kernels/cuda/fp32/warptile_copy.cuh"

#include "gemm/kernels/cuda/fp32/warptile.h"

extern "C" size_t warptile_parts_bytes(const cuda_job *job, int splits)
{
  return (size_t)splits * (size_t)job->m * (size_t)parts_ld(job->n) * sizeof(float);
}

typedef warptile_shape<128, 128, 8, 32, 64, 8, 8, 2> shape_128x128;
typedef warptile_shape<64, 128, 8, 32, 64, 8, 8, 3> shape_64x128;
typedef warptile_shape<64, 64, 8, 32, 32, 8, 4, 4> shape_64x64;

template <class S> static constexpr warptile_tile tile_of(double rate)
{
  return {S::m, S::n, S::k, S::item_m, S::item_n, S::threads, S::blocks, rate, true, false};
}

static constexpr warptile_tile tiles[] = {tile_of<shape_128x128>(0.73), tile_of<shape_64x128>(0.7),
                                          tile_of<shape_64x64>(0.6)};
static void (*const kernels[])(cuda_job) = {warptile_copy<shape_128x128>, warptile_copy<shape_64x128>,
                                            warptile_copy<shape_64x64>};

template <class T>
static cudaError_t parts_add(const cuda_job *job, const void *parts, int count, int64_t part, int64_t ld,
                             int turned, cudaStream_t stream)
{
  // Blocks of this kernel may start when the last blocks of the previous one finish.
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  const int64_t quads =
      turned ? ((int64_t)(job->m - 1) / 4 + 1) * job->n : ((int64_t)(job->n - 1) / 4 + 1) * job->m;
  int code = 0;
  cudaError_t error = cuda_code_of((const void *)warptile_combine<T>, &code);
  if (error != cudaSuccess) return error;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)((quads - 1) / 32 + 1));
  config.blockDim = dim3((unsigned)(32 * (count < PARTS_WARPS ? count : PARTS_WARPS)));
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = code >= 90;
  return cudaLaunchKernelEx(&config, warptile_combine<T>, *job, (const T *)parts, count, part, ld, turned);
}

extern "C" cudaError_t cuda_parts_add(const cuda_job *job, const void *parts, int count, int64_t part,
                                      int64_t ld, int turned, cudaStream_t stream)
{
  return (job->type == GEMM_F64 ? parts_add<double> : parts_add<float>)(job, parts, count, part, ld, turned,
                                                                        stream);
}

static bool warptile_copy_able(const cuda_job *, const cuda_chip *)
{
  return true;
}

static int warptile_copy_stages(const cuda_job *, const cuda_chip *, const warptile_cut &)
{
  return COPY_STAGES;
}

static size_t warptile_copy_work(const cuda_job *job, const cuda_chip *, const warptile_cut &cut)
{
  return cut.splits > 1 ? warptile_parts_bytes(job, cut.splits) : 0;
}

// If k is split, the time includes the writes of the parts, and the kernel that adds them up.
static double warptile_copy_predict(const cuda_job *job, const cuda_chip *chip, const warptile_cut &cut)
{
  const double seconds = warptile_rounds(job, chip, tiles[cut.tile], cut.splits, 0);
  return cut.splits > 1 ? seconds + WARPTILE_COMBINE_SECONDS +
                              2 * warptile_copy_work(job, chip, cut) / WARPTILE_BYTES_PER_SECOND
                        : seconds;
}

static cuda_launch warptile_copy_describe(const cuda_job *, const warptile_cut &cut)
{
  return {(const void *)kernels[cut.tile], tiles[cut.tile].threads, 0};
}

static cudaError_t warptile_copy_launch(const cuda_job *job, const cuda_chip *, const warptile_cut &cut,
                                        cudaStream_t stream)
{
  const warptile_tile &t = tiles[cut.tile];
  const dim3 grid((unsigned)tiles_of(job, t.m, t.n), (unsigned)cut.splits);
  kernels[cut.tile]<<<grid, t.threads, 0, stream>>>(*job);
  const cudaError_t error = cudaGetLastError();
  if (cut.splits == 1 || error != cudaSuccess) return error;
  return cuda_parts_add(job, job->work, cut.splits, job->m * parts_ld(job->n), parts_ld(job->n), 0, stream);
}

extern const warptile_loader warptile_copy_loader = {tiles,
                                                     sizeof tiles / sizeof tiles[0],
                                                     warptile_copy_able,
                                                     warptile_copy_stages,
                                                     warptile_copy_predict,
                                                     warptile_copy_work,
                                                     warptile_copy_describe,
                                                     warptile_copy_launch};
