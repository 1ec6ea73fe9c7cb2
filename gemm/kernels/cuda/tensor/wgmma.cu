// SPDX-License-Identifier: MIT
// wgmma: half, bfloat16 and TF32 on Hopper. The bulk copy engine wants rows at multiples of 16
// bytes; operands stored otherwise are copied into such rows first, and so is the smaller of
// TF32's where neither is stored along k. The width of tiles and the parts of k, which another kernel
// adds up, follow from a model of how full the device gets.
#include "gemm/kernels/cuda/cuda_gemm.h"

#ifdef HAVE_SM90A

#include <float.h>
#include <math.h>

#include "gemm/kernels/cuda/tensor/recast.cuh"
#include "gemm/kernels/cuda/tensor/tensor_map.cuh"
#include "gemm/kernels/cuda/tensor/wgmma_kernel.cuh"

// Rows of pairs of tiles that go together: with as many columns of them beside them, what runs at
// one time makes about a square of C.
#define BAND 8
// Clock cycles from one turn of pairs to the next: on an H100 three turns are less than a tile's
// store of 4 to 5 thousand, and at 4096 and 8192 halves took 1% less time.
#define SPREAD 700

struct operand_plan {
  int rows, columns; // as stored, or as they will be
  bool across;       // rows run along m or n instead of k
  int64_t ld;
  int copied; // the kernel reads the copy in `work`
  size_t bytes;
};

static bool bulk_readable(const void *data, int64_t ld, int64_t size)
{
  return ld * size % 16 == 0 && (uintptr_t)data % 16 == 0;
}

// Neither operand is stored along k, and both could be read: the smaller one is copied.
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

// A pair of blocks makes tiles of so many rows.
#define TILE_ROWS 256
#define PARTS_MAX 256

// Whether the kernel is given B as its A: see wgmma_shape.
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

// Parts of C that are added up: whole tiles along C's rows.
struct parts_plan {
  int rows;
  int64_t ld;
  size_t bytes; // of all
};

static parts_plan parts_plan_of(const cuda_job *job, gemm_type type, const gemm_blocks *blocks)
{
  const tile_order order = order_of(job, type, blocks->group_n);
  const int rows = is_turned(job, type) ? order.columns * blocks->group_n : order.rows * TILE_ROWS;
  const int64_t ld = ((int64_t)job->n + 3) / 4 * 4;
  return {rows, ld, blocks->splits > 1 ? (size_t)blocks->splits * rows * ld * sizeof(float) : 0};
}

static size_t wgmma_work(const cuda_job *job, gemm_type type, const cuda_chip *, const gemm_blocks *blocks)
{
  return operand_plan_of(job, type, false).bytes + operand_plan_of(job, type, true).bytes +
         parts_plan_of(job, type, blocks).bytes;
}

// ---- choice ----

// Seconds on an H100: a step of 128 bytes along k by tiles of 256 columns at the boost clock, and
// how much of that narrower tiles take; the start and the last store of a round of tiles; a further
// kernel; bytes per second from the L2 cache and into it.
#define STEP_SECONDS       0.58e-6
#define ROUND_SECONDS      1.5e-6
#define COMBINE_SECONDS    3e-6
#define L2_READ_PER_SECOND 5.5e12
#define PARTS_PER_SECOND   4e12
static const struct {
  int columns;
  double step;
} widths[] = {{256, 1}, {192, 0.77}, {128, 0.55}, {64, 0.32}};

static double wgmma_predict(const cuda_job *job, gemm_type type, const cuda_chip *chip, int width, int splits)
{
  const int columns = widths[width].columns, most = chip->processors / 2;
  const tile_order order = order_of(job, type, columns);
  const bool turned = is_turned(job, type);
  const double m = turned ? job->n : job->m, n = turned ? job->m : job->n;
  const double steps = ceil(ceil((double)job->k / depth_of(type)) / splits);
  const double rounds = ceil((double)order.tiles * splits / most);
  const double bytes = (order.columns * m + order.rows * n) * job->k * 128 / depth_of(type);
  const double parts = splits > 1 ? 2.0 * splits * job->m * job->n * sizeof(float) : 0;
  return fmax(rounds * steps * widths[width].step * STEP_SECONDS, bytes / L2_READ_PER_SECOND) +
         rounds * ROUND_SECONDS + parts / PARTS_PER_SECOND + (splits > 1 ? COMBINE_SECONDS : 0);
}

// Of a given width, or of all, and of the parts of k the least seconds.
static cudaError_t wgmma_choose(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                                gemm_blocks *blocks)
{
  const int deep = (job->k - 1) / depth_of(type) + 1;
  gemm_blocks best = {};
  double least = DBL_MAX;
  for (int width = 0; width < (int)(sizeof widths / sizeof widths[0]); width++) {
    if (blocks->group_n > 0 && blocks->group_n != widths[width].columns) continue;
    for (int splits = 1; splits <= deep && splits <= PARTS_MAX; splits++) {
      const double seconds = wgmma_predict(job, type, chip, width, splits);
      if (seconds >= least || (blocks->splits > 0 && blocks->splits != splits)) continue;
      least = seconds;
      best.group_n = widths[width].columns;
      best.splits = splits;
    }
  }
  best.group_m = TILE_ROWS;
  best.group_k = depth_of(type);
  best.stages = best.group_n ? (192 << 10) / (128 * (128 + best.group_n)) : 0;
  best.ahead = best.stays = 1;
  best.spare = blocks->spare;
  *blocks = best;
  return least < DBL_MAX ? cudaSuccess : cudaErrorInvalidConfiguration;
}

// ---- launch ----

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

// Pairs of blocks: as make whole columns of a band, where that takes no more rounds. On an H100
// that is 64 of 66, and at 4096 they read 14% less from device memory: a round's tiles have the
// same k at one time.
static int pairs_of(const cuda_chip *chip, int tiles)
{
  const int most = chip->processors / 2, even = most / BAND * BAND;
  if (tiles <= most) return tiles;
  return even > 0 && (tiles - 1) / even == (tiles - 1) / most ? even : most;
}

// Its first lines, which touch no memory, overlap the end of the kernel before it.
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

// Operands as the kernel is given them.
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
  const bool splits = blocks->splits > 1;
  tensor_map_shape<float> c = {(const float *)job->c, job->n, job->m, job->ldc, 32, S::turned ? 32 : 64};
  wgmma_args args = {S::turned ? job->n : job->m,
                     S::turned ? job->m : job->n,
                     job->k,
                     job->alpha,
                     job->beta,
                     (float *)job->c,
                     job->ldc};
  // The copy engine cuts rows off at multiples of 16 bytes when it writes.
  args.bulk_store = job->beta == 0 && job->n % 4 == 0 && bulk_readable(job->c, job->ldc, sizeof(float));
  args.splits = blocks->splits;
  args.part_rows = parts.rows;
  args.order = order_of(job, type, S::columns);
  if (splits) {
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
  error = launch_kernel<S>(pairs, a_map, b_map, c_map, args, stream);
  if (!splits || error != cudaSuccess) return error;
  return cuda_parts_add(job, with.parts, blocks->splits, parts.rows * parts.ld, parts.ld, stream);
}

template <class T, bool a_across, bool b_across, bool turned = false>
static cudaError_t launch_width(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                                const gemm_blocks *blocks, const wgmma_operands &with, cudaStream_t stream)
{
  return (blocks->group_n == 64    ? launch_shape<wgmma_shape<T, 64, a_across, b_across, turned>>
          : blocks->group_n == 128 ? launch_shape<wgmma_shape<T, 128, a_across, b_across, turned>>
          : blocks->group_n == 192
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

static cudaError_t wgmma_launch(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                                const gemm_blocks *blocks, cudaStream_t stream)
{
  const operand_plan a = operand_plan_of(job, type, false), b = operand_plan_of(job, type, true);
  void *a_copy = job->work, *b_copy = (uint8_t *)job->work + a.bytes;
  if (a.copied) {
    cudaError_t error = operand_copy(job, type, false, a, a_copy, stream);
    if (error != cudaSuccess) return error;
  }
  if (b.copied) {
    cudaError_t error = operand_copy(job, type, true, b, b_copy, stream);
    if (error != cudaSuccess) return error;
  }
  const void *a_data = a.copied ? a_copy : job->a, *b_data = b.copied ? b_copy : job->b;
  float *parts = (float *)((uint8_t *)job->work + a.bytes + b.bytes);
  if (is_turned(job, type))
    return launch_width<tf32_t, 1, 0, true>(job, type, chip, blocks, {b, a, b_data, a_data, parts}, stream);
  shape_launcher *run = type == GEMM_F16    ? launcher_of<__half>(job)
                        : type == GEMM_BF16 ? launcher_of<__nv_bfloat16>(job)
                        : a.across          ? launch_width<tf32_t, 1, 0>
                                            : launch_width<tf32_t, 0, 0>;
  return run(job, type, chip, blocks, {a, b, a_data, b_data, parts}, stream);
}

extern "C" const cuda_operation tensor_wgmma = {wgmma_launch, wgmma_work, wgmma_choose, nullptr,
                                                nullptr,      90,         true,         true};

#else

extern "C" const cuda_operation tensor_wgmma = {nullptr, nullptr, nullptr, nullptr, nullptr, 90, true, false};

#endif
