// SPDX-License-Identifier: MIT
// The points that neighbours need, in one launch that talks to the neighbours itself: it waits until their last
// halos are here, sweeps all slabs, stores each new point into the halos that want it, and raises the flags.
#include "comm/cuda/link.cuh"
#include "himeno/cuda/edges.h"
#include "himeno/cuda/point.cuh"

// The slab of a block, and the number of the block's first point in it.
static __device__ __forceinline__ const cuda_edges_box &box_find(const cuda_edges &job, unsigned *first)
{
  int b = job.n - 1;
  while (b > 0 && blockIdx.x < job.box[b].first_block) b--;
  *first = (blockIdx.x - job.box[b].first_block) * CUDA_EDGES_THREADS * CUDA_EDGES_EACH;
  return job.box[b];
}

static __device__ __forceinline__ double point(const cuda_edges &job, int i, int j, int k)
{
  const cuda_pass &pass = job.pass;
  int64_t at = i * pass.plane + (int64_t)j * pass.pitch + k;
  const float *p = pass.p + at;
  float ss, value = relax(stencil_at(p - pass.plane, p, p + pass.plane, pass.pitch),
                          coefficients_at(pass, at), &ss);
  pass.out[at] = value;
  link_store(job.link, job.which, i, j, k, value);
  return squared(ss);
}

// Nobody may start early before all blocks have seen the last sweep's end: what comes next then reads no more
// than that has written.
static __global__ void __launch_bounds__(CUDA_EDGES_THREADS) edges(const CUDA_GRID_CONSTANT cuda_edges job)
{
  unsigned first;
  const cuda_edges_box &box = box_find(job, &first);
  unsigned width = box.hi[2] - box.lo[2], rows = box.hi[1] - box.lo[1];
  double gosa = 0;
  wait_for_previous();
  next_may_start();
  uint64_t start = link_nanoseconds(), before = job.link.state->base + job.step - 1;
  if (threadIdx.x < 32) link_await(job.link, before, threadIdx.x);
  __syncthreads();
  uint64_t here = link_nanoseconds();
#pragma unroll 2
  for (unsigned e = 0; e < CUDA_EDGES_EACH; e++) {
    unsigned n = first + e * CUDA_EDGES_THREADS + threadIdx.x;
    int i = box.lo[0] + (int)(n / width / rows), j = box.lo[1] + (int)(n / width % rows);
    int k = box.lo[2] + (int)(n % width);
    if (i < box.hi[0]) gosa += point(job, i, j, k);
  }
  gosa_add(gosa, job.pass.gosa);
  link_sent(job.link, before + 1, gridDim.x, threadIdx.x);
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  job.link.state->wait_ns += here - start;
  job.link.state->edge_ns += link_nanoseconds() - here;
}

cudaError_t cuda_edges_launch(cuda_edges *job, bool overlap, cudaStream_t stream)
{
  unsigned blocks = 0;
  const unsigned each = CUDA_EDGES_THREADS * CUDA_EDGES_EACH;
  for (int b = 0; b < job->n; b++) {
    cuda_edges_box *box = &job->box[b];
    uint64_t points =
        (uint64_t)(box->hi[0] - box->lo[0]) * (box->hi[1] - box->lo[1]) * (box->hi[2] - box->lo[2]);
    box->first_block = blocks;
    blocks += (unsigned)((points + each - 1) / each);
  }
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(CUDA_EDGES_THREADS);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = overlap;
  void *arguments[] = {job};
  return cudaLaunchKernelExC(&config, (const void *)edges, arguments);
}
