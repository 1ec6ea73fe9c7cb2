/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The CUDA kernels of mem-gpu. Most files export functions of struct mem_ops; the others
 * export parts of the functions in ops.c. Each function enqueues one launch. */
#ifndef TOOLS_MEMORY_CUDA_MEM_CUDA_H
#define TOOLS_MEMORY_CUDA_MEM_CUDA_H

#include "gpu/cuda/cuda_device.h"
#include "tools/memory/kernels/mem_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Counters of a comparison of memory with its expected words. */
struct mem_cuda_found {
  unsigned long long wrong, first;
  unsigned sum;
};

/** The struct mem_exec of these kernels. */
struct mem_cuda_exec {
  struct cuda_device *device;
  int units;
  struct mem_cuda_found *found; /**< on the device */
  unsigned long long *result;   /**< result of a chase on the device: position and cycles */
  int peaks;                    /**< 1: the build has the chip's warpgroup instructions */
};

static inline int mem_cuda_units(const struct mem_exec *exec)
{
  return ((const struct mem_cuda_exec *)exec)->units;
}

/** \brief Returns the status of the last launch. Logs a failure as a failure of \a what. */
static inline status_t mem_cuda_launched(const char *what)
{
  return cuda_check(cudaGetLastError(), what);
}

/* Functions of struct mem_ops. */
status_t mem_cuda_fill(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                       int number);
status_t mem_cuda_copy(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_copy *copy);
status_t mem_cuda_mix(struct mem_exec *exec, struct gpu_queue *queue, const struct mem_mix *mix);
status_t mem_cuda_window(struct mem_exec *exec, struct gpu_queue *queue, struct mem_window *window);
status_t mem_cuda_ring_fill(struct mem_exec *exec, struct gpu_queue *queue, struct gpu_mem mem,
                            const struct mem_ring *ring);
status_t mem_cuda_flops(struct mem_exec *exec, struct gpu_queue *queue, struct mem_flops *flops);
status_t mem_cuda_peak(struct mem_exec *exec, struct gpu_queue *queue, enum mem_type type, int passes,
                       struct gpu_mem sum, double *flop, double *expect);

status_t mem_cuda_tensor(struct mem_exec *exec, struct gpu_queue *queue, struct mem_flops *flops);
/** \brief Compares memory with its expected words. Adds to x->found, which must begin as {0, ~0,
 * 0}. */
status_t mem_cuda_check(struct mem_cuda_exec *x, struct gpu_queue *queue, struct gpu_mem mem, uint64_t bytes,
                        const struct mem_check *check);
/** \brief Runs a chase. Sets x->result[0] to the last position and x->result[1] to the cycles. */
status_t mem_cuda_chase(struct mem_cuda_exec *x, struct gpu_queue *queue, const struct mem_chase *chase);
/** \brief Sets *flag, in device memory, to 1 if the warpgroup instructions of sm_90a were compiled
 * in, otherwise to 0. */
status_t mem_cuda_peak_built(unsigned *flag);
/** \brief Returns 1 if the code that this program runs on the device uses matrix units. If the
 * build only has code for an older chip, it does not. */
int mem_cuda_tensor_built(void);
/** \brief Return the launch shapes of MEM_TUNED and of the mixes. */
struct mem_shapes mem_cuda_copy_shapes(void);
struct mem_shapes mem_cuda_mix_shapes(void);

#ifdef __cplusplus
}
#endif

#endif
