/* SPDX-License-Identifier: MIT */
/** \file
 * \brief An open CUDA kernel, and the functions of its family; one file per family. Plain C. */
#ifndef HIMENO_KERNELS_CUDA_EXEC_H
#define HIMENO_KERNELS_CUDA_EXEC_H

#include "gpu/cuda/cuda_device.h"
#include "himeno/kernels/cuda/variant.h"
#include "himeno/kernels/kernels.h"

/** Resources of a block of a kernel. at_once: number of blocks per multiprocessor. */
struct cuda_block {
  int threads, registers, local_bytes, at_once;
};

struct cuda_exec;

/** A family of kernels, which are launched in the same manner. */
struct himeno_ops {
  /** \brief Prepares exec->kernel and loads its code, so that no sweep has to. */
  status_t (*open)(struct cuda_exec *exec);
  /** \brief Releases exec->state, also if open failed. NULL: nothing to release. */
  void (*close)(struct cuda_exec *exec);
  /** \brief Does one pass over the box of \a pass: it equals that of \a sweep and is not empty. */
  status_t (*sweep)(struct cuda_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass,
                    const struct himeno_sweep *sweep);
  /** \brief Does a linked sweep, whose slabs exchange halos themselves. NULL: no variant can. */
  status_t (*linked)(struct cuda_exec *exec, struct gpu_queue *queue, const struct himeno_linked *linked);
  cudaError_t (*block)(const struct cuda_exec *exec, struct cuda_block *block);
  /** \brief As himeno_kernel_set.slab_rows. */
  int (*slab_rows)(const struct cuda_exec *exec);
};

/** himeno_kernel.variant depends on the family. Classic: the kernel's struct cuda_variant.
 * Resident: the struct cuda_variant that sweeps parts of the grid. Temporal: CUDA_TEMPORAL_FORMS
 * structs cuda_temporal. A user's kernel: NULL. */
extern const struct himeno_ops cuda_classic_ops, cuda_temporal_ops, cuda_resident_ops, cuda_user_ops;

/** Layout of the coefficients in exec->pack. */
enum cuda_packing { CUDA_NOT_PACKED, CUDA_PACKED, CUDA_PACKED_SWAPPED /**< by CUDA_PACK_PLACE */ };

/** Launches a kernel with this grid and block size. */
typedef cudaError_t cuda_launch(struct cuda_exec *exec, struct gpu_queue *queue, const void *kernel,
                                dim3 grid, dim3 threads, void **arguments);

struct cuda_exec {
  struct gpu_device *device;
  struct himeno_fields fields;
  const struct himeno_kernel *kernel;
  /** functions of the kernel's family; for tests some plant a fault */
  struct himeno_ops ops;
  cuda_launch *launch;                /**< launches the variant's kernel */
  const struct cuda_variant *variant; /**< tiles that cover a box; NULL if the family has none */
  void *state;                        /**< private to the family */
  enum cuda_packing packing;          /**< how `pack` is filled; set by open */
  struct cuda_pass pass[2];           /**< per source field; without box and slot of a sweep */
  struct gpu_mem pack[CUDA_PACKS];
  struct gpu_mem sum;
  uint64_t *host_sum;
  int overlaps; /**< 1: kernels support programmatic dependent launch */
  long trap;    /**< number of sweeps until the planted fault, 0 for none */
};

status_t cuda_exec_check(const struct cuda_exec *exec, cudaError_t error, const char *what);

/** \brief Loads \a kernel and sets \a number to its code's compute capability, e.g. 90. */
status_t cuda_exec_code(const struct cuda_exec *exec, const void *kernel, int *number);

/** \brief Allocates exec->state with \a bytes zero bytes. */
status_t cuda_exec_state(struct cuda_exec *exec, size_t bytes);

/** \brief Launches a kernel. On Hopper and later it may start while the previous one drains; until
 * that one is complete, it reads only coefficients, which no sweep writes. */
cuda_launch cuda_exec_launch;

/** \brief Returns whether the next launch in the queue may start before the previous one is
 * complete. The kernel must support programmatic dependent launch. */
int cuda_exec_overlap(const struct cuda_exec *exec, struct gpu_queue *queue);

/** \brief Returns the stream of a queue, for a launch that must not overlap others. */
cudaStream_t cuda_exec_alone(struct gpu_queue *queue);

void cuda_box_set(struct cuda_pass *pass, const struct box *box);

/** \brief Returns whether the box contains all points that the rank owns. */
int cuda_is_owned(const struct cuda_exec *exec, const struct box *box);

/** \brief Reads the resources of a kernel; \a shared_bytes is dynamic shared memory per block. */
cudaError_t cuda_block_read(const void *kernel, int threads, int shared_bytes, struct cuda_block *block);

/** \brief Sweeps the box by tiles of exec->variant, or by the slab kernel if most threads would be
 * idle. */
status_t cuda_tiles_sweep(struct cuda_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass,
                          const struct himeno_sweep *sweep);

#endif
