/* SPDX-License-Identifier: MIT */
/** \file
 * \brief An opened CUDA kernel of the set, and the functions of its family: one file per family.
 * Plain C. */
#ifndef HIMENO_KERNELS_CUDA_EXEC_H
#define HIMENO_KERNELS_CUDA_EXEC_H

#include "gpu/cuda/cuda_device.h"
#include "himeno/kernels/cuda/variant.h"
#include "himeno/kernels/kernels.h"

/** Resources of a block of a kernel, and the number of blocks that a multiprocessor holds. */
struct cuda_block {
  int threads, registers, local_bytes, at_once;
};

struct cuda_exec;

/** A family of kernels: those that are launched alike. */
struct himeno_ops {
  /** \brief Prepares exec->kernel and loads its code, so that no sweep has to. */
  status_t (*open)(struct cuda_exec *exec);
  /** \brief Releases what exec->state holds, also after open failed. NULL: nothing. */
  void (*close)(struct cuda_exec *exec);
  /** \brief A pass over the box of \a pass, which is that of \a sweep and not empty. */
  status_t (*sweep)(struct cuda_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass,
                    const struct himeno_sweep *sweep);
  /** \brief The linked sweep, of variants that have one; NULL where none of the family has. */
  status_t (*linked)(struct cuda_exec *exec, struct gpu_queue *queue, const struct himeno_linked *linked);
  cudaError_t (*block)(const struct cuda_exec *exec, struct cuda_block *block);
};

/** himeno_kernel.variant is a struct cuda_variant of classic kernels, and of resident ones for
 * parts of their grid; the CUDA_TEMPORAL_FORMS of temporal ones; NULL of a user's. */
extern const struct himeno_ops cuda_classic_ops, cuda_temporal_ops, cuda_resident_ops, cuda_user_ops;

/** Layout of the coefficients in exec->pack. */
enum cuda_packing { CUDA_NOT_PACKED, CUDA_PACKED, CUDA_PACKED_SWAPPED /**< by CUDA_PACK_PLACE */ };

/** Launches a grid of blocks of so many threads. */
typedef cudaError_t cuda_launch(struct cuda_exec *exec, struct gpu_queue *queue, const void *kernel,
                                dim3 grid, dim3 threads, void **arguments);

struct cuda_exec {
  struct gpu_device *device;
  struct himeno_fields fields;
  const struct himeno_kernel *kernel;
  struct himeno_ops ops;              /**< the kernel's, or those with a planted fault */
  cuda_launch *launch;                /**< of the variant's kernel */
  const struct cuda_variant *variant; /**< whose tiles cover a box; NULL where none do */
  void *state;                        /**< the family's own */
  enum cuda_packing packing;          /**< set by open */
  struct cuda_pass pass[2];           /**< by source: all but the box and the slot */
  struct gpu_mem pack[CUDA_PACKS];
  struct gpu_mem sum;
  uint64_t *host_sum;
  int overlaps; /**< kernels know programmatic launches */
  long trap;    /**< sweeps left until the planted fault, 0 for none */
};

status_t cuda_exec_check(const struct cuda_exec *exec, cudaError_t error, const char *what);

/** \brief The chip that the code loaded for \a kernel was made for, as 90; loads it. */
status_t cuda_exec_code(const struct cuda_exec *exec, const void *kernel, int *number);

/** \brief exec->state of so many bytes, zero. */
status_t cuda_exec_state(struct cuda_exec *exec, size_t bytes);

/** \brief On Hopper and later the kernel may start while the one before it drains: until that is
 * complete it reads coefficients only, and those are written by fills alone. */
cuda_launch cuda_exec_launch;

/** \brief Whether a kernel that knows programmatic launches may start in the queue before the one
 * ahead of it is complete, for a launch that comes now. */
int cuda_exec_overlap(const struct cuda_exec *exec, struct gpu_queue *queue);

/** \brief The stream of a queue, for a launch that nothing may overlap. */
cudaStream_t cuda_exec_alone(struct gpu_queue *queue);

void cuda_box_set(struct cuda_pass *pass, const struct box *box);

/** \brief Whether the box is all that the rank owns. */
int cuda_is_owned(const struct cuda_exec *exec, const struct box *box);

/** \brief Reads the resources of a kernel whose blocks get so many bytes of shared memory at
 * launch. */
cudaError_t cuda_block_read(const void *kernel, int threads, int shared_bytes, struct cuda_block *block);

/** \brief Sweeps the box by tiles of exec->variant, or by the slab kernel if most threads would be
 * idle. */
status_t cuda_tiles_sweep(struct cuda_exec *exec, struct gpu_queue *queue, struct cuda_pass *pass,
                          const struct himeno_sweep *sweep);

#endif
