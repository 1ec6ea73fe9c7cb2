/* SPDX-License-Identifier: MIT */
/** \file
 * \brief The kernels that multiply matrices: one set per backend, joined to the backend by name.
 *
 * A kernel is a const struct: its description, its requirements and its functions. Reference
 * libraries (cuBLAS, CLBlast, OpenBLAS) are kernels under the same contract, and marked. To add
 * one, write its struct next to its code and name it in the backend's set.
 *
 * The contract of a launch: C = alpha·op(A)·op(B) + beta·C as gemm/problem.h says, in order with
 * the queue's other work. A kernel writes C's m×n elements and nothing else, reads nothing beyond
 * the matrices' last elements (gemm_elements), never reads C when beta is 0, and propagates NaN and
 * Inf. As in BLAS it may leave A and B unread when alpha is 0. Matrices start at multiples of 256
 * bytes; leading dimensions may be any that are large enough. The same launch on the same operands
 * gives the same bits: parts of k are added up in a fixed order. */
#ifndef GEMM_KERNELS_KERNELS_H
#define GEMM_KERNELS_KERNELS_H

#include "gemm/problem.h"
#include "gpu/gpu.h"

/** How a kernel divides the work, for the model. All zero for a kernel without such a choice. */
struct gemm_blocks {
  int group_m, group_n; /**< of C that a work-group (block of threads) makes */
  int group_k;          /**< depth of a step in local (shared) memory; 0: none is used */
  int item_m, item_n;   /**< of C that a work-item (thread) keeps in registers */
  /** buffers in local memory: 1 loads and then computes, 2 and more overlap */
  int stages;
  /** 1: the next operands come from local memory while these are multiplied */
  int ahead;
  int splits; /**< parts of k, added up at the end; 0 counts as 1 */
  /** 1: as many groups as run at one time share all tiles and steps of k evenly */
  int stays;
  /** multiprocessors that persistent groups leave to work that runs at the same time as the
   * product */
  int spare;
};

/** Resources of a launch, for the ladder; zero if the backend cannot report them. */
struct gemm_resources {
  int threads, registers, local_bytes;
  double occupancy;
};

/** Counts of an emulator in a launch: instruction counts, no times. */
struct gemm_counts {
  uint64_t instructions; /**< issued */
  uint64_t arithmetic;   /**< of these, with a sum or product of floats in them */
  uint64_t flop;
  uint64_t loop_iterations; /**< of the innermost loop */
  /** seconds of a product on the part by a model, which is no measurement; 0 where there is none */
  double estimate_seconds;
};

struct gemm_operands {
  struct gpu_mem a, b, c;
};

struct gemm_kernel;

/** A kernel made ready for one problem on one device. */
struct gemm_exec {
  const struct gemm_kernel *kernel;
  struct gpu_device *device;
  struct gemm_problem problem;
  struct gemm_blocks blocks; /**< as chosen */
  void *state;               /**< the kernel's own */
};

struct gemm_ops {
  /** \brief Whether the kernel can do this problem on this device; if not, \a why ends the sentence
   * "kernel X …", as in "needs sm_90, this is sm_80". NULL: it always can. Quick, and logs
   * nothing. */
  int (*fits)(const struct gemm_kernel *kernel, const struct gpu_device *device,
              const struct gemm_problem *problem, char why[GPU_TEXT_MAX]);
  /** \brief Prepares exec->state for exec->problem and exec->blocks. NULL: there is nothing to
   * prepare. */
  status_t (*open)(struct gemm_exec *exec);
  /** \brief Releases exec->state, also if open failed. NULL: there is nothing to release. */
  void (*close)(struct gemm_exec *exec);
  /** \brief Puts one product into the queue. */
  status_t (*launch)(struct gemm_exec *exec, struct gpu_queue *queue, const struct gemm_operands *operands);
  /** \brief Fills in what is known; NULL: nothing is. */
  void (*resources)(const struct gemm_exec *exec, struct gemm_resources *resources);
  /** \brief Counts of the device's emulator in the last launch; NULL if there is none. */
  void (*counts)(const struct gemm_exec *exec, struct gemm_counts *counts);
  /** \brief Modelled seconds of a product on the emulated part, also before the first launch; 0 on
   * the part itself. NULL: there is no model. */
  status_t (*estimate)(struct gemm_exec *exec, double *seconds);
};

/** All that a kernel's blocks are chosen from, each as {.group_m = …}. */
#define GEMM_BLOCKS(...)                                                                                     \
  .blocks = (const struct gemm_blocks[]){__VA_ARGS__},                                                       \
  .n_blocks = sizeof((const struct gemm_blocks[]){__VA_ARGS__}) / sizeof(struct gemm_blocks)

struct gemm_kernel {
  const char *name;
  const char *step; /**< what it does that the rung below does not, one line for the ladder */
  int rung;         /**< place on the ladder from 1 up, 0 = not on it */
  int is_reference; /**< a reference library: measured in the same run */
  unsigned types;   /**< GEMM_BIT of each type that it takes */
  int transposes;   /**< takes NT, TN and TT too */
  int finite;       /**< its arithmetic has neither NaN nor infinities */
  int stays;        /**< a launch's first blocks make all of it, and leave no place before that */
  int truncates;    /**< sums round toward zero, so that errors grow with k and not with its root */
  /** those to choose from; the first is taken where nothing chooses */
  const struct gemm_blocks *blocks;
  int n_blocks;
  const struct gemm_ops *ops;
  const void *variant; /**< for ops: constants by which kernels that share them differ */
};

/** Ceilings that this device reaches in this run, for shares and for the model; 0 where unknown. */
struct gemm_ceilings {
  double flops;                  /**< fused multiply-adds in registers, operations a second */
  double bytes_per_second;       /**< reading device memory */
  double local_bytes_per_second; /**< reading local memory, over the whole device */
};

struct gemm_kernel_set {
  const char *backend;
  const struct gemm_kernel *const *kernels;
  int n;
  /** \brief Measures the ceilings of \a type in about a tenth of a second; NULL where there is no
   * such kernel. */
  status_t (*ceilings)(struct gpu_device *device, struct gpu_queue *queue, enum gemm_type type,
                       struct gemm_ceilings *ceilings);
};

#define GEMM_KERNELS(name, built) extern const struct gemm_kernel_set gemm_kernels_##name;
GPU_BACKENDS(GEMM_KERNELS)
#undef GEMM_KERNELS

/** \brief The set of a backend, NULL when it has none. */
const struct gemm_kernel_set *gemm_kernels_find(const char *backend);

/** \brief The kernel of that name, NULL if there is none. */
const struct gemm_kernel *gemm_kernel_find(const struct gemm_kernel_set *set, const char *name);

/** \brief Whether a kernel takes the problem's type and transpositions and fits the device; if not,
 * \a why has the reason. */
int gemm_kernel_fits(const struct gemm_kernel *kernel, const struct gpu_device *device,
                     const struct gemm_problem *problem, char why[GPU_TEXT_MAX]);

/** \brief gemm_ops.fits of libraries whose interface counts in int. */
int gemm_kernel_fits_int(const struct gemm_kernel *kernel, const struct gpu_device *device,
                         const struct gemm_problem *problem, char why[GPU_TEXT_MAX]);

/** \brief Prepares \a kernel, with its first blocks if \a blocks is NULL. STATUS_ENVIRONMENT,
 * naming the reason, if it does not fit. */
status_t gemm_exec_open(const struct gemm_kernel *kernel, struct gpu_device *device,
                        const struct gemm_problem *problem, const struct gemm_blocks *blocks,
                        struct gemm_exec **exec);
void gemm_exec_close(struct gemm_exec *exec);

/** \brief One product. */
static inline status_t gemm_launch(struct gemm_exec *exec, struct gpu_queue *queue,
                                   const struct gemm_operands *operands)
{
  return exec->kernel->ops->launch(exec, queue, operands);
}

#endif
