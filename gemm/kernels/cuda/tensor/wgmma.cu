// SPDX-License-Identifier: MIT
// wgmma: half, bfloat16 and TF32 on Hopper. The bulk copy engine wants rows at multiples of 16
// bytes; operands stored otherwise are copied into such rows first, and so is TF32's A where
// neither operand is stored along k.
#include "gemm/kernels/cuda/cuda_gemm.h"

#ifdef HAVE_SM90A

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

static operand_plan operand_plan_of(const cuda_job *job, gemm_type type, bool is_b)
{
  const int trans = is_b ? job->trans_b : job->trans_a, outer = is_b ? job->n : job->m;
  const void *data = is_b ? job->b : job->a;
  operand_plan p;
  const int64_t size = type == GEMM_TF32 ? 4 : 2, ld = is_b ? job->ldb : job->lda;
  p.across = trans != is_b;
  p.copied = !bulk_readable(data, ld, size);
  if (type == GEMM_TF32) {
    p.copied |= p.across && !is_b && operand_plan_of(job, type, true).across;
    p.across &= !p.copied;
  }
  p.rows = p.across ? job->k : outer;
  p.columns = p.across ? outer : job->k;
  p.ld = p.copied ? padded(p.columns, size) : ld;
  p.bytes = p.copied ? (size_t)(p.rows * p.ld * size) : 0;
  return p;
}

static size_t wgmma_work(const cuda_job *job, gemm_type type, const cuda_chip *, const gemm_blocks *)
{
  return operand_plan_of(job, type, false).bytes + operand_plan_of(job, type, true).bytes;
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

template <class T, bool across>
static bool operand_map(const void *data, const operand_plan &p, int box_outer, CUtensorMap *map)
{
  const int wide = 128 / sizeof(T);
  return tensor_map_make(
      tensor_map_shape<T>{(const T *)data, p.columns, p.rows, p.ld, wide, across ? wide : box_outer}, map);
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

template <class S>
static cudaError_t launch_shape(const cuda_job *job, const cuda_chip *chip, const operand_plan &a,
                                const operand_plan &b, const void *a_data, const void *b_data,
                                cudaStream_t stream)
{
  CUtensorMap a_map, b_map, c_map = {};
  const int m = S::turned ? job->n : job->m, n = S::turned ? job->m : job->n;
  wgmma_args args = {m, n, job->k, job->alpha, job->beta, (float *)job->c, job->ldc, 0, 0, {}};
  // The copy engine cuts rows off at multiples of 16 bytes when it writes.
  args.bulk_store = job->beta == 0 && job->n % 4 == 0 && bulk_readable(job->c, job->ldc, sizeof(float));
  args.order = tile_order_of(m, n, 2 * S::rows, S::columns, BAND);
  const tensor_map_shape<float> c = {(const float *)job->c, job->n, job->m, job->ldc, 32,
                                     S::turned ? 32 : 64};
  if (!operand_map<typename S::type, S::a_across>(a_data, a, S::rows, &a_map) ||
      !operand_map<typename S::type, S::b_across>(b_data, b, S::columns / 2, &b_map) ||
      (args.bulk_store && !tensor_map_make(c, &c_map)))
    return cudaErrorInvalidValue;
  cudaError_t error =
      cudaFuncSetAttribute(wgmma_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::smem_bytes);
  if (error != cudaSuccess) return error;
  const int pairs = pairs_of(chip, args.order.tiles);
  if (args.order.tiles > pairs) args.spread = SPREAD;
  return launch_kernel<S>(pairs, a_map, b_map, c_map, args, stream);
}

typedef cudaError_t shape_launcher(const cuda_job *, const cuda_chip *, const operand_plan &,
                                   const operand_plan &, const void *, const void *, cudaStream_t);

template <class T> static shape_launcher *launcher_of(const cuda_job *job)
{
  static shape_launcher *const by_trans[2][2] = {
      {launch_shape<wgmma_shape<T, 0, 1>>, launch_shape<wgmma_shape<T, 0, 0>>},
      {launch_shape<wgmma_shape<T, 1, 1>>, launch_shape<wgmma_shape<T, 1, 0>>}};
  return by_trans[job->trans_a != 0][job->trans_b != 0];
}

static cudaError_t wgmma_launch(const cuda_job *job, gemm_type type, const cuda_chip *chip,
                                const gemm_blocks *, cudaStream_t stream)
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
  if (type == GEMM_TF32 && b.across)
    return launch_shape<wgmma_shape<tf32_t, 1, 0, true>>(job, chip, b, a, b_data, a_data, stream);
  shape_launcher *run = type == GEMM_F16    ? launcher_of<__half>(job)
                        : type == GEMM_BF16 ? launcher_of<__nv_bfloat16>(job)
                        : a.across          ? launch_shape<wgmma_shape<tf32_t, 1, 0>>
                                            : launch_shape<wgmma_shape<tf32_t, 0, 0>>;
  return run(job, chip, a, b, a_data, b_data, stream);
}

extern "C" const cuda_operation tensor_wgmma = {wgmma_launch, wgmma_work, nullptr, nullptr,
                                                nullptr,      90,         true,    true};

#else

extern "C" const cuda_operation tensor_wgmma = {nullptr, nullptr, nullptr, nullptr, nullptr, 90, true, false};

#endif
