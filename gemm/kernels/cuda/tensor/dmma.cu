// SPDX-License-Identifier: MIT
// dmma: double precision on tensor cores. A lane loads the elements of its fragments one by one, so
// that A and B may each be stored transposed or not.
#include <float.h>
#include <math.h>

#include "gemm/kernels/cuda/tensor/tile_kernel.cuh"
#include "gpu/cuda/cuda_overlap.cuh"

// d += a·b, where a has 16×8 elements and b 8×8. Chips before sm_90 only have m8n8k4.
static __device__ __forceinline__ void warp_multiply(double (&d)[4], const double (&a)[4],
                                                     const double (&b)[2])
{
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
               "{%8, %9}, {%0, %1, %2, %3};"
               : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif __CUDA_ARCH__ >= 800
#pragma unroll
  for (int x = 0; x < 4; x++)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(d[x % 2 * 2]), "+d"(d[x % 2 * 2 + 1])
                 : "d"(a[x]), "d"(b[x / 2]));
#endif
}

template <class Shape> struct dmma_tile {
  typedef Shape S;
  static constexpr int step = 8, down = S::warp_m / 16, across = S::warp_n / 8;
  static constexpr bool ahead = true;
  double d[down][across][4], a[2][down][4], b[2][across][2];

  __device__ __forceinline__ dmma_tile()
  {
#pragma unroll
    for (int i = 0; i < down * across * 4; i++) d[i / 4 / across][i / 4 % across][i % 4] = 0;
  }

  template <int set> __device__ __forceinline__ void load_a(int i, const double *tile, int k)
  {
    const int m = 16 * i + threadIdx.x % 32 / 4;
    k += threadIdx.x % 4;
#pragma unroll
    for (int x = 0; x < 4; x++) {
      const int row = m + x % 2 * 8, column = k + x / 2 * 4;
      a[set][i][x] = tile[S::trans_a ? column * S::a_pitch + row : row * S::a_pitch + column];
    }
  }

  template <int set> __device__ __forceinline__ void load_b(int j, const double *tile, int k)
  {
    const int n = 8 * j + threadIdx.x % 32 / 4;
    k += threadIdx.x % 4;
#pragma unroll
    for (int x = 0; x < 2; x++)
      b[set][j][x] = tile[S::trans_b ? n * S::b_pitch + k + 4 * x : (k + 4 * x) * S::b_pitch + n];
  }

  template <int set> __device__ __forceinline__ void multiply(int i)
  {
#pragma unroll
    for (int j = 0; j < across; j++) warp_multiply(d[i][j], a[set][i], b[set][j]);
  }

  __device__ __forceinline__ void store(const tile_args<double> &args, int m, int n, double *) const
  {
    const int lane = threadIdx.x % 32;
    double *part = (double *)args.c + blockIdx.y * args.part;
    const bool pairs = args.ldc % 2 == 0 && (uintptr_t)part % 16 == 0 && args.beta == 0;
#pragma unroll
    for (int i = 0; i < 2 * down; i++) {
      const int row = m + 8 * i + lane / 4;
      if (row >= args.m) break;
      double *c = part + row * args.ldc;
#pragma unroll
      for (int j = 0; j < across; j++) {
        const int column = n + 8 * j + lane % 4 * 2;
        const double *x = d[i / 2][j] + i % 2 * 2;
        if (pairs && column + 1 < args.n) {
          *(double2 *)(c + column) = make_double2(args.alpha * x[0], args.alpha * x[1]);
        } else {
          for (int e = 0; e < 2 && column + e < args.n; e++)
            c[column + e] =
                args.beta == 0 ? args.alpha * x[e] : fma(args.beta, c[column + e], args.alpha * x[e]);
        }
      }
    }
  }
};

template <class W>
static __global__ void __launch_bounds__(W::S::threads)
    dmma_kernel(const CUDA_GRID_CONSTANT tile_args<double> args)
{
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) double shared_doubles[];
  next_may_start();
  wait_for_previous();
  tile_product<W>(args, shared_doubles);
#endif
}

struct dmma_code {
  void (*kernel)(tile_args<double>);
  int threads, stage_bytes;
};

struct dmma_tiles {
  int m, n, k, item_m, item_n, stages;
  int blocks;              // resident per multiprocessor
  double rate,             // measured share of an H200's peak that full tiles reach
      alone;               // share of `rate` that a single resident block reaches
  dmma_code code[2][2][2]; // [A is transposed][B is transposed][tile_is_whole]
};

template <class S> static constexpr dmma_code code_of()
{
  return {dmma_kernel<dmma_tile<S>>, S::threads, S::stage * (int)sizeof(double)};
}

// A warp alone on its quarter of a multiprocessor reaches half of the rate, so at least eight warps
// must be resident.
template <int m, int n, int k, int warp_m, int warp_n, int stages, int blocks>
static constexpr dmma_tiles dmma_tiles_of(double rate, double alone)
{
#define SHAPE(a, b, whole) tile_shape<m, n, k, warp_m, warp_n, a, b, whole, double, stages>
#define CODES(a, b)                                                                                          \
  {                                                                                                          \
    code_of<SHAPE(a, b, 0)>(), code_of<SHAPE(a, b, 1)>()                                                     \
  }
  return {m,      n,      k,    warp_m / 8, warp_n / 4,
          stages, blocks, rate, alone,      {{CODES(0, 0), CODES(0, 1)}, {CODES(1, 0), CODES(1, 1)}}};
}

static constexpr dmma_tiles tiles[] = {
    dmma_tiles_of<128, 128, 16, 64, 32, 4, 1>(0.89, 1), dmma_tiles_of<128, 64, 16, 64, 32, 3, 2>(0.91, 0.5),
    dmma_tiles_of<64, 128, 16, 32, 32, 4, 1>(0.89, 1),  dmma_tiles_of<64, 64, 32, 32, 16, 3, 2>(0.84, 0.85),
    dmma_tiles_of<64, 32, 32, 16, 16, 4, 2>(0.75, 0.8), dmma_tiles_of<16, 128, 16, 16, 16, 4, 3>(0.6, 0.6),
    dmma_tiles_of<128, 16, 16, 16, 16, 4, 3>(0.6, 0.6),
};
#define TILES      (int)(sizeof tiles / sizeof tiles[0])
#define SPLITS_MAX 1024

static const dmma_tiles *tiles_find(const gemm_blocks *blocks)
{
  for (int t = 0; t < TILES; t++)
    if (tiles[t].m == blocks->group_m && tiles[t].n == blocks->group_n) return &tiles[t];
  return nullptr;
}

static int64_t dmma_parts_ld(const cuda_job *job)
{
  return ((int64_t)job->n + 3) / 4 * 4;
}

static size_t dmma_work(const cuda_job *job, gemm_type, const cuda_chip *, const gemm_blocks *blocks)
{
  return blocks->splits > 1 ? sizeof(double) * blocks->splits * job->m * dmma_parts_ld(job) : 0;
}

// Measured on an H200, to compare tiles. PEAK: operations of one multiprocessor. ROUND: the first
// loads and the stores of a round of blocks. COMBINE: the kernel that adds up parts of k. BYTES:
// bandwidth of device memory. PARTS: bandwidth of the L2 cache for parts of k, in bytes.
#define PEAK_PER_SECOND  5.07e11
#define ROUND_SECONDS    2e-6
#define COMBINE_SECONDS  3e-6
#define BYTES_PER_SECOND 4e12
#define PARTS_PER_SECOND 5e12

static double dmma_predict(const cuda_job *job, const cuda_chip *chip, const dmma_tiles &t, int splits)
{
  const double down = ceil((double)job->m / t.m), across = ceil((double)job->n / t.n);
  const double steps = ceil(ceil((double)job->k / t.k) / splits);
  const double most = ceil(down * across * splits / chip->processors), full = floor(most / t.blocks);
  const double rest = most - full * t.blocks;
  const double share = rest > 0 ? t.alone + (1 - t.alone) * (rest - 1) / fmax(1, t.blocks - 1) : 1;
  const double one = 2.0 * t.m * t.n * t.k * steps / (t.rate * PEAK_PER_SECOND);
  const double elements = (double)job->m * job->n;
  const double bytes = sizeof(double) * ((double)job->m * job->k + (double)job->n * job->k + elements);
  const double busy = full * t.blocks * one + rest * one / share + ceil(most / t.blocks) * ROUND_SECONDS;
  const double parts = COMBINE_SECONDS + 2 * sizeof(double) * splits * elements / PARTS_PER_SECOND;
  return fmax(busy, bytes / BYTES_PER_SECOND) + 0.1 * busy + (splits > 1 ? parts : 0);
}

// Chooses the tile and the number of parts of k by the least predicted time, among those that the
// caller allows. A part has at least one step of k.
static cudaError_t dmma_choose(const cuda_job *job, gemm_type, const cuda_chip *chip, gemm_blocks *blocks)
{
  const gemm_blocks asked = *blocks;
  double least = DBL_MAX;
  for (int t = 0; t < TILES; t++) {
    if (asked.group_m && (asked.group_m != tiles[t].m || asked.group_n != tiles[t].n)) continue;
    const int deep = (job->k - 1) / tiles[t].k + 1;
    for (int splits = 1; splits <= deep && splits <= SPLITS_MAX; splits++) {
      const double seconds = dmma_predict(job, chip, tiles[t], splits);
      if (seconds >= least || (asked.splits && min(asked.splits, deep) != splits)) continue;
      least = seconds;
      *blocks = gemm_blocks();
      blocks->group_m = tiles[t].m;
      blocks->group_n = tiles[t].n;
      blocks->group_k = tiles[t].k;
      blocks->item_m = tiles[t].item_m;
      blocks->item_n = tiles[t].item_n;
      blocks->stages = tiles[t].stages;
      blocks->ahead = 1;
      blocks->splits = splits;
    }
  }
  return least < DBL_MAX ? cudaSuccess : cudaErrorInvalidConfiguration;
}

static cuda_launch dmma_describe(const cuda_job *job, const cuda_chip *chip, const gemm_blocks *blocks)
{
  const dmma_tiles *t = tiles_find(blocks);
  const dmma_code &code = t->code[job->trans_a != 0][job->trans_b != 0][tile_is_whole(job, 2)];
  return {(const void *)code.kernel, code.threads,
          tile_stages(chip->number, code.stage_bytes, t->stages) * code.stage_bytes};
}

static cudaError_t dmma_launch(const cuda_job *job, gemm_type, const cuda_chip *chip,
                               const gemm_blocks *blocks, cudaStream_t stream)
{
  const cuda_launch how = dmma_describe(job, chip, blocks);
  tile_args<double> args = tile_args_of<double>(job, blocks->group_m, blocks->group_n);
  if (blocks->splits > 1) {
    args.c = job->work;
    args.ldc = dmma_parts_ld(job);
    args.part = job->m * args.ldc;
    args.alpha = 1;
    args.beta = 0;
  }
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)args.order.tiles, (unsigned)blocks->splits);
  config.blockDim = dim3((unsigned)how.threads);
  config.dynamicSmemBytes = (size_t)how.shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = chip->number >= 90;
  void (*kernel)(tile_args<double>) = (void (*)(tile_args<double>))how.kernel;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, args);
  if (error != cudaSuccess || blocks->splits == 1) return error;
  return cuda_parts_add(job, job->work, blocks->splits, args.part, args.ldc, 0, stream);
}

static const void *dmma_kernel_of(void)
{
  return (const void *)tiles[0].code[0][0][0].kernel;
}

extern "C" const cuda_operation tensor_dmma = {dmma_launch,    dmma_work, dmma_choose, dmma_describe,
                                               dmma_kernel_of, 80,        false,       true};
