// SPDX-License-Identifier: MIT
// wgmma: half, bfloat16 and TF32 on Hopper. TMA needs rows that begin at multiples of 16 bytes, so
// other operands are first copied into such rows. For TF32, if neither operand is stored along k,
// the smaller one is copied too. A performance model chooses the tile and the number of parts of k,
// which a further kernel adds up.
#include "gemm/kernels/cuda/cuda_gemm.h"

#ifdef HAVE_SM90A

#include <float.h>
#include <math.h>

#include "gemm/kernels/cuda/tensor/recast.cuh"
#include "gemm/kernels/cuda/tensor/tensor_map.cuh"
#include "gemm/kernels/cuda/tensor/wgmma_kernel.cuh"

// Rows of pairs of tiles per band, so that the tiles computed concurrently cover about a square of
// C.
#define BAND 8
// Clock cycles between the starts of two groups of pairs of blocks, so that their stores do not
// coincide. On an H100, three such delays are shorter than a tile's store, which takes 4000 to 5000
// cycles. With them, half-precision products with extents of 4096 and 8192 took 1% less time.
#define SPREAD 700

struct operand_plan {
  int rows, columns; // numbers of stored rows and columns (those of the copy if `copied`)
  bool across;       // 1: rows run along m or n instead of k
  int64_t ld;
  int copied; // 1: the kernel reads a copy in `work`
  size_t bytes;
};

static bool bulk_readable(const void *data, int64_t ld, int64_t size)
{
  return ld * size % 16 == 0 && (uintptr_t)data % 16 == 0;
}

// For TF32, if TMA could read both operands but neither is stored along k, the smaller one is
// copied. Returns whether that is this operand.
static bool copied_for_other(const cuda_job *job, bool is_b)
{
  return job->trans_a && !job->trans_b && bulk_readable(job->a, job->lda, 4) &&
         bulk_readable(job->b, job->ldb, 4) && is_b == (job->n < job->m);
}

static operand_plan operand_plan_of(const cuda_job *job, gemm_type type, bool is_b)
{
  const int trans = is_b ? job->trans_b : job->trans_a, outer = is_b ? job->n : job->m;
  const void *data = is_b ? job->b : job->a;
  operand_plan p;
  const int64_t size = type == GEMM_TF32 ? 4 : 2, ld = is_b ? job->ldb : job->lda;
  p.across = trans != is_b;
  p.copied = !bulk_readable(data, ld, size);
  if (type == GEMM_TF32) {
    p.copied |= copied_for_other(job, is_b);
    p.across &= !p.copied;
  }
  p.rows = p.across ? job->k : outer;
  p.columns = p.across ? outer : job->k;
  p.ld = p.copied ? padded(p.columns, size) : ld;
  p.bytes = p.copied ? (size_t)(p.rows * p.ld * size) : 0;
  return p;
}

// Number of rows of the tiles that a pair of blocks computes.
#define TILE_ROWS 256
#define PARTS_MAX 256

// Returns whether A and B are exchanged for the kernel: see wgmma_shape.
static bool is_turned(const cuda_job *job, gemm_type type)
{
  return type == GEMM_TF32 && operand_plan_of(job, type, true).across;
}

static int depth_of(gemm_type type)
{
  return type == GEMM_TF32 ? 32 : 64;
}

static tile_order order_of(const cuda_job *job, gemm_type type, int columns)
{
  const bool turned = is_turned(job, type);
  return tile_order_of(turned ? job->n : job->m, turned ? job->m : job->n, TILE_ROWS, columns, BAND);
}

// With few rows of C the kernel computes parts of Cᵀ = op(B)ᵀ op(A)ᵀ, whose rows fill its tiles.
// Tiles of C are then 256 columns wide and 64 or 128 rows tall.
#define SWAPPED_ROWS    256
#define SWAPPED_COLUMNS 128
static bool is_swapped(const gemm_blocks *blocks)
{
  return blocks->group_m < TILE_ROWS;
}

static int columns_of(const gemm_blocks *blocks)
{
  return is_swapped(blocks) ? blocks->group_m : blocks->group_n;
}

static cuda_job job_swapped(const cuda_job *job, bool swapped)
{
  cuda_job to = *job;
  if (!swapped) return to;
  to.m = job->n, to.n = job->m;
  to.a = job->b, to.b = job->a;
  to.lda = job->ldb, to.ldb = job->lda;
  to.trans_a = !job->trans_b, to.trans_b = !job->trans_a;
  return to;
}

// Layout of the partial sums that are added up. The rows of each are padded to whole tiles.
struct parts_plan {
  int rows;
  int64_t ld;
  size_t bytes; // total bytes of all parts; 0: the kernel stores C itself
};

static parts_plan parts_plan_of(const cuda_job *job, gemm_type type, const gemm_blocks *blocks)
{
  const tile_order order = order_of(job, type, columns_of(blocks));
  const bool parts = blocks->splits > 1 || is_swapped(blocks);
  parts_plan p;
  p.rows = is_turned(job, type) ? order.columns * columns_of(blocks) : order.rows * TILE_ROWS;
  p.ld = ((int64_t)job->n + 3) / 4 * 4;
  p.bytes = parts ? (size_t)blocks->splits * p.rows * p.ld * sizeof(float) : 0;
  return p;
}

static size_t wgmma_work(const cuda_job *job, gemm_type type, const cuda_chip *, const gemm_blocks *blocks)
{
  const cuda_job of = job_swapped(job, is_swapped(blocks));
  return operand_plan_of(&of, type, false).bytes + operand_plan_of(&of, type, true).bytes +
         parts_plan_of(&of, type, blocks).bytes;
}

// Measured on an H200, to compare tiles. STEP: a step of 128 bytes along k of a tile with 256
// columns. ROUND: the first loads and the last store of a round of tiles. COMBINE: the kernel that
// adds up parts of k. L2_READ: reads from the L2 cache. PARTS: transfers of parts of k. `step` in
// `widths`: the share of STEP_SECONDS that narrower tiles take.
#define STEP_SECONDS       0.58e-6
#define ROUND_SECONDS      1e-6
#define COMBINE_SECONDS    3e-6
#define L2_READ_PER_SECOND 12e12
#define PARTS_PER_SECOND   8e12
static const struct {
  int columns;
  double step;
} widths[] = {{256, 1}, {192, 0.77}, {128, 0.52}, {64, 0.34}};

static double wgmma_predict(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                            const gemm_blocks *blocks, double width)
{
  const int columns = columns_of(blocks), pairs = chip->processors / 2;
  const bool parts = blocks->splits > 1 || is_swapped(blocks);
  const double units = (double)order_of(job, type, columns).tiles * blocks->splits;
  const double steps = ceil(ceil((double)job->k / depth_of(type)) / blocks->splits);
  const double bytes = fmin(units, pairs) * 128 * (TILE_ROWS + columns);
  const double round = steps * fmax(width * STEP_SECONDS, bytes / L2_READ_PER_SECOND) +
                       ROUND_SECONDS * (0.3 + 0.7 * columns / 256);
  const double sums = parts ? 2.0 * blocks->splits * job->m * job->n * sizeof(float) : 0;
  return ceil(units / pairs) * round + sums / PARTS_PER_SECOND + (parts ? COMBINE_SECONDS : 0);
}

// Chooses the tile and the number of parts of k by the least predicted time, among those that the
// caller allows.
static cudaError_t wgmma_choose(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                                gemm_blocks *blocks)
{
  const gemm_blocks asked = *blocks;
  const int deep = (job->k - 1) / depth_of(type) + 1;
  double least = DBL_MAX;
  for (int which = 0; which < 2 * (int)(sizeof widths / sizeof widths[0]); which++) {
    const bool swapped = which % 2;
    const int columns = widths[which / 2].columns;
    const cuda_job of = job_swapped(job, swapped);
    gemm_blocks b = {};
    b.group_m = swapped ? columns : TILE_ROWS;
    b.group_n = swapped ? TILE_ROWS : columns;
    b.group_k = depth_of(type);
    b.stages = (192 << 10) / (128 * (128 + columns));
    b.ahead = b.stays = 1;
    b.spare = asked.spare;
    if (swapped && (columns > SWAPPED_COLUMNS || job->m > SWAPPED_ROWS)) continue;
    if (asked.group_m && (asked.group_m != b.group_m || asked.group_n != b.group_n)) continue;
    for (b.splits = 1; b.splits <= deep && b.splits <= PARTS_MAX; b.splits++) {
      const double seconds = wgmma_predict(&of, type, chip, &b, widths[which / 2].step);
      if (seconds >= least || (asked.splits && asked.splits != b.splits)) continue;
      least = seconds;
      *blocks = b;
    }
  }
  return least < DBL_MAX ? cudaSuccess : cudaErrorInvalidConfiguration;
}

static cudaError_t operand_copy(const cuda_job *job, gemm_type type, bool is_b, const operand_plan &p,
                                void *to, cudaStream_t stream)
{
  const void *from = is_b ? job->b : job->a;
  const int64_t ld = is_b ? job->ldb : job->lda;
  const int turned = is_b ? !job->trans_b : job->trans_a;
  if (type == GEMM_TF32)
    return recast((const float *)from, ld, turned, p.rows, p.columns, recast_tf32{(float *)to, p.ld}, stream);
  return repack((const uint16_t *)from, ld, p.rows, p.columns, (uint16_t *)to, p.ld, stream);
}

template <class T>
static bool operand_map(const void *data, const operand_plan &p, int box_rows, CUtensorMap *map)
{
  return tensor_map_make(
      tensor_map_shape<T>{(const T *)data, p.columns, p.rows, p.ld, 128 / (int)sizeof(T), box_rows}, map);
}

// Returns the number of pairs of blocks: a multiple of BAND if that adds no rounds. On an H100 it
// is 64 of 66 pairs. Products with extents of 4096 then read 14% less from device memory, because
// the tiles of a round are at the same k at the same time.
static int pairs_of(const cuda_chip *chip, int tiles)
{
  const int most = chip->processors / 2, even = most / BAND * BAND;
  if (tiles <= most) return tiles;
  return even > 0 && (tiles - 1) / even == (tiles - 1) / most ? even : most;
}

// The kernel's first lines, which access no memory, overlap the end of the previous kernel.
template <class S>
static cudaError_t launch_kernel(int pairs, const CUtensorMap &a, const CUtensorMap &b, const CUtensorMap &c,
                                 const wgmma_args &args, cudaStream_t stream)
{
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2 * pairs);
  config.blockDim = dim3(S::threads);
  config.dynamicSmemBytes = S::smem_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, wgmma_kernel<S>, a, b, c, args);
}

struct wgmma_operands {
  operand_plan a, b;
  const void *a_data, *b_data;
  float *parts;
};

template <class S>
static cudaError_t launch_shape(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                                const gemm_blocks *blocks, const wgmma_operands &with, cudaStream_t stream)
{
  CUtensorMap a_map, b_map, c_map = {};
  const parts_plan parts = parts_plan_of(job, type, blocks);
  tensor_map_shape<float> c = {(const float *)job->c, job->n, job->m, job->ldc, 32, S::turned ? 32 : 64};
  wgmma_args args = {S::turned ? job->n : job->m,
                     S::turned ? job->m : job->n,
                     job->k,
                     (float)job->alpha,
                     (float)job->beta,
                     (float *)job->c,
                     job->ldc};
  // When TMA stores, it cuts rows to a multiple of 16 bytes.
  args.bulk_store = job->beta == 0 && job->n % 4 == 0 && bulk_readable(job->c, job->ldc, sizeof(float));
  args.splits = blocks->splits;
  args.part_rows = parts.rows;
  args.order = order_of(job, type, S::columns);
  if (parts.bytes) {
    args.alpha = args.bulk_store = 1;
    c.data = with.parts;
    c.columns = c.ld = parts.ld;
    c.rows = (int64_t)parts.rows * blocks->splits;
  }
  if (!operand_map<typename S::type>(with.a_data, with.a, S::a_across ? S::depth : S::rows, &a_map) ||
      !operand_map<typename S::type>(with.b_data, with.b, S::b_box_rows, &b_map) ||
      (args.bulk_store && !tensor_map_make(c, &c_map)))
    return cudaErrorInvalidValue;
  cudaError_t error =
      cudaFuncSetAttribute(wgmma_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::smem_bytes);
  if (error != cudaSuccess) return error;
  const int units = args.order.tiles * blocks->splits, pairs = pairs_of(chip, units);
  if (units > pairs) args.spread = SPREAD;
  return launch_kernel<S>(pairs, a_map, b_map, c_map, args, stream);
}

template <class T, bool a_across, bool b_across, bool turned = false>
static cudaError_t launch_width(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                                const gemm_blocks *blocks, const wgmma_operands &with, cudaStream_t stream)
{
  return (columns_of(blocks) == 64    ? launch_shape<wgmma_shape<T, 64, a_across, b_across, turned>>
          : columns_of(blocks) == 128 ? launch_shape<wgmma_shape<T, 128, a_across, b_across, turned>>
          : columns_of(blocks) == 192
              ? launch_shape<wgmma_shape<T, 192, a_across, b_across, turned>>
              : launch_shape<wgmma_shape<T, 256, a_across, b_across, turned>>)(job, type, chip, blocks, with,
                                                                               stream);
}

typedef cudaError_t shape_launcher(const cuda_job *, gemm_type, const cuda_chip *, const gemm_blocks *,
                                   const wgmma_operands &, cudaStream_t);

template <class T> static shape_launcher *launcher_of(const cuda_job *job)
{
  static shape_launcher *const by_trans[2][2] = {{launch_width<T, 0, 1>, launch_width<T, 0, 0>},
                                                 {launch_width<T, 1, 1>, launch_width<T, 1, 0>}};
  return by_trans[job->trans_a != 0][job->trans_b != 0];
}

static cudaError_t wgmma_launch(const cuda_job *of, gemm_type type, const cuda_chip *chip,
                                const gemm_blocks *blocks, cudaStream_t stream)
{
  const cuda_job swapped = job_swapped(of, is_swapped(blocks)), *job = &swapped;
  const operand_plan a = operand_plan_of(job, type, false), b = operand_plan_of(job, type, true);
  const parts_plan parts = parts_plan_of(job, type, blocks);
  void *a_copy = job->work, *b_copy = (uint8_t *)job->work + a.bytes;
  cudaError_t error = a.copied ? operand_copy(job, type, false, a, a_copy, stream) : cudaSuccess;
  if (error == cudaSuccess && b.copied) error = operand_copy(job, type, true, b, b_copy, stream);
  if (error != cudaSuccess) return error;
  wgmma_operands with = {a, b, a.copied ? a_copy : job->a, b.copied ? b_copy : job->b,
                         (float *)((uint8_t *)b_copy + b.bytes)};
  const bool turned = is_turned(job, type);
  if (turned) with = {b, a, with.b_data, with.a_data, with.parts};
  shape_launcher *run = type == GEMM_F16    ? launcher_of<__half>(job)
                        : type == GEMM_BF16 ? launcher_of<__nv_bfloat16>(job)
                        : turned            ? launch_width<tf32_t, 1, 0, true>
                        : a.across          ? launch_width<tf32_t, 1, 0>
                                            : launch_width<tf32_t, 0, 0>;
  error = run(job, type, chip, blocks, with, stream);
  if (parts.bytes == 0 || error != cudaSuccess) return error;
  return cuda_parts_add(of, with.parts, blocks->splits, parts.rows * parts.ld, parts.ld, is_swapped(blocks),
                        stream);
}

extern "C" const cuda_operation tensor_wgmma = {wgmma_launch, wgmma_work, wgmma_choose, nullptr,
                                                nullptr,      90,         true,         true};

#else

extern "C" const cuda_operation tensor_wgmma = {nullptr, nullptr, nullptr, nullptr, nullptr, 90, true, false};

#endif
