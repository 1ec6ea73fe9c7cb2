/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The kernels that multiply matrices: one set per backend, found by the backend's name.
 *
 * A kernel is a const struct: its description, its requirements and its functions. Reference
 * libraries (cuBLAS, CLBlast, OpenBLAS) are kernels with the same contract and a flag. To add a
 * kernel, define its struct next to its code and name it in the backend's set.
 *
 * The contract of a launch: C = alpha·op(A)·op(B) + beta·C as gemm/problem.h defines it, in order
 * with the queue's other work. A kernel writes only C's m×n elements, reads nothing beyond the
 * matrices' last elements (gemm_elements), never reads C if beta is 0, and propagates NaN and Inf.
 * As in BLAS, it may leave A and B unread if alpha is 0. Matrices start at multiples of 256 bytes;
 * leading dimensions may have any sufficient value. The same launch on the same operands gives
 * bitwise equal results: parts of k are added up in a fixed order. */
#ifndef GEMM_KERNELS_KERNELS_H
#define GEMM_KERNELS_KERNELS_H

#include "gemm/problem.h"
#include "gpu/gpu.h"

/** A kernel's division of the work, for the model. All fields are 0 if the kernel has no choice. */
struct gemm_blocks {
  int group_m, group_n; /**< elements of C per work-group (block of threads) */
  int group_k;          /**< depth of a step in local (shared) memory; 0: no local memory is used */
  int item_m, item_n;   /**< elements of C in the registers of a work-item (thread) */
  /** number of buffers in local memory. If it is 1, loads and arithmetic do not overlap */
  int stages;
  /** 1: the next operands are loaded from local memory during the products */
  int ahead;
  int splits; /**< number of parts of k, added up at the end; 0 counts as 1 */
  /** 1: persistent groups, all resident at once, share all tiles and steps of k evenly */
  int stays;
  /** number of multiprocessors that persistent groups leave free for concurrent work */
  int spare;
};

/** Resources of a launch, for the ladder. A field is 0 if unknown. */
struct gemm_resources {
  int threads, registers, local_bytes;
  double occupancy;
};

/** An emulator's counts for one launch. They are instruction counts, not times. */
struct gemm_counts {
  uint64_t instructions; /**< instructions issued */
  uint64_t arithmetic;   /**< instructions with a floating-point addition or multiplication */
  uint64_t flop;
  uint64_t loop_iterations; /**< iterations of the innermost loop */
  /** modelled seconds of a product on the real chip (not measured); 0 if there is no model */
  double estimate_seconds;
};

struct gemm_operands {
  struct gpu_mem a, b, c;
};

struct gemm_kernel;

/** A kernel prepared for one problem on one device. */
struct gemm_exec {
  const struct gemm_kernel *kernel;
  struct gpu_device *device;
  struct gemm_problem problem;
  struct gemm_blocks blocks; /**< the chosen division */
  void *state;               /**< private data of the kernel */
};

struct gemm_ops {
  /** \brief Returns 1 if the kernel can do this problem on this device. If not, \a why completes
   * the sentence "kernel X …", as in "needs sm_90, this is sm_80". The pointer is NULL if the
   * kernel can do every problem. Must be fast and log nothing. */
  int (*fits)(const struct gemm_kernel *kernel, const struct gpu_device *device,
              const struct gemm_problem *problem, char why[GPU_TEXT_MAX]);
  /** \brief Prepares exec->state for exec->problem and exec->blocks. The pointer is NULL if there
   * is nothing to do. */
  status_t (*open)(struct gemm_exec *exec);
  /** \brief Releases exec->state, even if open failed. The pointer is NULL if there is no state. */
  void (*close)(struct gemm_exec *exec);
  /** \brief Enqueues one product. */
  status_t (*launch)(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *operands);
  /** \brief Sets the fields that are known. The pointer is NULL if none are known. */
  void (*resources)(const struct gemm_exec *exec, struct gemm_resources *resources);
  /** \brief Sets an emulator's counts for the last launch. The pointer is NULL without an
   * emulator. */
  void (*counts)(const struct gemm_exec *exec, struct gemm_counts *counts);
  /** \brief Sets *seconds to the modelled time of a product on the real chip, even before the first
   * launch; to 0 if the device is the real chip. The pointer is NULL if there is no model. */
  status_t (*estimate)(struct gemm_exec *exec, double *seconds);
};

/** All blocks that a kernel can choose from, each as {.group_m = …}. */
#define GEMM_BLOCKS(...)                                                                                     \
  .blocks = (const struct gemm_blocks[]){__VA_ARGS__},                                                       \
  .n_blocks = sizeof((const struct gemm_blocks[]){__VA_ARGS__}) / sizeof(struct gemm_blocks)

struct gemm_kernel {
  const char *name;
  const char *step; /**< improvement over the rung below, one line for the ladder */
  int rung;         /**< number on the ladder, from 1; 0 = not a rung */
  int is_reference; /**< a reference library: measured in the same run */
  unsigned types;   /**< GEMM_BIT of each supported type */
  int transposes;   /**< 1: the kernel supports NT, TN and TT too */
  int finite;       /**< 1: its arithmetic has neither NaN nor infinities */
  /** 1: persistent blocks: a launch's first blocks do all its work and keep their processors */
  int stays;
  /** 1: sums round toward zero, so that errors grow with k and not with its square root */
  int truncates;
  /** blocks to choose from; the default is the first */
  const struct gemm_blocks *blocks;
  int n_blocks;
  const struct gemm_ops *ops;
  const void *variant; /**< used by ops: constants that distinguish kernels with the same ops */
};

/** Ceilings measured on this device in this run, for shares and for the model; 0 if unknown. */
struct gemm_ceilings {
  double flops;                  /**< operations per second of fused multiply-adds in registers */
  double bytes_per_second;       /**< bytes per second of reads of device memory */
  double local_bytes_per_second; /**< bytes per second of reads of local memory by all units */
};

/** Properties of a device for the model. A field of 0 is unknown and limits nothing. */
struct gemm_machine {
  struct gemm_ceilings ceilings;
  int units; /**< compute units, over which groups are distributed */
};

struct gemm_kernel_set {
  const char *backend;
  const struct gemm_kernel *const *kernels;
  int n;
  /** \brief Measures the ceilings of \a type in about 0.1 s. The pointer is NULL if unsupported. */
  status_t (*ceilings)(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                       struct gemm_ceilings *ceilings);
};

#define GEMM_KERNELS(name, built) extern const struct gemm_kernel_set gemm_kernels_##name;
GPU_BACKENDS(GEMM_KERNELS)
#undef GEMM_KERNELS

/** \brief Returns the set of a backend, or NULL if it has none. */
const struct gemm_kernel_set *gemm_kernels_find(const char *backend);

/** \brief Returns the kernel \a name of the set, or NULL if there is none. */
const struct gemm_kernel *gemm_kernel_find(const struct gemm_kernel_set *set, const char *name);

/** \brief Returns 1 if a kernel supports the problem's type and transpositions and fits the device.
 * If not, \a why has the reason. */
int gemm_kernel_fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                     const struct gemm_problem *problem, char why[GPU_TEXT_MAX]);

/** \brief The function gemm_ops.fits of libraries whose interface uses int for sizes. */
int gemm_kernel_fits_int(const struct gemm_kernel *kernel, const struct gpu_device *device,
                         const struct gemm_problem *problem, char why[GPU_TEXT_MAX]);

/** \brief Prepares \a kernel, with its first blocks if \a blocks is NULL. If the kernel does not
 * fit the device or the problem, logs the reason and returns STATUS_ENVIRONMENT. */
status_t gemm_exec_open(const struct gemm_kernel *kernel, struct gpu_device *device,
                        const struct gemm_problem *problem, const struct gemm_blocks *blocks,
                        struct gemm_exec **exec);
void gemm_exec_close(struct gemm_exec *exec);

/** \brief Enqueues one product. */
static inline status_t gemm_launch(struct gemm_exec *exec, struct gpu_queue *queue,
                                   const struct gemm_operands *operands)
{
  return exec->kernel->ops->launch(exec, queue, operands);
}

#endif
