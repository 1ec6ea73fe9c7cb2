// SPDX-License-Identifier: MIT
// Loads of planes into shared memory: by TMA, issued by one thread, or by asynchronous copies of
// each thread.
#ifndef HIMENO_KERNELS_CUDA_TEMPORAL_LOAD_CUH
#define HIMENO_KERNELS_CUDA_TEMPORAL_LOAD_CUH

#include "himeno/kernels/cuda/temporal_tile.cuh"

// Number of polls, of about 100 ns each, before a block continues without the others.
#define TEMPORAL_PATIENCE 40

static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
  return (uint32_t)__cvta_generic_to_shared(p);
}

#if __CUDA_ARCH__ >= 900

static __device__ __forceinline__ void barrier_init(uint64_t *barrier, int count)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
               : "memory");
}

static __device__ __forceinline__ void barrier_arrive(uint64_t *barrier)
{
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

static __device__ __forceinline__ void barrier_expect(uint64_t *barrier, unsigned bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

// Returns true in exactly one lane of the warp, and lets the compiler know that it is only one:
// issuing a box then takes a few instructions instead of a loop over lanes.
static __device__ __forceinline__ bool elected()
{
  uint32_t is;
  asm volatile("{\n .reg .pred p;\n elect.sync _|p, 0xffffffff;\n selp.u32 %0, 1, 0, p;\n}" : "=r"(is));
  return is;
}

static __device__ __forceinline__ void barrier_wait(uint64_t *barrier, int parity)
{
  uint32_t done = 0;
  while (!done)
    asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 " selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
}

// Copies the map's box at column k, row j, plane i. Elements outside of the array are zero.
static __device__ __forceinline__ void box_load(float *to, const CUtensorMap &map, int k, int j, int i,
                                                uint64_t *arrived)
{
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
               "l"(&map), "r"(k), "r"(j), "r"(i), "r"(shared_address(arrived))
               : "memory");
}

// Initialises the barriers, before the roles of threads diverge. One lane per warp arrives when its
// threads have read a slot.
template <class S> static __device__ void barriers_init(const temporal_tile<S> &tile)
{
  if (threadIdx.x == 0) {
    for (int n = 0; n < 2; n++) {
      barrier_init(tile.full + n, 1);
      barrier_init(tile.spent + n, S::workers / 32);
      if (S::RIM) barrier_init(tile.near + n, S::rim_lanes / 32);
    }
    barrier_init(tile.met, S::workers + S::rim_lanes);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
}

// Adjacent blocks find each other's halos in the L2 cache only if they stay within a few planes. So
// every S::tick stages a block counts its progress and waits for the others, but only for a limited
// time, because not all of them may be running.
template <class S> static __device__ void keep_step(const temporal_tile<S> &tile, int tick)
{
  const temporal_args &args = tile.args;
  int wave = blockIdx.x / args.processors;
  int members = min(args.processors, args.in_step - wave * args.processors);
  int *progress = args.progress + wave % CUDA_TEMPORAL_WAVES;
  atomicAdd(progress, 1);
#pragma unroll 1
  for (int look = 0; look < TEMPORAL_PATIENCE && *(volatile int *)progress < members * tick; look++)
    __nanosleep(100);
}

template <class S>
static __device__ void stage_p_load(const temporal_tile<S> &tile, const temporal_maps &maps, int stage,
                                    uint64_t *arrived)
{
  box_load(tile.p(stage), maps.p, tile.k - S::p_lead, tile.j - 1, tile.first + stage + 1, arrived);
}

// Loads the first stage with the two planes before it, after the previous launch is complete.
template <class S>
static __device__ void first_p_load(const temporal_tile<S> &tile, const temporal_maps &maps,
                                    uint64_t *arrived)
{
  wait_for_previous();
  for (int stage = -2; stage <= 0; stage++) stage_p_load(tile, maps, stage, arrived);
}

// Loads the coefficients of all pairs for a stage.
template <class S>
static __device__ void stage_coefficients_load(const temporal_tile<S> &tile, const temporal_maps &maps,
                                               int stage)
{
  uint64_t *arrived = tile.full + (stage & 1);
  const int plane = tile.first + stage, j = tile.j + S::rim, before = 4 * (tile.k - S::pair_halo),
            behind = 4 * (tile.k + S::out_k);
  for (int g = 0; g < CUDA_PACKS; g++) {
    float *to = tile.coefficients(stage) + g * S::pack_floats, *edges = to + S::body_floats;
    box_load(to, maps.body[g], 4 * tile.k, j, plane, arrived);
    box_load(edges, maps.edge[g], before, j, plane, arrived);
    box_load(edges + S::edge_floats, maps.edge[g], behind, j, plane, arrived);
  }
}

// Loads the first two stages. Their coefficients are loaded while the previous launch drains.
template <class S> static __device__ void feed_first(const temporal_tile<S> &tile, const temporal_maps &maps)
{
  barrier_expect(tile.full, tile.full_bytes() + (S::RIM ? 0 : 2 * tile.p_bytes()));
  barrier_expect(tile.full + 1, tile.full_bytes());
#pragma unroll 1
  for (int stage = 0; stage < 2; stage++) stage_coefficients_load(tile, maps, stage);
  if constexpr (S::RIM) return;
  first_p_load(tile, maps, tile.full);
  stage_p_load(tile, maps, 1, tile.full + 1);
}

// Runs the loop of the feeding warp, which keeps the ring one stage ahead of the workers. If the
// rim has warps, those load level 0.
template <class S> static __device__ void feed(const temporal_tile<S> &tile, const temporal_maps &maps)
{
  const bool keeps = tile.args.progress && blockIdx.x < tile.args.in_step;
  if (elected()) feed_first(tile, maps);
#pragma unroll 1
  for (int stage = 0; stage < tile.steps(); stage++) {
    if (keeps && stage % S::tick == 0 && elected()) keep_step(tile, stage / S::tick);
    __syncwarp();
    if (stage < 2) continue;
    barrier_wait(tile.spent + (stage & 1), (stage - 2) >> 1 & 1);
    if (elected()) {
      barrier_expect(tile.full + (stage & 1), tile.full_bytes());
      if constexpr (!S::RIM) stage_p_load(tile, maps, stage, tile.full + (stage & 1));
      stage_coefficients_load(tile, maps, stage);
    }
    __syncwarp();
  }
}

#endif

// Copies eight bytes, or zeros if the source is outside of the array. Chips before Ampere have no
// asynchronous copies: the words pass through registers, and the barriers of the march make them
// visible.
static __device__ __forceinline__ void pair_load(float *to, const float *from, bool valid)
{
#if __CUDA_ARCH__ < 800
  *(float2 *)to = valid ? *(const float2 *)from : make_float2(0.0f, 0.0f);
#else
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(valid ? 8 : 0)
               : "memory");
#endif
}

// Like pair_load for sixteen bytes, bypassing L1.
static __device__ __forceinline__ void quad_load(float *to, const float *from, bool valid)
{
#if __CUDA_ARCH__ < 800
  *(float4 *)to = valid ? *(const float4 *)from : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
               "r"(valid ? 16 : 0)
               : "memory");
#endif
}

static __device__ __forceinline__ void pairs_commit()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until all but the newest group of this thread's copies are complete.
static __device__ __forceinline__ void pairs_wait()
{
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
}

static __device__ __forceinline__ bool in_array(const temporal_args &args, int i, int j, int k)
{
  const int *extent = args.job.extent;
  return i >= 0 && i < extent[0] && j >= 0 && j < extent[1] && k >= 0 && k < extent[2];
}

// Loads a stage's plane of level 0, by all workers together.
template <class S> static __device__ void p_load(const temporal_tile<S> &tile, int stage)
{
  const cuda_pass &pass = tile.args.job.pass;
  constexpr int width = S::p_width / 2;
  const int plane = tile.first + stage + 1;
  float *to = tile.p(stage);
  for (int n = threadIdx.x; n < width * S::p_rows; n += S::workers) {
    int j = tile.j - 1 + n / width, k = tile.k - S::p_lead + n % width * 2;
    bool valid = in_array(tile.args, plane, j, k);
    pair_load(to + 2 * n, pass.p + (valid ? plane * pass.plane + (int64_t)j * pass.pitch + k : 0), valid);
  }
}

// Loads a pair's coefficients of one plane, by the thread that owns the pair, to its slot at `to`.
template <class S>
static __device__ void pair_coefficients_load(const temporal_tile<S> &tile, float *to, int i, int j, int k)
{
  const cuda_pass &pass = tile.args.job.pass;
  bool valid = in_array(tile.args, i, j, k);
  int64_t at = valid ? 4 * (i * pass.plane + (int64_t)j * pass.pitch + k) : 0;
#pragma unroll
  for (int g = 0; g < CUDA_PACKS; g++)
    for (int v = 0; v < 8; v += 4) quad_load(to + g * S::pack_floats + v, pass.pack[g] + at + v, valid);
}

#endif
