// SPDX-License-Identifier: MIT
// The temporal kernels' host side: which half of the L2 cache is near to whom, how a box goes over the chip,
// the launch.
#include "himeno/cuda/temporal_march.cuh"

// Least planes of a box for which blocks keep step: in shorter ones they do not drift apart.
#define KEEP_STEP_PLANES 160
// Steps that a unit costs beyond its planes: the halos in i, and the time until its ring is filled.
#define UNIT_RAMP(T) (2 * (T))
// Most pieces that a tile is cut into along i, and the fewest planes of a piece.
#define PIECES       16
#define PIECE_PLANES 8
// Multiprocessor numbers are below this on every chip.
#define PROCESSORS 1024

// ---- the chip ----

// Atomic operations on a word are done where it lives in the L2 cache: the processors near to it see a
// shorter latency. One processor at a time.
static __global__ void latency_measure(int *word, int *turn, int *cycles)
{
  int least = INT32_MAX;
  while (*(volatile int *)turn < (int)blockIdx.x) __nanosleep(200);
  for (int n = 0; n < 32; n++) {
    long long begin = clock64();
    int old = atomicAdd(word, 1);
    asm volatile("" ::"r"(old) : "memory");
    if (old >= 0) least = min(least, (int)(clock64() - begin));
  }
  cycles[processor_number()] = least;
  __threadfence();
  atomicAdd(turn, 1);
}

// Splits the processors at the middle of the range; one half where that is no even split.
static void halves_find(const int *cycles, int count, unsigned char *half, int processors[2])
{
  int least = INT32_MAX, most = 0;
  for (int n = 0; n < count; n++) {
    least = cycles[n] < least ? cycles[n] : least;
    most = cycles[n] > most ? cycles[n] : most;
  }
  processors[0] = processors[1] = 0;
  for (int n = 0; n < count; n++) half[n] = cycles[n] > least + (most - least) / 2, processors[half[n]]++;
  if (processors[0] < count / 4 || processors[1] < count / 4) processors[0] = count, processors[1] = 0;
}

// `memory`: zeros, of 2·PROCESSORS ints.
static cudaError_t halves_measure(int count, int *memory, unsigned char *half, int processors[2])
{
  const int alone = 96 * 1024; // bytes of shared memory that keep a block alone on its processor
  static int cycles[PROCESSORS];
  cudaError_t error =
      cudaFuncSetAttribute(latency_measure, cudaFuncAttributeMaxDynamicSharedMemorySize, alone);
  if (error != cudaSuccess) return error;
  latency_measure<<<count, 1, alone>>>(memory, memory + 64, memory + PROCESSORS);
  if ((error = cudaGetLastError()) != cudaSuccess) return error;
  error = cudaMemcpy(cycles, memory + PROCESSORS, sizeof cycles, cudaMemcpyDeviceToHost);
  if (error == cudaSuccess) halves_find(cycles, count, half, processors);
  return error;
}

cudaError_t cuda_temporal_open(struct cuda_temporal_chip *chip)
{
  struct cuda_temporal_chip c = {};
  unsigned char half[PROCESSORS] = {};
  int device = 0, count = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) error = cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess) error = cudaMalloc(&c.scratch, 2 * PROCESSORS * sizeof(int));
  if (error == cudaSuccess) error = cudaMemset(c.scratch, 0, 2 * PROCESSORS * sizeof(int));
  if (error == cudaSuccess) error = halves_measure(count, c.scratch, half, c.processors);
  if (error == cudaSuccess && c.processors[1]) error = cudaMalloc(&c.near, sizeof half);
  if (error == cudaSuccess && c.near) error = cudaMemcpy(c.near, half, sizeof half, cudaMemcpyHostToDevice);
  if (error == cudaSuccess)
    *chip = c;
  else
    cuda_temporal_close(&c);
  return error;
}

void cuda_temporal_close(struct cuda_temporal_chip *chip)
{
  cudaFree(chip->near);
  cudaFree(chip->scratch);
  *chip = {};
}

// ---- tensor maps ----

typedef CUresult (*encode_function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                    const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                    const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                    CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encode_function encode_find(void)
{
  void *function = nullptr;
  cudaDriverEntryPointQueryResult result;
#if CUDART_VERSION >= 12050
  cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                       cudaEnableDefault, &result);
#else
  cudaError_t error =
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &result);
#endif
  if (error != cudaSuccess) return nullptr;
  return (encode_function)function;
}

static bool map_encode(encode_function encode, const cuda_temporal_job &job, const float *array, int width,
                       int rows, CUtensorMap *map)
{
  const cuuint64_t extent[3] = {(cuuint64_t)job.extent[2], (cuuint64_t)job.extent[1],
                                (cuuint64_t)job.extent[0]};
  const cuuint64_t stride[2] = {(cuuint64_t)job.pass.pitch * sizeof(float),
                                (cuuint64_t)job.pass.plane * sizeof(float)};
  const cuuint32_t box[3] = {(cuuint32_t)width, (cuuint32_t)rows, 1}, step[3] = {1, 1, 1};
  return encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)array, extent, stride, box, step,
                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <class S> static cudaError_t maps_encode(const cuda_temporal_job &job, temporal_maps *maps)
{
  encode_function encode = encode_find();
  if (!encode) return cudaErrorNotSupported;
  bool done = map_encode(encode, job, job.pass.p, S::p_width, S::p_rows, &maps->p);
  for (int c = 0; c < HIMENO_COEFFICIENTS && done; c++)
    done = map_encode(encode, job, job.pass.coefficient[c], S::out_k, S::H, &maps->body[c]) &&
           map_encode(encode, job, job.pass.coefficient[c], S::edge_width, S::H, &maps->edge[c]);
  return done ? cudaSuccess : cudaErrorInvalidValue;
}

// ---- the launch ----

static int divide_up(int n, int by)
{
  return (n + by - 1) / by;
}

// Whole tiles in full waves; the tiles of the last wave or two in pieces along i, so that it fills the chip
// too.
static void share_plan(temporal_share *share, int tiles, int planes, int ramp)
{
  const int chip = share->processors;
  int best = INT32_MAX;
  share->units = share->whole = 0;
  share->rest = share->chunk = 1;
  if (tiles == 0) return;
  for (int waves = tiles / chip; waves >= 0 && waves >= tiles / chip - 1; waves--)
    for (int pieces = 1; pieces <= PIECES && (pieces == 1 || pieces * PIECE_PLANES <= planes); pieces++) {
      int rest = tiles - waves * chip, chunk = divide_up(planes, pieces), used = divide_up(planes, chunk);
      int cost = waves * (planes + ramp) + divide_up(rest * used, chip) * (chunk + ramp);
      if (cost >= best) continue;
      best = cost;
      share->whole = waves * chip;
      share->rest = rest ? rest : 1;
      share->chunk = chunk;
      share->units = waves * chip + rest * used;
    }
}

template <class S> static void args_plan(const cuda_temporal_chip *chip, temporal_args *args)
{
  cuda_pass &pass = args->job.pass;
  int planes = pass.hi[0] - pass.lo[0], rows = divide_up(pass.hi[1] - pass.lo[1], S::out_j);
  int count = chip->processors[0] + chip->processors[1];
  int first_rows = chip->near ? divide_up(rows * chip->processors[0], count) : rows;
  pass.first_k = pass.lo[2] / 32 * 32;
  args->near = chip->near;
  args->taken = chip->scratch;
  args->progress = S::BULK && planes >= KEEP_STEP_PLANES ? chip->scratch + 2 : nullptr;
  args->tiles_k = divide_up(pass.hi[2] - pass.first_k, S::out_k);
  for (int s = 0; s < 2; s++) {
    args->share[s].first_row = s ? first_rows : 0;
    args->share[s].processors = chip->processors[s];
    share_plan(&args->share[s], (s ? rows - first_rows : first_rows) * args->tiles_k, planes,
               UNIT_RAMP(S::T));
  }
}

template <class S>
static cudaError_t launch(const struct cuda_temporal_chip *chip, const struct cuda_temporal_job *job,
                          cudaStream_t stream)
{
  temporal_args args = {};
  temporal_maps maps = {};
  cudaError_t error = cudaSuccess;
  args.job = *job;
  args_plan<S>(chip, &args);
  if (S::BULK) error = maps_encode<S>(*job, &maps);
  if (error != cudaSuccess) return error;
  size_t counters = args.progress ? TEMPORAL_SCRATCH : 2;
  if (args.near || args.progress) error = cudaMemsetAsync(chip->scratch, 0, counters * sizeof(int), stream);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(temporal_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 S::shared_bytes);
  if (error != cudaSuccess) return error;
  temporal_kernel<S>
      <<<args.share[0].units + args.share[1].units, S::threads, S::shared_bytes, stream>>>(args, maps);
  return cudaGetLastError();
}

#define TEMPORAL(name, T, OUT_K, OUT_J, BULK)                                                                \
  extern const struct cuda_temporal name = {                                                                 \
      T,                                                                                                     \
      {OUT_J, OUT_K},                                                                                        \
      BULK ? 9 : 8,                                                                                          \
      temporal_shape<T, OUT_K, OUT_J, BULK>::threads,                                                        \
      temporal_shape<T, OUT_K, OUT_J, BULK>::shared_bytes,                                                   \
      (const void *)temporal_kernel<temporal_shape<T, OUT_K, OUT_J, BULK>>,                                  \
      launch<temporal_shape<T, OUT_K, OUT_J, BULK>>};
TEMPORAL(cuda_temporal_3_64x10, 3, 64, 10, true)
TEMPORAL(cuda_temporal_3_32x16, 3, 32, 16, true)
TEMPORAL(cuda_temporal_2_64x15, 2, 64, 15, true)
TEMPORAL(cuda_temporal_2_64x10_async, 2, 64, 10, false)
