/* SPDX-License-Identifier: MIT */
/* mem-gpu on CUDA devices: set-up, and measurements that need more than one launch. */
#include <stdlib.h>

#include "base/log.h"
#include "tools/memory/cuda/mem_cuda.h"

/* Sets x->peaks: whether compute capability and build have warpgroup instructions. */
static status_t peaks_find(struct mem_cuda_exec *x)
{
  const struct cudaDeviceProp *p = &x->device->properties;
  unsigned built = 0;
  if (p->major != 9 || p->minor != 0) return STATUS_OK;
  RETURN_IF_FAILED(mem_cuda_peak_built(&x->found->sum));
  RETURN_IF_FAILED(cuda_check(cudaMemcpy(&built, &x->found->sum, sizeof built, cudaMemcpyDeviceToHost),
                              "running a first kernel"));
  x->peaks = (int)built;
  return STATUS_OK;
}

static void cuda_close(struct mem_exec *exec)
{
  struct mem_cuda_exec *x = (struct mem_cuda_exec *)exec;
  if (!x) return;
  cudaFree(x->result);
  cudaFree(x->found);
  free(x);
}

static status_t cuda_open(struct gpu_device *device, struct mem_exec **exec)
{
  status_t status;
  struct mem_cuda_exec *x = calloc(1, sizeof *x);
  if (!x) return log_fail(STATUS_ENVIRONMENT, "out of host memory for the CUDA kernels");
  x->device = (struct cuda_device *)device;
  x->units = device->info.compute_units;
  TRY(cuda_use(device), fail);
  TRY(cuda_check(cudaMalloc((void **)&x->found, sizeof *x->found), "allocating counters"), fail);
  TRY(cuda_check(cudaMalloc((void **)&x->result, 2 * sizeof *x->result), "allocating counters"), fail);
  TRY(peaks_find(x), fail);
  *exec = (struct mem_exec *)x;
  return STATUS_OK;
fail:
  cuda_close((struct mem_exec *)x);
  return status;
}

static void cuda_traits(const struct mem_exec *exec, struct mem_traits *traits)
{
  const struct mem_cuda_exec *x = (const struct mem_cuda_exec *)exec;
  const struct cudaDeviceProp *p = &x->device->properties;
  *traits = (struct mem_traits){.line = 128,
                                .last_cache = 1,
                                .threads_max = p->maxThreadsPerBlock,
                                .blocks_max = p->maxThreadsPerMultiProcessor,
                                .assign = 1 << MEM_CYCLIC | 1 << MEM_BLOCK | 1 << MEM_GROUP,
                                .copy_shapes = mem_cuda_copy_shapes(),
                                .mix_shapes = mem_cuda_mix_shapes(),
                                .pointers = 1,
                                .types = 1 << MEM_FP32};
  if (mem_cuda_tensor_built()) traits->types |= 1 << MEM_TF32 | 1 << MEM_FP16 | 1 << MEM_BF16;
  if (x->peaks) traits->peaks = 1 << MEM_TF32 | 1 << MEM_FP16 | 1 << MEM_BF16;
}

static status_t check_run(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                          struct mem_check *c)
{
  struct mem_cuda_exec *x = (struct mem_cuda_exec *)exec;
  cudaStream_t stream = cuda_queue_handle(queue);
  struct mem_cuda_found found = {0, ~0ull, 0};
  RETURN_IF_FAILED(cuda_check(cudaMemcpyAsync(x->found, &found, sizeof found, cudaMemcpyHostToDevice, stream),
                              "starting a comparison"));
  RETURN_IF_FAILED(mem_cuda_check(x, queue, mem, bytes, c));
  RETURN_IF_FAILED(cuda_check(cudaMemcpyAsync(&found, x->found, sizeof found, cudaMemcpyDeviceToHost, stream),
                              "reading a comparison"));
  RETURN_IF_FAILED(cuda_check(cudaStreamSynchronize(stream), "comparing memory"));
  c->wrong = found.wrong;
  c->first = found.first;
  c->sum = found.sum;
  return STATUS_OK;
}

/* ---- latency ---- */

static status_t cuda_chase(struct mem_exec *exec, struct gpu_queue *queue, struct mem_chase *chase)
{
  struct mem_cuda_exec *x = (struct mem_cuda_exec *)exec;
  cudaStream_t stream = cuda_queue_handle(queue);
  unsigned long long result[2] = {0, 0};
  RETURN_IF_FAILED(gpu_record(chase->begin_event, queue));
  RETURN_IF_FAILED(mem_cuda_chase(x, queue, chase));
  RETURN_IF_FAILED(gpu_record(chase->end_event, queue));
  RETURN_IF_FAILED(
      cuda_check(cudaMemcpyAsync(result, x->result, sizeof result, cudaMemcpyDeviceToHost, stream),
                 "reading a chase's result"));
  RETURN_IF_FAILED(cuda_check(cudaStreamSynchronize(stream), "a chase"));
  chase->end = result[0];
  chase->cycles = (double)result[1];
  return STATUS_OK;
}

const struct mem_ops mem_ops_cuda = {
    .backend = "cuda",
    .native = "cudaMemcpy",
    .open = cuda_open,
    .close = cuda_close,
    .traits = cuda_traits,
    .fill = mem_cuda_fill,
    .check = check_run,
    .copy = mem_cuda_copy,
    .mix = mem_cuda_mix,
    .ring_fill = mem_cuda_ring_fill,
    .chase = cuda_chase,
    .window = mem_cuda_window,
    .flops = mem_cuda_flops,
    .peak = mem_cuda_peak,
};
