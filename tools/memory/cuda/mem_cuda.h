/* SPDX-License-Identifier: MIT */
/** \file
 * \brief What the CUDA sources of mem-gpu export to ops_cuda.c. Each puts one launch into the
 * stream. */
#ifndef TOOLS_MEMORY_CUDA_MEM_CUDA_H
#define TOOLS_MEMORY_CUDA_MEM_CUDA_H

#include <cuda_runtime_api.h>

#include "tools/memory/mem_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Counters of a check. */
struct mem_cuda_found {
  unsigned long long wrong, first;
  unsigned sum;
};

cudaError_t mem_cuda_fill(void *mem, uint64_t bytes, int number, int units, cudaStream_t stream);
/** \brief Adds to *found, which is on the device and starts as {0, ~0, 0}. */
cudaError_t mem_cuda_check(const void *mem, uint64_t bytes, const struct mem_check *check,
                           struct mem_cuda_found *found, int units, cudaStream_t stream);
cudaError_t mem_cuda_copy(const struct mem_copy *copy, int units, cudaStream_t stream);
/** \brief The shapes that MEM_TUNED has. */
struct mem_shapes mem_cuda_copy_shapes(void);
cudaError_t mem_cuda_mix(const struct mem_mix *mix, int units, cudaStream_t stream);
struct mem_shapes mem_cuda_mix_shapes(void);
cudaError_t mem_cuda_window(struct mem_window *window, int units, cudaStream_t stream);

cudaError_t mem_cuda_ring_fill(void *mem, const struct mem_ring *ring, int units, cudaStream_t stream);
/** \brief Leaves the last position in result[0] and the cycles in result[1]; with \a each (device
 * memory) the cycles of every hop too. */
cudaError_t mem_cuda_chase(uint64_t start, uint64_t hops, unsigned long long *result, uint32_t *each,
                           cudaStream_t stream);

cudaError_t mem_cuda_flops(const struct mem_flops *flops, int units, cudaStream_t stream);
cudaError_t mem_cuda_tensor(struct mem_flops *flops, int units, cudaStream_t stream);
/** \brief Whether this program's code for the device has matrix units: a chip may run an older
 * one's PTX, which lacks them. */
int mem_cuda_tensor_built(void);
/** \brief Sets *flag, on the device, to whether the warpgroup instructions of sm_90a were compiled
 * in. */
cudaError_t mem_cuda_peak_built(unsigned *flag, cudaStream_t stream);
cudaError_t mem_cuda_peak(enum mem_type type, int passes, int units, float *sum, double *flop, double *expect,
                          cudaStream_t stream);

/** \brief A kernel of a pair, see pairs.h: `n` items for each of `rows` threads or rows. */
cudaError_t mem_cuda_pair(int pair, int after, void *mem, int n, int rows, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
