// SPDX-License-Identifier: MIT
// Kernels used with all sweeps: initial data, the bandwidth ceiling, the checksum, the repetition
// of points on every multiprocessor, and the planted fault.
#include "himeno/kernels/cuda/point.cuh"

#undef NDEBUG
#include <assert.h>

static const int THREADS = 256;
// enough blocks to fill any GPU; each block loops until all data is done
static const int BLOCKS_MAX = 8192;

static __device__ __forceinline__ uint64_t mix(uint64_t z)
{
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static int blocks_for(int64_t items)
{
  int64_t blocks = (items + THREADS - 1) / THREADS;
  return blocks < BLOCKS_MAX ? (int)blocks : BLOCKS_MAX;
}

static __device__ float dense_value(const struct himeno_rule &rule, int array, uint64_t g)
{
  float u = __fmul_rn((float)(mix(mix(g) + array) >> 40), 0x1p-24f);
  return u < rule.zero_below ? 0 : __fadd_rn(rule.lo, __fmul_rn(rule.w, u));
}

static __device__ float standard_p(int64_t i, int64_t imax)
{
  return __fdiv_rn((float)(i * i), (float)((imax - 1) * (imax - 1)));
}

static __device__ float value_at(const struct cuda_fill_job &f, int64_t i, int64_t j, int64_t k)
{
  int64_t gi = f.origin[0] + i, gj = f.origin[1] + j, gk = f.origin[2] + k;
  if (f.data == HIMENO_DENSE)
    return dense_value(f.rule, f.array, ((uint64_t)gi * f.global[1] + gj) * f.global[2] + gk);
  return f.array == HIMENO_P ? standard_p(gi, f.global[0]) : f.rule.standard;
}

static __global__ void fill_kernel(const CUDA_GRID_CONSTANT struct cuda_fill_job f)
{
  int64_t floats = f.plane * f.extent[0], step = (int64_t)gridDim.x * THREADS;
  for (int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x; at < floats; at += step) {
    int64_t i = at / f.plane, j = at % f.plane / f.pitch, k = at % f.pitch;
    float value = k < f.extent[2] ? value_at(f, i, j, k) : 0;
    f.out[at] = value;
    int64_t place = f.swapped ? CUDA_PACK_PLACE(j, k) : k;
    if (f.packed) f.packed[4 * (at - k + place)] = value;
  }
}

static __device__ __forceinline__ float4 sum(float4 a, float4 b)
{
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// One float4 per thread and array; all thirteen loads are in flight at once.
static __global__ void __launch_bounds__(CUDA_CEILING_THREADS)
    ceiling(const CUDA_GRID_CONSTANT struct cuda_pass pass, int64_t quads)
{
  int64_t at = (int64_t)blockIdx.x * CUDA_CEILING_THREADS + threadIdx.x;
  next_may_start();
  if (at >= quads) return;
  float4 value[HIMENO_COEFFICIENTS];
#pragma unroll
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) value[m] = __ldcs((const float4 *)pass.coefficient[m] + at);
  wait_for_previous();
  float4 total = ((const float4 *)pass.p)[at];
#pragma unroll
  for (int m = 0; m < HIMENO_COEFFICIENTS; m++) total = sum(total, value[m]);
  ((float4 *)pass.out)[at] = total;
}

// Sums checksums with one warp per row, lanes along k.
static __global__ void checksum_kernel(const CUDA_GRID_CONSTANT struct cuda_checksum_job c,
                                       unsigned long long *sum)
{
  int64_t width = c.box.hi[1] - c.box.lo[1], rows = (c.box.hi[0] - c.box.lo[0]) * width;
  int64_t first = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / 32,
          step = (int64_t)gridDim.x * THREADS / 32;
  unsigned long long mine = 0;
  for (int64_t row = first; row < rows; row += step) {
    int64_t i = c.box.lo[0] + row / width, j = c.box.lo[1] + row % width, at = i * c.plane + j * c.pitch;
    uint64_t g = ((c.origin[0] + i) * c.global[1] + c.origin[1] + j) * c.global[2] + c.origin[2];
    for (int64_t k = c.box.lo[2] + threadIdx.x % 32; k < c.box.hi[2]; k += 32) {
      uint64_t mixed = mix(g + k);
#pragma unroll 4
      for (int a = 0; a < c.n; a++) mine += mix(mixed + __float_as_uint(__ldcs(c.array[a] + at + k)));
    }
  }
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_down_sync(0xffffffffu, mine, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

// Computes the same box in every block, so that multiprocessors can be compared.
static __global__ void repeat_kernel(const CUDA_GRID_CONSTANT struct cuda_pass pass, int stuck, int bit,
                                     float *values, int *processors)
{
  int width = pass.hi[1] - pass.lo[1], depth = pass.hi[2] - pass.lo[2];
  int points = (pass.hi[0] - pass.lo[0]) * width * depth, processor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
  for (int n = threadIdx.x; n < points; n += THREADS) {
    int i = pass.lo[0] + n / depth / width, j = pass.lo[1] + n / depth % width, k = pass.lo[2] + n % depth;
    int64_t at = i * pass.plane + (int64_t)j * pass.pitch + k;
    const float *here = pass.p + at;
    float ss;
    stencil p = stencil_at(here - pass.plane, here, here + pass.plane, (int64_t)pass.pitch);
    unsigned bits = __float_as_uint(relax(p, coefficients_at(pass, at), &ss));
    if (processor == stuck) bits ^= 1u << bit;
    values[(int64_t)blockIdx.x * points + n] = __uint_as_float(bits);
  }
  if (threadIdx.x == 0) processors[blockIdx.x] = processor;
}

static __global__ void trap_kernel()
{
  assert(!"planted by HIMENO_CUDA_TRAP");
}

extern "C" cudaError_t cuda_fill(const struct cuda_fill_job *job, cudaStream_t stream)
{
  fill_kernel<<<blocks_for(job->plane * job->extent[0]), THREADS, 0, stream>>>(*job);
  return cudaGetLastError();
}

void (*const cuda_ceiling)(struct cuda_pass, int64_t) = ceiling;

extern "C" cudaError_t cuda_checksum(const struct cuda_checksum_job *job, unsigned long long *sum,
                                     cudaStream_t stream)
{
  int64_t rows = box_extent(&job->box, 0) * box_extent(&job->box, 1);
  checksum_kernel<<<blocks_for(rows * 32), THREADS, 0, stream>>>(*job, sum);
  return cudaGetLastError();
}

extern "C" cudaError_t cuda_repeat(const struct cuda_pass *pass, int times, int stuck, int bit, float *values,
                                   int *processors, cudaStream_t stream)
{
  repeat_kernel<<<times, THREADS, 0, stream>>>(*pass, stuck, bit, values, processors);
  return cudaGetLastError();
}

extern "C" cudaError_t cuda_trap(cudaStream_t stream)
{
  trap_kernel<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}
